"""Single calls of a server by the client of the HTTP API, for commands.

A command asks once: a person decides whether to try again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from plyhouse.clients.api.client import Api
from plyhouse.clients.api.session import Patience
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.routes import Call

T = TypeVar("T")

ONCE = Patience(attempts=1)


def ask(server: str, what: Call[T], token: str | None = None, *, cookie: str | None = None) -> T:
    """Make a call and return its answer; raises `ApiError` and `Unreachable`.

    ``cookie`` is that of a session instead of a token, from `guest_cookie`.
    """
    with Api(server, token or "", cookie=cookie, patience=ONCE) as api:
        return api.do(what)


def guest_cookie(server: str) -> tuple[str, str]:
    """Come in as a guest: its name, and the cookie of its session.

    Raises `Unreachable`, and `ApiError` where no guests are taken.
    """
    with Api(server, "", cookie="", patience=ONCE) as api:
        return api.do(calls.enter_as_guest()).player, api.cookie


def download(server: str, what: Call[bytes], token: str | None, folder: Path) -> Path:
    """Fetch a file into a folder, by the name that the server gives it; returns where it is.

    It is there as a whole or not at all.  Raises what `ask` does.
    """
    with Api(server, token or "", patience=ONCE) as api:
        return api.download(what, folder)
