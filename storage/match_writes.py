"""Writes of running matches: many operations in one transaction.

This is the hot path. Statements are compiled once per store, rows of one kind travel to the
driver in one call, and the leaderboard's tables are kept up with sums over the whole batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
from msgspec.structs import astuple, replace
from sqlalchemy import ColumnElement, Table, func, literal_column, select
from sqlalchemy.engine import Dialect

from plyhouse.storage.errors import AlreadyExists, Unknown
from plyhouse.storage.models import (
    UNRATED,
    events,
    match_seats,
    matches,
    pair_results,
    pairings,
    standings,
)
from plyhouse.storage.rows import (
    EventRow,
    FinishMatch,
    FinishPairing,
    MatchRow,
    NewMatch,
    NewPairing,
    Op,
    StartMatch,
)
from plyhouse.storage.statements import Link, Prepared, Values, adding

OpT = TypeVar("OpT")

_STANDING_SUMS = ("score", "games", "wins", "draws", "losses", "returned", "returned_squares")
_PAIR_SUMS = ("wins_a", "draws", "wins_b", "score_a", "squares_a")
_RESULTS = {"W": (1, 0, 0), "D": (0, 1, 0), "L": (0, 0, 1)}


class _Sums:
    """The sums that finished matches add to leaderboards."""

    def __init__(self) -> None:
        self.totals: defaultdict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0] * 7)
        """`_STANDING_SUMS` by game and version."""
        self.pairs: defaultdict[tuple[str, int, int], list[float]] = defaultdict(lambda: [0.0] * 5)
        """`_PAIR_SUMS` by game and two versions."""
        self.latest: dict[tuple[str, int], int] = {}
        """The last version of a bot in a game."""
        self.bot_of: dict[int, int] = {}

    def add(
        self, game: str, bot: int, version: int, score: float, result: str, returned: float
    ) -> None:
        """Add the result of one seat."""
        total = self.totals[game, version]
        sums = (score, 1, *_RESULTS[result], returned, returned * returned)
        for position, value in enumerate(sums):
            total[position] += value
        self.latest[game, bot] = version
        self.bot_of[version] = bot

    def add_pair(self, game: str, a: int, b: int, score: float) -> None:
        """Add what version ``a`` scored against ``b``; nobody is compared with itself."""
        if a == b:
            return
        if a > b:
            a, b, score = b, a, 1.0 - score
        ahead = (score > 0.5) - (score < 0.5)
        total = self.pairs[game, a, b]
        total[1 - ahead] += 1
        total[3] += score
        total[4] += score * score


class _Header(NamedTuple):
    """A match and its seats, as its end has to know them."""

    game: str
    rated: bool
    void: bool
    """True if an organiser made it void."""
    holders: list[tuple[int, int]]
    """The bot and version of each seat."""


class Operations:
    """The statements of the hot path, compiled for one database."""

    def __init__(self, dialect: Dialect) -> None:
        def inserted(table: Table, *names: str) -> Prepared:
            values = Values(table, dialect, *(names or table.c.keys()))
            return values.prepare(values.inserted(table))

        fields = ("idx" if name == "index" else name for name in EventRow.__struct_fields__)
        self._event = inserted(events, *fields)
        self._pairing = inserted(pairings)
        self._pairing_row = attrgetter(*pairings.c.keys())
        self._match = inserted(matches)
        self._match_row = attrgetter(*matches.c.keys())
        self._nonces_at = matches.c.keys().index("nonces")
        self._seat = inserted(match_seats, "match_id", "seat", "bot_id", "version_id")
        self._start = _changing(matches, dialect, ("nonces", "status", "started_ms"), "id")
        ends = ("status", "ply", "finished_ms", "termination", "culprit", "reason")
        self._finish = _changing(matches, dialect, ends, "id")
        results = ("returned", "score", "result")
        self._seat_end = _changing(match_seats, dialect, results, "match_id", "seat")
        self._pairing_end = _changing(pairings, dialect, ("finished_ms",), "id")
        self._pair = adding(pair_results, _PAIR_SUMS, dialect)
        self._standing = adding(
            standings, _STANDING_SUMS, dialect, "bot_id", "latest", "rating", changed=["latest"]
        )
        older = Values(standings, dialect, "latest", "game", "bot_id", "version_id")
        self._outdate = older.prepare(
            standings.update()
            .where(
                standings.c.game == older["game"],
                standings.c.bot_id == older["bot_id"],
                standings.c.latest.is_(True),
                standings.c.version_id != older["version_id"],
            )
            .values(older.of("latest"))
        )
        self._prepare_reads(dialect)

    def _prepare_reads(self, dialect: Dialect) -> None:
        asked = Values(matches, dialect, "id")
        found = (
            *(matches.c.id, matches.c.game, matches.c.rated, matches.c.finished_ms),
            *(matches.c.void_reason, match_seats.c.bot_id, match_seats.c.version_id),
        )
        self._header = asked.prepare(
            select(*found)
            .join(match_seats, match_seats.c.match_id == matches.c.id)
            .where(matches.c.id == asked["id"])
            .order_by(matches.c.id, match_seats.c.seat)
            .with_for_update(of=matches)
        )
        asked = Values(pairings, dialect, "id")
        known = select(pairings.c.id).where(pairings.c.id == asked["id"])
        self._known_pairing = asked.prepare(known)

    def apply(self, link: Link, ops: Iterable[Op], owner: int = 0) -> None:
        """Store operations in the connection's transaction.

        ``owner`` is the epoch of the server that runs new pairings; 0 if it has no lease.
        """
        kinds: defaultdict[type[object], list[Op]] = defaultdict(list)
        for op in ops:
            kinds[type(op)].append(op)
        if pairs := _of(kinds, NewPairing):
            new_pairings = [op.pairing for op in pairs]
            if owner:
                new_pairings = [replace(each, owner=owner) for each in new_pairings]
            self._pairing.insert(link, list(map(self._pairing_row, new_pairings)))
        if new := _of(kinds, NewMatch):
            self._add_matches(link, [op.match for op in new])
        if starts := _of(kinds, StartMatch):
            self._start_matches(link, starts)
        if acts := _of(kinds, EventRow):
            self.add_events(link, acts)
        if ends := _of(kinds, FinishMatch):
            self._finish_matches(link, ends)
        if overs := _of(kinds, FinishPairing):
            self._finish_pairings(link, overs)

    def add_events(self, link: Link, rows: Sequence[EventRow]) -> None:
        """Store events.  Up to `ROWS_AT_ONCE` of them are one statement on SQLite."""
        self._event.insert(link, list(map(astuple, rows)))

    def _add_matches(self, link: Link, new: Sequence[MatchRow]) -> None:
        rows = []
        for match in new:
            values = list(self._match_row(match))
            values[self._nonces_at] = _json(match.nonces)
            rows.append(tuple(values))
        self._match.insert(link, rows)
        seats = [
            (match.id, seat.seat, seat.bot_id, seat.version_id)
            for match in new
            for seat in match.seats
        ]
        self._seat.insert(link, seats)

    def _start_matches(self, link: Link, ops: Sequence[StartMatch]) -> None:
        _only_once(op.match_id for op in ops)
        rows = [(_json(op.nonces), "running", op.started_ms, op.match_id) for op in ops]
        if self._start.run(link, rows) != len(ops):
            self._unfinished(link, [op.match_id for op in ops])

    def _finish_matches(self, link: Link, ops: Sequence[FinishMatch]) -> None:
        _only_once(op.match_id for op in ops)
        rows = []
        seats: list[tuple[object, ...]] = []
        sums = _Sums()
        headers = self._unfinished(link, [op.match_id for op in ops])
        for op, (game, rated, void, holders) in zip(ops, headers, strict=True):
            rows.append(
                (
                    *("finished", op.ply, op.finished_ms),
                    *(op.termination, op.culprit, op.cause.encoded(), op.match_id),
                )
            )
            if not op.returns:
                continue
            if len(op.returns) != len(holders):
                raise ValueError(
                    f"match {op.match_id} has {len(holders)} seats, not {len(op.returns)} returns"
                )
            if op.scores is None or void:
                seats += [
                    (float(returned), None, None, op.match_id, seat)
                    for seat, returned in enumerate(op.returns)
                ]
                continue
            scored = zip(op.returns, op.scores.seats, holders, strict=True)
            for seat, (returned, (score, result), (bot, version)) in enumerate(scored):
                seats.append((float(returned), score, result, op.match_id, seat))
                if rated:
                    sums.add(game, bot, version, score, result, returned)
            if rated:
                versions = [version for _, version in holders]
                for (a, b), share in zip(combinations(versions, 2), op.scores.pairs, strict=True):
                    if share is not None:
                        sums.add_pair(game, a, b, share)
        self._finish.run(link, rows)
        self._seat_end.run(link, seats)
        self._add_to_leaderboards(link, sums)

    def _add_to_leaderboards(self, link: Link, sums: _Sums) -> None:
        latest, bot_of = sums.latest, sums.bot_of
        # In order, so that two transactions never wait for each other's rows crosswise.
        self._outdate.run(link, [(False, *key, version) for key, version in sorted(latest.items())])
        self._standing.insert(
            link,
            [
                (
                    *(game, version, score, int(games), int(wins), int(draws), int(losses)),
                    *returned,
                    *(bot_of[version], latest[game, bot_of[version]] == version, UNRATED),
                )
                for (game, version), (score, games, wins, draws, losses, *returned) in sorted(
                    sums.totals.items()
                )
            ],
        )
        self._pair.insert(
            link,
            [
                (*key, int(wins), int(draws), int(losses), *scores)
                for key, (wins, draws, losses, *scores) in sorted(sums.pairs.items())
            ],
        )

    def _finish_pairings(self, link: Link, ops: Sequence[FinishPairing]) -> None:
        rows = [(op.finished_ms, op.pairing_id) for op in ops]
        if self._pairing_end.run(link, rows) == len(ops):
            return
        asked = sorted({op.pairing_id for op in ops})
        known = {found[0] for found in self._known_pairing.look_up(link, [(id_,) for id_ in asked])}
        if missing := [id_ for id_ in asked if id_ not in known]:
            raise Unknown(f"there is no pairing {missing[0]!r}; store it before its end")

    def _unfinished(self, link: Link, ids: Sequence[str]) -> list[_Header]:
        """Return the header of each match, which must not be finished."""
        seats: defaultdict[str, list[Any]] = defaultdict(list)
        for match_id, *found in self._header.look_up(link, [(id_,) for id_ in ids]):
            seats[match_id].append(found)
        headers = []
        for match_id in ids:
            if match_id not in seats:
                raise Unknown(f"there is no match {match_id!r}; store it before what happens in it")
            game, rated, finished, void, *_ = seats[match_id][0]
            if finished is not None:
                raise AlreadyExists(f"match {match_id!r} is finished already; it stays so")
            holders = [(bot, version) for *_, bot, version in seats[match_id]]
            headers.append(_Header(game, rated, void is not None, holders))
        return headers


def _changing(table: Table, dialect: Dialect, changes: Sequence[str], *keys: str) -> Prepared:
    """Compile an update of the rows with the values' keys; a finished match stays as it is."""
    values = Values(table, dialect, *changes, *keys)
    where = [table.c[key] == values[key] for key in keys]
    if table is matches:
        # Not IS NULL: PostgreSQL would read the index of all unfinished matches for each row.
        never: ColumnElement[int] = literal_column("-1")
        where.append(func.coalesce(matches.c.finished_ms, never) == never)
    return values.prepare(table.update().where(*where).values(values.of(*changes)))


_compiled: dict[tuple[str, str], Operations] = {}
"""By the name of the dialect and its driver, which is all that the statements depend on."""


def operations(dialect: Dialect) -> Operations:
    """Return the statements for a dialect; they are compiled once in a process."""
    key = dialect.name, dialect.driver
    if key not in _compiled:
        _compiled[key] = Operations(dialect)
    return _compiled[key]


def _json(texts: Sequence[str]) -> str:
    return msgspec.json.encode(texts).decode()


def _only_once(ids: Iterable[str]) -> None:
    listed = list(ids)
    if len(set(listed)) != len(listed):
        raise AlreadyExists("a match is named twice in one batch; start or finish it once")


def _of(kinds: Mapping[type[object], list[Op]], kind: type[OpT]) -> list[OpT]:
    return cast("list[OpT]", kinds.get(kind, []))
