"""Games of a final that an entry leaves out.

All games of a competition count equally, so an entry must not gain by avoiding one.  A game without
a match of an entry counts as 0, the lowest score.  In a mean score against a baseline, it counts as
a 0 for each match that every other entry has played against that baseline in that game.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from plyhouse.storage.competition_rows import plays
from plyhouse.storage.submission_rows import OUTCOMES, AskedEntry

__all__ = [
    "Left",
    "left_games",
    "lost_meetings",
    "missing",
    "missing_words",
    "outcome_words",
]

Left = Mapping[str, Collection[int]]
"""For each game of a final, the entries that left it, or never came."""


class Result(Protocol):
    """The result of one seat (`plyhouse.server.competition_rules.standings.SeatResult`)."""

    @property
    def match(self) -> str: ...
    @property
    def game(self) -> str: ...
    @property
    def bot_id(self) -> int: ...


def left_games(left: Left, games: Iterable[str], results: Sequence[Result]) -> dict[int, list[str]]:
    """Return the games without a match of an entry that left them, by entry.

    Games that nobody has played are no one's.  An entry without any match is left out: it has
    played nothing, and its score is unknown.
    """
    played = {(each.bot_id, each.game) for each in results}
    active = {bot for bot, _ in played}
    begun = {game for _, game in played}
    found: dict[int, list[str]] = defaultdict(list)
    for game in games:
        for bot in sorted(left.get(game, ())) if game in begun else ():
            if bot in active and (bot, game) not in played:
                found[bot].append(game)
    return dict(found)


def lost_meetings(left: Left, results: Sequence[Result]) -> dict[tuple[int, int], int]:
    """Return the matches that count as 0 for games left out, by entry and opponent."""
    seats: dict[str, list[Result]] = defaultdict(list)
    for each in results:
        seats[each.match].append(each)
    met: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
    for rows in seats.values():
        for one in rows:
            for other in rows:
                if one.bot_id != other.bot_id:
                    met[one.game, other.bot_id][one.bot_id] += 1
    missing_in: dict[str, list[int]] = defaultdict(list)
    for bot, games in left_games(left, left, results).items():
        for game in games:
            missing_in[game].append(bot)
    found: Counter[tuple[int, int]] = Counter()
    for (game, opponent), played in met.items():
        least = min(played.values())
        for bot in missing_in[game]:
            if bot != opponent:
                found[bot, opponent] += least
    return dict(found)


def missing(games: Sequence[str], claimed: Collection[str]) -> tuple[str, ...]:
    """Return the games of a competition that a bot lacks; none if its games are not known."""
    there = plays(games, claimed)
    return tuple(game for game in games if game not in there)


def outcome_words(asked: AskedEntry, claimed: Collection[str]) -> str:
    """Return what became of a submission in a competition, and which games it lacks there."""
    lacks = missing(asked.games, claimed) if asked.outcome == "entered" else ()
    told = OUTCOMES[asked.outcome]
    return f"{told}, but {missing_words(lacks, len(asked.games))}" if lacks else told


def missing_words(games: Sequence[str], of: int) -> str:
    """Return what it means for an entry of a competition ``of`` games that it lacks some.

    >>> missing_words(["chess"], 3)
    'without chess: a missing game counts as 0, and the score is at most 2 of 3'
    """
    most = of - len(games)
    return (
        f"without {', '.join(games)}: a missing game counts as 0, and the score is at most "
        f"{most} of {of}"
    )
