"""A test of candidates from the command line: played, kept, and told in words and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import click

from plyhouse.clients.arena.content_hash import bot_version, game_text, game_version
from plyhouse.clients.arena.pairing_log import Conditions, Entrant, SeriesPaths, kept, run
from plyhouse.clients.arena.progress import watched
from plyhouse.clients.arena.series import PlayedPairing, Series
from plyhouse.clients.arena.series_report import seed_note
from plyhouse.clients.arena.sprt_trial import OPENING_PLIES, Trial, play_trial
from plyhouse.clients.arena.tally import Tally, elo, tally
from plyhouse.clients.shared.errors import EXIT_INTERRUPTED, EXIT_USAGE, CommandError
from plyhouse.clients.shared.output import counted, interval, note, print_table, signed
from plyhouse.games.base import Game
from plyhouse.server.results.scoring import teams_of
from plyhouse.server.results.sprt import SprtState, Verdict

EVERY: Final = 25
"""Pairings between two lines, where there is no bar."""


def opponents(
    bots: tuple[str, ...], base: str | None, game: Game, *, mirrored: bool
) -> list[tuple[str, ...]]:
    """The pairings: each candidate against the base on all other seats.

    In games of teams, the candidate and the base play all seats of a team.

    Raises `CommandError` where there is nothing to be tested.
    """
    if game.seats == 1:
        raise CommandError(
            f"--sprt compares two bots, and {game.spec} has one seat: use --games.", EXIT_USAGE
        )
    if not mirrored:
        raise CommandError("--sprt counts mirrored pairs: leave out --no-mirrored.", EXIT_USAGE)
    if base is None:
        if len(bots) != 2:
            raise CommandError(
                "--sprt tests a new bot against an old one: name these two, or several new ones "
                f"and --base old.py, not {counted(len(bots), 'bot')}.",
                EXIT_USAGE,
            )
        new, base = bots
        bots = (new,)
    sides = len(set(teams_of(game))) or game.seats
    return [(bot, *[base] * (sides - 1)) for bot in bots]


def conditions_of(
    contest: Sequence[Series], game: Game, test: dict[str, float | str] | None
) -> Conditions:
    """The settings that determine the results of these series."""
    first = contest[0]
    entrants = [(series.bots[0], series.names[0]) for series in contest]
    others = zip(first.bots[1:], first.names[1:], strict=True)
    entrants += list(others)[: None if test is None else 1]
    return Conditions(
        plyhouse_pairings=1,
        game=game_text(game),
        game_version=game_version(game),
        time_control=first.time_control,
        illegal_rule=first.illegal_rule,
        mirrored=first.mirrored,
        opening_plies=first.opening_plies,
        seed=first.seed,
        bots=tuple(Entrant(name, bot_version(bot)) for bot, name in entrants),
        test=test,
    )


def run_trial(trial: Trial, jobs: int, files: SeriesPaths) -> bool:
    """Play the test until it is decided.  Returns False if it was interrupted.

    Raises `CommandError` and what `play_trial` raises; without a file to go on with, also
    `KeyboardInterrupt`.
    """
    conditions = conditions_of(trial.contest, trial.game, trial.conditions())
    with kept(files, conditions) as keeper:
        for line in keeper.played:
            if 0 <= line.candidate < len(trial.contest):
                trial.hear(line.candidate, line.index, line.results)
        if keeper.played:
            note(f"Going on after {counted(len(keeper.played), 'pair')} of {files.resume}.")
        total = trial.sprt.max_pairs * len(trial.contest)
        with watched(total, trial, done=len(keeper.played), every=EVERY) as progress:

            def on_played(candidate: int, index: int, played: PlayedPairing) -> None:
                keeper.add(candidate, index, played)
                progress.advance(played.results)

            if not trial.sprt.is_over:
                try:
                    run(play_trial(trial, jobs, on_played, progress.say))
                except KeyboardInterrupt:
                    if files.resume is None:
                        raise
                    return False
    return True


def accounts_of(trial: Trial) -> list[Tally]:
    """The results of each candidate, in the pairs that decided its verdict."""
    return [
        tally(trial.results(candidate), len(series.bots), trial.game.return_bounds)[0]
        for candidate, series in enumerate(trial.contest)
    ]


def show_trial(trial: Trial, *, show_seed: bool) -> None:
    """The result for people."""
    first = trial.contest[0]
    accounts = accounts_of(trial)
    pairs = sum(trial.sprt.taken(candidate) for candidate in range(len(trial.contest)))
    kind = "pair" if len(first.bots) == 2 else "pairing"
    title = (
        f"{first.game}, {first.time_control}, against {first.names[1]}, "
        f"{counted(pairs, f'mirrored {kind}')}, "
        + (
            f"{counted(first.opening_plies, 'random opening ply', 'random opening plies')}, "
            if first.opening_plies
            else ""
        )
        + f"seed {first.seed}"
    )
    what = "score" if trial.unit == "elo" else "mean"
    columns = ["bot", "pairs", "W-D-L", what, "95 %, any time", "LLR", "bounds", "accepted",
               "forfeits", "time/game"]  # fmt: skip
    rows = []
    for candidate, account in enumerate(accounts):
        state = trial.sprt.state(candidate)
        games = max(1, len(trial.results(candidate)))
        rows.append(
            [
                trial.contest[candidate].names[0],
                str(state.pairs),
                f"{account.wins}-{account.draws}-{account.losses}",
                *_estimate(trial, candidate),
                signed(state.llr, 2),
                interval(state.lower, state.upper, 2),
                "-" if state.verdict is None else state.verdict.value,
                ", ".join(f"{n} {kind}" for kind, n in account.forfeits.items()) or "-",
                f"{account.charged_ns / 1e9 / games:.2f} s",
            ]
        )
    print_table(title, columns, rows, "lrrrRrRrwr")
    for candidate in range(len(trial.contest)):
        click.echo(_sentence(trial, candidate))
    if show_seed:
        note(seed_note(first))


def interrupted(trial: Trial, files: SeriesPaths) -> int:
    """Say how to go on; the exit code."""
    note(f"Interrupted: {trial}. The same command with --resume {files.resume} goes on.")
    return EXIT_INTERRUPTED


def _estimate(trial: Trial, candidate: int) -> list[str]:
    bounds = trial.bounds(candidate)
    if not bounds.size:
        return ["-", "-"]
    if trial.unit == "elo":
        low, high = 100 * bounds.low, 100 * bounds.high
        return [f"{100 * bounds.mean:.1f} %", f"[{low:.1f}, {high:.1f}]"]
    return [signed(bounds.mean, 3), interval(bounds.low, bounds.high, 3)]


def _sentence(trial: Trial, candidate: int) -> str:
    """Return the verdict on a candidate as a sentence."""
    state: SprtState = trial.sprt.state(candidate)
    name, base = trial.contest[candidate].names[:2]
    low, high = (_amount(trial, limit) for limit in trial.limits)
    where = f"LLR {signed(state.llr, 2)}, bounds {interval(state.lower, state.upper, 2)}"
    if trial.repeats(candidate):
        more = max(OPENING_PLIES, 2 * trial.contest[candidate].opening_plies)
        pairs = counted(trial.sprt.taken(candidate), "pair")
        return (
            f"No decision after {pairs}: the pairs of {name} repeat earlier ones, and what repeats "
            f"counts once. Use --opening-plies {more}."
        )
    if state.verdict is None:
        if trial.sprt.is_open(candidate):
            return f"Undecided so far after {counted(state.pairs, 'pair')}: {where}."
        return (
            f"No decision within {counted(trial.sprt.max_pairs, 'pair')}: whether {name} is "
            f"better than {base} by {low} or by {high} is open ({where})."
        )
    after = f"{state.verdict.value} accepted after {counted(state.pairs, 'pair')}"
    if state.verdict is Verdict.H1:
        return f"{after}: {name} is better than {base} by more than {low} ({where})."
    return f"{after}: {name} is not better than {base} by {high} ({where})."


def _amount(trial: Trial, limit: float) -> str:
    return f"{limit:g} Elo" if trial.unit == "elo" else f"{limit:g} a game"


def trial_document(trial: Trial) -> dict[str, Any]:
    """The result for scripts; numbers that are not finite are null."""
    first = trial.contest[0]
    accounts = accounts_of(trial)
    return {
        "game": first.game,
        "time_control": first.time_control,
        "illegal_rule": first.illegal_rule,
        "seed": first.seed,
        "opening_plies": first.opening_plies,
        "base": first.names[1],
        "test": {**trial.conditions(), "max_pairs": trial.sprt.max_pairs},
        "candidates": [
            _candidate(trial, candidate, account) for candidate, account in enumerate(accounts)
        ],
    }


def _candidate(trial: Trial, candidate: int, account: Tally) -> dict[str, Any]:
    state, bounds = trial.sprt.state(candidate), trial.bounds(candidate)
    document: dict[str, Any] = {
        "name": trial.contest[candidate].names[0],
        "pairs": state.pairs,
        "games": account.games,
        "wins": account.wins,
        "draws": account.draws,
        "losses": account.losses,
        "forfeits": account.forfeits,
        "value": {"value": bounds.mean, "low": bounds.low, "high": bounds.high},
        "llr": state.llr,
        "lower": state.lower,
        "upper": state.upper,
        "repeats": trial.repeats(candidate),
        "accepted": None if state.verdict is None else state.verdict.value,
    }
    if trial.unit == "elo":
        found = {"value": bounds.mean, "low": bounds.low, "high": bounds.high}
        document["elo_difference"] = {
            name: value if math.isfinite(value := elo(score)) else None
            for name, score in found.items()
        }
    return document
