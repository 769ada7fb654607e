"""Profiles of bots: versions, standings, ratings over time and matches.

Every query begins at an index that starts with the bot, and ends after the number of rows that the
caller asks for. So the page of a bot with a million matches costs the same as any other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace
from sqlalchemy import Connection, Select, and_, func, or_, select

from plyhouse.protocol.api.bots import BotMatch, BotRating, BotResult, BotVersion, Holder
from plyhouse.storage.causes import Cause, decoded
from plyhouse.storage.competition_privacy import part_of, visible
from plyhouse.storage.models import (
    UNRATED,
    bots,
    events,
    match_seats,
    matches,
    pairings,
    players,
    rating_snapshots,
    select_rows,
    standings,
    versions,
)
from plyhouse.storage.statements import parts

_MINE = match_seats.alias("mine")
"""The seat of the bot whose matches are listed."""


class CareerMatch(NamedTuple):
    """A finished match of a bot, with what is needed to decide who sees it."""

    shown: BotMatch
    """As it went for the bot; in its first seat, if it played against itself."""
    version_id: int
    cause: Cause
    void_cause: Cause | None
    holders: tuple[Holder, ...]
    """Holders of all seats."""
    over: bool
    """True if its pairing is over, so that everything is public."""
    tournament_id: str | None = None
    """The tournament of the match."""

    def named(self, holders: Sequence[Holder]) -> CareerMatch:
        """Return the match with these holders of its seats, as a reader may know them."""
        seat, void = self.shown.seat, self.void_cause
        shown = replace(
            self.shown,
            others=[*holders[:seat], *holders[seat + 1 :]],
            reason=self.cause.sentence(holders),
            void_reason=None if void is None else void.sentence(holders),
        )
        return self._replace(shown=shown, holders=tuple(holders))


class PlyCost(NamedTuple):
    """Time of one ply."""

    match: str
    charged_ns: int
    lag_ns: int


def _finished(bot_id: int, forfeits: Collection[str]) -> Select[Any]:
    """Return the query of a bot's finished matches, newest first, in its first seat."""
    twin = match_seats.alias("twin")
    first = select(func.min(twin.c.seat)).where(
        twin.c.match_id == _MINE.c.match_id, twin.c.bot_id == bot_id
    )
    return (
        select(
            matches.c.id,
            matches.c.game,
            _MINE.c.seat,
            versions.c.label,
            func.coalesce(_MINE.c.result, ""),
            _MINE.c.returned,
            matches.c.termination,
            and_(_MINE.c.seat == matches.c.culprit, matches.c.termination.in_(forfeits)),
            matches.c.reason,
            matches.c.rated,
            matches.c.ply,
            matches.c.created_ms,
            matches.c.void_reason,
            _MINE.c.version_id,
            pairings.c.finished_ms.is_not(None),
            pairings.c.tournament_id,
            pairings.c.id,
        )
        .join(matches, matches.c.id == _MINE.c.match_id)
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .join(versions, versions.c.id == _MINE.c.version_id)
        .where(
            _MINE.c.bot_id == bot_id,
            matches.c.finished_ms.is_not(None),
            _MINE.c.seat == first.scalar_subquery(),
        )
        .order_by(_MINE.c.match_id.desc())
    )


def matches_of(
    connection: Connection,
    bot_id: int,
    *,
    limit: int,
    forfeits: Collection[str],
    before: str | None = None,
    closed: Collection[str] = (),
    viewer: int | None = None,
    unnamed_in: Collection[str] = (),
) -> list[CareerMatch]:
    """Return finished matches of a bot, newest first; ``before`` is the last of the page before.

    ``forfeits`` are the terminations by which the seat at fault loses.
    Matches of the competitions ``closed`` are included only if the player ``viewer`` has a seat in
    them; those of ``unnamed_in``, in which the bot has no name, are not.
    """
    query = _finished(bot_id, forfeits).limit(limit)
    if before is not None:
        query = query.where(_MINE.c.match_id < before)
    if closed:
        query = query.where(visible(closed, viewer))
    if unnamed_in:
        here = pairings.c.tournament_id
        query = query.where(or_(here.is_(None), here.not_in(part_of(unnamed_in))))
    rows = connection.execute(query).all()
    holders = _holders(connection, [row[0] for row in rows])
    found = []
    for row in rows:
        shown, (version_id, over, tournament_id, pairing) = list(row[:13]), row[13:]
        shown[7] = bool(shown[7])
        cause, void = decoded(shown[8]), None if shown[12] is None else decoded(shown[12])
        shown[8] = ""
        shown += [[], pairing]
        match = CareerMatch(
            BotMatch(*shown), version_id, cause, void, (), bool(over), tournament_id
        )
        found.append(match.named(holders[row[0]]))
    return found


def _holders(connection: Connection, ids: Sequence[str]) -> dict[str, list[Holder]]:
    found: dict[str, list[Holder]] = {each: [] for each in ids}
    query = (
        select(match_seats.c.match_id, players.c.name, bots.c.name)
        .join(bots, bots.c.id == match_seats.c.bot_id)
        .join(players, players.c.id == bots.c.player_id)
        .order_by(match_seats.c.match_id, match_seats.c.seat)
    )
    for part in parts(ids):
        chosen = query.where(match_seats.c.match_id.in_(part))
        for match, player, bot in connection.execute(chosen):
            found[match].append(Holder(player, bot))
    return found


def versions_of(connection: Connection, bot_id: int, limit: int) -> dict[int, BotVersion]:
    """Return the newest versions of a bot by their ids, newest first."""
    query = (
        select(versions.c.id, versions.c.label, versions.c.created_ms)
        .where(versions.c.bot_id == bot_id)
        .order_by(versions.c.id.desc())
        .limit(limit)
    )
    return {number: BotVersion(*row) for number, *row in connection.execute(query)}


def standings_of(
    connection: Connection, bot_ids: Sequence[int], limit: int
) -> list[tuple[int, int, BotResult]]:
    """Return the ids of bot and version with a line of a leaderboard, by game, the latest first."""
    table = standings.c
    query = (
        select_rows(BotResult, standings)
        .add_columns(table.bot_id, table.version_id)
        .join(versions, versions.c.id == table.version_id)
        # Named, so that the index of game and bot serves: there are a few dozen games.
        .where(table.game.in_(select(standings.c.game).distinct()), table.bot_id.in_(bot_ids))
        .order_by(table.game, table.latest.desc(), table.version_id.desc())
        .limit(limit)
    )
    return [
        (bot_id, version_id, BotResult(*[*line, None if rating == UNRATED else rating, low, high]))
        for *line, rating, low, high, bot_id, version_id in connection.execute(query)
    ]


def ratings_of(
    connection: Connection, bot_id: int, games: Sequence[str], limit: int
) -> list[BotRating]:
    """Return the latest ``limit`` ratings of a bot in each of these games, oldest first."""
    columns = rating_snapshots.c
    found: list[BotRating] = []
    for game in games:
        query = (
            select_rows(BotRating, rating_snapshots, version=func.coalesce(versions.c.label, ""))
            .outerjoin(versions, versions.c.id == columns.version_id)
            .where(columns.game == game, columns.bot_id == bot_id)
            .order_by(columns.taken_ms.desc(), columns.id.desc())
            .limit(limit)
        )
        found += [BotRating(*row) for row in reversed(connection.execute(query).all())]
    return found


def plies_of(connection: Connection, seats: Sequence[tuple[str, int]], limit: int) -> list[PlyCost]:
    """Return what plies of these seats (match and seat) took, ``limit`` of them at most."""
    wanted = set(seats)
    query = (
        select(events.c.match_id, events.c.seat, events.c.charged_ns, events.c.lag_ns)
        .where(events.c.match_id.in_([match for match, _ in seats]), events.c.kind == "action")
        .order_by(events.c.match_id.desc(), events.c.idx)
        .limit(limit)
    )
    return [
        PlyCost(match, charged, lag)
        for match, seat, charged, lag in connection.execute(query)
        if (match, seat) in wanted
    ]
