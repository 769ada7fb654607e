"""The result of a series of matches: for people and for scripts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from plyhouse.clients.arena.tally import Interval, MatchResult, Tally, all_alike, elo
from plyhouse.clients.shared.output import counted, interval, note, print_table, signed
from plyhouse.protocol.messages import VOID
from plyhouse.protocol.parts import ending_words

if TYPE_CHECKING:
    from plyhouse.clients.arena.series import Series


def show_series(
    series: Series, results: list[MatchResult], accounts: list[Tally], *, show_seed: bool
) -> None:
    """Print the result for people."""
    from plyhouse.games.registry import get_game

    pairings = len({result.pairing for result in results})
    games = counted(len(results), "game")
    if series.mirrored and len(accounts) > 1:
        kind = "pair" if len(accounts) == 2 else "pairing"
        games += f" in {counted(pairings, f'mirrored {kind}')}"
    title = f"{series.game}, {series.time_control}, {games}, seed {series.seed}"
    unit = get_game(series.game, files=True).info.returns_unit
    mean = f"mean, {unit}" if unit else "mean"
    lucky = accounts[0].mean_without_luck is not None
    last = [*(["without luck", "95 %"] if lucky else []), "forfeits", "time/game"]
    columns = ["bot", "games", "W-D-L", "score", "95 %", mean, "95 %", *last]
    rows = [
        [
            series.names[account.bot],
            str(account.games),
            "-" if len(accounts) == 1 else f"{account.wins}-{account.draws}-{account.losses}",
            *_percent(account.score),
            *_mean(account.mean),
            *(_mean(account.mean_without_luck) if lucky else []),
            ", ".join(f"{n} {kind}" for kind, n in account.forfeits.items()) or "-",
            f"{account.charged_ns / 1e9 / max(1, len(results)):.2f} s",
        ]
        for account in accounts
    ]
    print_table(title, columns, rows, "lrrrRrRrRwr" if lucky else "lrrrRrRwr")
    if len(accounts) == 2 and accounts[0].score is not None:
        found = _elo_interval(accounts[0].score)
        click.echo(
            f"Elo difference {series.names[0]} - {series.names[1]}: "
            f"{signed(found.value)} {interval(found.low, found.high)} (95 %)"
        )
    if all_alike(results):
        note(
            "plyhouse: all pairings went alike. Bots that repeat one game show no more than that "
            "game does, and the intervals mean nothing. Use --opening-plies 4."
        )
    if show_seed:
        note(seed_note(series))


def seed_note(series: Series) -> str:
    """Return a sentence that says what the seed of a series repeats in its game."""
    from plyhouse.games.base import ChanceKind
    from plyhouse.games.registry import get_game

    chance = get_game(series.game, files=True).chance_kind is not ChanceKind.DETERMINISTIC
    events = "chance events" + (", openings" if series.opening_plies else "")
    first = events if chance else "openings" if series.opening_plies else ""
    return f"The same {first and f'{first} and '}random numbers of bots again: --seed {series.seed}"


def _percent(score: Interval | None) -> list[str]:
    if score is None:
        return ["-", "-"]
    low, high = 100 * score.low, 100 * score.high
    return [f"{100 * score.value:.1f} %", f"[{low:.1f}, {high:.1f}]"]


def _mean(mean: Interval | None) -> list[str]:
    if mean is None:
        return ["-", "-"]
    return [signed(mean.value, 3), interval(mean.low, mean.high, 3)]


def _elo_interval(score: Interval) -> Interval:
    """Return a score and its bounds as Elo differences."""
    return Interval(elo(score.value), elo(score.low), elo(score.high))


def show_faults(series: Series, first: MatchResult, faults: int, games: int) -> None:
    """Say how many games failed, and how the first one did."""
    who = (
        series.names[first.bots[first.culprit]]
        if first.culprit is not None and first.termination not in VOID
        else "nobody in particular"
    )
    reason = f": {first.reason}" if first.reason else ""
    note(
        f"plyhouse: {faults} of {counted(games, 'game')} could not be played as they should; "
        f"the first ended by {ending_words(first.termination)} of {who}{reason}"
    )


def series_document(
    series: Series, results: list[MatchResult], accounts: list[Tally]
) -> dict[str, Any]:
    """Return the result for scripts; numbers that are not finite are null."""
    document: dict[str, Any] = {
        "game": series.game,
        "time_control": series.time_control,
        "games": len(results),
        "mirrored": series.mirrored,
        "illegal_rule": series.illegal_rule,
        "seed": series.seed,
        "bots": [
            {
                "name": series.names[account.bot],
                "games": account.games,
                "wins": account.wins,
                "draws": account.draws,
                "losses": account.losses,
                "score": _numbers(account.score),
                "mean": _numbers(account.mean),
                "mean_without_luck": _numbers(account.mean_without_luck),
                "forfeits": account.forfeits,
                "seconds_per_game": account.charged_ns / 1e9 / max(1, len(results)),
            }
            for account in accounts
        ],
        "terminations": {
            kind: sum(result.termination == kind for result in results)
            for kind in sorted({result.termination for result in results})
        },
    }
    if len(accounts) == 2 and accounts[0].score is not None:
        document["elo_difference"] = _numbers(_elo_interval(accounts[0].score))
    return document


def _numbers(found: Interval | None) -> dict[str, float | None] | None:
    if found is None:
        return None
    pairs = {"value": found.value, "low": found.low, "high": found.high}
    return {name: value if math.isfinite(value) else None for name, value in pairs.items()}
