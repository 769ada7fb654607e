"""``plyhouse match``: a series of matches between bots on this machine, and what it says."""

from __future__ import annotations

import json
import math
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
import msgspec
from click.core import ParameterSource

from plyhouse.clients.arena.bot_labels import contest_labels
from plyhouse.clients.arena.series_report import series_document, show_faults, show_series
from plyhouse.clients.arena.tally import MatchResult, tally
from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import (
    game_option,
    json_option,
    number_option,
    time_control_option,
)
from plyhouse.clients.shared.output import counted, note
from plyhouse.protocol.messages import VOID
from plyhouse.server.match.terminations import FORFEITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from plyhouse.clients.arena.pairing_log import SeriesPaths
    from plyhouse.clients.arena.series import PlayedPairing, Series
    from plyhouse.clients.arena.sprt_trial import Trial, Unit
    from plyhouse.games.base import Game

CommandT = TypeVar("CommandT", bound="Callable[..., Any]")

FAULTS = VOID | FORFEITS
"""Terminations that mean that a match was not played as it should have been: a bot is broken, or
the rules are."""

ONLY_SPRT = {
    "base": "--base",
    "max_pairs": "--max-pairs",
    "alpha": "--alpha",
    "beta": "--beta",
    "unit": "--sprt-unit",
}
"""Options that mean nothing without hypotheses."""


def _limits(_: click.Context, __: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """``0,10`` as two numbers."""
    if value is None:
        return None
    try:
        low, high = (float(part) for part in value.split(","))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high)):
        raise CommandError(
            f"--sprt takes two numbers, H0 and H1, as in --sprt 0,10; not {value!r}.", EXIT_USAGE
        )
    return low, high


def _error_option(name: str, told: str) -> Callable[[CommandT], CommandT]:
    return click.option(
        name,
        type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
        default=0.05,
        show_default=True,
        help=f"With --sprt: how often {told}.",
    )


SPRT_OPTIONS: Final = (
    click.option(
        "--sprt",
        "limits",
        metavar="H0,H1",
        callback=_limits,
        help="Stop when it is clear whether the first bot is better than the last by H1 rather "
        "than by H0. Both are in Elo, such as 0,10, or in returns if these are points.",
    ),
    click.option(
        "--base",
        metavar="BOT",
        help="With --sprt: all other bots are candidates, each tested against this one.",
    ),
    number_option(
        "--max-pairs",
        10_000,
        "With --sprt: give up, undecided, after so many pairs of a candidate.",
        1,
        1_000_000,
    ),
    _error_option("--alpha", "H1 may be accepted, of any candidate, though H0 is true"),
    _error_option("--beta", "H0 may be accepted though H1 is true"),
    click.option(
        "--sprt-unit",
        "unit",
        type=click.Choice(["elo", "utility"]),
        help="With --sprt: what H0 and H1 are.  [default: as the game is rated]",
    ),
)


def _sprt_options(command: CommandT) -> CommandT:
    """Add the options of a test of hypotheses."""
    for option in reversed(SPRT_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@game_option(required=False)
@click.option(
    "--games",
    "count",
    type=click.IntRange(1, 1_000_000),
    default=10,
    show_default=True,
    help="Matches to play; rounded up to whole mirrored pairings.",
)
@time_control_option()
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    help="Processes that play in parallel.  [default: enough for all cores]",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    help="Makes chance and `turn.rng` the same again.  [default: a new one, and shown]",
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
    help="Open every pairing with this number of random plies, the same from every seat. Bots "
    "without chance of their own then play different games.  [default: 0, or up to 4 with --sprt "
    "in games without chance]",
)
@click.option(
    "--sandbox",
    is_flag=True,
    help="Run the bots in the sandbox of a server, as if they had been submitted.",
)
@click.option(
    "--illegal-rule",
    type=click.Choice(["forfeit", "retry"]),
    default="forfeit",
    show_default=True,
    help="Penalty of an illegal action.",
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
@click.option(
    "--resume",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Keep every pairing that ends in this file; what is in it is not played again. For a run "
    "that may be interrupted.",
)
@_sprt_options
@json_option()
@click.pass_context
def match(
    context: click.Context,
    bots: tuple[str, ...],
    game: str | None,
    count: int,
    time_control: str,
    jobs: int | None,
    seed: int | None,
    mirrored: bool,
    opening_plies: int | None,
    sandbox: bool,
    illegal_rule: str,
    save: Path | None,
    log_folder: Path | None,
    resume: Path | None,
    limits: tuple[float, float] | None,
    base: str | None,
    max_pairs: int,
    alpha: float,
    beta: float,
    unit: Unit | None,
    as_json: bool,
) -> int:
    """Let bots play many games here, without a server.

    The result has an interval that shows how sure it is.

    BOT is a file (mybot.py, mybot.py:MyBot) or the name of an installed bot (random). It may also
    be a folder with plyhouse.toml, as `plyhouse submit` takes it. A program in any language that
    speaks the protocol as lines of JSON is written as "cmd:./mybot".

    The referee is that of the server: the same rules, clocks and ends. A game has one bot per seat,
    or in games of teams one per team: of two bots in bridge, each plays with itself as its partner.
    Without --game they play the game that all bots claim.

    With --sprt the number of games is not fixed: `plyhouse match new.py old.py --sprt 0,10` stops
    as soon as it is clear who is better, and `plyhouse match a.py b.py --base old.py --sprt 0,10`
    tests several candidates with one error budget.

    Ends with exit code 1 if a bot crashed, broke the rules, or a match could not be played, and if
    --sprt gave a candidate up because its games repeat. A loss on time is a loss as others, unless
    no match ends otherwise.
    """
    from plyhouse.bots.loading import check_spec
    from plyhouse.clients.arena.pairing_log import SeriesPaths, stored_seed
    from plyhouse.clients.arena.series import Series, default_jobs
    from plyhouse.games.registry import get_game
    from plyhouse.server.match.time_control import TimeControl
    from plyhouse.server.results.scoring import teams_of

    if game is None:
        from plyhouse.clients.shared.games import common_game

        game = common_game((*bots, base) if base else bots, "with --game")
    rules = get_game(game, files=True)
    if limits is None:
        _refuse_stray(
            context, ONLY_SPRT, "goes with --sprt: name two hypotheses, as in --sprt 0,10"
        )
        contest = [bots]
        teams = len(set(teams_of(rules)))
        if len(bots) not in (rules.seats, teams):
            each = f", or {teams} that play a team each" if 1 < teams < rules.seats else ""
            raise CommandError(
                f"{counted(rules.seats, 'seat')} in {rules.spec}: "
                f"name {counted(rules.seats, 'bot')}{each}; not {len(bots)}.",
                EXIT_USAGE,
            )
    else:
        from plyhouse.clients.arena.sprt_report import opponents

        _refuse_stray(
            context, {"count": "--games"}, "is for a fixed number; --sprt has --max-pairs"
        )
        contest = opponents(bots, base, rules, mirrored=mirrored)
    if log_folder is not None:
        try:
            log_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or "cannot be made").lower()
            raise CommandError(f"{log_folder}: {reason}.", EXIT_USAGE) from error
    if opening_plies is None and limits is not None:
        from plyhouse.clients.arena.sprt_trial import random_plies

        opening_plies = random_plies(rules)
    known_seed = seed
    if known_seed is None and resume is not None:
        known_seed = stored_seed(resume)
    first = Series(
        bots=(),
        names=(),
        game=rules.spec,
        time_control=str(TimeControl.parse(time_control)),
        illegal_rule=illegal_rule,
        mirrored=mirrored,
        seed=secrets.randbits(32) if known_seed is None else known_seed,
        records=save is not None,
        log_folder="" if log_folder is None else str(log_folder),
        opening_plies=opening_plies or 0,
        sides=() if len(contest[0]) == rules.seats else teams_of(rules),
    )
    labels = contest_labels(contest)
    all_series = [
        msgspec.structs.replace(
            first,
            bots=tuple(map(check_spec, who)),
            names=names,
            boxed=who if sandbox else (),
        )
        for who, names in zip(contest, labels, strict=True)
    ]
    jobs = jobs or default_jobs(len(contest[0]), mirrored)
    files = SeriesPaths(save, resume)
    if limits is not None:
        from plyhouse.clients.arena.sprt_trial import Trial, unit_of

        trial = Trial(
            all_series,
            rules,
            limits,
            unit=unit or unit_of(rules),
            alpha=alpha,
            beta=beta,
            max_pairs=max_pairs,
        )
        return _test(trial, jobs, files, as_json=as_json, show_seed=known_seed is None)
    (series,) = all_series
    per_pairing = len(series.bots) if mirrored else 1
    pairings = -(-count // per_pairing)
    if pairings * per_pairing != count:
        note(f"Playing {pairings * per_pairing} games, so that every bot has every seat equally.")
    results = _play(series, rules, pairings, jobs, files)
    return _finish(series, rules, results, as_json=as_json, show_seed=known_seed is None)


def _test(trial: Trial, jobs: int, files: SeriesPaths, *, as_json: bool, show_seed: bool) -> int:
    """Play until the hypotheses are decided, show the result, and return the exit code."""
    from plyhouse.clients.arena.sprt_report import (
        interrupted,
        run_trial,
        show_trial,
        trial_document,
    )

    finished = run_trial(trial, jobs, files)
    if as_json:
        click.echo(json.dumps(trial_document(trial), indent=2))
    else:
        show_trial(trial, show_seed=show_seed)
    candidates = range(len(trial.contest))
    faults = [
        (trial.contest[candidate], fault)
        for candidate in candidates
        for fault in _faults(trial.results(candidate))
    ]
    games = sum(len(trial.results(candidate)) for candidate in candidates)
    if faults:
        show_faults(*faults[0], len(faults), games)
    if not finished:
        return interrupted(trial, files)
    if any(trial.repeats(candidate) for candidate in candidates):
        return EXIT_FAILED
    return EXIT_FAILED if faults else EXIT_OK


def _finish(
    series: Series, rules: Game, results: list[MatchResult], *, as_json: bool, show_seed: bool
) -> int:
    """Show the results of a series, and return the exit code."""
    from plyhouse.server.results.scoring import teams_of

    teams = () if series.sides else teams_of(rules)
    accounts = tally(results, len(series.bots), rules.return_bounds, teams)
    if as_json:
        click.echo(json.dumps(series_document(series, results, accounts), indent=2))
    else:
        show_series(series, results, accounts, show_seed=show_seed)
    if failed := _faults(results):
        show_faults(series, failed[0], len(failed), len(results))
        return EXIT_FAILED
    return EXIT_OK


def _faults(results: list[MatchResult]) -> list[MatchResult]:
    """Return the matches that were not played as they should.

    A flag that fell is a loss as others, unless no match ended otherwise: a bot that never plays is
    broken, or the clock is too short for it.
    """
    failed = [result for result in results if result.termination in FAULTS]
    if len(failed) < len(results):
        return [result for result in failed if result.termination != "flag_fall"]
    return failed


def _refuse_stray(context: click.Context, options: dict[str, str], why: str) -> None:
    """Raise `CommandError` if one of these options was given."""
    for parameter, option in options.items():
        if context.get_parameter_source(parameter) is ParameterSource.COMMANDLINE:
            raise CommandError(f"{option} {why}.", EXIT_USAGE)


def _play(
    series: Series, game: Game, pairings: int, jobs: int, files: SeriesPaths
) -> list[MatchResult]:
    """Play what has not been played yet; results in the order of the pairings."""
    from plyhouse.clients.arena.pairing_log import kept, run
    from plyhouse.clients.arena.progress import Score, watched
    from plyhouse.clients.arena.series import play_series

    conditions = None
    if files.resume is not None:
        from plyhouse.clients.arena.sprt_report import conditions_of

        conditions = conditions_of([series], game, None)
    with kept(files, conditions) as keeper:
        finished = {line.index: line.results for line in keeper.played if line.index < pairings}
        if finished:
            note(f"Going on after {counted(len(finished), 'pairing')} of {files.resume}.")
        score = Score(series.names)
        for results in finished.values():
            score.add(results)
        with watched(pairings, score, done=len(finished)) as progress:

            def on_played(index: int, played: PlayedPairing) -> None:
                finished[index] = played.results
                keeper.add(0, index, played)
                progress.advance(played.results)

            left = [index for index in range(pairings) if index not in finished]
            try:
                run(play_series(series, left, min(jobs, len(left)), on_played, progress.say))
            except KeyboardInterrupt:
                if files.resume is not None:
                    note(
                        f"{len(finished)} of {counted(pairings, 'pairing')} are kept: the same "
                        f"command with --resume {files.resume} goes on."
                    )
                raise
    return [result for index in sorted(finished) for result in finished[index]]
