"""``plyhouse check``: whether a bot keeps to the protocol, before it may play rated matches."""

from __future__ import annotations

import asyncio
import json

import click

from plyhouse.clients.cli.shared.errors import EXIT_FAILED, EXIT_OK
from plyhouse.clients.cli.shared.options import game_option, json_option
from plyhouse.clients.cli.shared.output import note

__all__ = ["check"]


@click.command()
@click.argument("bot", metavar="BOT")
@game_option(multiple=True, required=False)
@json_option()
def check(bot: str, games: tuple[str, ...], as_json: bool) -> int:
    """Check BOT before it may play rated matches.

    Plays every game that it claims (or those given with --game) against scripted opponents,
    over a connection that misbehaves: frames that come twice, unknown fields, a line that
    breaks in the middle of a match, a short clock. Each check is listed with what would be
    right. Ends with exit code 1 if one fails.
    """
    from plyhouse.bots.loading import check_spec
    from plyhouse.clients.cli.checking.examination import Finding, check_bot

    def tell(done: Finding) -> None:
        if not as_json:
            mark = "ok      " if done.passed else "FAILED  "
            click.echo(f"{mark}{done.name}" + (f": {done.explanation}" if done.explanation else ""))

    checks = asyncio.run(check_bot(check_spec(bot), games or None, on_finding=tell, on_output=note))
    failed = sum(not done.passed for done in checks)
    if as_json:
        fields = [
            {"name": done.name, "passed": done.passed, "explanation": done.explanation}
            for done in checks
        ]
        click.echo(json.dumps({"bot": bot, "passed": failed == 0, "checks": fields}, indent=2))
    elif failed:
        click.echo(f"{failed} of {len(checks)} checks failed.")
    else:
        click.echo(f"All {len(checks)} checks passed: {bot} is fit to play.")
    return EXIT_FAILED if failed else EXIT_OK
