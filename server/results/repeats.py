"""Detection of games that repeat, as those of deterministic bots do.

A hundred copies of one game are one observation.  A match repeats an earlier one if game, versions
by seat, actions and outcome are the same and chance had no part.  In a small game this may also
happen to bots that randomise, and then each match counts.  So a version counts as repeating itself
only while no record shows it acting in two ways after the same actions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from plyhouse.server.results.record import Record, RecordSeat

__all__ = ["Line", "line_weights", "repeat_weights"]


class Line(NamedTuple):
    """The properties of a match that a repeat shares."""

    game: str
    seats: tuple[Hashable, ...]
    """The version in each seat."""
    actions: tuple[tuple[int, str], ...]
    end: tuple[object, ...]
    chance: bool
    """True if chance had a part."""


def repeat_weights(records: Iterable[Record], *, opening_plies: int = 0) -> list[float]:
    """Return the weight of each record: 1, or 0 if it repeats an earlier one.

    The bots do not choose the first ``opening_plies`` actions (`plyhouse match --opening-plies`),
    so these do not show whether a bot varies.
    """
    return line_weights([_line(record) for record in records], opening_plies=opening_plies)


def line_weights(lines: Sequence[Line], *, opening_plies: int = 0) -> list[float]:
    """Return `repeat_weights` of lines, in their order."""
    varied = _varied(lines, opening_plies)
    seen: set[Line] = set()
    weights = []
    for line in lines:
        able = not line.chance and not any((line.game, seat) in varied for seat in line.seats)
        weights.append(0.0 if able and line in seen else 1.0)
        seen.add(line)
    return weights


def _line(record: Record) -> Line:
    actions = tuple((each.seat, each.text) for each in record.events if each.kind == "action")
    outcome = record.outcome
    end: tuple[object, ...] = ()
    if outcome is not None:
        end = (outcome.termination, tuple(outcome.returns), outcome.seat)
    return Line(
        record.game,
        tuple(_who(seat) for seat in record.seats),
        actions,
        end,
        any(each.kind == "chance" for each in record.events),
    )


def _who(seat: RecordSeat) -> tuple[str, str, str]:
    return seat.player, seat.bot, seat.version


def _varied(lines: Sequence[Line], opening: int) -> set[tuple[str, Hashable]]:
    """Return versions that acted in two ways after the same actions, by game."""
    acted: dict[tuple[object, ...], str] = {}
    # Histories are numbered so that comparing them takes constant time.
    following: dict[tuple[object, ...], int] = {}
    varied = set()
    for line in lines:
        if line.chance:
            continue
        history = -1
        for ply, (seat, text) in enumerate(line.actions):
            if ply >= opening and 0 <= seat < len(line.seats):
                who = line.seats[seat]
                if acted.setdefault((line.game, who, seat, history), text) != text:
                    varied.add((line.game, who))
            history = following.setdefault((history, seat, text), len(following))
    return varied
