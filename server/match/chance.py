"""Chance that players can check: committed seeds, and outcomes derived from them.

The scheme (version 1), complete enough to be recomputed in any language:

* A pairing has a secret *seed* of 32 random bytes.  Its *commitment* is the SHA-256 of the seed in
  lower-case hexadecimal.  Every seat learns it before it contributes its nonce.
* The pairing's matches draw from named *streams*.  A counter starts at 0 and grows by one with
  every chance node of the match, unless the game counts otherwise (`Game.chance_number`).  Stream
  and counter give a *message*, the UTF-8 text ::

      plyhouse-chance-1|STREAM|NONCE,NONCE,...|COUNTER

  with the nonces of the seats in seat order as lower-case hexadecimal (empty where a seat gave
  none) and the counter in decimal.
* ``HMAC-SHA256(key=seed, message)`` gives 32 bytes.  The first 8, as a big-endian number, shifted
  right by 11, are a 53-bit number; divided by 2**53 it is *u*, uniform in [0, 1).
* The outcomes of the chance node have the fixed order of the game.  Probabilities are added from
  the left in double precision.  The first outcome whose cumulative probability exceeds ``u`` is
  chosen.  If rounding leaves the sum at or below ``u``, it is the last outcome with a probability
  above zero.  A node with one possible outcome uses up a counter like any other.

Streams.  In the local arena, where one person runs all bots, mirrored matches share the stream
`SHARED_STREAM`.  The same rolls and deals come with the seats swapped, which takes most of the luck
out of the pair.  A shared stream does not mix nonces in, because the seats' nonces would differ
from match to match.

All other matches have their own stream, ``match:ID``, and mix the nonces in.  With a shared stream
the first match would show a player the dice of the second.  Even confined processes could pass them
on by the state of their kernel.  Without nonces, a dishonest server could try seeds before it
commits.  The seed is revealed only when every match of the pairing is over.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from typing import Final, TypeVar

CHANCE_VERSION: Final = 1
"""Version of the scheme; records name it."""
SEED_BYTES: Final = 32
"""Length of a seed in bytes."""
SHARED_STREAM: Final = "pairing"
"""The stream that mirrored matches of the local arena share."""

_NONCE = re.compile(r"(?:[0-9a-f]{2}){0,32}")

OutcomeT = TypeVar("OutcomeT")


def commitment(seed: bytes) -> str:
    """Return the SHA-256 of a seed as hex, which seats get before the match begins."""
    return hashlib.sha256(seed).hexdigest()


def match_stream(match: str) -> str:
    """Return the stream of a match that shares its chance with no other."""
    return f"match:{match}"


def mixes_nonces(stream: str) -> bool:
    """Return whether the nonces of the seats enter the outcomes of this stream."""
    return stream != SHARED_STREAM


def normal_nonce(text: str) -> str:
    """Return a nonce as lower-case hex of at most 32 whole bytes.

    Raises ValueError for anything else.
    """
    lowered = text.lower()
    if not _NONCE.fullmatch(lowered):
        raise ValueError("a nonce is at most 32 bytes, written as pairs of hex digits")
    return lowered


def select(u: float, outcomes: Sequence[tuple[OutcomeT, float]]) -> OutcomeT:
    """Return the outcome at ``u`` in [0, 1) (see the module's text).

    Raises ValueError if no outcome has a probability above zero.
    """
    total = 0.0
    last: tuple[OutcomeT, float] | None = None
    for pair in outcomes:
        if pair[1] > 0.0:
            last = pair
            total += pair[1]
            if u < total:
                return pair[0]
    if last is None:
        raise ValueError("a chance node needs an outcome with a probability above zero")
    return last[0]


class Chance:
    """The outcomes of one stream, as a pure function of the counter."""

    __slots__ = ("_keyed", "_prefix", "stream")

    def __init__(self, seed: bytes, stream: str, nonces: Sequence[str] = ()) -> None:
        if "|" in stream:
            raise ValueError("the name of a stream has no '|' in it")
        mixed = nonces if mixes_nonces(stream) else ()
        self.stream = stream
        self._keyed = hmac.new(seed, digestmod=hashlib.sha256)
        self._prefix = f"plyhouse-chance-{CHANCE_VERSION}|{stream}|{','.join(mixed)}|"

    def message(self, counter: int) -> str:
        """Return the text whose HMAC decides the draw number ``counter``."""
        return f"{self._prefix}{counter}"

    def uniform(self, counter: int) -> float:
        """Return the number in [0, 1) of draw number ``counter``."""
        keyed = self._keyed.copy()
        keyed.update(self.message(counter).encode())
        return (int.from_bytes(keyed.digest()[:8], "big") >> 11) * 2.0**-53

    def draw(self, counter: int, outcomes: Sequence[tuple[OutcomeT, float]]) -> OutcomeT:
        """Return the outcome of chance node number ``counter`` of the match."""
        return select(self.uniform(counter), outcomes)
