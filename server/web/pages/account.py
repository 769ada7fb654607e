"""Signing in and up, and what people do with their account; the web client does the work."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, get
from litestar.datastructures import State

from plyhouse.server.accounts.passwords import LONGEST, SHORTEST
from plyhouse.server.config import ServerConfig
from plyhouse.server.web.pages.rendering import page
from plyhouse.server.web.parameters import service

__all__ = ["HANDLERS"]


@get("/account", include_in_schema=False)
async def account(state: State) -> Response[str]:
    """Show the forms to sign in and up, and the account of who is signed in."""
    config = service(state, ServerConfig)
    return page(
        "account.html",
        registration=config.registration == "open",
        guests=config.takes_guests,
        shortest=SHORTEST,
        longest=LONGEST,
    )


HANDLERS: Final[tuple[Any, ...]] = (account,)
