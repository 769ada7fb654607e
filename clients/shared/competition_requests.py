"""Functions for the commands that use the API of competitions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from plyhouse.clients.shared.errors import EXIT_REFUSED, EXIT_USAGE, CommandError

if TYPE_CHECKING:
    from plyhouse.protocol.api.calls import Call
    from plyhouse.protocol.api.competitions import Competition

__all__ = ["confirm", "needed", "practice_ladder", "read_text", "request", "why_text"]

T = TypeVar("T")


def request(server: str, token: str | None, call: Call[T]) -> T:
    """Make a call that needs a token, which is checked here first."""
    from plyhouse.clients.shared.http import ask

    return ask(server, call, needed(token))


def needed(token: str | None) -> str:
    """The token; or what to do without one."""
    if not token:
        raise CommandError(
            "There is no token: run `plyhouse login`, or set PLYHOUSE_TOKEN. `plyhouse admin "
            "player add NAME --scope play --scope organise` makes one for an organiser.",
            EXIT_REFUSED,
        )
    return token


def why_text(why: str) -> str:
    """A reason where the API wants one."""
    return why or "by the command line"


def read_text(file: Path) -> str:
    """The text of a file, in UTF-8."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{file} is not in UTF-8 (byte {error.start + 1}): save it as UTF-8.", EXIT_USAGE
        ) from error


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be taken back, unless ``yes`` answers beforehand.

    Raises `CommandError` where nobody can answer, and `click.Abort` for a no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError(
            f"{question} Nobody can answer here, so nothing was done: give --yes.", EXIT_USAGE
        )
    click.confirm(question, abort=True, err=True)


def practice_ladder(server: str, name: str) -> Competition | None:
    """The practice ladder of a competition, as the list of competitions has it; None without."""
    from plyhouse.clients.shared.http import ask
    from plyhouse.protocol.api import competition_calls

    listed = ask(server, competition_calls.competitions())
    ids = [
        each.competition
        for each in listed
        if each.competition == name or each.name.casefold() == name.casefold()
    ]
    return next((each for each in listed if each.practice_of in ids), None)
