"""``plyhouse check``: whether a bot keeps to the protocol, before it may play rated matches."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import click

from plyhouse.clients.cli.shared.errors import EXIT_FAILED, EXIT_OK
from plyhouse.clients.cli.shared.options import game_option, json_option
from plyhouse.clients.cli.shared.output import note

__all__ = ["check"]


@click.command()
@click.argument("bot", metavar="BOT")
@game_option(multiple=True, required=False)
@click.option(
    "--sandbox",
    is_flag=True,
    help="Run it where a server would run it: confined, on one processor (docs/hosted-bots.md). "
    "BOT may then also be a submission: a folder or a zip.",
)
@click.option(
    "--tier",
    type=click.Choice(["landlock", "bubblewrap", "rlimits"]),
    help="Take this sandbox; else the first that works of landlock and bubblewrap.",
)
@click.option("--packages", default="numpy,scipy", hidden=True, help="What may be required.")
@click.option("--programs", default="node", hidden=True, help="What a package may be run by.")
@json_option()
def check(
    bot: str,
    games: tuple[str, ...],
    sandbox: bool,
    tier: str | None,
    packages: str,
    programs: str,
    as_json: bool,
) -> int:
    """Check BOT before it may play rated matches.

    Plays every game that it claims (or those given with --game) against scripted opponents,
    over a connection that misbehaves: frames that come twice, unknown fields, a line that
    breaks in the middle of a match, a short clock. Each check is listed with what would be
    right. Ends with exit code 1 if one fails.
    """
    from plyhouse.clients.cli.checking.examination import Finding
    from plyhouse.clients.cli.checking.sandboxes import check_bot_or_submission
    from plyhouse.protocol.package import Rules

    if tier is not None and not sandbox:
        raise click.UsageError("--tier goes with --sandbox")

    shown = _one_place()  # then what the bot says has been shown when the finding comes

    def tell(done: Finding) -> None:
        if not as_json:
            mark = "ok      " if done.passed else "FAILED  "
            click.echo(f"{mark}{done.name}" + (f": {done.explanation}" if done.explanation else ""))
            if done.said and not shown:
                click.echo(done.said)

    played: list[str] = []
    checks = asyncio.run(
        check_bot_or_submission(
            *(bot, games or None),
            sandbox=sandbox,
            tier=tier,
            on_finding=tell,
            on_output=note,
            on_games=played.extend,
            rules=Rules(packages=_listed(packages), runtimes=_listed(programs)),
        )
    )
    failed = sum(not done.passed for done in checks)
    if as_json:
        fields = [
            {
                "name": done.name,
                "passed": done.passed,
                "explanation": "\n".join(filter(None, [done.explanation, done.said])),
            }
            for done in checks
        ]
        found = {"bot": bot, "passed": failed == 0, "games": played, "checks": fields}
        click.echo(json.dumps(found, indent=2))
    elif failed:
        click.echo(f"{failed} of {len(checks)} checks failed.")
    else:
        click.echo(f"All {len(checks)} checks passed: {bot} is fit to play.")
    return EXIT_FAILED if failed else EXIT_OK


def _listed(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, text.split(","))))


def _one_place() -> bool:
    """Whether standard output and standard error go to the same terminal, file or pipe."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):
        return False
