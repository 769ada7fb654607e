"""Boxes for bots: limits, ends, and the messages that cross the fork server's socket.

Each message is one JSON object in a packet.  A `Launch` carries three descriptors.  For a Python
bot: its pipe, the pipe on which it reports its position, and its output.  For a program: standard
input, output and error.
"""

from __future__ import annotations

import enum
import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

import msgspec

__all__ = [
    "PACKET",
    "TIERS",
    "Box",
    "BoxExit",
    "Cores",
    "Ended",
    "FromForkServer",
    "Kill",
    "Launch",
    "Limits",
    "Refused",
    "SandboxError",
    "Started",
    "Tier",
    "ToForkServer",
    "decode_from_fork_server",
    "decode_to_fork_server",
    "packet",
    "tier_named",
]

PACKET: Final = 64 * 1024
"""Bytes of the longest packet."""


class Tier(enum.StrEnum):
    """How a bot is confined; `TIERS` has them in the order in which they are preferred."""

    LANDLOCK = "landlock"
    """Landlock and a filter of system calls: needs no root and no namespaces."""
    BUBBLEWRAP = "bubblewrap"
    """Separate namespaces, made by bubblewrap, and the same filter."""
    RLIMITS = "rlimits"
    """Limits of resources only: for bots that are trusted, and only where allowed by name."""


TIERS: Final = (Tier.LANDLOCK, Tier.BUBBLEWRAP, Tier.RLIMITS)


class SandboxError(Exception):
    """A sandbox cannot be had, or could not start a program; ``str()`` says why and what helps."""

    code = "sandbox/unavailable"


def tier_named(name: str) -> Tier:
    """Return the tier of this name; raises `SandboxError`.

    >>> tier_named("landlock").value
    'landlock'
    """
    try:
        return Tier(name)
    except ValueError:
        known = ", ".join(tier.value for tier in TIERS)
        raise SandboxError(f"there is no sandbox {name!r}; there are {known}") from None


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Resources that a box may use, from its start to its end."""

    memory: int = 512 << 20
    """Bytes of private memory, and of memory in use by all its processes."""
    cpu_seconds: int = 3600
    wall_seconds: float = 24 * 3600.0
    threads: int = 32
    files: int = 64
    """Open at once."""
    output: int = 16 << 20
    """Bytes that it may print."""
    processes: int = 16
    """Where a tier cannot forbid them (rlimits): at once."""


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """One program to be confined."""

    tier: Tier
    folder: str = ""
    """The submission's own folder: readable, and where the program starts."""
    bot: str = ""
    """A bot by our API, as `plyhouse.bots.loading` takes it; or else ..."""
    command: tuple[str, ...] = ()
    """... a program and its arguments; standard input and output are its pipes."""
    readable: tuple[str, ...] = ()
    """Files and folders beside the folder, the interpreter and the libraries."""
    core: int | None = None
    """The processor that it runs on; None for any."""
    nice: int = 0
    """How much further than other boxes it stands back behind them on its processor."""
    uid: int | None = None
    """The user it becomes, if the fork server is root."""
    limits: Limits = Limits()


class BoxExit(msgspec.Struct, frozen=True, kw_only=True):
    """How a box ended."""

    code: int
    """Exit code of the program; minus the signal that ended it."""
    why: str = ""
    """In words, if the sandbox ended it: which limit it broke."""


class Cores:
    """Gives out processors, always one of those that fewest boxes have.

    >>> cores = Cores([2, 3])
    >>> cores.take(), cores.take(), cores.take()
    (2, 3, 2)
    >>> cores.give_back(3); cores.take()
    3
    """

    def __init__(self, cores: Iterable[int]) -> None:
        self._used: Counter[int] = Counter(dict.fromkeys(cores, 0))

    @classmethod
    def of_this_machine(cls) -> Cores:
        """Return those that this process may use; of three and more the first is left to the
        runner.
        """
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        return cls(cores[1:] if len(cores) > 2 else cores)

    def __len__(self) -> int:
        return len(self._used)

    def take(self) -> int | None:
        """Return a processor for a new box; None if there is none to name."""
        if not self._used:
            return None
        core = min(self._used, key=lambda each: (self._used[each], each))
        self._used[core] += 1
        return core

    def give_back(self, core: int) -> None:
        """A box is gone."""
        self._used[core] -= 1


class _Said(msgspec.Struct, frozen=True, tag=True, tag_field="type"):
    id: int
    """Number of the box, given by the client."""


class Launch(_Said, frozen=True):
    """Put a program into a box."""

    box: Box


class Kill(_Said, frozen=True):
    """End it with all it has started; `Ended` follows."""


class Started(_Said, frozen=True):
    """The process that is the bot."""

    pid: int


class Refused(_Said, frozen=True):
    """It could not be confined, and was not run."""

    why: str


class Ended(_Said, frozen=True):
    """It is gone, with all its processes."""

    ending: BoxExit


ToForkServer: TypeAlias = Launch | Kill
FromForkServer: TypeAlias = Started | Refused | Ended

_encoder = msgspec.json.Encoder()
decode_to_fork_server: Callable[[bytes], ToForkServer] = msgspec.json.Decoder(ToForkServer).decode
"""Reads what the fork server is asked."""
decode_from_fork_server: Callable[[bytes], FromForkServer] = msgspec.json.Decoder(
    FromForkServer
).decode
"""Reads what the fork server says."""


def packet(message: ToForkServer | FromForkServer) -> bytes:
    """Return the bytes of a message."""
    return _encoder.encode(message)
