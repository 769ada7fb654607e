"""A bot as a UCI engine, without I/O.

>>> service = UciService("mybot", "chess", options=[("depth", "int", "4")])
>>> print(service.receive("uci")[0].text)
id name mybot
id author Plyhouse
option name depth type spin default 4 min -1000000000 max 1000000000
option name Move Overhead type spin default 30 min 0 max 5000
option name UCI_Chess960 type check default false
uciok
>>> service.receive("position startpos moves e2e4")
[]
>>> service.receive("go movetime 1000")
[Ask(game='chess', actions=('e2e4',), soft=950000000, hard=970000000, depth=None, nodes=None, \
held=False)]
>>> from plyhouse.bots.serving.requests import Answer
>>> service.answered(Answer("e7e5", took=5_000_000))
[Say(text='bestmove e7e5')]
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, Final

from plyhouse.bots.client.timing import MS, SECOND
from plyhouse.bots.running.time_management import TimeRule, allot, expected_moves_left
from plyhouse.bots.serving.requests import (
    UNBOUNDED,
    Answer,
    Ask,
    Configure,
    Effect,
    Quit,
    Release,
    Say,
    Stop,
)
from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game

__all__ = ["UciService"]

OVERHEAD: Final = "Move Overhead"
CHESS960: Final = "UCI_Chess960"
MOST_OVERHEAD: Final = 5000
SPIN: Final = 10**9
AFTER_MISTAKE: Final = 1000 * MS
"""Nanoseconds for a move if no limit can be read."""
NO_MOVE: Final = "bestmove 0000"

_KINDS: Final = {"int": "spin", "bool": "check"}
_SETOPTION: Final = re.compile(r"setoption +name +(.+?)(?: +value(?: +(.*))?)?")
_GO_NUMBERS: Final = frozenset(
    ("wtime", "btime", "winc", "binc", "movestogo", "movetime", "depth", "nodes")
)
_GO_WITHOUT_END: Final = frozenset(("infinite", "ponder"))
_GO_IGNORED: Final = {"searchmoves": ": all moves count", "mate": ""}


class UciService:
    """One bot that plays ``game`` for a controller.

    ``options`` are name, kind and default of the bot's options.
    """

    one_by_one = False

    def __init__(self, name: str, game: str, options: Sequence[tuple[str, str, str]] = ()) -> None:
        self._name = name
        self._spec = game
        self._options = {each[0]: each for each in options}
        self._values: dict[str, str] = {}
        self._overhead = 30
        self._chess960 = False
        self._thinking = False
        self._pondering = 0
        """Nanoseconds for the move once the opponent makes the expected one; 0 if none is."""
        self._problem = ""
        self._game: Game = get_game(game, files=True)
        self._state: Any = self._game.initial_state()
        self._actions: tuple[str, ...] = ()
        self._next = 0
        """The seat that moves next if the controller plays on, even after the end."""

    def at_once(self, line: str) -> bool:
        """Return whether a line must be answered even while the bot ends its turn."""
        return line.split() == ["isready"]

    def receive(self, line: str) -> list[Effect]:
        """Return what follows from a line; unknown ones are reported and ignored."""
        words = line.split()
        match words[:1]:
            case ["uci"]:
                return [Say("\n".join(self._introduction()))]
            case ["isready"]:
                return [Say("readyok")]
            case ["setoption"]:
                return self._set_option(line.strip())
            case ["position"]:
                return self._position(words[1:])
            case ["go"]:
                return self._go(words[1:])
            case ["stop"]:
                return [Stop()] if self._thinking else []
            case ["ponderhit"]:
                pondering, self._pondering = self._pondering, 0
                return [Release(pondering)] if pondering else []
            case ["quit"]:
                return [Quit()]
            case ["d"]:
                return [Say(self._game.describe(self._state))]
            case [] | ["ucinewgame" | "debug" | "register"]:
                return []
        return [Say(f"info string unknown command {words[0][:40]!r}: it is ignored")]

    def answered(self, answer: Answer) -> list[Effect]:
        """Return the lines for the bot's move."""
        self._thinking = False
        self._pondering = 0
        lines = []
        if answer.thoughts is not None and (info := self._info(answer)):
            lines.append(info)
        if answer.problem:
            lines.append(f"info string {answer.problem}")
        if answer.resigns:
            lines.append("info string the bot resigns")
        lines.append(f"bestmove {self._move(answer.action)}" if answer.action else NO_MOVE)
        return [Say("\n".join(lines))]

    def _introduction(self) -> list[str]:
        lines = [f"id name {self._name}", "id author Plyhouse"]
        for name, kind, default in self._options.values():
            uci = _KINDS.get(kind, "string")
            if uci != "string" and not default:
                uci = "string"  # all others have a default
            limits = f" min {-SPIN} max {SPIN}" if uci == "spin" else ""
            lines.append(f"option name {name} type {uci} default {default or '<empty>'}{limits}")
        lines.append(
            f"option name {OVERHEAD} type spin default {self._overhead} min 0 max {MOST_OVERHEAD}"
        )
        if self._game.info.name == "chess":
            lines.append(f"option name {CHESS960} type check default false")
        return [*lines, "uciok"]

    def _set_option(self, line: str) -> list[Effect]:
        found = _SETOPTION.fullmatch(line)
        if found is None:
            return [Say("info string write it like: setoption name NAME value VALUE")]
        name, value = found[1], (found[2] or "").strip()
        if name.lower() == OVERHEAD.lower():
            if not re.fullmatch(r"\d{1,4}", value) or int(value) > MOST_OVERHEAD:
                return [Say(f"info string {OVERHEAD} is from 0 to {MOST_OVERHEAD}, not {value}")]
            self._overhead = int(value)
            return []
        if name.lower() == CHESS960.lower():
            self._chess960 = value.lower() == "true"
            return []
        known = {each.lower(): each for each in self._options}.get(name.lower())
        if known is None:
            return [Say(f"info string there is no option {name[:40]!r}: it is ignored")]
        if self._thinking:
            return [Say("info string the option is ignored: send stop first, the bot thinks")]
        if value == "<empty>" or not value:
            self._values.pop(known, None)
        else:
            self._values[known] = value
        return [Configure(tuple(self._values.items()))]

    def _position(self, words: list[str]) -> list[Effect]:
        if self._thinking:
            self._problem = "the position is refused: send stop first, the bot thinks"
            return [Say(f"info string {self._problem}")]
        at = words.index("moves") if "moves" in words else len(words)
        start, moves = words[:at], words[at + 1 :]
        try:
            self._begin(self._game_of(start))
            for move in moves:
                if self._state.to_move == TERMINAL:
                    self._play_on()
                action = self._game.parse(self._state, move)
                self._actions = (*self._actions, self._game.format(self._state, action))
                self._next = 1 - self._state.to_move
                self._state = self._state.after(action)
        except (GameError, ValueError) as error:
            self._problem = f"the position is refused: {_line(error)}"
            return [Say(f"info string {self._problem}")]
        self._problem = ""
        return []

    def _begin(self, game: Game) -> None:
        self._game, self._state, self._actions = game, game.initial_state(), ()
        self._next = self._state.to_move

    def _play_on(self) -> None:
        """Begin again where a rule ended the match but a seat can move: draws may be claimed only.

        The bot then gets a new match, which begins in this position.
        """
        fresh = self._game.restarted(self._state, self._next)
        if fresh is not None:
            self._begin(fresh)

    def _game_of(self, start: list[str]) -> Game:
        if start[:1] == ["startpos"]:
            if start[1:]:
                raise ValueError(
                    f"write moves before {start[1][:40]!r}, as in position startpos moves e2e4"
                )
            return get_game(self._spec, files=True)
        if start[:1] == ["fen"] and self._game.info.name == "chess":
            fields = [*start[1:], *["-", "-", "0", "1"][len(start) - 3 :]]
            if fields[4:5] and re.fullmatch(r"[1-9]\d{2,5}", fields[4]):
                fields[4] = "0"  # nobody has claimed the draw
            return get_game(f"chess(fen={json.dumps(' '.join(fields))})")
        raise ValueError("write position startpos, or position fen FEN in chess")

    def _go(self, words: list[str]) -> list[Effect]:
        if self._thinking:
            return [Say("info string the bot thinks already: send stop first")]
        if self._problem:
            return [Say(f"info string {self._problem}\n{NO_MOVE}")]
        if self._state.to_move == TERMINAL:
            self._play_on()
        if self._state.to_move == TERMINAL:
            return [Say("info string the game is over\nbestmove (none)")]
        numbers, held, problems = _go_parts(words)
        side = "wb"[self._state.to_move % 2]
        limited = not numbers.keys().isdisjoint(("movetime", "depth", "nodes", f"{side}time"))
        if not limited and not held and not numbers.keys().isdisjoint(("wtime", "btime")):
            problems.append(f"{side}time is missing")
        soft, hard = self._times(numbers)
        if problems and not limited and not held:
            soft, hard = AFTER_MISTAKE * 9 // 10, AFTER_MISTAKE
            problems[-1] += f"; the bot thinks for {AFTER_MISTAKE // SECOND} s"
        if "ponder" in words:  # until the opponent's move, the search has no end
            self._pondering, soft, hard = soft, UNBOUNDED, UNBOUNDED
        self._thinking = True
        return [
            *[Say(f"info string {problem}") for problem in problems],
            Ask(
                self._game.spec,
                self._actions,
                soft,
                hard,
                depth=max(1, numbers["depth"]) if "depth" in numbers else None,
                nodes=max(1, numbers["nodes"]) if "nodes" in numbers else None,
                held=held,
            ),
        ]

    def _times(self, numbers: dict[str, int]) -> tuple[int, int]:
        """Return the nanoseconds to use, and those after which the best so far is played."""
        margin = self._overhead * MS
        if "movetime" in numbers:
            hard = max(1, numbers["movetime"] * MS - margin)
            return max(1, hard - min(20 * MS, hard // 4)), hard
        side = "wb"[self._state.to_move % 2]
        if f"{side}time" not in numbers:
            return UNBOUNDED, UNBOUNDED
        left = max(1, numbers[f"{side}time"]) * MS
        rule = TimeRule("total", increment=numbers.get(f"{side}inc", 0) * MS)
        given = allot(
            rule,
            left,
            margin=min(margin, left // 3),
            moves_left=numbers.get("movestogo") or expected_moves_left(len(self._actions) // 2),
        )
        return max(1, given.soft), max(1, given.hard)

    def _move(self, text: str) -> str:
        """Return a move, in Chess960 with castling as king takes rook."""
        if not self._chess960 or text[:2] not in ("e1", "e8") or text[2:3] not in ("g", "c"):
            return text
        rook = f"{text[:2]}{'h' if text[2] == 'g' else 'a'}{text[1]}"
        try:
            same = self._game.parse(self._state, rook) == self._game.parse(self._state, text)
        except GameError:
            return text
        return rook if same else text

    def _info(self, answer: Answer) -> str:
        said = answer.thoughts
        if said is None:
            return ""
        parts = []
        if said.depth is not None:
            parts.append(f"depth {said.depth}")
        if said.value is not None and self._game.info.name == "chess":
            bounded = max(-0.9999, min(0.9999, said.value))
            parts.append(f"score cp {round(math.atanh(bounded) / 0.00184)}")
        if said.nodes is not None:
            parts.append(f"nodes {said.nodes}")
        parts.append(f"time {answer.took // MS}")
        if said.pv:
            parts.append(f"pv {' '.join(said.pv)}")
        return f"info {' '.join(parts)}"


MOST: Final = 10**12
"""Largest number of ``go``; a longer one means as much."""


def _go_parts(words: Sequence[str]) -> tuple[dict[str, int], bool, list[str]]:
    """Return the numbers of ``go``, whether only ``stop`` ends it, and what is wrong with it.

    >>> _go_parts(["depth", "3", "movetime", "x", "infinite"])
    ({'depth': 3}, True, ["movetime takes a whole number, not 'x'"])
    >>> _go_parts(["wtime", "59999.7", "movetime", "9" * 30])
    ({'wtime': 59999, 'movetime': 1000000000000}, False, [])
    """
    numbers: dict[str, int] = {}
    problems: list[str] = []
    before = ""
    for place, word in enumerate(words):
        if word in _GO_NUMBERS:
            value = words[place + 1] if place + 1 < len(words) else ""
            if found := re.fullmatch(r"(-?\d{1,400})(?:\.\d*)?", value):
                numbers[word] = max(0, min(int(found[1]), MOST))
            else:
                problems.append(f"{word} takes a whole number, not {value[:40]!r}")
        elif word in _GO_IGNORED:
            problems.append(f"{word} is ignored{_GO_IGNORED[word]}")
        elif word not in _GO_WITHOUT_END:
            if before == "searchmoves":
                continue  # it takes several
            if before not in _GO_NUMBERS | _GO_IGNORED.keys():
                problems.append(f"{word[:40]!r} is ignored: go does not know it")
        before = word
    return numbers, not _GO_WITHOUT_END.isdisjoint(words), problems


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]
