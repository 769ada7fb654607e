"""``plyhouse match``: a series of matches between bots on this machine, and what it says."""

from __future__ import annotations

import asyncio
import json
import math
import re
import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plyhouse.clients.cli.arena.tally import (
    Interval,
    MatchResult,
    Tally,
    elo,
    tally,
)
from plyhouse.clients.cli.shared.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.cli.shared.options import game_option, json_option, time_control_option
from plyhouse.clients.cli.shared.output import counted, interval, note, print_table, signed
from plyhouse.protocol.messages import VOID

if TYPE_CHECKING:
    from plyhouse.clients.cli.arena.series import PlayedPairing, Series

__all__ = ["match"]

FAULTS = VOID | {"bot_crash", "disconnect"}
"""Terminations that mean that a match could not be played as it should have been."""


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@game_option()
@click.option(
    "--games",
    "count",
    type=click.IntRange(1, 1_000_000),
    default=10,
    show_default=True,
    help="Matches to play; rounded up to whole mirrored pairings.",
)
@time_control_option("move:1")
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    help="Processes that play in parallel.  [default: as many as keep every core busy]",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    help="Makes dice and `turn.rng` the same again.  [default: a new one, and shown]",
)
@click.option(
    "--mirrored/--no-mirrored",
    default=True,
    show_default=True,
    help="Play from every seat with the same dice, or let the seats alternate.",
)
@click.option(
    "--opening-plies",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    help="Open every pairing with so many random plies, the same from every seat: bots without "
    "chance of their own play more than one game.",
)
@click.option(
    "--illegal-rule",
    type=click.Choice(["forfeit", "retry"]),
    default="forfeit",
    show_default=True,
    help="What an illegal action does.",
)
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the records of all matches to this file, one JSON document per line.",
)
@click.option(
    "--log-folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep what each bot prints and how it fails in a file here.",
)
@json_option()
def match(
    bots: tuple[str, ...],
    game: str,
    count: int,
    time_control: str,
    jobs: int | None,
    seed: int | None,
    mirrored: bool,
    opening_plies: int,
    illegal_rule: str,
    save: Path | None,
    log_folder: Path | None,
    as_json: bool,
) -> int:
    """Let bots play many games here, without a server, and say how sure the result is.

    BOT is a file (mybot.py, mybot.py:MyBot) or the name of an installed bot (random). The
    referee is that of the server: the same rules, clocks and ends. A game has one bot per seat.

    Ends with exit code 1 if a bot crashed or a match could not be played.
    """
    from plyhouse.bots.loading import check_spec
    from plyhouse.clients.cli.arena.series import Series, default_jobs
    from plyhouse.games.registry import get_game
    from plyhouse.server.match.clock import TimeControl

    rules = get_game(game, files=True)
    if len(bots) != rules.seats:
        raise CommandError(
            f"{counted(rules.seats, 'seat')} in {rules.spec}: "
            f"name {counted(rules.seats, 'bot')}, not {len(bots)}.",
            EXIT_USAGE,
        )
    if log_folder is not None:
        try:
            log_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or "cannot be made").lower()
            raise CommandError(f"{log_folder}: {reason}.", EXIT_USAGE) from error
    series = Series(
        bots=tuple(check_spec(bot) for bot in bots),
        names=bot_labels(bots),
        game=rules.spec,
        time_control=str(TimeControl.parse(time_control)),
        illegal_rule=illegal_rule,
        mirrored=mirrored,
        seed=secrets.randbits(32) if seed is None else seed,
        records=save is not None,
        log_folder="" if log_folder is None else str(log_folder),
        opening_plies=opening_plies,
    )
    per_pairing = rules.seats if mirrored else 1
    pairings = -(-count // per_pairing)
    if pairings * per_pairing != count:
        note(f"Playing {pairings * per_pairing} games, so that every bot has every seat equally.")
    results = _play(series, pairings, jobs or default_jobs(rules.seats, mirrored), save)
    accounts = tally(results, rules.seats, rules.return_bounds)
    if as_json:
        click.echo(json.dumps(_document(series, results, accounts), indent=2))
    else:
        _show(series, results, accounts, show_seed=seed is None)
    faults = [result for result in results if result.termination in FAULTS]
    if faults:
        _show_faults(series, faults, len(results))
        return EXIT_FAILED
    return EXIT_OK


def bot_labels(bots: tuple[str, ...]) -> tuple[str, ...]:
    """A short name for each bot, all different: the file's or class's, with a number if needed.

    Files may be called what bots cannot.

    >>> bot_labels(("my bot (copy).py", "bots/a.py:Bold", "random", "random"))
    ('my-bot-copy', 'Bold', 'random', 'random-2')
    """
    labels: list[str] = []
    for bot in bots:
        path, _, name = bot.partition(".py:")
        label = name or Path(path).name.removesuffix(".py")
        label = re.sub(r"[^A-Za-z0-9_.-]+", "-", label)[:28].strip("-.") or "bot"
        number, taken = 1, label
        while taken in labels:
            number += 1
            taken = f"{label}-{number}"
        labels.append(taken)
    return tuple(labels)


def _play(series: Series, pairings: int, jobs: int, save: Path | None) -> list[MatchResult]:
    """Play the series; results in the order of the pairings, records to the file in it."""
    from plyhouse.clients.cli.arena.local import loop_factory
    from plyhouse.clients.cli.arena.progress import watched
    from plyhouse.clients.cli.arena.series import play_series

    finished: dict[int, PlayedPairing] = {}
    with ExitStack() as stack:
        try:
            file = stack.enter_context(save.open("w", encoding="utf-8")) if save else None
        except OSError as error:
            reason = (error.strerror or "cannot be written").lower()
            raise CommandError(f"{save}: {reason}.", EXIT_USAGE) from error
        progress = stack.enter_context(watched(pairings, series.names))
        waiting: dict[int, PlayedPairing] = {}
        written = 0

        def on_played(index: int, played: PlayedPairing) -> None:
            nonlocal written
            finished[index] = waiting[index] = played
            while file is not None and written in waiting:
                file.writelines(f"{record}\n" for record in waiting.pop(written).records)
                written += 1
            progress.advance(played.results)

        try:
            with asyncio.Runner(loop_factory=loop_factory()) as runner:
                runner.run(play_series(series, pairings, jobs, on_played, progress.say))
        except ExceptionGroup as group:
            raise _first(group) from None
    return [result for index in sorted(finished) for result in finished[index].results]


def _first(group: ExceptionGroup[Exception]) -> Exception:
    """The error that ended a group of tasks; where there are several, they are alike."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


def _show(
    series: Series, results: list[MatchResult], accounts: list[Tally], *, show_seed: bool
) -> None:
    """The result for people."""
    pairings = len({result.pairing for result in results})
    games = counted(len(results), "game")
    if series.mirrored and len(accounts) > 1:
        kind = "pair" if len(accounts) == 2 else "pairing"
        games += f" in {counted(pairings, f'mirrored {kind}')}"
    title = f"{series.game}, {series.time_control}, {games}, seed {series.seed}"
    columns = ["bot", "games", "W-D-L", "score", "95 %", "mean", "95 %", "forfeits", "time/game"]
    rows = [
        [
            series.names[account.bot],
            str(account.games),
            "-" if len(accounts) == 1 else f"{account.wins}-{account.draws}-{account.losses}",
            *_percent(account.score),
            *_mean(account.mean),
            ", ".join(f"{n} {kind}" for kind, n in account.forfeits.items()) or "-",
            f"{account.charged_ns / 1e9 / max(1, len(results)):.2f} s",
        ]
        for account in accounts
    ]
    print_table(title, columns, rows, "lrrrRrRwr")
    if len(accounts) == 2 and accounts[0].score is not None:
        found = elo_interval(accounts[0].score)
        click.echo(
            f"Elo difference {series.names[0]} - {series.names[1]}: "
            f"{signed(found.value)} {interval(found.low, found.high)} (95 %)"
        )
    if show_seed:
        note(f"The same dice again: --seed {series.seed}")


def _percent(score: Interval | None) -> list[str]:
    if score is None:
        return ["-", "-"]
    low, high = 100 * score.low, 100 * score.high
    return [f"{100 * score.value:.1f} %", f"[{low:.1f}, {high:.1f}]"]


def _mean(mean: Interval | None) -> list[str]:
    if mean is None:
        return ["-", "-"]
    return [signed(mean.value, 3), interval(mean.low, mean.high, 3)]


def elo_interval(score: Interval) -> Interval:
    """The score and its bounds as Elo differences."""
    return Interval(elo(score.value), elo(score.low), elo(score.high))


def _show_faults(series: Series, faults: list[MatchResult], games: int) -> None:
    """Say which bots failed, and how the first one did."""
    first = faults[0]
    who = (
        series.names[first.bots[first.culprit]]
        if first.culprit is not None and first.termination not in VOID
        else "nobody in particular"
    )
    reason = f": {first.reason}" if first.reason else ""
    note(
        f"plyhouse: {len(faults)} of {counted(games, 'game')} could not be played as they should; "
        f"the first ended by {first.termination.replace('_', ' ')} of {who}{reason}"
    )


def _document(series: Series, results: list[MatchResult], accounts: list[Tally]) -> dict[str, Any]:
    """The result for scripts; numbers that are not finite are null."""
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
        document["elo_difference"] = _numbers(elo_interval(accounts[0].score))
    return document


def _numbers(found: Interval | None) -> dict[str, float | None] | None:
    if found is None:
        return None
    pairs = {"value": found.value, "low": found.low, "high": found.high}
    return {name: value if math.isfinite(value) else None for name, value in pairs.items()}
