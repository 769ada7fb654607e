"""``plyhouse bot check``: whether a bot keeps to the protocol, before it may play rated matches."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK, CommandError
from plyhouse.clients.shared.options import game_option, json_option, time_control_option
from plyhouse.clients.shared.output import counted, note

F = TypeVar("F", bound=Callable[..., Any])

MARKS = {(True, False): "ok      ", (True, True): "WARNING ", (False, False): "FAILED  "}


def _offered_option(name: str, default: str, text: str) -> Callable[[F], F]:
    """Something that a server offers to packages."""
    return click.option(
        name,
        default=default,
        show_default=True,
        metavar="NAMES",
        help=f"With --sandbox: {text}, as the server offers them. With commas; * for all.",
    )


@click.command()
@click.argument("bot", metavar="BOT")
@game_option(multiple=True, required=False)
@click.option(
    "--sandbox",
    is_flag=True,
    help="Run it where a server would run it: confined, on one processor (docs/hosted-bots.md). "
    "BOT may then also be a zip.",
)
@click.option(
    "--tier",
    type=click.Choice(["landlock", "bubblewrap", "rlimits"]),
    help="Take this sandbox; else the first that works of landlock and bubblewrap.",
)
@time_control_option("total:60+1")
@click.option(
    "--terms",
    multiple=True,
    hidden=True,
    help="A game of a competition with its time control, like pig@move:1.",
)
@click.option("--must-play", is_flag=True, hidden=True, help="Refuse it unless it plays all those.")
@click.option("--flags-count", is_flag=True, hidden=True, help="Count flags on a busy machine.")
@click.option("--core", type=int, hidden=True, help="The processor that it thinks on.")
@_offered_option("--packages", "numpy,scipy", "Packages that requirements.txt may name")
@_offered_option("--programs", "node", "Programs of the machine that run may begin with")
@json_option()
def check(
    bot: str,
    games: tuple[str, ...],
    sandbox: bool,
    tier: str | None,
    time_control: str,
    terms: tuple[str, ...],
    must_play: bool,
    flags_count: bool,
    core: int | None,
    packages: str,
    programs: str,
    as_json: bool,
) -> int:
    """Check a bot before it may play rated matches.

    Plays every game that it claims (or those given with --game) against scripted opponents. The
    connection misbehaves: it repeats frames, adds unknown fields, and breaks in the middle of a
    match. Each check is listed with what would be right. Ends with exit code 1 if one fails. To
    lose on time fails a check at --time-control only, and is a warning at shorter ones. No match
    lasts much longer than a minute, and the check two minutes at most.
    """
    from plyhouse.clients.bot_check.examination import Finding
    from plyhouse.clients.bot_check.matches import MachineBusyError
    from plyhouse.clients.bot_check.sandbox_check import check_bot_or_submission
    from plyhouse.clients.bot_check.time_controls import read_terms
    from plyhouse.protocol.hosting.package import Rules
    from plyhouse.server.match.time_control import InvalidTimeControl, TimeControl

    if tier is not None and not sandbox:
        raise click.UsageError("--tier goes with --sandbox")

    shown = _one_place()  # then what the bot says has been shown when the finding comes

    def tell(done: Finding) -> None:
        if not as_json:
            mark = MARKS[done.passed, done.warning]
            click.echo(f"{mark}{done.name}" + (f": {done.explanation}" if done.explanation else ""))
            if done.said and not shown:
                click.echo(done.said)

    claimed: list[str] = []
    played: list[str] = []

    def on_games(claims: Sequence[str], checked: Sequence[str]) -> None:
        claimed.extend(claims)
        played.extend(checked)

    try:
        checks = asyncio.run(
            check_bot_or_submission(
                bot=bot,
                games=games or None,
                sandbox=sandbox,
                tier=tier,
                on_finding=tell,
                on_output=note,
                on_games=on_games,
                rules=Rules(packages=_listed(packages), runtimes=_listed(programs)),
                terms=read_terms(terms, must_play=must_play, flags_count=flags_count),
                default=TimeControl.parse(time_control),
                core=core,
            )
        )
    except InvalidTimeControl as error:
        raise click.UsageError(str(error)) from None
    except MachineBusyError as error:
        if as_json:
            click.echo(json.dumps({"bot": bot, "busy": str(error)}))
            return EXIT_FAILED
        raise CommandError(str(error), EXIT_FAILED) from None
    failed = sum(not done.passed for done in checks)
    warned = sum(done.warning for done in checks)
    warnings = f", with {counted(warned, 'warning')}" if warned else ""
    if as_json:
        fields = [
            {
                "name": done.name,
                "passed": done.passed,
                "warning": done.warning,
                "explanation": "\n".join(filter(None, [done.explanation, done.said])),
            }
            for done in checks
        ]
        found = {"bot": bot, "passed": failed == 0, "games": claimed, "checked": played,
                 "checks": fields}  # fmt: skip
        click.echo(json.dumps(found, indent=2))
    elif failed:
        click.echo(f"{failed} of {len(checks)} checks failed{warnings}.")
    else:
        at = "" if terms else f" at {time_control}"
        click.echo(f"All {len(checks)} checks passed{warnings}: {bot} is fit to play{at}.")
    return EXIT_FAILED if failed else EXIT_OK


def _listed(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, text.split(","))))


def _one_place() -> bool:
    """Return whether standard output and standard error go to the same terminal, file or pipe."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):
        return False
