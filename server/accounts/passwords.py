"""Passwords of people: scrypt in a few low-priority threads.

scrypt (RFC 7914) comes with Python and costs much memory as well as much time.  So it needs no
further dependency, and no compiler where there is no wheel.  OWASP's Password Storage Cheat Sheet
prefers argon2id; scrypt with these costs is equally strong there.  Each hash is stored with its
costs, so that they can be raised: `outdated` finds hashes with other costs.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import functools
import hashlib
import secrets
import unicodedata
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

from plyhouse.protocol.parts import LONGEST_SECRET
from plyhouse.server.jobs.fair_queue import FairQueue
from plyhouse.server.jobs.helper_jobs import lower_priority

P_ = ParamSpec("P_")
T = TypeVar("T")

SHORTEST: Final = 10
"""The least number of characters; there are no other rules (NIST SP 800-63B)."""
LOG_N: Final = 14
R: Final = 8
P: Final = 5
"""16 MiB and about a quarter of a second: 2**14 blocks of 8 * 128 bytes, five times over."""
MAX_MEMORY: Final = 64 * 1024 * 1024
AT_ONCE: Final = 2
"""Most hashes computed at a time: the rest of the memory is for matches."""
WAITING: Final = 200
"""Most people who wait: enough for a class that signs in together.  More would wait too long."""
WAITING_OF_ONE: Final = 64
"""Most waiting requests of one person; they are checked one after the other."""


class PasswordError(Exception):
    """An unacceptable password; the message says why."""

    code = "auth/bad_password"


class TooMany(Exception):  # noqa: N818 - a condition, which passes
    """A refusal because too many password checks are already waiting."""


def check_password(password: str, player: str) -> None:
    """Raise `PasswordError` if a player must not have this password."""
    if not SHORTEST <= len(password) <= LONGEST_SECRET:
        raise PasswordError(f"A password has {SHORTEST} to {LONGEST_SECRET} characters.")
    if password.lower() == player.lower() or len(set(password)) < 4:
        raise PasswordError("This password is too easy to guess: take another.")


class Passwords:
    """Computes hashes in threads, at most `AT_ONCE` at the same time."""

    def __init__(self) -> None:
        # scrypt releases the GIL but still needs a processor, so the threads get a low priority.
        self._threads = ThreadPoolExecutor(AT_ONCE, "passwords", lower_priority)
        self._queue = FairQueue(AT_ONCE)
        # A player without a password is checked against this hash, which takes the same time.
        self._nobody = ""

    async def hash(self, password: str, visitor: Hashable = None) -> str:
        """Return the text to store for a password: salt, costs and key."""
        return await self._run(visitor, lambda: None, _hash, password)

    async def fits(
        self,
        password: str,
        stored: str,
        before: Callable[[], None] = lambda: None,
        visitor: Hashable = None,
    ) -> bool:
        """Return whether a password matches the stored one.

        Takes as long if nothing is stored.

        ``before`` is called before the check begins.  If it raises, this function raises without a
        check.  Visitors are served in turn.
        """
        if not stored:
            self._nobody = self._nobody or await self.hash(secrets.token_hex(16), visitor)
            await self._run(visitor, before, _fits, password, self._nobody)
            return False
        return await self._run(visitor, before, _fits, password, stored)

    async def _run(
        self,
        visitor: Hashable,
        before: Callable[[], None],
        work: Callable[P_, T],
        *arguments: P_.args,
        **more: P_.kwargs,
    ) -> T:
        mine = self._queue.waiting(visitor)
        if mine >= WAITING_OF_ONE or (not mine and len(self._queue) >= WAITING):
            raise TooMany("Too many people sign in at this moment: try again in a while.")
        async with self._queue.of(visitor):
            before()
            run = functools.partial(work, *arguments, **more)
            return await asyncio.get_running_loop().run_in_executor(self._threads, run)


def outdated(stored: str) -> bool:
    """Return whether a hash was made with other costs than the current ones."""
    return not stored.startswith(f"scrypt${LOG_N}${R}${P}$")


def _hash(password: str) -> str:
    salt = secrets.token_bytes(16)
    key = _key(password, salt, LOG_N, R, P)
    return f"scrypt${LOG_N}${R}${P}${_text(salt)}${_text(key)}"


def _fits(password: str, stored: str) -> bool:
    try:
        _, log_n, r, p, salt, key = stored.split("$")
        expected = base64.b64decode(key)
        found = _key(password, base64.b64decode(salt), int(log_n), int(r), int(p))
    except (ValueError, binascii.Error):  # not a hash of this server
        return False
    return secrets.compare_digest(found, expected)


def _key(password: str, salt: bytes, log_n: int, r: int, p: int) -> bytes:
    # Other keyboards may produce other code points for the same letters.
    typed = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(typed, salt=salt, n=1 << log_n, r=r, p=p, maxmem=MAX_MEMORY, dklen=32)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
