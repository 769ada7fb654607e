"""Answers of the HTTP API: their JSON, or what went wrong, and who said so.

Between a client and a server may stand proxies, firewalls and login pages of networks, which
answer in their own words.  So the status counts first, and a refusal names its cause and the fix.

ApiError          the server refused, or a proxy before it: ``code`` is stable, and for programs
Unreachable       nobody answered, or what answered is no Plyhouse server
"""

from __future__ import annotations

import http
import json
import os
import re
import ssl
from collections.abc import Mapping
from typing import Any, ClassVar, Final
from urllib.parse import urljoin, urlsplit

from plyhouse.protocol.address import Address, proxy_for

_CAUSES: Final = {
    401: "Something before the server asks for a login of its own, so no token arrives.",
    403: "A proxy or firewall before the server refuses the request. Ask its operator.",
    404: "What answered is no Plyhouse server, or a proxy before it serves other paths. Check the "
    "address.",
    407: "The proxy wants a name and password: HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT.",
    408: "A proxy before the server did not wait for the whole request. Try again.",
    413: "A proxy before the server takes no body of this length. Its operator must raise its "
    "limit (client_max_body_size in nginx) to that of the server.",
    421: "The proxy before the server knows no server of this name. Check the address.",
    426: "The header Upgrade did not arrive: a proxy on the way removes it, or knows no "
    "websockets. Its operator must pass Upgrade and Connection on for /ws.",
    429: "A proxy before the server takes no more requests for now. Try again later.",
    431: "A proxy before the server takes no headers of this length. Check the token.",
    502: "A proxy answered, and reaches no server behind it. It may have stopped or restart: try "
    "again, or ask its operator.",
    503: "A proxy answered, and has no server behind it now. Try again later.",
    504: "A proxy answered, and the server behind it took too long. Try again, or ask the operator "
    "for a longer limit (proxy_read_timeout in nginx).",
}
"""The likely cause and the fix of refusals that no Plyhouse server has written."""
_OTHER: Final = (
    "What answered is no Plyhouse server, or a proxy before it refuses the request. Check the "
    "address, and ask its operator."
)
_UNTRUSTED: Final = (18, 19, 20, 21)
"""Codes of OpenSSL for certificates that no known authority has signed."""


class ApiError(Exception):
    """The server refused a request, or a proxy before it.

    >>> error = ApiError("auth/required", "Send the header 'Authorization: Bearer TOKEN'.", 401)
    >>> error.code, error.status
    ('auth/required', 401)
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: int,
        retry_after: float | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        """Stable, for programs; ``http/`` and the status if no Plyhouse server has written it."""
        self.status = status
        """HTTP's status."""
        self.retry_after = retry_after
        """Seconds after which the server asks to be asked again; None if it said nothing."""
        self.fields = dict(fields or {})
        """All that the server said, such as the ``mistakes`` of a competition file, one by one."""


class Unreachable(Exception):  # noqa: N818 - a condition
    """The server could not be reached, or what answered is no Plyhouse server."""

    code: ClassVar[str] = "connection/unreachable"


def problem(status: int, code: str, detail: str, **more: Any) -> dict[str, Any]:
    """Return the body of a refusal, in the form of RFC 9457 and with our ``code``."""
    return {
        "type": "about:blank",
        "status": status,
        "title": http.HTTPStatus(status).phrase,
        "code": code,
        "detail": detail,
        **more,
    }


def answer_of(
    status: int,
    text: bytes,
    base: str,
    target: str = "/",
    location: str | None = None,
    wait: float | None = None,
) -> Any:
    """Return the JSON of an answer.

    status, text, location: the answer's status, body, and header ``Location``
    base, target: the server's address, and the path that was requested
    wait: seconds in the header ``Retry-After``

    Raises `ApiError` for a refusal and `Unreachable` for an answer that is no server's.
    """
    if 300 <= status < 400:
        raise Unreachable(_redirected(status, base, target, location))
    if status >= 400:
        raise refusal_of(status, text, base, wait)
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError) as error:
        title = _title(text)
        sent = f"the page {title!r}" if title else "something else than JSON"
        raise no_server(base, sent) from error


def no_server(base: str, sent: str) -> Unreachable:
    """Return the error for an answer of another program, with what it sent."""
    return Unreachable(
        f"What answers at {base} is no Plyhouse server: it sends {sent}. Check the address; "
        "some networks want you to log in with a browser first."
    )


def refusal_of(status: int, text: bytes, base: str, wait: float | None = None) -> ApiError:
    """Return the error of an answer with a status of 400 or more."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    fields = said if isinstance(said, dict) else {}
    code, detail = fields.get("code"), fields.get("detail")
    if isinstance(code, str) and code:
        known = str(detail or f"{base} answered {_named(status)}.")
        return ApiError(code, known, status, wait, fields)
    title = _title(text)
    page = f" with the page {title!r}" if title and str(status) not in title else ""
    cause = _CAUSES.get(status, _OTHER)
    return ApiError(
        f"http/{status}", f"{base} answered {_named(status)}{page}. {cause}", status, wait, fields
    )


def _redirected(status: int, base: str, target: str, location: str | None) -> str:
    """Say where a server has moved.  No request follows: it would carry the token along."""
    try:
        to = urlsplit(urljoin(base + target, location or ""))
    except ValueError:  # such as half an IPv6 address
        to = urlsplit("")
    if location and to.hostname and to.scheme in ("http", "https"):
        origin = f"{to.scheme}://{to.netloc.rpartition('@')[2]}"
        if origin == base and to.path == urlsplit(target).path:
            return (
                f"{base} sends you in a circle ({status}), to the address that you asked. A proxy "
                "before the server is set up wrongly: it may believe that you came without TLS. "
                "Ask its operator."
            )
        if origin != base and to.path == urlsplit(target).path:
            return f"{base} sends you elsewhere ({status}), to {origin}: use this address."
        shown = f"{origin}{to.path}"[:200]
        return (
            f"{base} sends you elsewhere ({status}), to {shown}. That is no address of Plyhouse's: "
            "check yours; some networks want you to log in with a browser first."
        )
    return f"{base} sends you elsewhere ({status}), and does not say where. Check the address."


def unreached(address: Address, error: BaseException, *, begun: bool = False) -> str:
    """Say why no server could be reached, and what to do.

    begun: whether the answer had begun
    """
    base = address.base
    chain = _chain(error)
    tls = next((each for each in chain if isinstance(each, ssl.SSLError)), None)
    if isinstance(tls, ssl.SSLCertVerificationError):
        return f"The certificate of {base} cannot be trusted: {_untrusted(tls)}"
    if tls is not None:
        if tls.reason == "WRONG_VERSION_NUMBER":
            plain = base.replace("https", "http", 1)
            return f"{base} answers without TLS: write {plain} if you trust the network."
        reason = (tls.reason or str(tls)).replace("_", " ").lower()
        return f"No secure connection to {base}: {reason}. Ask its operator."
    proxy = proxy_for(address)
    through = f" through the proxy {proxy.url}" if proxy is not None else ""
    cause = next((each for each in chain if isinstance(each, OSError)), error)
    if isinstance(cause, ConnectionRefusedError) and proxy is None:
        start = "start a server with `plyhouse serve`, or " if address.local else ""
        return f"Nothing listens at {base}: {start}give another address."
    reason = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    reason = reason[:1].lower() + reason[1:] if not reason[1:2].isupper() else reason
    if begun:
        return f"The answer of {base}{through} broke off: {reason.rstrip('.')}. Ask again."
    check = "HTTPS_PROXY and NO_PROXY" if through else "the address and your network"
    if through and "407" in reason:
        check = "HTTPS_PROXY: the proxy wants http://NAME:PASSWORD@HOST:PORT"
    return f"No server answers at {base}{through}: {reason.rstrip('.')}. Check {check}."


def _untrusted(error: ssl.SSLCertVerificationError) -> str:
    """Say what is wrong with a certificate, and the fix."""
    said = error.verify_message or str(error)
    if error.verify_code not in _UNTRUSTED:
        return (
            f"{said.rstrip('.')}. Check the address and this machine's clock, or ask its operator."
        )
    named = os.environ.get("SSL_CERT_FILE", "")
    if named and not os.path.isfile(named):
        return f"{said}. SSL_CERT_FILE names {named!r}, which is not there."
    which = f" SSL_CERT_FILE names {named!r}, which does not have it." if named else ""
    return (
        f"{said}.{which} If you know the server, get its certificate from its operator, and set "
        "SSL_CERT_FILE to the file."
    )


def _chain(error: BaseException) -> list[BaseException]:
    """Return an error and its causes."""
    found: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in found:
        found.append(following)
        following = following.__cause__ or following.__context__
    return found


def _named(status: int) -> str:
    try:
        return f"{status} ({http.HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


def _title(text: bytes) -> str:
    """Return the title of an HTML page, shortened; empty if there is none."""
    found = re.search(rb"<title[^>]*>(.*?)</title", text[:65536], re.I | re.S)
    if found is None:
        return ""
    return " ".join(found.group(1).decode("utf-8", "replace").split())[:80]
