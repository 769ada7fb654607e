r"""A bot as a GTP engine, without I/O.

>>> service = GtpService("mybot", "go")
>>> service.receive("1 boardsize 7")
[Say(text='=1\n')]
>>> service.receive("play black D4")
[Say(text='=\n')]
>>> service.receive("2 genmove white")[0].actions
('D4',)
>>> from plyhouse.bots.serving.requests import Answer
>>> service.answered(Answer("E5", took=5_000_000))
[Say(text='=2 E5\n')]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from plyhouse.bots.client.timing import MS, SECOND
from plyhouse.bots.running.time_management import TimeRule, allot, expected_moves_left
from plyhouse.bots.serving.requests import Answer, Ask, Effect, Quit, Say
from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game

__all__ = ["GtpService"]

WITHOUT_LIMIT: Final = 5 * SECOND
"""Time for a move if the controller sets no limit."""

MARGIN: Final = 50 * MS
"""Kept free for the way to the controller and back."""

SEATS: Final = {"b": 0, "black": 0, "w": 1, "white": 1}

_COMMAND: Final = re.compile(r"(?:(\d{1,9})\s+)?(\S+)(?:\s+(.*))?")


class _Refused(Exception):  # noqa: N818 - the answer to a command
    """A command that is refused; ``str()`` is the answer."""


class GtpService:
    """One bot that plays ``game`` for a controller."""

    one_by_one = True

    def __init__(self, name: str, game: str, options: Sequence[tuple[str, str, str]] = ()) -> None:
        self._name = name
        self._game: Game = get_game(game, files=True)
        self._states: list[Any] = [self._game.initial_state()]
        self._actions: list[str] = []
        self._settings: tuple[int, int, int] | None = None
        self._left: dict[int, tuple[int, int]] = {}
        """By seat the nanoseconds left, and the moves to make in them; 0 for all."""
        self._number = ""
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "final_score": self._final_score,
            "final_status_list": self._final_status_list,
            "known_command": lambda words: str(" ".join(words) in self.commands).lower(),
            "komi": self._komi,
            "list_commands": lambda _: "\n".join(self.commands),
            "name": lambda _: self._name,
            "play": self._play,
            "protocol_version": lambda _: "2",
            "query_boardsize": lambda _: str(self._game.parameters.get("size", "")),
            "showboard": lambda _: f"\n{self._game.describe(self._states[-1])}",
            "time_left": self._time_left,
            "time_settings": self._time_settings,
            "undo": self._undo,
            "version": lambda _: "Plyhouse",
        }

    @property
    def commands(self) -> list[str]:
        """All commands, in order."""
        return sorted([*self._commands, "genmove", "quit"])

    def receive(self, line: str) -> list[Effect]:
        """Return what follows from a line: nothing, an answer, or a question to the bot."""
        text = "".join([letter for letter in line.replace("\t", " ") if letter >= " "])
        found = _COMMAND.fullmatch(text.partition("#")[0].strip())
        if found is None:
            return []
        self._number = found[1] or ""
        name, words = found[2], (found[3] or "").split()
        if name == "quit":
            return [self._say("", ok=True), Quit()]
        try:
            if name == "genmove":
                return self._genmove(words)
            command = self._commands.get(name)
            if command is None:
                raise _Refused("unknown command")
            return [self._say(command(words), ok=True)]
        except _Refused as error:
            return [self._say(str(error), ok=False)]

    def answered(self, answer: Answer) -> list[Effect]:
        """Return the answer to ``genmove``, and play the move."""
        state = self._states[-1]
        seat = state.to_move
        if seat in self._left:
            left, moves = self._left[seat]
            self._left[seat] = (max(0, left - answer.took), moves)
        if answer.resigns:
            return [self._say("resign", ok=True)]
        if not answer.action:
            return [self._say(answer.problem or "the bot has no move", ok=False)]
        try:
            self._add(answer.action)
        except GameError as error:
            return [self._say(f"the bot's move is illegal: {_line(error)}", ok=False)]
        return [self._say(self._actions[-1], ok=True)]

    def _say(self, text: str, *, ok: bool) -> Say:
        head = f"{'=' if ok else '?'}{self._number}"
        return Say(f"{head} {text}\n" if text else f"{head}\n")

    def _add(self, text: str) -> None:
        state = self._states[-1]
        action = self._game.parse(state, text)
        self._actions.append(self._game.format(state, action))
        self._states.append(state.after(action))

    # Commands

    def _renew(self, **parameters: Any) -> None:
        wanted = {**self._game.parameters, **parameters}
        try:
            self._game = type(self._game)(**wanted)
        except GameError as error:
            raise _Refused(_line(error)) from None
        self._clear_board([])

    def _boardsize(self, words: list[str]) -> str:
        if not words or not re.fullmatch(r"\d{1,3}", words[0]):
            raise _Refused("boardsize not an integer")
        if "size" not in self._game.parameters:
            raise _Refused(f"{self._game.info.name} has one size only")
        try:
            self._renew(size=int(words[0]))
        except _Refused:
            raise _Refused("unacceptable size") from None
        return ""

    def _clear_board(self, _: list[str]) -> str:
        self._states = [self._game.initial_state()]
        self._actions = []
        self._left = {}
        return ""

    def _komi(self, words: list[str]) -> str:
        if not words or not re.fullmatch(r"-?\d{1,3}(\.\d{1,3})?", words[0]):
            raise _Refused("komi not a float")
        if "komi" not in self._game.parameters:
            raise _Refused(f"{self._game.info.name} has no komi")
        actions = self._actions
        self._renew(komi=float(words[0]))
        for action in actions:
            self._add(action)
        return ""

    def _seat(self, words: list[str]) -> int:
        seat = SEATS.get(words[0].lower()) if words else None
        if seat is None:
            raise _Refused("invalid color or coordinate")
        state = self._states[-1]
        if state.to_move not in (seat, TERMINAL):
            due = ("black", "white")[state.to_move]
            raise _Refused(f"it is the turn of {due}; send play {due} pass first")
        return seat

    def _play(self, words: list[str]) -> str:
        self._seat(words)
        if len(words) != 2:
            raise _Refused("invalid color or coordinate")
        try:
            self._add(words[1])
        except GameError:
            raise _Refused("illegal move") from None
        return ""

    def _undo(self, _: list[str]) -> str:
        if not self._actions:
            raise _Refused("cannot undo")
        self._actions.pop()
        self._states.pop()
        return ""

    def _time_settings(self, words: list[str]) -> str:
        if len(words) != 3 or not all(re.fullmatch(r"\d{1,9}", word) for word in words):
            raise _Refused("syntax error")
        main, each, stones = map(int, words)
        self._settings = None if each > 0 and stones == 0 else (main, each, stones)
        self._left = {}
        return ""

    def _time_left(self, words: list[str]) -> str:
        seat = SEATS.get(words[0].lower()) if words else None
        if seat is None or len(words) != 3:
            raise _Refused("syntax error")
        if not all(re.fullmatch(r"-?\d{1,9}", word) for word in words[1:]):
            raise _Refused("syntax error")
        self._left[seat] = (max(0, int(words[1])) * SECOND, max(0, int(words[2])))
        return ""

    def _final_score(self, _: list[str]) -> str:
        if self._game.info.name != "go":
            raise _Refused("cannot score")
        state = self._states[-1]
        while state.to_move != TERMINAL:  # as it stands: both pass
            state = state.after(self._game.parse(state, "pass"))
        seen: Any = self._game.observe(state, None)
        if not seen.lead:
            return "0"
        return f"{'B' if seen.lead > 0 else 'W'}+{abs(seen.lead):g}"

    def _final_status_list(self, words: list[str]) -> str:
        """Answer that every stone is alive, as these rules have it."""
        if words == ["alive"] and self._game.info.name == "go":
            seen: Any = self._game.observe(self._states[-1], None)
            points = [
                f"{'ABCDEFGHJKLMNOPQRST'[column]}{len(seen.board) - row}"
                for row, line in enumerate(seen.board)
                for column, mark in enumerate(line)
                if mark != "."
            ]
            return "\n".join(points)
        if words in (["dead"], ["seki"]):
            return ""
        raise _Refused("invalid status")

    def _genmove(self, words: list[str]) -> list[Effect]:
        seat = self._seat(words)
        if self._states[-1].to_move == TERMINAL:
            return [self._say("pass", ok=True)]
        soft, hard = self._times(seat)
        return [Ask(self._game.spec, tuple(self._actions), soft, hard)]

    def _times(self, seat: int) -> tuple[int, int]:
        """Return the nanoseconds to use, and those after which the best so far is played."""
        if seat not in self._left and self._settings is not None:
            main, each, stones = self._settings
            self._left[seat] = (main * SECOND, 0) if main else (each * SECOND, stones)
        if seat not in self._left:
            return WITHOUT_LIMIT, WITHOUT_LIMIT
        left, moves = self._left[seat]
        moves_left = moves or expected_moves_left(len(self._actions) // 2)
        left = max(1, left)
        given = allot(TimeRule("total"), left, margin=min(MARGIN, left // 3), moves_left=moves_left)
        return max(1, given.soft), max(1, given.hard)


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]
