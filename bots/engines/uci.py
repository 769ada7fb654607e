"""UCI without I/O: lines for an engine, and what its lines say.

The protocol is "The Universal Chess Interface" by S. Meyer-Kahlen (2000, 2006).  `UciClient`
remembers what an engine has said of itself; the caller moves the lines.

>>> client = UciClient("stockfish")
>>> client.receive("id name Stockfish 15.1")
>>> client.receive("option name Skill Level type spin default 20 min 0 max 20")
>>> client.set_option("skill level", "3")
'setoption name Skill Level value 3'
>>> client.receive("info depth 8 score cp 31 nodes 4242 pv e2e4 e7e5")
Info(pv=('e2e4', 'e7e5'), depth=8, nodes=4242, centipawns=31, mate=None)
>>> client.receive("bestmove e2e4 ponder e7e5")
BestMove(move='e2e4')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from plyhouse.bots.engines.errors import EngineError, nearest, quoted

__all__ = ["BestMove", "Info", "Option", "ReadyOk", "UciClient", "UciOk"]

MOST_OPTIONS: Final = 1000
"""Options of an engine that are remembered."""

_OPTION: Final = re.compile(r"option +name +(.+?) +type +(\w+)(?: +(.*))?")
_FIELDS: Final = re.compile(r"\b(default|min|max|var)\b")


@dataclass(frozen=True, slots=True)
class Option:
    """An option of an engine, as it announced it."""

    name: str
    kind: str
    """``check``, ``spin``, ``combo``, ``button`` or ``string``."""
    default: str = ""
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()

    def checked(self, value: str) -> str:
        """Return ``value`` as the engine writes it; raise `ValueError` that says what it takes.

        >>> Option("Hash", "spin", "16", 1, 1024).checked("16 MB")
        Traceback (most recent call last):
        ValueError: a whole number from 1 to 1024
        """
        match self.kind:
            case "spin":
                wanted = "a whole number"
                if self.least is not None and self.most is not None:
                    wanted += f" from {self.least} to {self.most}"
                if not re.fullmatch(r"-?\d{1,18}", value):
                    raise ValueError(wanted)
                number = int(value)
                low = self.least is not None and number < self.least
                if low or (self.most is not None and number > self.most):
                    raise ValueError(wanted)
            case "check":
                if value.lower() not in ("true", "false"):
                    raise ValueError("true or false")
                return value.lower()
            case "combo":
                by_lower = {choice.lower(): choice for choice in self.choices}
                if value.lower() not in by_lower:
                    raise ValueError(f"one of {', '.join(self.choices)}")
                return by_lower[value.lower()]
        return value


@dataclass(frozen=True, slots=True)
class UciOk:
    """The engine has announced all options."""


@dataclass(frozen=True, slots=True)
class ReadyOk:
    """The engine has carried out all commands so far."""


@dataclass(frozen=True, slots=True)
class Info:
    """The best line of the engine so far."""

    pv: tuple[str, ...]
    depth: int | None
    nodes: int | None
    centipawns: int | None
    mate: int | None
    """Moves to mate, negative if the engine is mated."""


@dataclass(frozen=True, slots=True)
class BestMove:
    """The move that the engine plays; empty if it has none."""

    move: str


class UciClient:
    """One engine, as far as it has introduced itself."""

    def __init__(self, program: str) -> None:
        self.name = program
        """Name that the engine gives itself, or that of its program."""
        self.options: dict[str, Option] = {}
        """Announced options, by name in lower case."""

    def receive(self, line: str) -> UciOk | ReadyOk | Info | BestMove | None:
        """Return what a line says; None for lines that ask for nothing.

        Raises `EngineError` for a ``bestmove`` without a move.
        """
        words = line.split()
        match words[:1]:
            case ["id"] if len(words) > 2 and words[1] == "name":
                self.name = " ".join(words[2:])[:80]
            case ["option"]:
                option = _option(line.strip())
                if option is not None and len(self.options) < MOST_OPTIONS:
                    self.options[option.name.lower()] = option
            case ["uciok"]:
                return UciOk()
            case ["readyok"]:
                return ReadyOk()
            case ["info"]:
                return _info(words)
            case ["bestmove"]:
                if len(words) < 2:
                    raise EngineError(
                        f"{self.name} wrote {quoted(line)}, which names no move. Check that it is "
                        "a UCI engine."
                    )
                return BestMove("" if words[1] in ("(none)", "0000", "NULL") else words[1])
        return None

    def has_option(self, name: str) -> bool:
        """Return whether the engine has announced this option."""
        return name.lower() in self.options

    def set_option(self, name: str, value: str) -> str:
        """Return the line that sets an option.

        Raises `EngineError` for an option or a value that the engine does not have.
        """
        option = self.options.get(name.lower())
        if option is None:
            hint = nearest(name, [each.name for each in self.options.values()])
            raise EngineError(f"{self.name} has no option {name!r}: {hint}")
        if option.kind == "button":
            return f"setoption name {option.name}"
        try:
            checked = option.checked(value)
        except ValueError as error:
            raise EngineError(
                f"{self.name} takes {error} as {option.name}, not {value!r}."
            ) from None
        return f"setoption name {option.name} value {checked}"

    @staticmethod
    def position(fen: str, moves: Iterable[str]) -> str:
        """Return the line that sets a position; an empty ``fen`` is the start of the game.

        >>> UciClient.position("", ["e2e4"])
        'position startpos moves e2e4'
        """
        start = f"fen {fen}" if fen else "startpos"
        played = " ".join(moves)
        return f"position {start}" + (f" moves {played}" if played else "")


def _option(line: str) -> Option | None:
    """Return the option that a line announces; None if it cannot be read.

    >>> _option("option name Style type combo default Solid var Solid var Very Risky")
    Option(name='Style', kind='combo', default='Solid', least=None, most=None, \
choices=('Solid', 'Very Risky'))
    """
    found = _OPTION.fullmatch(line)
    if found is None:
        return None
    fields: dict[str, list[str]] = {"default": [], "min": [], "max": [], "var": []}
    parts = _FIELDS.split(found[3] or "")
    for key, value in zip(parts[1::2], parts[2::2], strict=True):
        fields[key].append(value.strip())
    default = fields["default"][0] if fields["default"] else ""
    return Option(
        name=found[1],
        kind=found[2],
        default="" if default == "<empty>" else default,
        least=_number(fields["min"]),
        most=_number(fields["max"]),
        choices=tuple(fields["var"]),
    )


def _number(texts: list[str]) -> int | None:
    return _whole(texts[0]) if texts else None


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[-+]?[0-9]{1,18}", text) else None


def _info(words: list[str]) -> Info | None:
    """Return what an ``info`` line says about the best line; None if it is about something else."""
    if "pv" not in words or "string" in words[: words.index("pv")]:
        return None
    at = words.index("pv")
    head, pv = words[1:at], tuple(words[at + 1 :])
    if "multipv" in head[:-1] and head[head.index("multipv") + 1] != "1":
        return None
    numbers = {
        key: _whole(head[head.index(key) + 1])
        for key in ("depth", "nodes", "cp", "mate")
        if key in head[:-1]
    }
    if not pv:
        return None
    return Info(
        pv, numbers.get("depth"), numbers.get("nodes"), numbers.get("cp"), numbers.get("mate")
    )
