"""The findings of ``plyhouse bot check``."""

from __future__ import annotations

import re

import pytest
from tests.bots.conftest import BotFile

from plyhouse.clients.bot_check import matches
from plyhouse.clients.bot_check.examination import LIMIT, Finding, check_bot
from plyhouse.clients.bot_check.time_controls import Controls, Terms, read_terms
from plyhouse.server.match.time_control import TimeControl

SLEEPER = """
    class MyBot(Bot):
        games = ("coin_guess", "tic_tac_toe")
        async def choose(self, turn):
            await asyncio.sleep({seconds})
            return turn.legal[0]
"""


def late_at(*controls: str) -> str:
    """A bot that is late at these time controls, however much a busy server gives back."""
    return SLEEPER.format(seconds=f"1000 * (turn.match.time_control in {controls!r})")


def warned(checks: list[Finding]) -> dict[str, str]:
    return {check.name: check.explanation for check in checks if check.warning}


def failed(checks: list[Finding]) -> dict[str, str]:
    return {
        check.name: f"{check.explanation}\n{check.said}" for check in checks if not check.passed
    }


@pytest.mark.parametrize("game", ["coin_guess", "pig(target=30)"])
async def test_a_sound_bot_passes_everything(game: str) -> None:
    told: list[Finding] = []
    checks = await check_bot("random", [game], on_finding=told.append)
    assert told == checks
    assert not failed(checks)
    names = [check.name for check in checks]
    assert len(names) == 9
    for part in ("loads", "lost connection", "new process", "resigning", "two matches", "clock"):
        assert any(part in name for name in names), part


async def test_a_bot_without_games_is_checked_in_all_of_them(bot_file: BotFile) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            async def choose(self, turn): return turn.rng.choice(turn.legal)
        """
    )
    checks = await check_bot(spec, seconds=900)
    assert not failed(checks)
    assert sum(check.name.startswith("plays pig as") for check in checks) == 2
    assert checks[0].explanation.endswith("games, because the bot's `games` is empty")


@pytest.mark.parametrize(
    ("choice", "explanation"),
    [
        ("return '9'", "choose one of the legal actions"),
        ("return None", "returned no action: None is not an action of tic_tac_toe, expected"),
        ("turn.state.crosses = turn.state.noughts = 0; return 'a1'", "has changed turn.state: use"),
        ("return 1 / 0", "ZeroDivisionError"),
        ("os._exit(1)", "the bot's process ended (exit code 1)"),
        ("return 'b2' if turn.ply == 0 else turn.legal[0] if turn.seat == 0 else {}", "is not an"),
    ],
)
async def test_what_is_wrong_is_explained(bot_file: BotFile, choice: str, explanation: str) -> None:
    spec = bot_file(
        f"""
        class MyBot(Bot):
            games = ("tic_tac_toe",)
            def choose(self, turn): {choice}
        """
    )
    found = failed(await check_bot(spec))
    assert found
    assert explanation in "\n".join(found.values())


async def test_a_bot_that_forgets_the_past_fails_in_a_new_process(bot_file: BotFile) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            games = ("tic_tac_toe",)
            asked = 0
            def choose(self, turn):
                assert self.asked == turn.ply // 2, "I have missed something"
                self.asked += 1
                return turn.legal[0]
        """
    )
    found = failed(await check_bot(spec))
    assert list(found) == ["goes on in a new process"]
    assert "I have missed something" in found["goes on in a new process"]


async def test_bot_with_constant_time_per_move_passes_at_the_time_control_of_its_competition(
    bot_file: BotFile,
) -> None:
    spec = bot_file(late_at("move:0.3"))
    checks = await check_bot(spec, terms=read_terms(["coin_guess@move:60"]))
    assert not failed(checks)
    (told,) = warned(checks).values()
    assert "in Python by turn.limit or turn.report" in told
    assert "The check goes on at move:60, which decides." in told
    (stated,) = [check.explanation for check in checks if check.name == "time control"]
    assert stated.startswith("move:60 (begun at move:0.3 to be quick), of its competitions")


async def test_bot_that_is_late_without_a_competition_is_checked_at_the_stated_default(
    bot_file: BotFile,
) -> None:
    spec = bot_file(late_at("move:0.25"))
    checks = await check_bot(spec, ["coin_guess"])
    assert not failed(checks)
    assert list(warned(checks)) == ["keeps to the clock when it is short (move:0.25)"]
    (stated,) = [check.explanation for check in checks if check.name == "time control"]
    assert stated.startswith("total:60+1 (begun at total:6+0.1 to be quick), as no competition")


async def test_bot_that_is_late_at_the_deciding_time_control_fails(bot_file: BotFile) -> None:
    spec = bot_file(late_at("move:0.2"))
    checks = await check_bot(spec, terms=read_terms(["coin_guess@move:0.2"]))
    assert "in Python by turn.limit or turn.report" in "\n".join(failed(checks).values())


async def test_shorter_time_control_of_another_competition_gives_a_warning(
    bot_file: BotFile,
) -> None:
    spec = bot_file(late_at("move:0.3"))
    terms = read_terms(["coin_guess@move:0.3", "coin_guess@total:60+1"])
    checks = await check_bot(spec, terms=terms)
    assert not failed(checks)
    assert "keeps to the clock of coin_guess (move:0.3)" in warned(checks)


async def test_bot_is_checked_in_the_games_of_its_competitions_only(bot_file: BotFile) -> None:
    spec = bot_file(SLEEPER.format(seconds=0))
    games: list[str] = []
    # Shortened, this is nine seconds, of which none is for one action alone.
    terms = read_terms(["tic_tac_toe@total:300", "pig@total:300"])
    checks = await check_bot(spec, terms=terms, on_games=lambda _, played: games.extend(played))
    assert not failed(checks)
    assert games == ["tic_tac_toe"]
    assert "plays tic_tac_toe at total:300+0" in [check.name for check in checks]


async def test_bot_that_must_play_a_game_that_it_does_not_claim_fails() -> None:
    terms = read_terms(["leduc_poker@move:1"], must_play=True)
    checks = await check_bot("mcts", terms=terms)
    assert "it does not play this game; it plays" in failed(checks)["plays leduc_poker"]


async def test_opponents_resign_when_a_match_is_long_enough(
    bot_file: BotFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "MATCH_SECONDS", 0.0)
    checks = await check_bot(bot_file(SLEEPER.format(seconds=0.05)), ["tic_tac_toe"])
    assert not failed(checks)
    assert any("stopped after 0 s" in check.explanation for check in checks)


async def test_check_that_takes_long_leaves_the_rest_out() -> None:
    times = iter([0.0, 0.0])  # when it begins, and before the second match
    checks = await check_bot("random", ["coin_guess"], clock=lambda: next(times, LIMIT))
    assert not failed(checks)
    assert list(warned(checks)) == ["left out"]
    assert "survives a lost connection" in warned(checks)["left out"]


async def test_bot_that_finishes_no_match_in_time_fails(bot_file: BotFile) -> None:
    checks = await check_bot(bot_file(SLEEPER.format(seconds=1000)), ["coin_guess"], seconds=5)
    assert list(failed(checks)) == ["ends in time"]
    assert "it finished no match in 5 s" in failed(checks)["ends in time"]


async def test_matches_that_do_not_end_in_time_are_left_out(bot_file: BotFile) -> None:
    spec = bot_file(SLEEPER.format(seconds="1000 * turn.seat"))
    terms = read_terms(["coin_guess@move:300"])
    checks = await check_bot(spec, terms=terms, seconds=25)
    assert not failed(checks)
    # On a busy machine the first match may last until it is too late to begin the second.
    text = warned(checks)["left out"]
    assert re.match("the check had taken (25 s|too long): plays coin_guess as ", text)


async def test_bot_whose_matches_count_for_nothing_is_not_judged(
    bot_file: BotFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "MOST_TRIES", 1_000_000)
    monkeypatch.setattr(matches.Examination, "_excused", lambda *_: True)
    with pytest.raises(matches.MachineBusyError, match="In 5 s the bot finished no match"):
        await check_bot("random", ["coin_guess"], seconds=5)


def test_time_controls_decide_by_the_time_that_they_allow() -> None:
    for text, quick, played in (
        ("total:60+1", "total:6+0.1", "total:60+1"),
        ("byoyomi:60+5x10", "byoyomi:1.5+5x0.25", "byoyomi:60+5x10"),
        ("bank:1+30", "bank:0.15+4.5", "bank:1+30"),
        ("move:0.2", "move:0.2", "move:0.2"),
        ("move:3600", "move:0.3", "move:300"),
    ):
        found = Controls.of([TimeControl.parse(text)])
        assert (str(found.quick), str(found.played)) == (quick, played)
    assert Controls.of([]) == Terms().games.get("pig", Controls())


async def test_a_bot_that_does_not_load_fails_one_check(bot_file: BotFile) -> None:
    checks = await check_bot(bot_file("import nothing_there\n"))
    assert [(check.name, check.passed) for check in checks] == [("loads", False)]
    assert "No module named 'nothing_there'" in checks[0].explanation


async def test_a_bot_that_claims_an_unknown_game(bot_file: BotFile) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            games = ("conect_four",)
            def choose(self, turn): return turn.legal[0]
        """
    )
    checks = await check_bot(spec)
    assert not checks[0].passed
    assert "connect_four" in checks[0].explanation
