"""Lists of matches, filtered and in parts: which are there, in which order, and how fast.

A part costs as much as its rows, with every filter: an index has the matches of a game or ending in
their order. A game with all its parameters uses one index for each of them.  By
bot or competition one of two ways is taken: `FEW` matches or less are all read and
sorted, and of more the newest of all are gone through until enough of them are theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, Row, Select, and_, exists, func, or_, select

from plyhouse.storage.competition_privacy import part_of, visible
from plyhouse.storage.errors import Unknown
from plyhouse.storage.match_reads import assemble, headers
from plyhouse.storage.models import bots, match_seats, matches, pairings
from plyhouse.storage.rows import MatchRow
from plyhouse.storage.statements import parts

FEW: Final = 1_000
"""Matches that are sorted, rather than looked for among all."""
VARIANTS: Final = 16
"""Lists that are merged, one for each of a game's parameters; of more, all matches are read."""
USUAL: Final = "normal"
"""How most matches end."""

STATES: Final[dict[str, ColumnElement[bool]]] = {
    "finished": matches.c.finished_ms.is_not(None),
    "running": and_(matches.c.finished_ms.is_(None), matches.c.started_ms.is_not(None)),
    "waiting": and_(matches.c.finished_ms.is_(None), matches.c.started_ms.is_(None)),
}


class MatchFilter(Struct, frozen=True):
    """Which matches are wanted, and who wants them; what is None does not matter."""

    game: str | None = None
    """Canonical spec."""
    family: str | None = None
    """Name of a game, regardless of its parameters."""
    player_id: int | None = None
    """The player who has a seat, with any bot."""
    bots: tuple[tuple[int, ...], ...] = ()
    """One bot of each of these groups has a seat."""
    tournament_ids: tuple[str, ...] | None = None
    status: str | None = None
    """One of `STATES`."""
    termination: str | None = None
    rated: bool | None = None
    closed: frozenset[str] = frozenset()
    """Competitions of which only those matches are wanted that ``viewer`` plays."""
    viewer: int | None = None
    unnamed: Mapping[int, Collection[str]] = {}
    """Competitions in which a bot must not be found, as its name is hidden there."""
    by_end: bool = False
    """Finished ones only, the last to end first; else the last to be made."""
    over: bool = False
    """Only those whose whole pairing is over: what their seats saw is public."""
    since_ms: int | None = None
    """Only those that ended then or later."""
    until_ms: int | None = None
    """Only those that ended before."""


def list_matches(
    connection: Connection, wanted: MatchFilter, *, limit: int = 50, before: str | None = None
) -> list[MatchRow]:
    """Return headers of matches, newest first, without the seeds of pairings that still run.

    ``before`` is the id of the last match of the part before.
    """
    found = [
        row
        for each in _one_by_one(connection, wanted)
        for row in connection.execute(match_ids(connection, each, limit=limit, before=before))
    ]
    found.sort(key=lambda row: (row.time, row.id), reverse=True)
    ids = [row.id for row in found[:limit]]
    rows: dict[str, Row[Any]] = {}
    for part in parts(ids):
        query = headers().where(matches.c.id.in_(part))
        rows |= {row.id: row for row in connection.execute(query)}
    return assemble(connection, [rows[each] for each in ids], secrets=False)


def count_matches(connection: Connection, wanted: MatchFilter) -> int:
    """Return how many matches `list_matches` shows without a limit."""
    count = 0
    for each in _one_by_one(connection, wanted):
        ids = match_ids(connection, each, limit=None).order_by(None).subquery()
        count += connection.execute(select(func.count()).select_from(ids)).scalar_one()
    return count


def match_ids(
    connection: Connection, wanted: MatchFilter, *, limit: int | None, before: str | None = None
) -> Select[Any]:
    """Return the query of the ids that `list_matches` shows: it reads no more than it has to."""
    query = select(matches.c.id, _time(wanted).label("time")).limit(limit)
    if wanted.status is not None:
        if wanted.status not in STATES:
            known = ", ".join(sorted(STATES))
            raise Unknown(f"there is no status {wanted.status!r}; use {known}")
        query = query.where(STATES[wanted.status])
    if wanted.by_end:
        query = query.where(STATES["finished"])
    if wanted.rated is not None:
        query = query.where(matches.c.rated == wanted.rated)
    if wanted.since_ms is not None:
        query = query.where(matches.c.finished_ms >= wanted.since_ms)
    if wanted.until_ms is not None:
        query = query.where(matches.c.finished_ms < wanted.until_ms)
    query = _of_kind(query, wanted)
    if wanted.tournament_ids is not None or wanted.closed or wanted.unnamed or wanted.over:
        query = query.join(pairings, pairings.c.id == matches.c.pairing_id)
    if wanted.over:
        query = query.where(pairings.c.finished_ms.is_not(None))
    if wanted.closed:
        query = query.where(visible(wanted.closed, wanted.viewer))
    narrow = False
    if wanted.tournament_ids is not None:
        of_these = pairings.c.tournament_id.in_(wanted.tournament_ids)
        played = select(matches.c.id).join(pairings, pairings.c.id == matches.c.pairing_id)
        narrow = _are_few(connection, played.where(of_these))
        if not narrow:  # not found by their index, but among all that are gone through
            of_these = _unindexed(pairings.c.tournament_id).in_(wanted.tournament_ids)
            over = _over_ms(connection, wanted.tournament_ids)
            if over is not None:
                query = query.where(_time(wanted) <= over)
        query = query.where(of_these)
    for seat in _seats(wanted):
        mine = select(match_seats.c.match_id).where(seat)
        if _are_few(connection, mine):
            query, narrow = query.where(matches.c.id.in_(mine)), True
        else:
            query = query.where(_sits(seat))
    for group in wanted.bots:
        if not wanted.unnamed.keys().isdisjoint(group):
            query = query.where(_named(group, wanted.unnamed))
    return _ordered(connection, query, wanted, before, narrow=narrow)


def _one_by_one(connection: Connection, wanted: MatchFilter) -> list[MatchFilter]:
    """The same wish, or several that together are the same and that an index serves each."""
    ordered_elsewhere = wanted.bots or wanted.player_id is not None or wanted.tournament_ids
    if (
        wanted.family is None
        or ordered_elsewhere
        or wanted.termination not in (None, USUAL)
        or wanted.game is not None
    ):
        return [wanted]
    # From one game to the next in the index: distinct ones alone would read all of it.
    games = select(func.min(matches.c.game).label("game")).cte("games", recursive=True)
    following = select(func.min(matches.c.game)).where(matches.c.game > games.c.game)
    games = games.union_all(select(following.scalar_subquery()).where(games.c.game.is_not(None)))
    there = connection.execute(select(games.c.game).where(games.c.game.is_not(None))).scalars()
    name = wanted.family
    kinds = [each for each in there if each == name or each.startswith(f"{name}(")]
    if len(kinds) > VARIANTS:
        return [wanted]
    return [replace(wanted, family=None, game=each) for each in kinds]


def _of_kind(query: Select[Any], wanted: MatchFilter) -> Select[Any]:
    """Those of a game and with an ending: by the index of what is rarer, if it is both."""
    game: ColumnElement[str] = matches.c.game
    termination: ColumnElement[str] = matches.c.termination
    if wanted.game is not None and wanted.termination is not None:
        if wanted.termination == USUAL:
            termination = _unindexed(termination)
        else:
            game = _unindexed(game)
    if wanted.game is not None:
        query = query.where(game == wanted.game)
    if wanted.family is not None:
        name, start = _unindexed(matches.c.game), f"{wanted.family}("
        of_it = func.substr(matches.c.game, 1, len(start)) == start
        query = query.where(or_(name == wanted.family, of_it))
    if wanted.termination is not None:
        query = query.where(termination == wanted.termination)
    return query


def _unindexed(column: ColumnElement[str]) -> ColumnElement[str]:
    """A column for which no index serves, as it is an expression."""
    return func.coalesce(column, "")


def _time(wanted: MatchFilter) -> ColumnElement[int]:
    return matches.c.finished_ms if wanted.by_end else matches.c.created_ms


def _over_ms(connection: Connection, ids: Sequence[str]) -> int | None:
    """When the last match of some competitions ended; None if one is not over."""
    ends = pairings.c.finished_ms
    query = select(func.max(ends), func.count() - func.count(ends)).where(
        pairings.c.tournament_id.in_(ids)
    )
    last, going_on = connection.execute(query).one()
    return None if going_on else last


def _seats(wanted: MatchFilter) -> list[ColumnElement[bool]]:
    """The conditions on the seats; each of them must be met."""
    found: list[ColumnElement[bool]] = [match_seats.c.bot_id.in_(group) for group in wanted.bots]
    if wanted.player_id is not None:
        own = select(bots.c.id).where(bots.c.player_id == wanted.player_id)
        found.append(match_seats.c.bot_id.in_(own))
    return found


def _sits(seat: ColumnElement[bool]) -> ColumnElement[bool]:
    here = match_seats.c.match_id == matches.c.id
    return exists().where(here, seat).correlate(matches)


def _named(group: Sequence[int], unnamed: Mapping[int, Collection[str]]) -> ColumnElement[bool]:
    """One of the group sits there by its name."""
    ways = []
    plain = [each for each in group if each not in unnamed]
    if plain:
        ways.append(_sits(match_seats.c.bot_id.in_(plain)))
    for bot in group:
        if bot in unnamed:
            elsewhere = or_(
                pairings.c.tournament_id.is_(None),
                pairings.c.tournament_id.not_in(part_of(unnamed[bot])),
            )
            ways.append(and_(elsewhere, _sits(match_seats.c.bot_id == bot)))
    return or_(*ways)


def _are_few(connection: Connection, ids: Select[Any]) -> bool:
    counted = select(func.count()).select_from(ids.limit(FEW + 1).subquery())
    return int(connection.execute(counted).scalar_one()) <= FEW


def _ordered(
    connection: Connection,
    query: Select[Any],
    wanted: MatchFilter,
    before: str | None,
    *,
    narrow: bool,
) -> Select[Any]:
    """Newest first, from after ``before`` on; ``narrow``: what is left is sorted."""
    time = _time(wanted)
    if before is not None:
        known = select(time).where(matches.c.id == before)
        if wanted.closed:  # A viewer without permission learns neither its existence nor its end.
            known = known.join(pairings, pairings.c.id == matches.c.pairing_id)
            known = known.where(visible(wanted.closed, wanted.viewer))
        at = connection.execute(known).scalar_one_or_none()
        if at is None:
            raise Unknown(f"there is no match {before!r} to list those before; start anew")
        query = query.where(
            time <= at,  # A separate condition, so that the index can start here.
            or_(time < at, matches.c.id < before),
        )
    # An expression has no index, which keeps SQLite from going through all matches in order.
    first = time + 0 if narrow else time
    return query.order_by(first.desc(), matches.c.id.desc())
