"""The clocks of a GTP controller, and what they leave a bot for its move.

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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from plyhouse.bots.client.timing import MS, SECOND
from plyhouse.bots.running.time_management import TimeRule, allot, expected_moves_left

__all__ = ["WITHOUT_LIMIT", "GtpClock"]

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
