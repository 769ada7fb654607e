"""The cookie of a browser session, and the check of a page's origin.

Pure.  Cookies ignore ports, so each port of a machine has a cookie with its own name.
"""

from __future__ import annotations

import re
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import urlsplit

__all__ = ["cookie_name", "ended_cookie", "own_page", "secret_of", "session_cookie"]

_PORT: Final = re.compile(r":(\d{1,5})$")


def cookie_name(host: str, *, secure: bool) -> str:
    """Return the name of the session cookie for the host in a browser's request.

    Over TLS the name has a prefix: browsers accept such a cookie only from this host over TLS.

    >>> cookie_name("games.example.org", secure=True)
    '__Host-plyhouse'
    >>> cookie_name("127.0.0.1:8765", secure=False)
    'plyhouse-8765'
    """
    port = _PORT.search(host)
    name = f"plyhouse-{port[1]}" if port else "plyhouse"
    return f"__Host-{name}" if secure else name


def secret_of(cookies: str, host: str, *, secure: bool) -> str:
    """Return the session's secret from a header ``Cookie``; empty if there is none."""
    name = cookie_name(host, secure=secure)
    for part in cookies.split(";"):
        key, equals, value = part.strip().partition("=")
        if equals and key == name:
            return value
    return ""


def session_cookie(secret: str, seconds: int, host: str, *, secure: bool) -> str:
    """Return the header ``Set-Cookie`` for a session.

    Scripts cannot read the cookie (``HttpOnly``).  Requests from other sites carry it only if
    somebody follows a link to this server (``SameSite=Lax``).  Over TLS, browsers send it only over
    TLS (``Secure``).

    >>> session_cookie("abc", 60, "localhost:8765", secure=False)
    'plyhouse-8765=abc; HttpOnly; Max-Age=60; Path=/; SameSite=Lax'
    """
    name = cookie_name(host, secure=secure)
    made: SimpleCookie = SimpleCookie()
    try:
        made[name] = secret
    except CookieError as error:  # pragma: no cover - names and secrets are ours
        raise ValueError(str(error)) from error
    morsel = made[name]
    morsel["max-age"] = seconds
    morsel["path"] = "/"
    morsel["httponly"] = True
    morsel["samesite"] = "Lax"
    morsel["secure"] = secure
    return morsel.OutputString()


def ended_cookie(host: str, *, secure: bool) -> str:
    """Return the header ``Set-Cookie`` by which a browser forgets the session."""
    return session_cookie("", 0, host, secure=secure)


def own_page(origin: str, host: str) -> bool:
    """Return whether a page of this origin comes from the server called ``host``.

    Only the host is compared, because a proxy may have removed TLS.  False for an empty origin.

    >>> own_page("https://games.example.org", "games.example.org")
    True
    >>> own_page("https://games.example.org.evil.example", "games.example.org")
    False
    >>> own_page("http://127.0.0.1:9000", "127.0.0.1:8765")
    False
    """
    if not origin or not host:
        return False
    try:
        parts = urlsplit(origin)
        ours = urlsplit(f"{parts.scheme}://{host}")
        same = (parts.hostname, parts.port) == (ours.hostname, ours.port)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.hostname is not None and same
