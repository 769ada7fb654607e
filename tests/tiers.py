"""The two tiers of tests: the one place that says what `make test` runs, and why.

`make test` runs the first tier on interpreted code, in minutes: every behaviour at the boundary
once, with real sockets, files, databases, processes and a browser.  `make test-all` runs all tests,
and `make test-rest` those that can still fail after `make test`.

A test belongs to the second tier for one of the reasons in `SECOND`, and for no other one.
``pytest --tier=first`` leaves that tier out, and ``--area=games`` limits a run to one area.
Patterns are a folder, file, test, or mark (``@browser``); ``*`` stands for anything.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Rule:
    """A reason for the second tier, the tests it concerns, and those of them that stay."""

    reason: str
    tests: tuple[str, ...]
    stay: tuple[str, ...] = ()
    """One test for each behaviour that no other test of the first tier has at this boundary."""


SECOND: Final = (
    Rule(
        "It repeats on PostgreSQL or a cluster what the first tier shows on SQLite and one server.",
        ("@postgresql", "tests/cluster/test_*"),
        stay=(
            "tests/cluster/test_channel.py",
            "tests/cluster/test_link.py::test_payloads_larger_than_a_batch_arrive",
            "tests/cluster/test_versions.py",
            "tests/cluster/test_processes.py::test_matches_go_on_without_a_server[other-kill]",
            "tests/storage/test_takeover_races.py::test_match_of_a_dead_member_gets_one_owner",
        ),
    ),
    Rule(
        "It needs a browser, and the first tier reads pages and runs scripts without one.",
        ("@browser",),
        stay=("tests/web/test_guests.py::test_a_guest_plays_with_two_bots_of_the_house",),
    ),
    Rule(
        "It plays in a sandbox what the first tier plays with unconfined bots, or attacks one.",
        ("tests/sandbox/test_*", "tests/cli/test_programs.py::*sandbox*"),
        stay=(
            "tests/sandbox/test_hosted_finals.py::test_a_final_of_bots_that_were_handed_in*",
            "tests/cli/test_programs.py::test_package_plays_in_the_sandbox_and_is_confined",
        ),
    ),
    Rule(
        "It needs a program or library that most machines lack: an engine, a compiler, or pyarrow.",
        (
            "tests/cli/test_with_a_server.py::test_matches_are_exported_as_parquet",
            "tests/engines/test_over_server.py",
            "tests/engines/test_real_engines.py",
            "tests/languages",
            "tests/server/test_dataset.py::test_*parquet_*is_written*",
            "tests/server/test_dataset.py::test_parquet_has_the_same_rows",
            "tests/server/test_dataset.py::test_a_part_of_a_parquet_file*",
            "tests/server/test_dataset.py::test_few_parquet_files*",
            "tests/server/test_exports.py::test_parquet_where_pyarrow_is",
        ),
    ),
    Rule(
        "Its subject is the build, the packages, or a program for those who develop Plyhouse.",
        (
            "tests/build",
            "tests/docs/test_docs.py::test_the_site_builds_strictly",
            "tests/examples/test_chomp.py",
            "tests/examples/test_node_counts.py",
            "tests/examples/test_notebooks.py",
            "tests/search/test_build_report.py::test_pure_and_compiled_agree_bit_for_bit",
            "tests/server_core/test_peers_benchmark.py",
            "tests/server_core/test_ranking_benchmark.py",
        ),
    ),
    Rule(
        "It runs the commands of a page beyond the first steps, as tests of the commands do.",
        ("tests/docs/test_docs.py::test_what_a_document_says_to_do_works*",),
        stay=(
            "tests/docs/test_docs.py::test_what_a_document_says_to_do_works[README.md]",
            "tests/docs/test_docs.py::test_what_a_document_says_to_do_works[docs/first-bot.md]",
        ),
    ),
    Rule(
        "It trains a network or a policy; the first tier checks the mathematics of one step.",
        (
            "tests/cli/test_learn.py",
            "tests/search/test_alphazero_training.py",
            "tests/search/test_backgammon_training.py",
            "tests/search/test_leduc_network.py",
            "tests/search/test_limit_holdem.py",
            "tests/search/test_tuning.py",
        ),
    ),
    Rule(
        "It takes half a second or more interpreted; the second tier runs it compiled, and smaller "
        "cases of its subject stay.",
        (
            "tests/games/test_chess.py::test_random_games_*",
            "tests/games/test_connect_four.py::test_positions_after_eight_plies",
            "tests/games/test_drawn_playouts.py::test_wins_losses_and_draws_come_as_often*",
            "tests/games/test_endgames.py",
            "tests/games/test_go.py::test_random_games_go_as_a_simple_referee_says",
            "tests/games/test_holdem_ranking.py::test_five_card_hands_have_the_published*",
            "tests/games/test_holdem_strength.py",
            "tests/games/test_leduc_poker.py::test_published_counts_and_value",
            "tests/games/test_monopoly.py::test_seats_land_as_often_as_the_markov_chain_says",
            "tests/games/test_pig.py::test_first_player_wins_with_the_published_chance",
            "tests/games/test_scrabble.py::test_list_of_plays_stops_when_it_is_told_to",
            "tests/games/test_trees.py::test_a_written_tree_keeps_every_law_of_games",
            "tests/search/test_alpha_beta_options.py::test_solved_values_are_right_with_all*",
            "tests/search/test_alpha_beta_options.py::test_stopped_anywhere_it_is_no_worse*",
            "tests/search/test_cfr.py::test_a_tree_that_is_too_large_is_refused_with_its_size",
            "tests/search/test_cfr.py::test_others_converge_in_leduc_poker",
            "tests/search/test_cfr.py::test_the_value_of_leduc_poker_to_four_digits",
            "tests/search/test_endgames.py::test_connect_four_endings_have_the_values*",
            "tests/search/test_null_moves.py",
            "tests/search/test_proven_wins.py::test_the_line_of_a_proven_win_is_played_to_its_end*",
            "tests/search/test_rave.py::test_vital_point_of_three_in_a_row_is_found",
            "tests/search/test_resistance.py",
            "tests/search/test_shipped_tables.py",
            "tests/search/test_star.py",
            "tests/server_core/test_matchmaking.py::test_guests_that_come_once_are_forgotten",
            "tests/server_core/test_plackett_luce.py::test_laws",
            "tests/server_core/test_sequential.py::*wrong*",
            "tests/server_core/test_sprt.py::test_verdicts_are_wrong_as_rarely_as_was_stated",
            "tests/server_core/test_strengths.py::test_errors_agree_with_a_bootstrap_over_pairs*",
            "tests/server_core/test_strengths.py::test_one_entry_far_from_the_others_leaves*",
            "tests/server_core/test_strengths.py::test_wide_field_of_few_games_is_covered*",
            "tests/server_core/test_suspicion.py::test_in_honest_fields_hardly_anybody_is_named*",
            "tests/server_core/test_suspicion.py::test_where_everybody_agrees_agreement_says*",
        ),
        stay=(
            "tests/games/test_endgames.py::test_othello_value_is_that_of_the_best_action",
            "tests/search/test_null_moves.py::test_reductions_find_a_mate_with_checks*",
            "tests/search/test_proven_wins.py::test_the_line*[tic_tac_toe*",
            "tests/search/test_resistance.py::test_mixture_of_a_matrix_game*",
            "tests/search/test_star.py::test_random_trees_with_dice_anywhere*",
        ),
    ),
    Rule(
        "It measures strength or chance by so many samples that it takes seconds.",
        (
            "tests/bots/test_bridge_bot.py::test_it_makes_points_against_random_opponents",
            "tests/bots/test_holdem_bots.py::test_bots_play_legal_actions_to_the_end*",
            "tests/bots/test_holdem_bots.py::test_rules_raise_a_set_call_with_a_draw*",
            "tests/bots/test_resolving_bot.py::test_resolving_every_second_round_lowers_nash_conv",
            "tests/bots/test_scrabble_bot.py::test_match_of_two_bots_has_no_wrong_word*",
            "tests/cli/test_yardstick.py",
            "tests/competition_rules/test_graded_progress.py::test_grades_are_wrong_as_seldom*",
            "tests/competition_rules/test_swiss.py::test_default_rounds_leave_one_of_an_even*",
            "tests/competition_rules/test_swiss.py::test_seats_and_byes_follow_the_absolute*",
            "tests/games/test_backgammon_estimate.py",
            "tests/search/test_local_best_response.py",
            "tests/search/test_resolving.py",
            "tests/search/test_futility.py",
            "tests/server_core/test_luck.py::test_luck_of_holdem_is_even_on_average",
            "tests/server_core/test_ratings.py::test_the_intervals_cover_the_truth",
            "tests/server_core/test_sequential.py::test_the_mean_is_missed_at_any_time*",
            "tests/server_core/test_strengths.py::test_any_time_intervals_hold_for_all_looks*",
            "tests/server_core/test_strengths.py::test_intervals_cover_the_truth",
        ),
    ),
    Rule(
        "It repeats a whole run of programs; the first tier runs such programs once.",
        (
            "tests/bots/test_examination.py",
            "tests/cli/test_match_sprt.py",
            "tests/cli/test_terminal_lobby.py",
            "tests/cli/test_with_a_server.py::test_the_demo_prints_five_leaderboards",
            "tests/cli/test_with_a_server.py::test_a_demo_that_is_kept_names_an_address*",
            "tests/cli/test_with_a_server.py::test_an_interrupted_demo_leaves_no_process*",
            "tests/server/test_course.py",
            "tests/server/test_supervisor.py",
        ),
    ),
    Rule(
        "It repeats in a game with very many actions, or with more seats, a law of all games.",
        (
            "tests/bots/test_best.py::test_it_plays_every_game_of_the_house[scrabble]",
            "tests/bots/test_best.py::test_it_plays_every_game_of_the_house[texas_holdem]",
            "tests/cli/test_match.py::test_match_with_challenged_plays_has_sound_records",
            "tests/cli/test_new_bot.py::test_starter_of_long_hidden_game_plays_to_the_end",
            "tests/games/test_check_game.py::test_built_in_games_keep_every_law[*(*",
            "tests/games/test_scrabble.py::test_every_action_is_read_as_it_is_written",
            "tests/games/test_scrabble.py::test_plays_of_few_tiles_are_those_of_a_slow_generator",
            "tests/games/test_scrabble.py::test_plays_are_all_words_of_the_list_that_break_no_rule",
            "tests/hosting/test_every_game.py::test_a_game_is_hosted_stored_and_replayed[scrabble]",
            "tests/server_core/test_secrecy.py::test_tiles_of_others_change_nothing*[1-*",
            "tests/server_core/test_secrecy.py::test_tiles_of_others_change_nothing*[2-*",
            "tests/server_core/test_secrecy.py::test_tiles_of_others_change_nothing*[4-*",
            "tests/games/test_properties.py::*[scrabble]",
            "tests/games/test_scrabble_challenges.py",
        ),
    ),
)

AREAS: Final = {
    "games": ("games", "bridges", "hosting"),
    "search": ("search", "bots", "engines"),
    "protocol": ("protocol", "attack"),
    "storage": ("storage",),
    "server": ("server", "server_core", "competition_rules", "cluster"),
    "bots": ("bots", "sandbox", "languages", "engines"),
    "clients": ("cli", "web"),
    "docs": ("docs", "examples"),
    "build": ("build", "architecture"),
}
"""The folders of tests for an area of the code; ``all`` means every folder."""


COMPILED: Final = ("bridges", "games", "hosting", "search", "server_core")
"""The folders of tests whose subject is compiled: their first tier runs on both kinds of code.  The
first tier of the other folders says the same on both, and their second tier runs compiled."""


@functools.cache
def _expression(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return what the names of the tests match to which one of these patterns applies."""
    named = [each for each in patterns if not each.startswith("@")]
    found = [
        ".*".join(map(re.escape, each.split("*"))) + ("" if "*" in each else r"(?:$|/|::|\[)")
        for each in named
    ]
    return re.compile("|".join(found) or "(?!)")


def _apply(patterns: tuple[str, ...], test: str, marks: Collection[str]) -> bool:
    return _expression(patterns).match(test) is not None or any(
        f"@{mark}" in patterns for mark in marks
    )


def second_tier(test: str, marks: Collection[str]) -> str:
    """Return the reason why a test is in the second tier; "" for the first tier.

    >>> second_tier("tests/web/test_play.py::test_a_match", {"browser"}).partition(",")[0]
    'It needs a browser'
    >>> second_tier("tests/games/test_chess.py::test_castling", set())
    ''
    """
    for rule in SECOND:
        if _apply(rule.tests, test, marks) and not _apply(rule.stay, test, marks):
            return rule.reason
    return ""


def is_left(test: str, marks: Collection[str]) -> bool:
    """Return whether a test is left to run, on compiled code, after the first tier has passed.

    >>> is_left("tests/games/test_chess.py::test_castling", set())
    True
    >>> is_left("tests/docs/test_doctests.py::test_prose", set())
    False
    """
    return bool(second_tier(test, marks)) or test.split("/")[1] in COMPILED


def is_second(path: str) -> bool:
    """Return whether no test of a file or folder is in the first tier, whatever its name."""
    for rule in SECOND:
        files = tuple(each for each in rule.tests if "::" not in each)
        if _apply(files, path, ()) and not any(each.startswith(path) for each in rule.stay):
            return True
    return False


def unused(tests: Iterable[tuple[str, Collection[str]]]) -> list[str]:
    """Return the patterns that apply to none of these tests: all tests have been renamed."""
    left = {each for rule in SECOND for each in (*rule.tests, *rule.stay)}
    for test, marks in tests:
        left -= {each for each in left if _apply((each,), test, marks)}
    return sorted(left)
