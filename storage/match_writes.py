"""What the server stores while matches are played: many operations, one transaction.

This is the hot path. Statements are compiled once per store, rows of one kind travel to the
driver in one call, and the leaderboard's tables are kept up with sums over the whole batch.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TypeVar, cast

from sqlalchemy import Table, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect

from plyhouse.storage.errors import AlreadyExists, Unknown
from plyhouse.storage.models import (
    UNRATED,
    Link,
    Prepared,
    events,
    match_seats,
    matches,
    pair_results,
    pairings,
    prepare,
    standings,
)
from plyhouse.storage.rows import (
    VOID_TERMINATIONS,
    EventRow,
    FinishMatch,
    FinishPairing,
    NewMatch,
    NewPairing,
    Op,
    StartMatch,
    pair_score,
)

__all__ = ["Operations", "seat_result"]

OpT = TypeVar("OpT")


def seat_result(returns: Sequence[float], seat: int, span: float = 0.0) -> tuple[float, str]:
    """Return a seat's score (the mean `pair_score` against the other seats) and W, D or L.

    W: no other seat got as much. D: the highest return is shared. L: some seat got more.
    Who plays alone beats nobody: the score is the return itself, and the result a D.
    """
    if len(returns) == 1:
        return returns[seat], "D"
    mine = returns[seat]
    best = max(returns)
    opponents = len(returns) - 1
    total = sum([pair_score(mine, other, span) for other in returns])
    score = (total - 0.5) / opponents  # it tied with itself
    if mine < best:
        return score, "L"
    return score, "W" if returns.count(best) == 1 else "D"


class Operations:
    """The statements of the hot path, compiled for one database."""

    def __init__(self, dialect: Dialect) -> None:
        self._event = prepare(events.insert(), dialect)
        names = ("index" if name == "idx" else name for name in self._event.order)
        self._event_row = attrgetter(*names)
        self._pairing = prepare(pairings.insert(), dialect)
        self._pairing_row = attrgetter(*self._pairing.order)
        self._match = prepare(matches.insert(), dialect)
        seat_columns = ("match_id", "seat", "bot_id", "version_id")
        self._seat = prepare(match_seats.insert().values(_binds(seat_columns)), dialect)
        self._start = prepare(
            matches.update()
            .where(matches.c.id == bindparam("b_id"))
            .values(_binds(("status", "nonces", "started_ms"))),
            dialect,
        )
        ends = ("status", "ply", "finished_ms", "termination", "culprit", "reason")
        self._finish = prepare(
            matches.update().where(matches.c.id == bindparam("b_id")).values(_binds(ends)),
            dialect,
        )
        self._seat_end = prepare(
            match_seats.update()
            .where(
                match_seats.c.match_id == bindparam("b_match_id"),
                match_seats.c.seat == bindparam("b_seat"),
            )
            .values(_binds(("returned", "score", "result"))),
            dialect,
        )
        self._pairing_end = prepare(
            pairings.update()
            .where(pairings.c.id == bindparam("b_id"))
            .values(_binds(("finished_ms",))),
            dialect,
        )
        found = (matches.c.game, matches.c.rated, matches.c.finished_ms)
        by_id = select(*found).where(matches.c.id == bindparam("b_id"))
        self._header = prepare(by_id.with_for_update(), dialect)
        self._holders = prepare(
            select(match_seats.c.bot_id)
            .where(match_seats.c.match_id == bindparam("b_id"))
            .order_by(match_seats.c.seat),
            dialect,
        )
        self._known_pairing = prepare(
            select(pairings.c.id).where(pairings.c.id == bindparam("b_id")), dialect
        )
        self._standing = _adding(
            standings,
            ("score", "games", "wins", "draws", "losses", "returned", "returned_squares"),
            dialect,
        )
        self._pair = _adding(
            pair_results, ("wins_a", "draws", "wins_b", "score_a", "squares_a"), dialect
        )

    def apply(self, connection: Link, ops: Iterable[Op]) -> None:
        """Store operations in the connection's transaction."""
        kinds: defaultdict[type[object], list[Op]] = defaultdict(list)
        for op in ops:
            kinds[type(op)].append(op)
        if pairs := _of(kinds, NewPairing):
            self._pairing.run(connection, [self._pairing_row(op.pairing) for op in pairs])
        if new := _of(kinds, NewMatch):
            self._add_matches(connection, new)
        if starts := _of(kinds, StartMatch):
            self._start_matches(connection, starts)
        if acts := _of(kinds, EventRow):
            self._event.insert(connection, list(map(self._event_row, acts)))
        if ends := _of(kinds, FinishMatch):
            self._finish_matches(connection, ends)
        if overs := _of(kinds, FinishPairing):
            self._finish_pairings(connection, overs)

    def _add_matches(self, connection: Link, ops: Sequence[NewMatch]) -> None:
        rows = []
        seats = []
        for op in ops:
            match = op.match
            values = {
                "id": match.id,
                "pairing_id": match.pairing_id,
                "game": match.game,
                "time_control": match.time_control,
                "rated": match.rated,
                "illegal_rule": match.illegal_rule,
                "stream": match.stream,
                "nonces": json.dumps(match.nonces),
                "status": match.status,
                "ply": match.ply,
                "created_ms": match.created_ms,
                "started_ms": match.started_ms,
                "finished_ms": match.finished_ms,
                "termination": match.termination,
                "culprit": match.culprit,
                "reason": match.reason,
                "data": match.data,
            }
            rows.append(_ordered(self._match, values))
            for seat in match.seats:
                seat_values = {
                    "b_match_id": match.id,
                    "b_seat": seat.seat,
                    "b_bot_id": seat.bot_id,
                    "b_version_id": seat.version_id,
                }
                seats.append(_ordered(self._seat, seat_values))
        self._match.run(connection, rows)
        self._seat.run(connection, seats)

    def _start_matches(self, connection: Link, ops: Sequence[StartMatch]) -> None:
        self._unfinished(connection, [op.match_id for op in ops])
        rows = []
        for op in ops:
            values = {
                "b_id": op.match_id,
                "b_status": "running",
                "b_nonces": json.dumps(op.nonces),
                "b_started_ms": op.started_ms,
            }
            rows.append(_ordered(self._start, values))
        self._start.run(connection, rows)

    def _finish_matches(self, connection: Link, ops: Sequence[FinishMatch]) -> None:
        ids = [op.match_id for op in ops]
        headers = self._unfinished(connection, ids)
        rows = []
        seat_rows = []
        totals: defaultdict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0] * 7)
        pairs: defaultdict[tuple[str, int, int], list[float]] = defaultdict(lambda: [0.0] * 5)
        for op in ops:
            values = {
                "b_id": op.match_id,
                "b_status": "finished",
                "b_ply": op.ply,
                "b_finished_ms": op.finished_ms,
                "b_termination": op.termination,
                "b_culprit": op.culprit,
                "b_reason": op.reason,
            }
            rows.append(_ordered(self._finish, values))
            bots = [bot for (bot,) in self._holders.look_up(connection, op.match_id)]
            if not op.returns:
                continue
            if len(op.returns) != len(bots):
                raise ValueError(
                    f"match {op.match_id} has {len(bots)} seats, not {len(op.returns)} returns"
                )
            game, rated = headers[op.match_id]
            void = op.termination in VOID_TERMINATIONS
            for seat, bot in enumerate(bots):
                returned = float(op.returns[seat])
                score, result = seat_result(op.returns, seat, op.span)
                values = {
                    "b_match_id": op.match_id,
                    "b_seat": seat,
                    "b_returned": returned,
                    "b_score": None if void else score,
                    "b_result": None if void else result,
                }
                seat_rows.append(_ordered(self._seat_end, values))
                if rated and not void:
                    won = (result == "W", result == "D", result == "L")
                    _add(totals[game, bot], (score, 1, *won, returned, returned * returned))
            if rated and not void:
                _add_pairs(pairs, game, bots, op.returns, op.span)
        self._finish.run(connection, rows)
        self._seat_end.run(connection, seat_rows)
        # In order, so that two transactions never wait for each other's rows crosswise.
        self._standing.run(
            connection,
            [
                _ordered(
                    self._standing,
                    {
                        "game": game,
                        "bot_id": bot,
                        "score": total[0],
                        "games": int(total[1]),
                        "wins": int(total[2]),
                        "draws": int(total[3]),
                        "losses": int(total[4]),
                        "returned": total[5],
                        "returned_squares": total[6],
                        "rating": UNRATED,
                    },
                )
                for (game, bot), total in sorted(totals.items())
            ],
        )
        self._pair.run(
            connection,
            [
                _ordered(
                    self._pair,
                    {
                        "game": game,
                        "bot_a": a,
                        "bot_b": b,
                        "wins_a": int(count[0]),
                        "draws": int(count[1]),
                        "wins_b": int(count[2]),
                        "score_a": count[3],
                        "squares_a": count[4],
                    },
                )
                for (game, a, b), count in sorted(pairs.items())
            ],
        )

    def _finish_pairings(self, connection: Link, ops: Sequence[FinishPairing]) -> None:
        for pairing_id in sorted({op.pairing_id for op in ops}):
            if not self._known_pairing.look_up(connection, pairing_id):
                raise Unknown(f"there is no pairing {pairing_id!r}; store it before its end")
        rows = [
            _ordered(self._pairing_end, {"b_id": op.pairing_id, "b_finished_ms": op.finished_ms})
            for op in ops
        ]
        self._pairing_end.run(connection, rows)

    def _unfinished(self, connection: Link, ids: Sequence[str]) -> dict[str, tuple[str, bool]]:
        """Return game and whether rated of matches that must be there and not be finished."""
        found: dict[str, tuple[str, bool]] = {}
        for match_id in ids:
            rows = self._header.look_up(connection, match_id)
            if not rows:
                raise Unknown(f"there is no match {match_id!r}; store it before what happens in it")
            game, rated, finished = rows[0]
            if finished is not None:
                raise AlreadyExists(f"match {match_id!r} is finished already; it stays so")
            found[match_id] = game, rated
        if len(found) != len(ids):
            raise AlreadyExists("a match is named twice in one batch; start or finish it once")
        return found


def _add(total: list[float], values: Iterable[float]) -> None:
    for position, value in enumerate(values):
        total[position] += value


def _add_pairs(
    pairs: defaultdict[tuple[str, int, int], list[float]],
    game: str,
    bots: Sequence[int],
    returns: Sequence[float],
    span: float,
) -> None:
    """Compare every two seats held by different bots."""
    for i, first in enumerate(bots):
        for j in range(i + 1, len(bots)):
            second = bots[j]
            if first == second:
                continue
            a, b = (i, j) if first < second else (j, i)
            ahead = (returns[a] > returns[b]) - (returns[a] < returns[b])
            score = pair_score(returns[a], returns[b], span)
            total = pairs[game, bots[a], bots[b]]
            total[1 - ahead] += 1
            total[3] += score
            total[4] += score * score


def _of(kinds: Mapping[type[object], list[Op]], kind: type[OpT]) -> list[OpT]:
    return cast("list[OpT]", kinds.get(kind, []))


def _binds(names: Iterable[str]) -> dict[str, object]:
    """Name a bind parameter for each column; ``b_`` keeps it apart from the column itself."""
    return {name: bindparam(f"b_{name}") for name in names}


def _ordered(statement: Prepared, values: dict[str, object]) -> tuple[object, ...]:
    return tuple([values.get(name) for name in statement.order])


def _adding(table: Table, sums: Iterable[str], dialect: Dialect) -> Prepared:
    """Compile an insert that adds to the sums of a row that is there already."""
    keys = list(table.primary_key.columns)
    if dialect.name == "postgresql":
        on_server = postgresql.insert(table)
        changes = {name: table.c[name] + on_server.excluded[name] for name in sums}
        return prepare(on_server.on_conflict_do_update(index_elements=keys, set_=changes), dialect)
    in_file = sqlite.insert(table)
    changes = {name: table.c[name] + in_file.excluded[name] for name in sums}
    return prepare(in_file.on_conflict_do_update(index_elements=keys, set_=changes), dialect)
