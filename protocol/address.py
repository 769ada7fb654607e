"""Addresses of servers as people write them, and the proxy on the way to a server.

Every client reads addresses here, so that all of them accept and refuse the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote, urlsplit

_SECURE: Final = {"http": False, "ws": False, "https": True, "wss": True}
"""Schemes, and whether TLS protects them."""


class InvalidAddress(ValueError):  # noqa: N818 - like InvalidAction
    """A text that cannot be the address of a server."""

    code = "config/bad_url"


class InvalidProxy(ValueError):  # noqa: N818 - like InvalidAction
    """An environment variable that names no proxy of a supported kind."""

    code = "config/bad_proxy"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server.

    >>> address = Address.read("wss://example.org/ws")
    >>> address.base, address.websocket
    ('https://example.org', 'wss://example.org/ws')
    >>> Address.read("127.0.0.1:8765").base
    'http://127.0.0.1:8765'
    """

    host: str
    port: int
    secure: bool

    @classmethod
    def read(cls, text: str) -> Address:
        """Read an address: ``host:port``, or a URL with http, https, ws or wss.

        Raises `InvalidAddress`, also for a path: a server has a host name or port of its own.
        """
        written = text.strip()
        try:
            parts = urlsplit(written if "://" in written else f"http://{written}")
            scheme, host, port = parts.scheme, parts.hostname or "", parts.port
            host.encode("idna")  # a connection does so; it raises for an empty or long label
        except ValueError:
            scheme, host, port, parts = "", "", None, urlsplit("")
        if scheme not in _SECURE or not host or not host.isprintable() or " " in host or port == 0:
            raise InvalidAddress(
                f"{text!r} is not the address of a server: write one like http://127.0.0.1:8765 or "
                "https://example.org."
            )
        secure = _SECURE[scheme]
        address = cls(host, port or (443 if secure else 80), secure)
        if parts.username is not None:
            raise InvalidAddress(
                f"The address has a user name before the host: write {address.base}, and give a "
                "token with --token or PLYHOUSE_TOKEN."
            )
        if parts.path.rstrip("/") not in ("", "/ws") or parts.query or parts.fragment:
            raise InvalidAddress(
                f"{text!r} has more than a host and a port: write {address.base}. Plyhouse cannot "
                "be served under a path: it needs a host name or a port of its own."
            )
        return address

    @property
    def base(self) -> str:
        """The address for HTTP, without a path."""
        return f"{'https' if self.secure else 'http'}://{self._netloc}"

    @property
    def websocket(self) -> str:
        """The address of the endpoint that speaks protocol v1."""
        return f"{'wss' if self.secure else 'ws'}://{self._netloc}/ws"

    @property
    def local(self) -> bool:
        """True if the address is of this machine."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    @property
    def _netloc(self) -> str:
        shown = shown_host(self.host)
        return shown if self.port == (443 if self.secure else 80) else f"{shown}:{self.port}"


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy, with what it has to be told to let a request pass."""

    host: str
    port: int
    user: str | None = None
    password: str = ""

    @property
    def url(self) -> str:
        """The address without name and password."""
        return f"http://{shown_host(self.host)}:{self.port}"

    @property
    def full_url(self) -> str:
        """The address with name and password."""
        login = ""
        if self.user is not None:
            login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}@"
        return f"http://{login}{shown_host(self.host)}:{self.port}"


def proxy_for(address: Address) -> Proxy | None:
    """Return the proxy on the way to a server; None to connect directly.

    It is that of ``HTTPS_PROXY`` or ``HTTP_PROXY``, else ``ALL_PROXY``, or of the system's
    settings; ``NO_PROXY`` and addresses of this machine have none.  Raises `InvalidProxy`.
    """
    if address.local:
        return None
    from urllib.request import getproxies, proxy_bypass  # loads much, and most need no proxy

    known = getproxies()
    text = known.get("https" if address.secure else "http") or known.get("all")
    if not text or proxy_bypass(f"{address.host}:{address.port}"):
        return None
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("http:")
    if not host or parts.scheme != "http":
        shown = f"{parts.scheme}://{host}" if host else text.rpartition("@")[2]
        raise InvalidProxy(
            f"The proxy {shown!r} of the environment cannot be used: Plyhouse needs an HTTP proxy. "
            "Set HTTPS_PROXY to one like http://proxy.example.org:3128, or NO_PROXY to "
            f"{address.host} to connect without."
        )
    user = None if parts.username is None else unquote(parts.username)
    return Proxy(host, port or 80, user, unquote(parts.password or ""))


def shown_host(host: str) -> str:
    """Return a host as URLs write it."""
    return f"[{host}]" if ":" in host else host
