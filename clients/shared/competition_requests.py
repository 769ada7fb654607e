"""Functions for the commands that use the API of competitions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import required_token
from plyhouse.protocol.text import decoded

if TYPE_CHECKING:
    from plyhouse.protocol.api.competitions import Competition
    from plyhouse.protocol.api.routes import Call

T = TypeVar("T")


def request(server: str, token: str | None, call: Call[T]) -> T:
    """Make a call that needs a token; raise `CommandError` if there is none."""
    from plyhouse.clients.shared.http import ask

    return ask(server, call, organiser_token(server, token))


def organiser_token(server: str, token: str | None) -> str:
    """Return the token; raise `CommandError` if there is none."""
    return required_token(
        server,
        token,
        "`plyhouse admin player add NAME --scope play --scope organise` makes one for an "
        "organiser.",
    )


def why_text(why: str) -> str:
    """Return the reason to send; a default if the user gave none."""
    return why or "by the command line"


def read_text(file: Path) -> str:
    """Return the text of a file, see `decoded`; raise `CommandError` for another encoding."""
    try:
        return decoded(file.read_bytes())
    except ValueError as error:
        raise CommandError(f"{file} cannot be read: {error}.", EXIT_USAGE) from error


def confirm(question: str, *, yes: bool) -> None:
    """Ask the user to confirm an irreversible action, unless ``yes`` is set.

    Raises `CommandError` if there is no terminal, and `click.Abort` if the user declines.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError(
            f"{question} Nobody can answer here, so nothing was done: give --yes.", EXIT_USAGE
        )
    click.confirm(question, abort=True, err=True)


def practice_ladder(server: str, name: str) -> Competition | None:
    """Return the practice ladder of a competition; None if it has none."""
    from plyhouse.clients.shared.http import ask
    from plyhouse.protocol.api import competition_calls

    listed = ask(server, competition_calls.competitions())
    ids = [
        each.competition
        for each in listed
        if each.competition == name or each.name.casefold() == name.casefold()
    ]
    return next((each for each in listed if each.practice_of in ids), None)
