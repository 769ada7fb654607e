"""A small HTTP client for the server's own API: JSON in, JSON out, errors with their codes.

It loads less than httpx, which `plyhouse.clients.api` uses: commands start faster.  Addresses,
proxies and the meaning of answers are those of `plyhouse.protocol`, for both.
"""

from __future__ import annotations

import base64
import contextlib
import email.message
import http.client
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from plyhouse.protocol.address import Address, proxy_for
from plyhouse.protocol.api.answers import Unreachable, answer_of, unreached
from plyhouse.protocol.api.routes import Call, api_path

__all__ = ["ask", "call", "download", "fetch", "guest_cookie"]

T = TypeVar("T")

TIMEOUT = 30.0
"""Seconds to wait for a connection or an answer."""
LONGEST_TOKEN = 256
"""Characters; a server refuses a longer header without an answer that a user understands."""


class BadTokenError(Exception):
    """A token that no server can have issued; the message does not repeat it."""

    code = "config/bad_token"


def ask(server: str, what: Call[T], token: str | None = None, *, cookie: str | None = None) -> T:
    """Make a call of the API and read its answer; raises what `call` does."""
    timeout = what.timeout or TIMEOUT
    answer = call(server, what.method, what.target, what.body, token, timeout, cookie)
    try:
        return what.read(answer)
    except msgspec.ValidationError as error:
        raise Unreachable(
            f"The answer of {Address.read(server).base} is not what this version of Plyhouse "
            f"reads: {error}."
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
    """One request; returns the decoded JSON.  Raises `Unreachable` and `ApiError`.

    ``cookie`` is that of a session instead of a token, from `guest_cookie`.
    """
    with _answered(server, method, target, body, token, timeout, cookie) as response:
        return _read(response, server, target)


def guest_cookie(server: str) -> tuple[str, str]:
    """Come in as a guest: its name, and the cookie of its session.

    Raises `Unreachable`, and `ApiError` where no guests are taken.
    """
    target = api_path("session", "guest")
    with _answered(server, "POST", target, {}, None, TIMEOUT, "") as response:
        answer = _read(response, server, target)
        cookie = response.headers.get("set-cookie", "").partition(";")[0]
    return str(answer["player"]), cookie


def download(
    server: str, target: str, token: str | None, folder: Path, timeout: float = 600.0
) -> Path:
    """Fetch a file into a folder, by the name that the server gives it; returns where it is.

    It is there as a whole or not at all, however long it is.  Raises what `call` does.
    """
    with _answered(server, "GET", target, None, token, timeout) as response:
        _refuse(response, server, target)
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
        _refuse(response, server, target)
        return response.read()


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
    """The answer of a server, while its connection is open; raises `Unreachable`."""
    address = Address.read(server)
    headers = {"Accept": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {_plausible(token)}"
    elif cookie is not None:
        # A session is for those who say that they come from the server's pages.
        headers["Origin"] = address.base
        headers["Cookie"] = cookie
    data: str | bytes | None = None
    if isinstance(body, bytes):
        data = body
        headers["Content-Type"] = "application/octet-stream"
    elif body is not None:
        data = json.dumps(body)
        headers["Content-Type"] = "application/json"
    connection, place, more = _connection(address, timeout)
    try:
        try:
            connection.request(method, place + target, data, headers | more)
        except (BrokenPipeError, ConnectionResetError):
            if not isinstance(body, bytes):
                raise
            # It was refused before all of it was sent: the answer is there.
        yield connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(unreached(address, error)) from error
    finally:
        connection.close()


def _connection(
    address: Address, timeout: float
) -> tuple[http.client.HTTPConnection, str, dict[str, str]]:
    """Return a connection on which to send a request.

    With it come what has to stand before the request's target, and further headers.
    """
    kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
    proxy = proxy_for(address)
    if proxy is None:
        return kind(address.host, address.port, timeout=timeout), "", {}
    login: dict[str, str] = {}
    if proxy.user is not None:
        pair = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
        login = {"Proxy-Authorization": f"Basic {pair}"}
    connection = kind(proxy.host, proxy.port, timeout=timeout)
    if not address.secure:
        return connection, address.base, login
    connection.set_tunnel(address.host, address.port, headers=login)
    return connection, "", {}


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


def _read(response: http.client.HTTPResponse, server: str, target: str) -> Any:
    """Return the JSON of an answer; raises `ApiError` and `Unreachable`."""
    base, location = Address.read(server).base, response.headers.get("location")
    return answer_of(response.status, response.read(), base, target, location)


def _refuse(response: http.client.HTTPResponse, server: str, target: str) -> None:
    """Raise the error of an answer that is no file."""
    if response.status >= 300:
        _read(response, server, target)
