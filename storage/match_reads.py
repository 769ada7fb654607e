"""Matches as they are read back: headers, events, what a record is made of."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec import structs
from sqlalchemy import ColumnElement, Connection, Row, Select, and_, select

from plyhouse.protocol.api.matches import Match, Seat
from plyhouse.storage.causes import decoded
from plyhouse.storage.errors import Unknown
from plyhouse.storage.models import (
    bots,
    events,
    match_seats,
    matches,
    pairings,
    players,
    select_rows,
    versions,
)
from plyhouse.storage.rows import EventRow, MatchRow, PairingRow, SeatRow, StoredMatch
from plyhouse.storage.statements import parts
from plyhouse.storage.tournaments import of_present_versions

_EVENT_COLUMNS = (
    events.c.match_id,
    events.c.idx,
    events.c.kind,
    events.c.ply,
    events.c.seat,
    events.c.text,
    events.c.thought_ns,
    events.c.lag_ns,
    events.c.stall_ns,
    events.c.charged_ns,
    events.c.remaining_ns,
    events.c.data,
)

_HEADER_COLUMNS = frozenset(MatchRow.__struct_fields__) & {
    *matches.c.keys(),
    *("seed", "commitment", "tournament_id"),
} - {"nonces"}
"""Columns of `headers` that are fields of a match as they are."""
_SHOWN = frozenset(MatchRow.__struct_fields__) & frozenset(Match.__struct_fields__) - {"seats"}
"""Fields of a stored match that everybody who sees it may know as they are."""


def stored_match(connection: Connection, match_id: str, *, events: bool = True) -> StoredMatch:
    """Return a match with its secret seed; raise `Unknown` if there is none.

    It has all events, or none without ``events``: those of a long match take many milliseconds.
    """
    found = _stored(connection, matches.c.id == match_id, with_events=events)
    if not found:
        raise Unknown(f"there is no match {match_id!r}; take an id from the list of matches")
    return found[0]


def stored_matches(connection: Connection, match_ids: Sequence[str]) -> list[StoredMatch]:
    """Return matches as `stored_match` does, in the order of their ids, which are a few."""
    found = {each.header.id: each for each in _stored(connection, matches.c.id.in_(match_ids))}
    return [found[each] for each in match_ids if each in found]


def running_matches(
    connection: Connection, pairing_ids: Collection[str] | None = None
) -> list[StoredMatch]:
    """Return every match that is not finished, with its events, oldest first: for recovery.

    ``pairing_ids`` limits them to matches of these pairings.
    """
    unfinished = matches.c.finished_ms.is_(None)
    if pairing_ids is None:
        return _stored(connection, unfinished)
    found: list[StoredMatch] = []
    for part in parts(pairing_ids):
        found += _stored(connection, and_(unfinished, matches.c.pairing_id.in_(part)))
    return sorted(found, key=lambda each: (each.header.created_ms, each.header.id))


_PAIRING_COLUMNS = (
    pairings.c.id,
    pairings.c.game,
    pairings.c.time_control,
    pairings.c.rated,
    pairings.c.seed,
    pairings.c.commitment,
    pairings.c.matches,
    pairings.c.created_ms,
    pairings.c.tournament_id,
    pairings.c.round,
    pairings.c.finished_ms,
    pairings.c.owner,
)


def headers() -> Select[Any]:
    """Return the query of headers, for `assemble`."""
    return select(
        matches,
        pairings.c.seed,
        pairings.c.commitment,
        pairings.c.tournament_id,
        pairings.c.finished_ms.label("over_ms"),
    ).join(pairings, pairings.c.id == matches.c.pairing_id)


def _stored(
    connection: Connection, where: ColumnElement[bool], *, with_events: bool = True
) -> list[StoredMatch]:
    ordered = headers().where(where).order_by(matches.c.created_ms, matches.c.id)
    found_headers = assemble(connection, connection.execute(ordered).all(), secrets=True)
    chosen = select(matches.c.id).where(where)
    story: dict[str, list[EventRow]] = {header.id: [] for header in found_headers}
    query = (
        select(*_EVENT_COLUMNS)
        .where(events.c.match_id.in_(chosen))
        .order_by(events.c.match_id, events.c.idx)
    )
    for row in connection.execute(query) if with_events else ():
        story[row.match_id].append(EventRow(*row))
    query = select(*_PAIRING_COLUMNS).where(
        pairings.c.id.in_(select(matches.c.pairing_id).where(where))
    )
    found = {row.id: PairingRow(*row) for row in connection.execute(query)}
    return [
        StoredMatch(header, found[header.pairing_id], tuple(story[header.id]))
        for header in found_headers
    ]


def assemble(connection: Connection, found: Iterable[Row[Any]], *, secrets: bool) -> list[MatchRow]:
    """Add the seats to headers, keeping their order."""
    rows = {row.id: _match(row) for row in found}
    seats: dict[str, list[SeatRow]] = {key: [] for key in rows}
    returns: dict[str, list[float]] = {key: [] for key in rows}
    query = (
        select_rows(SeatRow, match_seats, player_id=players.c.id)
        .add_columns(match_seats.c.match_id, match_seats.c.returned)
        .join(bots, bots.c.id == match_seats.c.bot_id)
        .join(players, players.c.id == bots.c.player_id)
        .join(versions, versions.c.id == match_seats.c.version_id)
        .order_by(match_seats.c.match_id, match_seats.c.seat)
    )
    for part in parts(rows):
        for row in connection.execute(query.where(match_seats.c.match_id.in_(part))):
            *seat, match_id, returned = row
            seats[match_id].append(SeatRow(*seat))
            if returned is not None:
                returns[match_id].append(returned)
    over = {row_id for row_id, (_, public) in rows.items() if secrets or public}
    replaced = _replaced(
        connection, [key for key, (match, _) in rows.items() if match.tournament_id is not None]
    )
    return [
        structs.replace(
            match,
            seats=tuple(seats[key]),
            returns=tuple(returns[key]),
            seed=match.seed if key in over else b"",
            replaced=key in replaced,
        )
        for key, (match, _) in rows.items()
    ]


def _replaced(connection: Connection, keys: Sequence[str]) -> set[str]:
    """Return those of these matches in which a version plays that is no longer entered."""
    found: set[str] = set()
    for part in parts(keys):
        query = (
            select(matches.c.id)
            .join(pairings, pairings.c.id == matches.c.pairing_id)
            .where(matches.c.id.in_(part), ~of_present_versions())
        )
        found.update(connection.execute(query).scalars())
    return found


def _match(row: Row[Any]) -> tuple[MatchRow, bool]:
    """Return a header without seats, and whether its seed is public."""
    columns = row._asdict()
    match = MatchRow(
        **{name: columns[name] for name in _HEADER_COLUMNS},
        seats=(),
        nonces=tuple(json.loads(row.nonces)),
        cause=decoded(row.reason),
        void_cause=None if row.void_reason is None else decoded(row.void_reason),
    )
    return match, row.over_ms is not None


def shown(match: MatchRow) -> Match:
    """Return a stored match as the API sends it and pages show it.

    Its sentences name the holders of its seats as they are in the header.
    """
    returned = dict(enumerate(match.returns))
    columns = structs.asdict(match)
    return Match(
        **{name: columns[name] for name in _SHOWN},
        match=match.id,
        pairing=match.pairing_id,
        seats=[
            Seat(each.seat, each.player, each.bot, each.version, returned.get(each.seat))
            for each in match.seats
        ],
        reason=match.reason,
        record=f"/api/v1/matches/{match.id}/record",
        void_reason=match.void_reason,
        kind=match.kind,
    )
