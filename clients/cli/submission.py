"""``plyhouse submission``: the bots that you submitted to a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from plyhouse.clients.cli.submission_logs import logs
from plyhouse.clients.cli.submit import player_token, show
from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import json_option, server_option, token_option
from plyhouse.clients.shared.output import note, print_json, print_table
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.submissions import OpenToPlay, Submission

__all__ = ["submission"]


@click.group(cls=HintingGroup)
def submission() -> None:
    """Look after the bots you submitted.

    A submission goes by its number, which `plyhouse submit` and `list` show.
    """


@submission.command("list")
@click.option("--bot", default="", metavar="NAME", help="Only submissions of this bot.")
@server_option()
@token_option()
@json_option()
def list_submissions(bot: str, server: str, token: str | None, as_json: bool) -> None:
    """List your submissions."""
    from plyhouse.clients.shared.http import ask

    _print(ask(server, calls.submissions(bot), player_token(server, token)), as_json)


@submission.command("show")
@click.argument("number", type=int)
@server_option()
@token_option()
@json_option()
def show_submission(number: int, server: str, token: str | None, as_json: bool) -> None:
    """Show one submission with the report of its check."""
    from plyhouse.clients.shared.http import ask

    found = ask(server, calls.submission(number), player_token(server, token))
    if as_json:
        print_json(found)
        return
    _print([found], False)
    show(found, False)


submission.add_command(logs)


@submission.command()
@click.argument("number", type=int)
@server_option()
@token_option()
def remove(number: int, server: str, token: str | None) -> None:
    """Remove a submission that plays nowhere."""
    from plyhouse.clients.shared.http import ask

    ask(server, calls.remove_submission(number), player_token(server, token))
    note(f"Submission {number} is removed.")


@submission.command("open")
@click.argument("number", type=int)
@server_option()
@token_option()
@json_option()
def open_to_people(number: int, server: str, token: str | None, as_json: bool) -> None:
    """Let people play against the bot of a submission.

    They play against the latest submission of the bot that is ready. `close` ends it.
    """
    _play(number, server, token, as_json, play=True)


@submission.command("close")
@click.argument("number", type=int)
@server_option()
@token_option()
@json_option()
def close_to_people(number: int, server: str, token: str | None, as_json: bool) -> None:
    """Stop people from playing against the bot of a submission."""
    _play(number, server, token, as_json, play=False)


def _play(number: int, server: str, token: str | None, as_json: bool, *, play: bool) -> None:
    from plyhouse.clients.shared.http import ask

    key = player_token(server, token)
    found = ask(server, calls.submission(number), key)
    owner, _, name = found.bot.partition("/")
    opened = ask(server, calls.open_bot(owner, name, OpenToPlay(play)), key)
    whether = "can" if play else "can no longer"
    note(f"People {whether} play against {found.bot}.")
    if as_json:
        print_json(replace(found, open=opened.open))


def _print(rows: Sequence[Submission], as_json: bool) -> None:
    from plyhouse.clients.cli.administration import minute

    if as_json:
        print_json(rows)
        return
    if not rows:
        note("No submissions yet: plyhouse submit mybot.py")
        return
    cells = [
        [
            str(each.submission),
            each.bot,
            each.version or "-",
            each.digest[:12],
            each.status,
            ", ".join(each.games) or "-",
            minute(each.submitted_ms),
            ", ".join(one.competition for one in each.competitions if one.outcome == "entered")
            or "-",
        ]
        for each in rows
    ]
    columns = ["id", "bot", "version", "digest", "state", "games", "submitted (UTC)", "entered in"]
    print_table("Submissions", columns, cells, "rlllllll")
