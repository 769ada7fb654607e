"""Output of hosted bots in their matches.

Each player's outputs take a limited number of bytes; the oldest are dropped first.  A deleted
submission takes its outputs with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, Join, Select, delete, func, select

from plyhouse.protocol.api.matches import KeptOutput
from plyhouse.storage.errors import Unknown
from plyhouse.storage.locks import lock_row
from plyhouse.storage.models import (
    bots,
    match_seats,
    matches,
    outputs,
    players,
    select_rows,
    versions,
)

LEAST = 1024
"""Bytes that each counts for at least: rows take up room, too."""
MOST_PARTS = 8
"""Machines, and runs of one, of which something is kept for a bot in a match; the last ones."""


@dataclass(frozen=True, slots=True)
class OutputRow:
    """Output of a bot in a match, from one machine."""

    player: str
    bot: str
    label: str
    """Of the version."""
    seat: int
    received_ms: int
    data: bytes


def keep(
    connection: Connection,
    match_id: str,
    bot_id: int,
    part: str,
    data: bytes,
    now_ms: int,
    *,
    crashes: int = 0,
    most_bytes: int | None = None,
) -> None:
    """Keep what a bot printed in a match; the same ``part`` again takes its place.

    The oldest of its player's goes if all would take more than ``most_bytes``.  Raises
    `Unknown` if the bot has no seat in the match.
    """
    seat = match_seats.c
    query = select(seat.version_id).where(seat.match_id == match_id, seat.bot_id == bot_id)
    version = connection.execute(query.limit(1)).scalar()
    if version is None:
        raise Unknown(f"there is no match {match_id!r} of that bot")
    owner = select(bots.c.player_id).where(bots.c.id == bot_id)
    lock_row(connection, players.c.id, connection.execute(owner).scalar_one())
    values = {
        "version_id": version,
        "received_ms": now_ms,
        "crashes": crashes,
        "bytes": max(LEAST, len(data)),
        "data": data,
    }
    here = outputs.c
    mine = here.match_id == match_id, here.bot_id == bot_id
    changed = outputs.update().where(*mine, here.part == part).values(values)
    if not connection.execute(changed).rowcount:
        key = {"match_id": match_id, "bot_id": bot_id, "part": part}
        connection.execute(outputs.insert().values(key | values))
        last = select(here.id).where(*mine).order_by(here.id.desc()).limit(MOST_PARTS)
        kept = list(connection.execute(last).scalars())
        connection.execute(delete(outputs).where(*mine, here.id.not_in(kept)))
    if most_bytes is not None:
        _bound(connection, bot_id, most_bytes)


def of_match(
    connection: Connection, match_id: str, bot_ids: list[int] | None = None
) -> list[OutputRow]:
    """Return what bots printed in a match, by seat and in the order in which it came."""
    here = outputs.c
    query = (
        select_rows(OutputRow, outputs, match_seats, bots)
        .select_from(_seated())
        .join(versions, versions.c.id == here.version_id)
        .where(here.match_id == match_id)
        .order_by(match_seats.c.seat, here.id)
    )
    if bot_ids is not None:
        query = query.where(here.bot_id.in_(bot_ids))
    return [OutputRow(*row) for row in connection.execute(query)]


def latest(
    connection: Connection, player_id: int, bot_id: int | None = None, limit: int = 50
) -> list[KeptOutput]:
    """Return the matches of a player's bots of which something is kept, the newest first."""
    here = outputs.c
    last = func.max(here.id).label("last")
    columns = (
        *(here.match_id.label("match"), players.c.name.label("player")),
        *(bots.c.name.label("bot"), match_seats.c.seat, matches.c.game),
        *(matches.c.finished_ms, match_seats.c.result),
    )
    query: Select[tuple[object, ...]] = (
        select(
            *columns,
            func.sum(here.crashes).label("crashes"),
            func.sum(here.bytes).label("bytes"),
        )
        .select_from(_seated())
        .join(matches, matches.c.id == here.match_id)
        .where(bots.c.player_id == player_id, matches.c.finished_ms.is_not(None))
        .group_by(*columns)
        .order_by(last.desc())
        .limit(limit)
    )
    if bot_id is not None:
        query = query.where(here.bot_id == bot_id)
    return [
        KeptOutput(
            *(row.match, f"{row.player}/{row.bot}", row.seat, row.game),
            *(row.finished_ms, row.result, int(row.crashes), int(row.bytes)),
        )
        for row in connection.execute(query)
    ]


def _seated() -> Join:
    here = outputs.c
    seat = match_seats.c
    return (
        outputs.join(match_seats, (seat.match_id == here.match_id) & (seat.bot_id == here.bot_id))
        .join(bots, bots.c.id == here.bot_id)
        .join(players, players.c.id == bots.c.player_id)
    )


def _bound(connection: Connection, bot_id: int, most_bytes: int) -> None:
    """Drop the oldest that is kept of the player of a bot, if it is too much."""
    here = outputs.c
    owner = select(bots.c.player_id).where(bots.c.id == bot_id).scalar_subquery()
    theirs = select(bots.c.id).where(bots.c.player_id == owner)
    total = select(func.coalesce(func.sum(here.bytes), 0)).where(here.bot_id.in_(theirs))
    if connection.execute(total).scalar_one() <= most_bytes:
        return
    so_far = func.sum(here.bytes).over(order_by=here.id.desc()).label("so_far")
    newest = select(here.id, so_far).where(here.bot_id.in_(theirs)).subquery()
    old = select(newest.c.id).where(newest.c.so_far > most_bytes)
    connection.execute(delete(outputs).where(here.id.in_(old)))
