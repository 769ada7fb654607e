"""XBoard (CECP, version 2) without I/O: lines for an engine, and what its lines say.

The protocol is the "Chess Engine Communication Protocol" by T. Mann and H. G. Muller (2009).

>>> client = XboardClient("phalanx")
>>> client.receive('feature usermove=1 myname="Phalanx" variants="normal" done=1')
Done()
>>> client.name, client.user_move("e2e4")
('Phalanx', 'usermove e2e4')
>>> client.receive("9 31 120 4242 e2e4 e7e5")
Thought(depth=9, centipawns=31, nodes=4242, pv=('e2e4', 'e7e5'))
>>> client.receive("move e2e4")
Move(text='e2e4')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from plyhouse.bots.engines.errors import EngineError, nearest, quoted

__all__ = ["Done", "Move", "Pong", "Refused", "Result", "Thought", "XboardClient"]

MOST_OPTIONS: Final = 1000
"""Options of an engine that are remembered."""

_FEATURE: Final = re.compile(r'(\w+)=(?:"([^"]*)"|(\S+))')
_THOUGHT: Final = re.compile(
    r"(\d{1,6})\S? +(-?\d{1,9}) +(\d{1,18}) +(\d{1,18})(?:[ \d-]*\t)?\s*(\S.*)"
)
_RESULT: Final = re.compile(r"(?:RESULT +)?(1-0|0-1|1/2-1/2)\b.*")


@dataclass(frozen=True, slots=True)
class Done:
    """The engine has announced its features."""


@dataclass(frozen=True, slots=True)
class Pong:
    """The engine has done what it was told before this ``ping``."""

    number: int


@dataclass(frozen=True, slots=True)
class Thought:
    """The best line of the engine so far."""

    depth: int
    centipawns: int
    nodes: int
    pv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """The move that the engine plays."""

    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """The engine ends the game without a move: it resigns, or claims a result."""

    text: str
    resigns: bool


_OPTIONAL: Final = frozenset(
    ("?", "accepted", "easy", "level", "otim", "post", "rejected", "st", "time", "xboard")
)
"""Commands without which an engine still plays: its time is watched, and "?" is sent anyway."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The engine does not know, or does not allow, what it was told."""

    text: str

    @property
    def harmless(self) -> bool:
        """True if it refuses only a time or a way to show its thoughts, so that it still moves.

        >>> Refused("Error (unknown command): st 0.97").harmless
        True
        >>> Refused("Error (unknown command): e2e4").harmless
        False
        """
        found = re.fullmatch(r"Error *\([^)]*\) *: *(\S+).*", self.text)
        return found is not None and found[1] in _OPTIONAL


class XboardClient:
    """One engine, as far as it has introduced itself."""

    def __init__(self, program: str) -> None:
        self.name = program
        """Name that the engine gives itself, or that of its program."""
        self.features: dict[str, str] = {"usermove": "0", "setboard": "0", "ping": "0", "time": "1"}
        """Features, by name."""
        self.options: dict[str, str] = {}
        """Kind and limits of each option, by name."""

    def receive(self, line: str) -> Done | Pong | Thought | Move | Result | Refused | None:
        """Return what a line says; None for lines that ask for nothing."""
        text = line.strip()
        word, _, rest = text.partition(" ")
        if word == "feature":
            return self._features(rest)
        if word == "pong" and re.fullmatch(r"\d{1,9}", rest.strip()):
            return Pong(int(rest))
        if word == "move" and rest.strip():
            return Move(rest.split()[0])
        found = re.fullmatch(r"(?:\d+\. )?My move is ?: (\S+)", text)  # older engines
        if found is not None:
            return Move(found[1])
        if word == "resign":
            return Result(text, resigns=True)
        if _RESULT.fullmatch(text):
            return Result(text, resigns="resign" in text.lower())
        if text.startswith(("Error", "Illegal move")):
            return Refused(text)
        found = _THOUGHT.fullmatch(text)
        if found is not None:
            pv = tuple(each for each in found[5].split() if not re.fullmatch(r"\d+\.+", each))
            return Thought(int(found[1]), int(found[2]), int(found[4]), pv)
        return None

    def _features(self, text: str) -> Done | None:
        done = None
        for name, quoted_value, plain in _FEATURE.findall(text):
            value = quoted_value or plain
            if name == "option":
                label, _, kind = value.partition(" -")
                if len(self.options) < MOST_OPTIONS:
                    self.options[label] = kind
            elif name == "myname":
                self.name = value[:80]
            elif name == "done":
                done = Done() if value == "1" else None
            elif len(self.features) < MOST_OPTIONS:
                self.features[name] = value
        return done

    def set_option(self, name: str, value: str) -> str:
        """Return the line that sets an option; raise `EngineError` for one that it does not have.

        >>> client = XboardClient("sjeng")
        >>> client.receive('feature option="Hash -spin 16 1 1024"')
        >>> client.set_option("hash", "64")
        'option Hash=64'
        """
        by_lower = {each.lower(): each for each in self.options}
        known = by_lower.get(name.lower())
        if known is None:
            raise EngineError(f"{self.name} has no option {name!r}: {nearest(name, self.options)}")
        kind = self.options[known].split()
        if kind[:1] == ["spin"] and not _within(value, kind[2:4]):
            raise EngineError(
                f"{self.name} takes a whole number from {' to '.join(kind[2:4])} as {known}, not "
                f"{value!r}."
            )
        if kind[:1] == ["check"]:
            if value.lower() not in ("true", "false", "0", "1"):
                raise EngineError(f"{self.name} takes true or false as {known}, not {value!r}.")
            value = str(int(value.lower() in ("true", "1")))
        return f"option {known}" if kind[:1] == ["button"] else f"option {known}={value}"

    @property
    def variants(self) -> list[str]:
        """The variants that the engine announced; ``normal`` is chess."""
        return [each.strip() for each in self.features.get("variants", "normal").split(",")]

    def variant(self, name: str) -> list[str]:
        """Return the lines that set a variant; raise `EngineError` if it does not play it."""
        if name == "chess":
            return []
        if name not in self.variants:
            raise EngineError(
                f"{self.name} does not play {name}: its variants are {', '.join(self.variants)}. "
                "Use an engine that plays it, like fairy-stockfish."
            )
        return [f"variant {name}"]

    def set_board(self, fen: str) -> list[str]:
        """Return the lines that set a position; raise `EngineError` if that is not possible."""
        if not fen:
            return []
        if self.features["setboard"] != "1":
            raise EngineError(
                f"{self.name} cannot start from a given position (feature setboard). Accept only "
                "the usual start, with --game."
            )
        return [f"setboard {fen}"]

    def user_move(self, move: str) -> str:
        """Return the line that plays a move of either side."""
        return f"usermove {move}" if self.features["usermove"] == "1" else move

    def times(self, own_ms: int, other_ms: int) -> list[str]:
        """Return the lines that tell both clocks.

        >>> XboardClient("x").times(59_000, 58_500)
        ['time 5900', 'otim 5850']
        """
        if self.features["time"] != "1":
            return []
        return [f"time {own_ms // 10}", f"otim {other_ms // 10}"]

    @staticmethod
    def time_controls(total_ms: int | None, increment_ms: int, each_ms: int) -> tuple[str, str]:
        """Return two lines for total time with increment, or else for a time per move.

        The first one has decimals.  The second one has whole seconds, for engines that refuse
        the first; it is never longer, and empty if nothing is left of the time.

        >>> XboardClient.time_controls(90_000, 2_500, 0)
        ('level 0 1:30 2.5', 'level 0 1:30 2')
        >>> XboardClient.time_controls(None, 0, 2_700)
        ('st 2.7', 'st 2')
        >>> XboardClient.time_controls(None, 0, 450)
        ('st 0.45', '')
        """
        if total_ms is None:
            return f"st {each_ms / 1000:g}", f"st {each_ms // 1000}" if each_ms >= 1000 else ""
        minutes, seconds = divmod(total_ms // 1000, 60)
        level = f"level 0 {minutes}:{seconds:02}"
        return f"{level} {increment_ms / 1000:g}", f"{level} {increment_ms // 1000}"

    def unreadable(self, line: str) -> EngineError:
        """Return the error for a line that cannot be at this point."""
        return EngineError(
            f"{self.name} wrote {quoted(line)} when a move was due. Check that it is an XBoard "
            "engine and plays by our rules."
        )


def _within(value: str, limits: list[str]) -> bool:
    if not re.fullmatch(r"-?\d{1,18}", value):
        return False
    numbers = [int(each) for each in limits if re.fullmatch(r"-?\d{1,18}", each)]
    return len(numbers) < 2 or numbers[0] <= int(value) <= numbers[1]
