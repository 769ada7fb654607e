"""Questions of a protocol to a bot, and the bot's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from plyhouse.protocol.parts import Info

__all__ = [
    "UNBOUNDED",
    "Answer",
    "Ask",
    "Configure",
    "Effect",
    "Quit",
    "Release",
    "Say",
    "Service",
    "Stop",
]

UNBOUNDED: Final = 86_400 * 10**9
"""Nanoseconds of a search that only a command ends."""


@dataclass(frozen=True, slots=True)
class Say:
    """Write lines to the controller."""

    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the bot for an action after these ``actions`` of ``game``."""

    game: str
    actions: tuple[str, ...]
    soft: int
    """Nanoseconds that a search should use."""
    hard: int
    """Nanoseconds after which the best action so far is the answer."""
    depth: int | None = None
    nodes: int | None = None
    held: bool = False
    """True if the answer is wanted only after `Stop` or `Release`."""

    @property
    def endless(self) -> bool:
        """True if only `Stop` ends the turn."""
        bounded = self.hard < UNBOUNDED or self.depth is not None or self.nodes is not None
        return self.held or not bounded


@dataclass(frozen=True, slots=True)
class Stop:
    """Let the bot answer now."""


@dataclass(frozen=True, slots=True)
class Release:
    """Take an `Ask` that was held for one that is not."""

    hard: int
    """Nanoseconds from now after which the best action so far is the answer."""


@dataclass(frozen=True, slots=True)
class Configure:
    """Run the bot with these options from now on, as texts by name."""

    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Quit:
    """End."""


Effect = Say | Ask | Stop | Release | Configure | Quit


@dataclass(frozen=True, slots=True)
class Answer:
    """The decision of the bot."""

    action: str
    """As text; empty if there is none."""
    took: int
    """Nanoseconds that it thought."""
    thoughts: Info | None = None
    resigns: bool = False
    problem: str = ""
    """Why there is no action."""


class Service(Protocol):
    """A protocol without I/O: lines and answers in, effects out."""

    one_by_one: bool
    """True if a line waits until the answer to the last one is written."""

    def at_once(self, line: str) -> bool:
        """Return whether a line must be answered even while the bot ends its turn."""
        ...

    def receive(self, line: str) -> Sequence[Effect]:
        """Return what follows from a line of the controller."""
        ...

    def answered(self, answer: Answer) -> Sequence[Effect]:
        """Return what follows from the bot's answer to an `Ask`."""
        ...
