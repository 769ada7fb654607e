"""Headers that every answer has, also one that no handler made: errors, redirects, files."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Final

from plyhouse.server.wire.websocket import Send

PERSONAL: Final = "plyhouse.personal"
"""Key in a request's scope that says: the answer depends on who asks."""
PERSONAL_HEADERS: Final = ((b"cache-control", b"no-store"), (b"vary", b"Cookie, Authorization"))
"""Sent with such answers, also to strangers: no cache may keep one for somebody else."""


def policy(embedders: Sequence[str] = (), *, form: bool = False) -> str:
    """The content security policy of a page that these sites may show in a frame.

    Scripts, styles, pictures and connections are only from and to this server; 'self' covers its
    websocket.  So is what a ``form`` asks for, where the page has one that works without a script.
    """
    forms = "'self'" if form else "'none'"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        f"connect-src 'self'; base-uri 'none'; form-action {forms}; frame-ancestors "
        + (" ".join(embedders) or "'none'")
    )


SAFETY_HEADERS: Final = (
    (b"content-security-policy", policy().encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
)
"""Sent with every answer; no page needs more than this."""


def with_safety(scope: Mapping[str, Any], send: Send) -> Send:
    """Wrap an ASGI ``send`` so that answers have the headers that they need.

    ``scope`` is that of the request, in which handlers note `PERSONAL`.
    """

    async def safely(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            there = {name.lower() for name, _ in headers}
            headers += [each for each in SAFETY_HEADERS if each[0] not in there]
            if scope.get(PERSONAL):
                headers = [each for each in headers if each[0].lower() != b"cache-control"]
                headers += PERSONAL_HEADERS
            message = {**message, "headers": headers}
        await send(message)

    return safely
