"""Games of a final that an entry leaves out, or leaves before their end.

All games of a competition count equally, so an entry must not gain by avoiding one.  A game without
a match of an entry counts as 0, the lowest score.  If an entry left a game after some matches, the
matches that it has played less than every entry that stayed count as 0.

The same holds for a mean score against a baseline.  There, a game without a match counts as a 0 for
each match that every entry has played which stayed in that game and met the baseline.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from plyhouse.storage.competition_rows import plays
from plyhouse.storage.submission_rows import OUTCOMES, AskedEntry

Left = Mapping[str, Collection[int]]
"""For each game of a final, the entries that left it, or never came."""


class Result(Protocol):
    """The result of one seat (`plyhouse.server.grades.standings.SeatResult`)."""

    @property
    def match(self) -> str:
        """The name of the match."""

    @property
    def game(self) -> str:
        """The name of the game."""

    @property
    def bot_id(self) -> int:
        """The bot in this seat."""


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


def lost_matches(left: Left, results: Sequence[Result]) -> dict[tuple[int, str], int]:
    """Return the matches that count as 0, by entry and game, where it left after some matches."""
    played = Counter((each.bot_id, each.game) for each in results)
    found: dict[tuple[int, str], int] = {}
    for game, gone in left.items():
        stayed = [count for (bot, of), count in played.items() if of == game and bot not in gone]
        for bot in gone:
            if (bot, game) in played and (lost := min(stayed, default=0) - played[bot, game]) > 0:
                found[bot, game] = lost
    return found


def lost_meetings(left: Left, results: Sequence[Result]) -> dict[tuple[int, str, int], int]:
    """Return the matches that count as 0, by entry, game and opponent.

    They are of games that the entry left out, or left after some matches.
    """
    seats: dict[str, list[Result]] = defaultdict(list)
    for each in results:
        seats[each.match].append(each)
    met: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
    for rows in seats.values():
        for one in rows:
            for other in rows:
                if one.bot_id != other.bot_id:
                    met[one.game, other.bot_id][one.bot_id] += 1
    played = {(each.bot_id, each.game) for each in results}
    missing_in: dict[str, list[int]] = defaultdict(list)
    for bot, games in left_games(left, left, results).items():
        for game in games:
            missing_in[game].append(bot)
    found: dict[tuple[int, str, int], int] = {}
    for (game, opponent), count in met.items():
        gone = left.get(game, ())
        stayed = {bot for bot, of in played if of == game and bot not in gone} - {opponent}
        for bot in (*missing_in[game], *(each for each in gone if (each, game) in played)):
            # An entry that played some of the game would not have met everybody, as in a Swiss.
            peers = stayed if (bot, game) in played else stayed & count.keys()
            lost = min((count[each] for each in peers), default=0) - count[bot]
            if bot != opponent and lost > 0:
                found[bot, game, opponent] = lost
    return found


def missing(games: Sequence[str], claimed: Collection[str]) -> tuple[str, ...]:
    """Return the games of a competition that a bot lacks; none if its games are not known."""
    there = plays(games, claimed)
    return tuple(game for game in games if game not in there)


def outcome_words(asked: AskedEntry, claimed: Collection[str]) -> str:
    """Return what became of a submission in a competition, and which games it lacks there."""
    lacks = missing(asked.games, claimed) if asked.outcome == "entered" else ()
    text = OUTCOMES[asked.outcome]
    return f"{text}, but {missing_words(lacks, len(asked.games))}" if lacks else text


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


def left_words(lost: Mapping[str, int], counts: Mapping[str, int]) -> str:
    """Return what it means for an entry that it left games after some matches.

    >>> left_words({"go": 2}, {"go": 4, "pig": 6})
    'left go after 4 of at least 6 matches: those not played count as 0'
    """
    games = ", ".join(
        f"{game} after {counts[game]} of at least {counts[game] + more}"
        for game, more in lost.items()
    )
    return f"left {games} matches: those not played count as 0"
