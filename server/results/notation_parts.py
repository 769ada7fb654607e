"""The common parts of notation files: names, dates, results, comments and lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from plyhouse.games.base import Game
from plyhouse.games.position import Position
from plyhouse.protocol.messages import VOID
from plyhouse.protocol.parts import ending_words
from plyhouse.server.results.record import Record, RecordEvent

LINE: Final = 79
"""The largest length of a line of moves, in characters: PGN's export format has less than 80."""

_NO_BRACES: Final = str.maketrans("{}", "()")


def actions_of(record: Record) -> list[str]:
    """Return the actions of the seats."""
    return [each.text for each in record.events if each.kind == "action"]


def positions(record: Record, game: Game) -> Iterator[tuple[RecordEvent, Any, Any]]:
    """Yield the actions and outcomes of chance, each with the states before and after it."""
    position = Position(game)
    for each in record.events:
        if each.kind in ("action", "chance"):
            before = position.state
            position.apply(each.seat, each.text)
            yield each, before, position.state


def names_of(record: Record) -> list[str]:
    """Return the holders of the seats, each on one line."""
    return [
        plain(f"{seat.player}/{seat.bot}" if seat.bot else seat.player) for seat in record.seats
    ]


def date_of(record: Record, by: str) -> str:
    """Return the day of the start, with question marks if it is unknown."""
    if record.started_ms is None:
        return by.join(("????", "??", "??"))
    return datetime.fromtimestamp(record.started_ms / 1000, UTC).strftime(f"%Y{by}%m{by}%d")


def result_of(record: Record, *, first: str, second: str, drawn: str, none: str = "*") -> str:
    """Return the result of a match of two by seats; ``none`` without one."""
    if record.outcome is None or record.outcome.termination in VOID or record.void_reason:
        return none
    returns = record.outcome.returns
    if returns[0] == returns[1]:
        return drawn
    return first if returns[0] > returns[1] else second


def remarks(record: Record) -> list[str]:
    """Return how the match ended, if not by the rules of its game."""
    outcome = record.outcome
    if record.void_reason is not None:
        return [f"Void: {plain(record.void_reason)}"]
    if outcome is None or outcome.termination == "normal":
        return []
    return [plain(f"{ending_words(outcome.termination)}. {outcome.reason}")]


def comments(record: Record) -> list[str]:
    """Return the remarks as a comment in braces, word by word, so that lines can end in it."""
    return [
        word for each in remarks(record) for word in f"{{{each.translate(_NO_BRACES)}}}".split()
    ]


def tags_text(tags: Sequence[tuple[str, str]], moves: Sequence[str]) -> str:
    """Return a file of tags and moves, as PGN and PDN have it."""
    head = "".join(f'[{name} "{tag_text(value)}"]\n' for name, value in tags)
    return f"{head}\n{wrapped(moves, ' ')}\n"


def wrapped(parts: Sequence[str], between: str) -> str:
    """Return parts in lines of at most `LINE` characters; longer parts are broken."""
    lines, line = [], ""
    for part in [piece for each in parts for piece in textwrap.wrap(each, LINE) or [each]]:
        if line and len(line) + len(between) + len(part) > LINE:
            lines.append(line)
            line = part
        else:
            line = f"{line}{between}{part}" if line else part
    return "\n".join([*lines, line])


def tag_text(text: str) -> str:
    """Return a text as the value of a tag."""
    return plain(text).replace("\\", "\\\\").replace('"', '\\"')


def plain(text: Any) -> str:
    r"""Return a text on one line, without control characters.

    >>> plain("a\n b\x00c")
    'a b c'
    """
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", str(text)).split())
