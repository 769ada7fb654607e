"""``plyhouse competition announce`` and ``regrade``: messages between class and staff."""

from __future__ import annotations

import click

from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import Server, competition_argument, json_option, on_server
from plyhouse.clients.shared.output import harmless, minute, note, print_json
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.competitions import Regrade


@click.command()
@competition_argument("text", "TEXT")
@on_server
def announce(name: str, text: str, server: Server) -> None:
    """Publish an announcement on the competition's page.

    Everybody who may see the board reads it there and with `competition announcements`.
    """
    made = server.request(competition_calls.announce(name, text))
    note(f"Published announcement {made.id}.")


@click.command()
@competition_argument()
@click.option("--remove", type=int, metavar="NUMBER", help="Remove this announcement.")
@on_server
@json_option()
def announcements(name: str, remove: int | None, server: Server, as_json: bool) -> None:
    """Show the announcements, newest first."""
    if remove is not None:
        server.request(competition_calls.remove_announcement(name, remove))
        note(f"Removed announcement {remove}.")
        return
    found = server.ask(competition_calls.announcements(name))
    if as_json:
        print_json(found)
        return
    for each in found:
        click.echo(f"{each.id}  {minute(each.at_ms)}, {each.who}:")
        click.echo("\n".join(f"    {harmless(line)}" for line in each.text.splitlines()))
    if not found:
        note(f"{name} has no announcements.")


@click.group(cls=HintingGroup)
def regrade() -> None:
    """Ask for a regrade, and answer such requests.

    A student asks with its own token, and sees its own requests. The staff sees all of them.
    """


@regrade.command("list")
@competition_argument()
@on_server
@json_option()
def list_requests(name: str, server: Server, as_json: bool) -> None:
    """List the requests in NAME, open ones first."""
    found = server.request(competition_calls.regrades(name))
    if as_json:
        print_json(found)
        return
    for each in found:
        _show(each)
    if not found:
        note(f"Nobody has asked for a regrade in {name}.")


def _show(each: Regrade) -> None:
    state = "open" if each.closed_ms is None else "closed"
    about = f"match {each.match}" if each.match else "the grade"
    asked = minute(each.asked_ms)
    click.echo(f"{each.id}  {state}, {each.student} about {about}, {asked}:")
    click.echo(_indented(each.text))
    if each.answer and each.answered_ms is not None:
        click.echo(f"    {each.answered_by} answered, {minute(each.answered_ms)}:")
        click.echo(_indented(each.answer, 8))


def _indented(text: str, by: int = 4) -> str:
    return "\n".join(" " * by + harmless(line) for line in text.splitlines())


@regrade.command()
@competition_argument("text", "TEXT")
@click.option("--match", default="", metavar="ID", help="A match of yours.  [default: your grade]")
@on_server
def ask(name: str, text: str, match: str, server: Server) -> None:
    """Ask the staff to check a grade or a match again."""
    made = server.request(competition_calls.ask_regrade(name, text, match=match))
    note(f"Asked: request {made.id}. The answer: plyhouse competition regrade list {name!r}")


@regrade.command()
@competition_argument("number", "NUMBER")
@click.option("--text", default="", help="The answer; it replaces an earlier one.")
@click.option("--close", is_flag=True, help="Close the request.")
@on_server
def answer(name: str, number: str, text: str, close: bool, server: Server) -> None:
    """Answer or close a request for a regrade."""
    if not text and not close:
        raise click.UsageError("Nothing to do: give --text, --close, or both.")
    made = server.request(competition_calls.answer_regrade(name, int(number), text, close=close))
    note(f"Request {made.id} of {made.student} is "
         f"{'open' if made.closed_ms is None else 'closed'}.")  # fmt: skip
