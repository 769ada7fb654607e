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

The clocks of a GTP controller, and what they leave a bot for its move.

>>> clock = GtpClock()
>>> clock.set_time(["60", "0", "0"])
>>> soft, hard = clock.times(seat=0, made=0)
>>> hard // MS
59950
>>> clock.set_kgs_time(["byoyomi", "0", "10", "3"])
>>> soft, hard = clock.times(seat=0, made=0)
>>> soft // MS, hard // MS
(9950, 29950)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from plyhouse.bots.client.timing import MS, SECOND
from plyhouse.bots.running.time_management import TimeRule, allot, expected_moves_left
from plyhouse.bots.serving.requests import Answer, Ask, Effect, Quit, Say
from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.deterministic.go.state import COLUMNS
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game

__all__ = ["WITHOUT_LIMIT", "GtpClock", "GtpService"]

WITHOUT_LIMIT: Final = 5 * SECOND
"""Nanoseconds for a move if the controller sets no limit."""

MARGIN: Final = 50 * MS
"""Kept free for the way to the controller and back."""

_KGS_NUMBERS: Final = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}


@dataclass(frozen=True, slots=True)
class _Settings:
    """A main time, then ``count`` moves in each period, or ``count`` periods of one move."""

    kind: Literal["absolute", "canadian", "byoyomi"]
    main: int
    each: int = 0
    count: int = 0


class GtpClock:
    """The time control of the match, and what each seat has left."""

    def __init__(self) -> None:
        self._settings: _Settings | None = None
        self._left: dict[int, tuple[int, int]] = {}
        """By seat: nanoseconds of the main time and 0, or those of the period and its moves (in
        byo-yomi, the periods left)."""

    def reset(self) -> None:
        """Begin the match again."""
        self._left = {}

    def set_time(self, words: Sequence[str]) -> None:
        """Carry out ``time_settings``; raise `ValueError` for what cannot be read."""
        main, each, stones = _numbers(words, 3)
        kind: Literal["absolute", "canadian"] = "canadian" if stones else "absolute"
        endless = each > 0 and stones == 0
        self._settings = None if endless else _Settings(kind, main, each, stones)
        self.reset()

    def set_kgs_time(self, words: Sequence[str]) -> None:
        """Carry out ``kgs-time_settings``; raise `ValueError` for what cannot be read."""
        kind = words[0].lower() if words else ""
        numbers = _numbers(words[1:], _KGS_NUMBERS.get(kind, -1))
        match kind:
            case "byoyomi" | "canadian":
                main, each, count = numbers
                if count == 0 or each == 0:
                    raise ValueError
                self._settings = _Settings(kind, main, each, count)
            case "absolute":
                self._settings = _Settings("absolute", numbers[0])
            case _:
                self._settings = None
        self.reset()

    def set_left(self, seat: int, words: Sequence[str]) -> None:
        """Carry out ``time_left``; raise `ValueError` for what cannot be read."""
        if len(words) != 2 or not re.fullmatch(r"-?\d{1,9}", words[0]):
            raise ValueError
        (count,) = _numbers(words[1:], 1, unit=1)
        self._left[seat] = (max(0, int(words[0])) * SECOND, count)

    def spend(self, seat: int, took: int) -> None:
        """Take the nanoseconds of a move off the clock of a seat, if it has one."""
        if seat not in self._left:
            return
        left, count = self._left[seat]
        left -= took
        settings = self._settings
        if settings is None or settings.kind == "absolute":
            self._left[seat] = (max(0, left), count)
        elif settings.kind == "byoyomi":
            over = -(left // settings.each) if left < 0 else 0  # periods that ended
            periods = (count or settings.count + 1) - over
            main = count == 0 and over == 0
            self._left[seat] = (left, 0) if main else (settings.each, max(1, periods))
        elif count > 1 or (count == 0 and left > 0):
            self._left[seat] = (max(0, left), max(0, count - 1))
        else:
            self._left[seat] = (settings.each, settings.count)

    def times(self, seat: int, made: int) -> tuple[int, int]:
        """Return the nanoseconds to use, and those after which the best so far is played.

        ``made`` is the number of moves that the seat has made.
        """
        settings = self._settings
        if seat not in self._left:
            if settings is None:
                return WITHOUT_LIMIT, WITHOUT_LIMIT
            first = (settings.main, 0) if settings.main else (settings.each, settings.count)
            self._left[seat] = first
        left, count = self._left[seat]
        expected = expected_moves_left(made)
        if settings is not None and settings.kind == "byoyomi":
            periods = count or settings.count
            left += settings.each * (periods - 1 if count else periods)
            given = allot(
                TimeRule("byoyomi", each=settings.each),
                max(1, left),
                margin=min(MARGIN, left // 3),
                periods=periods,
                moves_left=expected,
            )
        else:
            left = max(1, left)
            given = allot(
                TimeRule("total"),
                left,
                margin=min(MARGIN, left // 3),
                moves_left=count or expected,
            )
        return max(1, given.soft), max(1, given.hard)


def _numbers(words: Sequence[str], wanted: int, unit: int = SECOND) -> list[int]:
    """Return whole numbers; the third one counts moves or periods, others ``unit``."""
    if len(words) != wanted or not all(re.fullmatch(r"\d{1,9}", word) for word in words):
        raise ValueError
    return [int(word) * (1 if place == 2 else unit) for place, word in enumerate(words)]


SEATS: Final = {"b": 0, "black": 0, "w": 1, "white": 1}

_COMMAND: Final = re.compile(r"(?:(\d{1,20})\s+)?(\S+)(?:\s+(.*))?")


HANDICAP_POINTS: Final = {
    2: ("ll", "hh"),
    3: ("ll", "hh", "lh"),
    4: ("ll", "hh", "lh", "hl"),
    5: ("ll", "hh", "lh", "hl", "mm"),
    6: ("ll", "hh", "lh", "hl", "lm", "hm"),
    7: ("ll", "hh", "lh", "hl", "lm", "hm", "mm"),
    8: ("ll", "hh", "lh", "hl", "lm", "hm", "ml", "mh"),
    9: ("ll", "hh", "lh", "hl", "lm", "hm", "ml", "mh", "mm"),
}
"""Column and row of the fixed handicaps: low, middle or high (section 4.1.1 of the protocol)."""


class _Refused(Exception):  # noqa: N818 - the answer to a command
    """A command that is refused; ``str()`` is the answer."""


class GtpService:
    """One bot that plays ``game`` for a controller."""

    one_by_one = True

    def __init__(self, name: str, game: str, options: Sequence[tuple[str, str, str]] = ()) -> None:
        self._name = name
        self._game: Game = get_game(game, files=True)
        """The game as the controller has set it up, with its handicap."""
        self._positions: list[_Position] = [_beginning(self._game)]
        self._plays: list[tuple[int, str]] = []
        self._clock = GtpClock()
        self._asked = 0
        """The seat for which a move is sought."""
        self._played = True
        """False while a move is sought that is not played."""
        self._number = ""
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "final_score": self._final_score,
            "final_status_list": self._final_status_list,
            "fixed_handicap": self._fixed_handicap,
            "kgs-time_settings": lambda words: self._time(self._clock.set_kgs_time, words),
            "known_command": lambda words: str(" ".join(words) in self.commands).lower(),
            "komi": self._komi,
            "list_commands": lambda _: "\n".join(self.commands),
            "name": lambda _: self._name,
            "place_free_handicap": lambda words: self._fixed_handicap(words, fewer=True),
            "play": self._play,
            "protocol_version": lambda _: "2",
            "query_boardsize": lambda _: str(self._game.parameters.get("size", "")),
            "set_free_handicap": self._set_free_handicap,
            "showboard": lambda _: f"\n{self._game.describe(self._positions[-1].state)}",
            "time_left": self._time_left,
            "time_settings": lambda words: self._time(self._clock.set_time, words),
            "undo": self._undo,
            "version": lambda _: "Plyhouse",
        }

    @property
    def commands(self) -> list[str]:
        """All commands, in order."""
        return sorted([*self._commands, "genmove", "quit", "reg_genmove"])

    def at_once(self, line: str) -> bool:
        """Return False: answers come in the order of the commands."""
        return False

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
            if name in ("genmove", "reg_genmove"):
                return self._genmove(words, played=name == "genmove")
            command = self._commands.get(name)
            if command is None:
                raise _Refused("unknown command")
            return [self._say(command(words), ok=True)]
        except _Refused as error:
            return [self._say(str(error), ok=False)]

    def answered(self, answer: Answer) -> list[Effect]:
        """Return the answer to ``genmove``, and play the move."""
        if self._played:
            self._clock.spend(self._asked, answer.took)
        if answer.resigns:
            return [self._say("resign", ok=True)]
        if not answer.action:
            return [self._say(answer.problem or "the bot has no move", ok=False)]
        try:
            text = self._add(self._asked, answer.action)
        except (GameError, _Refused) as error:
            return [self._say(f"the bot's move is illegal: {_line(error)}", ok=False)]
        if not self._played:
            self._undo([])
        return [self._say(text, ok=True)]

    def _say(self, text: str, *, ok: bool) -> Say:
        head = f"{'=' if ok else '?'}{self._number}"
        return Say(f"{head} {text}\n" if text else f"{head}\n")

    def _position_of(self, seat: int) -> _Position:
        """Return the position with this seat to move.

        GTP lets a colour play twice, and play on after the end.  Then the bot gets a new match
        that begins in this position, if the game has such matches.
        """
        position = self._positions[-1]
        if position.state.to_move == seat:
            return position
        fresh = position.game.restarted(position.state, seat)
        if fresh is not None:
            return _beginning(fresh)
        if position.state.to_move == TERMINAL:
            return position
        due = ("black", "white")[position.state.to_move]
        raise _Refused(f"it is the turn of {due}; send play {due} pass first")

    def _add(self, seat: int, text: str) -> str:
        """Play an action of a seat, and return it as the game writes it."""
        before = self._position_of(seat)
        action = before.game.parse(before.state, text)
        written = before.game.format(before.state, action)
        actions = (*before.actions, written)
        self._positions.append(_Position(before.game, actions, before.state.after(action)))
        self._plays.append((seat, written))
        return written

    # Commands

    def _renew(self, **parameters: Any) -> None:
        wanted = {**self._game.parameters, **parameters}
        try:
            self._game = type(self._game)(**wanted)
        except GameError as error:
            raise _Refused(_line(error)) from None
        self._positions = [_beginning(self._game)]
        self._plays = []

    def _boardsize(self, words: list[str]) -> str:
        if not words or not re.fullmatch(r"\d{1,3}", words[0]):
            raise _Refused("boardsize not an integer")
        if "size" not in self._game.parameters:
            raise _Refused(f"{self._game.info.name} has one size only")
        try:
            self._renew(size=int(words[0]), **self._empty())
        except _Refused:
            raise _Refused("unacceptable size") from None
        self._clock.reset()
        return ""

    def _empty(self) -> dict[str, str]:
        """Return the parameters that take a handicap away."""
        return {"position": ""} if "position" in self._game.parameters else {}

    def _clear_board(self, _: list[str]) -> str:
        self._renew(**self._empty())
        self._clock.reset()
        return ""

    def _komi(self, words: list[str]) -> str:
        if not words or not re.fullmatch(r"[-+]?\d{1,3}(\.\d{0,20})?", words[0]):
            raise _Refused("komi not a float")
        if "komi" not in self._game.parameters:
            raise _Refused(f"{self._game.info.name} has no komi")
        plays = self._plays
        self._renew(komi=float(words[0]))
        for seat, action in plays:
            self._add(seat, action)
        return ""

    def _set_up(self, points: Sequence[str]) -> None:
        """Put the handicap stones of black on the empty board; white moves next."""
        self._renew(position=f"W:B{','.join(points)}:W")

    def _may_set_up(self) -> int:
        """Return the size of the empty board; refuse if there are stones on it."""
        if self._game.info.name != "go":
            raise _Refused(f"{self._game.info.name} has no handicap")
        if self._plays or self._game.parameters["position"]:
            raise _Refused("board not empty")
        return self._game.int_parameter("size")

    def _fixed_handicap(self, words: list[str], *, fewer: bool = False) -> str:
        size = self._may_set_up()
        if len(words) != 1 or not re.fullmatch(r"\d{1,3}", words[0]):
            raise _Refused("handicap not an integer")
        most = 0 if size < 7 else 4 if size < 9 else 9
        stones = min(int(words[0]), most) if fewer else int(words[0])
        if not 2 <= stones <= most:
            raise _Refused("invalid number of stones")
        edge = 3 if size >= 13 else 2
        lines = {"l": edge, "m": size // 2, "h": size - 1 - edge}
        points = [
            f"{COLUMNS[lines[point[0]]]}{lines[point[1]] + 1}" for point in HANDICAP_POINTS[stones]
        ]
        self._set_up(points)
        return " ".join(points)

    def _set_free_handicap(self, words: list[str]) -> str:
        self._may_set_up()
        if len(words) < 2:
            raise _Refused("bad vertex list")
        try:
            self._set_up([word.upper() for word in words])
        except _Refused:
            raise _Refused("bad vertex list") from None
        return ""

    def _seat(self, words: list[str]) -> int:
        seat = SEATS.get(words[0].lower()) if words else None
        if seat is None:
            raise _Refused("invalid color or coordinate")
        return seat

    def _play(self, words: list[str]) -> str:
        seat = self._seat(words)
        if len(words) != 2:
            raise _Refused("invalid color or coordinate")
        try:
            self._add(seat, words[1])
        except GameError:
            raise _Refused("illegal move") from None
        return ""

    def _undo(self, _: list[str]) -> str:
        if not self._plays:
            raise _Refused("cannot undo")
        self._plays.pop()
        self._positions.pop()
        return ""

    def _time(self, carry_out: Callable[[list[str]], None], words: list[str]) -> str:
        try:
            carry_out(words)
        except ValueError:
            raise _Refused("syntax error") from None
        return ""

    def _time_left(self, words: list[str]) -> str:
        seat = SEATS.get(words[0].lower()) if words else None
        if seat is None:
            raise _Refused("syntax error")
        return self._time(lambda rest: self._clock.set_left(seat, rest), words[1:])

    def _final_score(self, _: list[str]) -> str:
        if self._game.info.name != "go":
            raise _Refused("cannot score")
        game, state = self._positions[-1].game, self._positions[-1].state
        while state.to_move != TERMINAL:  # as it stands: both pass
            state = state.after(game.parse(state, "pass"))
        seen: Any = game.observe(state, None)
        if not seen.lead:
            return "0"
        return f"{'B' if seen.lead > 0 else 'W'}+{abs(seen.lead):g}"

    def _final_status_list(self, words: list[str]) -> str:
        """Answer that every stone is alive, as these rules have it."""
        if words == ["alive"] and self._game.info.name == "go":
            seen: Any = self._game.observe(self._positions[-1].state, None)
            stones = [
                f"{COLUMNS[column]}{len(seen.board) - row}"
                for row, line in enumerate(seen.board)
                for column, mark in enumerate(line)
                if mark != "."
            ]
            return "\n".join(stones)
        if words in (["dead"], ["seki"]):
            return ""
        raise _Refused("invalid status")

    def _genmove(self, words: list[str], *, played: bool) -> list[Effect]:
        seat = self._seat(words)
        passed = self._plays[-1:] and self._plays[-1][1].lower() == "pass"
        if passed and self._positions[-1].state.to_move == TERMINAL:
            return [self._say("pass", ok=True)]  # another one changes nothing
        game, actions, state = self._position_of(seat)
        if state.to_move == TERMINAL:
            return [self._say("pass", ok=True)]
        self._asked, self._played = seat, played
        soft, hard = self._clock.times(seat, made=len(self._plays) // 2)
        return [Ask(game.spec, actions, soft, hard)]


class _Position(NamedTuple):
    """A position as the bot gets it: a game, the actions in it, and the state after them."""

    game: Game
    actions: tuple[str, ...]
    state: Any


def _beginning(game: Game) -> _Position:
    return _Position(game, (), game.initial_state())


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]
