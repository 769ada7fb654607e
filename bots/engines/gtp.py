"""GTP without I/O: commands for an engine, and its answers.

The protocol is "GTP, the Go Text Protocol", version 2, by G. Farnebaeck (2002).

>>> client = GtpClient("gnugo")
>>> client.command("genmove", "black")
'1 genmove black'
>>> client.receive("=1 D4")
>>> client.receive("")
Answer(number=1, ok=True, text='D4')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from plyhouse.bots.engines.errors import EngineError, nearest, quoted

__all__ = ["Answer", "GtpClient", "time_commands"]

LONGEST_ANSWER: Final = 256 * 1024
"""Most characters of an answer."""

_HEAD: Final = re.compile(r"([=?])(\d{1,10})?(?:[ \t](.*))?")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a command."""

    number: int | None
    """Number of the command; None if the engine left it out."""
    ok: bool
    """False if the engine refused the command."""
    text: str


class GtpClient:
    """Numbers the commands of one engine, and puts its answers together."""

    def __init__(self, program: str) -> None:
        self.name = program
        """Name that the engine gives itself, or that of its program."""
        self.known: frozenset[str] = frozenset()
        """Commands that the engine knows; empty until it has listed them."""
        self._number = 0
        self._open: list[str] | None = None
        self._head: tuple[bool, int | None] = (True, None)
        self._length = 0

    def command(self, name: str, *arguments: str) -> str:
        """Return the line of a command, with the next number."""
        self._number += 1
        return " ".join([str(self._number), name, *arguments])

    def receive(self, line: str) -> Answer | None:
        """Return the answer that a line completes; None for all other lines.

        Lines outside of answers are ignored, and a second answer to an earlier command.  Raises
        `EngineError` for the answer to a command that was not sent, and for one that is too long.
        """
        text = "".join([letter for letter in line if letter == "\t" or letter >= " "])
        if self._open is None:
            found = _HEAD.fullmatch(text)
            if found is None:
                return None
            number = None if found[2] is None else int(found[2])
            if number is not None and number > self._number:
                raise EngineError(
                    f"{self.name} answered command {number} with {quoted(line)}, but command "
                    f"{self._number} was asked. Check that it is a GTP engine."
                )
            self._head = (found[1] == "=", number)
            self._open = [(found[3] or "").strip()]
            self._length = len(text)
            return None
        if text.strip():
            self._length += len(text)
            if self._length > LONGEST_ANSWER:
                raise EngineError(f"{self.name} answered with more than {LONGEST_ANSWER} bytes.")
            self._open.append(text.rstrip())
            return None
        ok, number = self._head
        answer = Answer(number, ok, "\n".join(self._open).strip())
        self._open = None
        return answer if number in (None, self._number) else None

    def require(self, command: str, what: str) -> None:
        """Raise `EngineError` if the engine does not know a command."""
        if self.known and command not in self.known:
            raise EngineError(
                f"{self.name} has no GTP command {command!r}, which {what} needs: "
                f"{nearest(command, self.known)}"
            )


def time_commands(
    total_ms: int | None, own_ms: int, use_ms: int, *, started: bool
) -> list[tuple[str, ...]]:
    """Return the commands, without the colour, that tell an engine of its time for a move.

    GTP has no increments and whole seconds only.  With total time the engine is told what its
    clock has.  In other time controls it is told what to spend now, as a period for one stone.
    A setting has a second at least; ``time_left`` tells an engine that it has less.

    >>> time_commands(60_000, 59_900, 2_000, started=False)
    [('time_settings', '60', '0', '0'), ('time_left', '59', '0')]
    >>> time_commands(None, 9_900, 2_900, started=True)
    [('time_settings', '0', '2', '1'), ('time_left', '2', '1')]
    """
    if total_ms is None:
        each = use_ms // 1000
        return [("time_settings", "0", str(max(1, each)), "1"), ("time_left", str(each), "1")]
    left = ("time_left", str(own_ms // 1000), "0")
    if started:
        return [left]
    return [("time_settings", str(max(1, total_ms // 1000)), "0", "0"), left]
