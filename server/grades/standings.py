"""Results into standings, with places by the rules of the format.

A *score* is from 0 to 1.  A match scores by wins or by returns (`plyhouse.server.results.scoring`).
A game scores the mean over its matches.  An entry scores the mean over its games, each with the
same weight, however many matches it has.  A game that it left out counts as 0, and so do the
matches that it missed by leaving one (`plyhouse.server.grades.missing_games`).

Entries with the same score share a rank.  A disqualified entry has no rank and comes last; results
of others against it stay.  A twin (`plyhouse.server.grades.board_statistics`) is listed by its
score without a rank, and the others are ranked as if it were absent.

The final of one game has the places of its format's table.  With several games, round robins and
gauntlets are ordered by the mean score over the games.  In other formats the mean of the places in
the games decides, because scores of different brackets say little about each other.

Equal entries share a place, and the next place is skipped (1, 2, 2, 4).  Disqualified entries and
twins have no place; entries below them move up.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from plyhouse.protocol.api.standings import StandingLine
from plyhouse.server.competition_rules.format_registry import BY_SCORE
from plyhouse.server.competition_rules.formats import TableLine
from plyhouse.server.competition_rules.tie_breaks import places_without
from plyhouse.server.grades.missing_games import Left, left_games, lost_matches, lost_meetings


def with_places(
    standings: Sequence[Standing], tables: Sequence[Sequence[TableLine[int]]], form: str
) -> list[Standing]:
    """Return standings with the places of a format, in the order of places.

    ``standings`` has the entries that a viewer sees; others take up no place.  ``tables`` has those
    of the games that have begun; ``form`` is the name of the format.
    """
    closed = closed_tables(standings, tables)
    if not closed:
        return list(standings)
    if len(closed) == 1:
        [table] = closed
        places = {row.entry: row.place for row in table}
        order = {row.entry: float(number) for number, row in enumerate(table)}
    else:
        order = over_games(standings, closed, by_score=form in BY_SCORE)
        ranked = {row.entry for table in closed for row in table if row.place is not None}
        values = sorted(order[bot] for bot in ranked if bot in order)
        places = {bot: values.index(order[bot]) + 1 for bot in ranked if bot in order}
    made = [replace(line, place=places.get(line.entrant.bot_id)) for line in standings]
    return sorted(
        made,
        key=lambda line: (
            line.entrant.status == "disqualified",
            order.get(line.entrant.bot_id, math.inf),
        ),
    )


def closed_tables(
    standings: Sequence[Standing], tables: Sequence[Sequence[TableLine[int]]]
) -> list[list[TableLine[int]]]:
    """Return the tables that have begun, whose places only the ranked entries shown take up."""
    counted = {
        line.entrant.bot_id
        for line in standings
        if line.entrant.status != "disqualified" and not line.entrant.twin_of
    }
    return [
        list(places_without(table, {row.entry for row in table} - counted))
        for table in tables
        if table
    ]


def over_games(
    standings: Sequence[Standing], tables: Sequence[Sequence[TableLine[int]]], *, by_score: bool
) -> dict[int, float]:
    """Return a sort key for entries over several games; better ones are lower."""
    if by_score:
        scores = {line.entrant.bot_id: line.score for line in standings}
        return {bot: 1.0 if score is None else -score for bot, score in scores.items()}
    places: dict[int, list[int]] = {}
    for table in tables:
        last = 1
        for row in table:
            last = row.place or last  # A twin has the place of the entry above it.
            places.setdefault(row.entry, []).append(last)
    return {bot: round(sum(each) / len(each), 9) for bot, each in places.items()}


NOBODY: Final[Left] = {}
"""Nobody left a game."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot in the final."""

    bot_id: int
    name: str
    """The name, as ``player/bot``."""
    student: str
    """The account of its student or group."""
    status: str = "active"
    """One of ``active``, ``disqualified`` and ``withdrawn``."""
    baseline: bool = False
    version: str = ""
    digest: str = ""
    twin_of: str = ""
    """The name of the entry of which this is a copy; empty if it is no twin."""
    partners: tuple[tuple[int, str], ...] = ()
    """The ids and names of the other bots of its side, in a competition of teams."""

    @property
    def bots(self) -> dict[int, str]:
        """The names of all bots of its side, by id."""
        return {self.bot_id: self.name, **dict(self.partners)}


@dataclass(frozen=True, slots=True)
class SeatResult:
    """The result of one seat in one match that counts."""

    match: str
    game: str
    bot_id: int
    score: float
    result: str
    """One of ``W``, ``D`` and ``L``."""
    forfeit: str = ""
    """The termination by which it forfeited the match, such as ``flag_fall``; empty if it did not.
    """
    pairing: str = ""
    """The id shared by the matches of one mirrored pairing; empty for a single match."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the standings."""

    rank: int | None
    """The rank by ``score``; None for disqualified entries and twins."""
    entrant: Entrant
    score: float | None
    """None until something was played."""
    matches: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    games: Mapping[str, float] = field(default_factory=dict)
    """The score in each game."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """The number of matches in each game; 0 for a game that was left out."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """The number of further matches that count as 0 in each game that it left after some."""
    place: int | None = None
    """The place by the rules of the format.

    None before the final, for disqualified entries, twins, and baselines that are not ranked.
    """

    @property
    def shown(self) -> StandingLine:
        """The line as the API sends it."""
        who = self.entrant
        return StandingLine(
            *(self.rank, who.name, who.student, who.status, who.baseline, self.score),
            *(self.matches, self.wins, self.draws, self.losses, self.forfeits, dict(self.games)),
        )


def standings(
    entrants: Iterable[Entrant],
    results: Sequence[SeatResult],
    *,
    by_opponent: bool = False,
    left: Left = NOBODY,
) -> list[Standing]:
    """Return the standings, best first; equal scores are ordered by name.

    ``by_opponent`` gives every opponent the same weight in the score of a game, however often they
    met.  ``left`` are the entries that left games.
    """
    missing = left_games(left, left, results)
    lost = lost_matches(left, results)
    unmet = lost_meetings(left, results) if by_opponent else {}
    of: dict[int, list[SeatResult]] = defaultdict(list)
    for result in results:
        of[result.bot_id].append(result)
    opponents: dict[str, list[int]] = defaultdict(list)
    for result in results if by_opponent else ():
        opponents[result.match].append(result.bot_id)
    lines = [
        _line(
            entrant,
            of[entrant.bot_id],
            opponents,
            missing.get(entrant.bot_id, ()),
            {game: more for (bot, game), more in lost.items() if bot == entrant.bot_id},
            {(game, met): n for (bot, game, met), n in unmet.items() if bot == entrant.bot_id},
        )
        for entrant in entrants
    ]
    lines.sort(key=lambda line: (*_place(line), line.entrant.name.lower()))
    ranked: list[Standing] = []
    number, last = 0, None
    for line in lines:
        rank: int | None = None
        if not line.entrant.twin_of and line.entrant.status != "disqualified":
            number += 1
            same = last is not None and _place(last) == _place(line)
            rank = last.rank if last is not None and same else number
        ranked.append(replace(line, rank=rank))
        if rank is not None:
            last = ranked[-1]
    return ranked


def _place(line: Standing) -> tuple[bool, bool, float]:
    return line.entrant.status == "disqualified", line.score is None, -(line.score or 0.0)


def _line(
    entrant: Entrant,
    results: Sequence[SeatResult],
    opponents: Mapping[str, Sequence[int]],
    missing: Iterable[str],
    lost: Mapping[str, int],
    unmet: Mapping[tuple[str, int], int],
) -> Standing:
    """Return a line without its rank.

    ``opponents`` has the bots of each match if opponents have equal weight, and is empty otherwise.
    ``missing`` are the games that it left out, ``lost`` the matches that count as 0 in games that
    it left after some, and ``unmet`` the same by game and opponent.
    """
    scores: dict[str, dict[tuple[int, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        met = sorted(bot for bot in opponents.get(result.match, ()) if bot != entrant.bot_id)
        scores[result.game][tuple(met)].append(result.score)
    played = Counter(result.game for result in results)
    for game, more in lost.items() if not opponents else ():
        scores[game][()] += [0.0] * more
    for (game, opponent), more in unmet.items():
        if played[game]:
            scores[game][opponent,] += [0.0] * more
    games = {
        game: sum(sum(each) / len(each) for each in met.values()) / len(met)
        for game, met in scores.items()
    }
    games = dict(sorted((games | dict.fromkeys(missing, 0.0)).items()))
    count = {letter: sum(each.result == letter for each in results) for letter in "WDL"}
    return Standing(
        None,
        entrant,
        # Rounded, so that the order of summation does not matter.
        round(sum(games.values()) / len(games), 12) if games else None,
        len(results),
        count["W"],
        count["D"],
        count["L"],
        sum(bool(each.forfeit) for each in results),
        games,
        {game: played[game] for game in games},
        dict(sorted(lost.items())),
    )
