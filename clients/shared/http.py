"""A small HTTP client for the server's own API: JSON in, JSON out, errors with their codes."""

from __future__ import annotations

import contextlib
import email.message
import http.client
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from plyhouse.clients.shared.errors import code_exit
from plyhouse.protocol.api.calls import Call

__all__ = [
    "ApiError",
    "UnreachableError",
    "Url",
    "ask",
    "call",
    "download",
    "fetch",
    "guest_cookie",
    "path",
]

T = TypeVar("T")

TIMEOUT = 30.0
"""Seconds to wait for a connection or an answer."""
LONGEST_TOKEN = 256
"""Characters; a server refuses a longer header without an answer that a user understands."""


class UnreachableError(Exception):
    """The server could not be reached, or what answered is no Plyhouse server."""

    code = "connection/unreachable"


class BadUrlError(Exception):
    """A ``--server`` address that cannot be one."""

    code = "config/bad_url"


class BadTokenError(Exception):
    """A token that no server can have issued; the message does not repeat it."""

    code = "config/bad_token"


class ApiError(Exception):
    """The server answered with an error; ``code`` is its stable code, ``status`` HTTP's."""

    def __init__(self, code: str, message: str, status: int) -> None:
        super().__init__(message)
        self.code = code
        self.status = status

    @property
    def exit_code(self) -> int:
        """The exit code that this error means."""
        return code_exit(self.code)


class Url:
    """The address of a server, however the user wrote it.

    Accepts ``host:port`` and the schemes http, https, ws and wss; raises `BadUrlError`.

    >>> url = Url("wss://example.org/ws")
    >>> url.base, url.websocket
    ('https://example.org:443', 'wss://example.org:443/ws')
    """

    def __init__(self, text: str) -> None:
        full = text if "://" in text else f"http://{text}"
        try:
            parts = urlsplit(full)
            scheme, host, port = parts.scheme, parts.hostname or "", parts.port
            host.encode("idna")  # a connection does so; it raises for an empty or long label
        except ValueError:
            scheme, host, port = "", "", None
        known = scheme in ("http", "https", "ws", "wss")
        if not known or not host or not host.isprintable() or " " in host:
            raise BadUrlError(
                f"'{text}' is no server address; write it like http://127.0.0.1:8765 "
                f"or https://example.org."
            )
        self.secure = scheme in ("https", "wss")
        self.host = host
        self.port = port or (443 if self.secure else 80)
        self.local = self.host == "localhost" or self.host.startswith(("127.", "::1"))
        """True if the address is of this machine."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        self.base = f"{'https' if self.secure else 'http'}://{shown}:{self.port}"
        """The address for HTTP, without a path."""
        self.websocket = f"{'wss' if self.secure else 'ws'}://{shown}:{self.port}/ws"
        """The address of the endpoint that speaks protocol v1."""


def path(*parts: str) -> str:
    """A path of the API with each part escaped.

    >>> path("leaderboards", "pig(target=50)")
    '/api/v1/leaderboards/pig%28target%3D50%29'
    """
    return "/api/v1/" + "/".join(quote(part, safe="") for part in parts)


def ask(server: str, what: Call[T], token: str | None = None, *, cookie: str | None = None) -> T:
    """Make a call of the API and read its answer; raises what `call` does."""
    timeout = what.timeout or TIMEOUT
    answer = call(server, what.method, what.target, what.body, token, timeout, cookie)
    try:
        return what.read(answer)
    except msgspec.ValidationError as error:
        raise UnreachableError(
            f"The answer of {Url(server).base} is not what this version of Plyhouse reads: {error}."
        ) from error


def call(
    server: str,
    method: str,
    target: str,
    body: Any = None,
    token: str | None = None,
    timeout: float = TIMEOUT,
    cookie: str | None = None,
) -> Any:
    """One request; returns the decoded JSON.  Raises `UnreachableError` and `ApiError`.

    ``cookie`` is that of a session instead of a token, from `guest_cookie`.
    """
    with _answered(server, method, target, body, token, timeout, cookie) as response:
        status, reason, text = response.status, response.reason, response.read()
    answer = _decoded(text, server)
    if status >= 400:
        _refuse(status, reason, answer)
    return answer


def guest_cookie(server: str) -> tuple[str, str]:
    """Come in as a guest: its name, and the cookie of its session.

    Raises `UnreachableError`, and `ApiError` where no guests are taken.
    """
    target = path("session", "guest")
    with _answered(server, "POST", target, {}, None, TIMEOUT, "") as response:
        status, reason, text = response.status, response.reason, response.read()
        cookie = response.headers.get("set-cookie", "").partition(";")[0]
    answer = _decoded(text, server)
    if status >= 400:
        _refuse(status, reason, answer)
    return str(answer["player"]), cookie


def download(
    server: str, target: str, token: str | None, folder: Path, timeout: float = 600.0
) -> Path:
    """Fetch a file into a folder, by the name that the server gives it; returns where it is.

    It is there as a whole or not at all, however long it is.  Raises what `call` does.
    """
    with _answered(server, "GET", target, None, token, timeout) as response:
        if response.status >= 400:
            _refuse(response.status, response.reason, _decoded(response.read(), server))
        message = email.message.Message()
        message["content-disposition"] = response.headers.get("content-disposition", "attachment")
        name = (message.get_filename() or target).replace("\\", "/").rpartition("/")[2]
        place = folder / (name.lstrip(".") or "file")
        part = place.with_name(f".{place.name}.part")
        with part.open("wb") as file:
            shutil.copyfileobj(response, file)
    part.replace(place)
    return place


def fetch(server: str, target: str, token: str | None, timeout: float = 120.0) -> bytes:
    """Fetch bytes; raises what `call` does."""
    with _answered(server, "GET", target, None, token, timeout) as response:
        data = response.read()
        if response.status >= 400:
            _refuse(response.status, response.reason, _decoded(data, server))
        return data


@contextlib.contextmanager
def _answered(
    server: str,
    method: str,
    target: str,
    body: Any,
    token: str | None,
    timeout: float,
    cookie: str | None = None,
) -> Iterator[http.client.HTTPResponse]:
    """The answer of a server, while its connection is open; raises `UnreachableError`."""
    url = Url(server)
    kind = http.client.HTTPSConnection if url.secure else http.client.HTTPConnection
    connection = kind(url.host, url.port, timeout=timeout)
    headers = {"Accept": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {_plausible(token)}"
    elif cookie is not None:
        # A session is for those who say that they come from the server's pages.
        headers["Origin"] = url.base
        headers["Cookie"] = cookie
    data: str | bytes | None = None
    if isinstance(body, bytes):
        data = body
        headers["Content-Type"] = "application/octet-stream"
    elif body is not None:
        data = json.dumps(body)
        headers["Content-Type"] = "application/json"
    try:
        try:
            connection.request(method, target, data, headers)
        except (BrokenPipeError, ConnectionResetError):
            if not isinstance(body, bytes):
                raise
            # It was refused before all of it was sent: the answer is there.
        yield connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise UnreachableError(_unreachable(url, error, reason.lower())) from error
    finally:
        connection.close()


def _plausible(token: str) -> str:
    """Return the token; raise `BadTokenError` if it cannot be sent as a header."""
    if len(token) > LONGEST_TOKEN:
        fault = f"{len(token):,} characters"
    elif odd := [each for each in token if not "!" <= each <= "~"]:
        fault = f"the character {odd[0]!a}"
    else:
        return token
    raise BadTokenError(
        f"The token has {fault}, so no server has made it: give the line that begins with ply_."
    )


def _unreachable(url: Url, error: Exception, reason: str) -> str:
    """Say that no server answers, and what to do."""
    if getattr(error, "reason", "") == "WRONG_VERSION_NUMBER":
        plain = url.base.replace("https", "http", 1)
        return f"{url.base} answers without TLS: write {plain} if you trust the network."
    if isinstance(error, ConnectionRefusedError):
        start = "start a server with `plyhouse serve`, or " if url.local else ""
        return f"Nothing listens at {url.base}: {start}give another address with --server."
    return f"No server answers at {url.base}: {reason}. Check the address and your network."


def _decoded(text: bytes, server: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError as error:
        base = Url(server).base
        raise UnreachableError(f"What answers at {base} is no Plyhouse server.") from error


def _refuse(status: int, reason: str, answer: Any) -> NoReturn:
    fields = answer if isinstance(answer, dict) else {}
    code = str(fields.get("code") or f"http/{status}")
    message = str(fields.get("message") or fields.get("detail") or reason)
    raise ApiError(code, message, status)
