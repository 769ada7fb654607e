"""Browser sessions of signed-in players, and of guests, who need no account.

The secret of a session arrives in a cookie.  Cookies ignore ports, so each port of a machine has a
cookie with its own name.  Every refusal is a `ProtocolError` with its code, as for tokens.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import urlsplit

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.guesses import Guess, Guesses
from plyhouse.server.accounts.passwords import (
    PasswordError,
    Passwords,
    TooMany,
    check_password,
    outdated,
)
from plyhouse.server.accounts.registration import Registration, storage_refusals, too_many
from plyhouse.server.config import ServerConfig
from plyhouse.server.jobs.periodic import Periodic
from plyhouse.server.wire.limits import Rate
from plyhouse.server.wire.transport import Upgrade
from plyhouse.storage import sessions
from plyhouse.storage.names import GUEST_PREFIX, key_of
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.accounts.browser_sessions")

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


_HOW: Final = (
    *("amber", "bold", "brave", "bright", "calm", "clever", "cosy", "curious", "eager", "gentle"),
    *("golden", "happy", "honest", "jolly", "keen", "kind", "lucky", "merry", "mild", "nimble"),
    *("patient", "proud", "quick", "quiet", "silver", "sly", "sunny", "swift", "tidy", "wise"),
)
_WHO: Final = (
    *("badger", "beaver", "bison", "crane", "dolphin", "falcon", "ferret", "finch", "fox", "gecko"),
    *("hare", "hedgehog", "heron", "ibex", "jay", "koala", "lark", "lynx", "marten", "mole"),
    *("newt", "otter", "owl", "panda", "puffin", "raven", "robin", "seal", "stork", "wren"),
)


def friendly_name() -> str:
    """Return an anonymous name for a guest, such as ``guest-sly-fox-700``."""
    number = secrets.randbelow(900) + 100
    return f"{GUEST_PREFIX}{secrets.choice(_HOW)}-{secrets.choice(_WHO)}-{number}"


SESSION_MS: Final = 30 * 24 * 3_600_000
"""How long a person stays signed in, in milliseconds."""
NEW_GUESTS: Final = 20, 1 / 30
"""New guests from one address: at once, and per second after that."""
OVERLOADED: Final = 5
"""Seconds after which another try is worthwhile when too many passwords are being checked."""
SWEEP_SECONDS: Final = 60.0
PLAYING_MS: Final = 600_000
"""How much longer a guest may stay whose time ends during a match, in ms; given repeatedly."""
AWAY_NS: Final = 120 * 1_000_000_000
"""How long a guest without a connection keeps its place while others wait for one, in ns."""
NAMES_TRIED: Final = 8
GONE_KEPT: Final = 1000


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person who has just signed in, with the secret for the cookie."""

    identity: Identity
    secret: str
    seconds: int
    """How long the session lasts."""
    ended: tuple[int, ...] = ()
    """Sessions of the account that it ended, because there were too many."""


class BrowserSessions:
    """The sessions, passwords and guests of one server."""

    def __init__(
        self,
        config: ServerConfig,
        store: Store,
        registration: Registration,
        now: Callable[[], int],
        *,
        playing: Callable[[int], bool],
        present: Callable[[], Set[int]],
        leaving: Callable[[list[int]], None],
    ) -> None:
        self._config = config
        self._store = store
        self._registration = registration
        self._playing = playing
        """Returns whether a player holds a seat in a match that is not over."""
        self._present = present
        """Returns the players who are connected or playing."""
        self._leaving = leaving
        """Closes the connections of guests; called before they are deleted."""
        self._passwords = Passwords()
        self.guesses = Guesses(now)
        self._now = now
        self._arrivals = Rate(*NEW_GUESTS, now)
        self._addresses: dict[int, str] = {}
        """The address of each guest, only in memory: the server never stores addresses."""
        self._seen: dict[int, int] = {}
        """When each guest came or was last seen connected."""
        self._adding = asyncio.Lock()
        self.forgotten: deque[int] = deque(maxlen=GONE_KEPT)
        """The ids of the guests deleted last, in case one of them is just logging in."""
        self._sweeper = Periodic(self.sweep, SWEEP_SECONDS, "forgetting of guests", log)

    # ------------------------------------------------------------------- who is there

    async def identify(self, secret: str, *scopes: str) -> Identity:
        """Return the player of a session, which must allow one of ``scopes``."""
        with storage_refusals():
            identity = (
                await self._store.read(sessions.find, secret, self._store.now()) if secret else None
            )
        if identity is None:
            raise ProtocolError("auth/signed_out")
        if scopes and identity.scopes.isdisjoint((*scopes, "admin")):
            if identity.guest:
                raise ProtocolError("auth/scope", "Guests cannot do that: it takes an account.")
            raise ProtocolError("auth/scope")
        return identity

    async def at(self, upgrade: Upgrade | None) -> Identity:
        """Return the player who opened a websocket from a page of this server.

        Raises `ProtocolError` if there is none.
        """
        if upgrade is None or not own_page(upgrade.origin, upgrade.host):
            raise ProtocolError("auth/signed_out")
        secret = secret_of(upgrade.cookie, upgrade.host, secure=upgrade.secure)
        return await self.identify(secret, "play", "guest")

    async def viewer(self, upgrade: Upgrade | None) -> Identity | None:
        """Return the spectator who opened a websocket; None for nobody.

        The page must come from this server.

        An invalid session counts as none, as it does for pages.
        """
        if upgrade is None or not own_page(upgrade.origin, upgrade.host):
            return None
        return await self.known(secret_of(upgrade.cookie, upgrade.host, secure=upgrade.secure))

    async def known(self, secret: str) -> Identity | None:
        """Return the player of a session; None if there is none or it has expired."""
        if not secret:
            return None
        try:
            return await self.identify(secret)
        except ProtocolError as error:
            if not error.code.startswith("auth/"):
                raise
            return None

    # ---------------------------------------------------------------------- signing in

    async def sign_in_by_token(self, token: str, address: str) -> SignedIn:
        """Begin a session with a token; it allows what the token does, and ends with it."""
        identity = await self._registration.identify(
            token, "play", "organise", "admin", address=address
        )
        return await self._enter(identity.player_id, identity.token_id)

    async def sign_in(self, player: str, password: str, address: str) -> SignedIn:
        """Begin a session with a password."""
        with storage_refusals():
            found = await self._store.read(sessions.password, player)
        row, stored = found if found is not None else (None, "")
        await self._check(
            password,
            stored,
            player,
            address,
            "The name and the password do not match. If you have no password yet, sign in with a "
            "token.",
        )
        if row is None:  # nothing is stored, so nothing fits
            raise ProtocolError("auth/bad_password")
        if row.disabled_ms is not None:
            raise ProtocolError("auth/disabled")
        if outdated(stored):
            renewed = await self._passwords.hash(password, key_of(player))
            if await self._store.write(sessions.renew_hash, row.id, stored, renewed):
                stored = renewed
        return await self._enter(row.id, stored=stored)

    async def sign_up(self, player: str, password: str, display: str, address: str) -> SignedIn:
        """Make an account with a password, where registration is open."""
        self._registration.may_register(player, address)
        hashed = await self._hashed(password, player)
        with storage_refusals(player):
            row = await self._store.write(
                sessions.sign_up, player, display, hashed, self._store.now()
            )
        return await self._enter(row.id)

    async def set_password(self, identity: Identity, old: str, new: str, address: str) -> list[int]:
        """Set the password of the signed-in player.

        The player must give the old password if there is one.

        Ends all other sessions of the player and returns their ids.
        """
        stored = ""
        found = await self._store.read(sessions.password, identity.player)
        if found is not None and found[1]:
            stored = found[1]
            await self._check(old, stored, identity.player, address, "This is not your password.")
        hashed = await self._hashed(new, identity.player)
        ended = await self._store.write(
            sessions.change_password, identity, stored, hashed, self._store.now()
        )
        if ended is None:
            raise _changed()
        return ended

    async def _check(
        self, password: str, stored: str, player: str, address: str, refusal: str
    ) -> None:
        """Raise `ProtocolError` if a password is wrong, or too many were."""
        key = key_of(player)  # the same in every spelling of the name
        begun: list[Guess] = []

        def begin() -> None:
            begun.append(self.guesses.begin(address, key))

        try:
            fits = await self._passwords.fits(password[:1024], stored, begin, (address, key))
        except TooMany as error:
            raise _overloaded(error) from error
        [guess] = begun
        if not fits:
            raise guess.refusal or ProtocolError("auth/bad_password", refusal)
        guess.right()

    async def _hashed(self, password: str, player: str) -> str:
        try:
            check_password(password, player)
            return await self._passwords.hash(password, key_of(player))
        except PasswordError as error:
            raise ProtocolError("auth/bad_password", str(error)) from error
        except TooMany as error:
            raise _overloaded(error) from error

    async def _enter(self, player_id: int, token_id: int = 0, stored: str = "") -> SignedIn:
        """Begin a session, with a token or with the password of the hash ``stored``."""
        now = self._store.now()
        secret: str | None
        with storage_refusals():
            if stored:
                secret = await self._store.write(
                    sessions.begin_by_password, player_id, stored, SESSION_MS, now
                )
            else:
                secret = await self._store.write(
                    sessions.begin, player_id, SESSION_MS, now, token_id
                )
            ended = await self._store.write(sessions.end_oldest, player_id)
        if secret is None:
            raise _changed()
        identity = await self.identify(secret)
        return SignedIn(identity, secret, SESSION_MS // 1000, tuple(ended))

    # -------------------------------------------------------------------------- guests

    async def new_guest(self, address: str) -> SignedIn:
        """Begin a session without an account, within the operator's limits."""
        config = self._config
        if not config.takes_guests:
            raise ProtocolError("guest/closed", "This server takes no guests: sign in.")
        if not self._arrivals.take(address):
            raise too_many("new guests from your address", self._arrivals, address)
        async with self._adding:  # concurrent requests must not exceed the limits together
            here = [each for each, its in self._addresses.items() if its == address]
            if len(here) >= config.max_guests_per_address:
                await self._make_room(here, " from your address")
            everybody = await self._store.read(sessions.guest_ids)
            if len(everybody) >= config.max_guests:
                await self._make_room(everybody, "")
            lifetime = int(config.guest_hours * 3_600_000)
            names = [friendly_name() for _ in range(NAMES_TRIED)]
            with storage_refusals():
                row, secret = await self._store.write(
                    sessions.add_guest, names, lifetime, self._store.now()
                )
            self._addresses[row.id] = address
            self._seen[row.id] = self._now()
        return SignedIn(await self.identify(secret), secret, lifetime // 1000)

    async def _make_room(self, guests: Sequence[int], where: str) -> None:
        """Forget one of these guests who has left; raises `ProtocolError` if all are here.

        Most guests close the page and do not sign out.  The address with the most guests gives way,
        and there the guest who left first.
        """
        latest, present = self._now() - AWAY_NS, self._present()
        left = [
            each for each in guests if self._seen.get(each, 0) <= latest and each not in present
        ]
        if not left:
            raise ProtocolError(
                "guest/full",
                f"The server takes no more guests{where} now: come back later, or sign in.",
                fatal=False,
            )
        crowds = Counter(self._addresses.values())

        def crowd_and_time(guest: int) -> tuple[int, int]:
            return -crowds[self._addresses.get(guest, "")], self._seen.get(guest, 0)

        await self._forget([min(left, key=crowd_and_time)])

    def payer(self, player_id: int) -> Hashable:
        """Return for whom the use of a player counts: itself, or the address of a guest."""
        return self._addresses.get(player_id, player_id)

    def start(self) -> None:
        """Start to delete expired guests and sessions regularly."""
        self._sweeper.start(at_once=True)

    async def close(self) -> None:
        """Stop deleting expired guests and sessions."""
        await self._sweeper.close()

    async def sweep(self) -> None:
        """Delete expired guests and sessions; a guest who is playing may finish the match."""
        store = self._store
        self._seen.update(dict.fromkeys(self._seen.keys() & self._present(), self._now()))
        # Extend guests who expire before the next sweep, so that their session does not end during
        # a match.
        soon = await store.read(
            sessions.expiring_guests, store.now(), within_ms=int(2 * SWEEP_SECONDS * 1000)
        )
        playing = [each for each in soon if self._playing(each)]
        if playing:
            await store.write(sessions.extend_guests, playing, PLAYING_MS, store.now())
        gone = [
            each
            for each in await store.read(sessions.expiring_guests, store.now())
            if not self._playing(each)
        ]
        await self._forget(gone)
        await store.write(sessions.sweep, store.now())

    async def leave(self, identity: Identity) -> None:
        """End a session; a guest who is not playing is deleted at once."""
        await self._store.write(sessions.end, identity.session_id)
        if identity.guest and not self._playing(identity.player_id):
            await self._forget([identity.player_id])

    async def _forget(self, gone: Iterable[int]) -> None:
        players = list(gone)
        if players:
            self.forgotten += players
            self._leaving(players)
            await self._store.write(sessions.forget_guests, players, self._store.now())
            for each in players:
                self._addresses.pop(each, None)
                self._seen.pop(each, None)


def _changed() -> ProtocolError:
    return ProtocolError(
        "auth/bad_password", "The password was just changed. Sign in with the new one."
    )


def _overloaded(error: TooMany) -> ProtocolError:
    return ProtocolError("server/overloaded", str(error), retry_after=OVERLOADED)
