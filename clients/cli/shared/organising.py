"""What commands share that ask the API of competitions with a class."""

from __future__ import annotations

from typing import Any

from plyhouse.clients.cli.shared.errors import EXIT_REFUSED, CommandError

__all__ = ["needed", "request", "why_text"]


def request(
    server: str, token: str | None, method: str, *parts: str, body: Any = None, query: str = ""
) -> Any:
    """Ask the API of classes on a server; the token is checked here first."""
    from plyhouse.clients.cli.shared.http import call, path

    return call(server, method, path("class", *parts) + query, body, needed(token))


def needed(token: str | None) -> str:
    """The token; or what to do without one."""
    if not token:
        raise CommandError(
            "There is no token: set PLYHOUSE_TOKEN, or give --token; "
            "`plyhouse player add NAME --scope play --scope organise` makes one for an organiser.",
            EXIT_REFUSED,
        )
    return token


def why_text(why: str) -> str:
    """A reason where the API wants one."""
    return why or "by the command line"
