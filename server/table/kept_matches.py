"""Matches kept in memory: the storage of a server without a database."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from plyhouse.storage.errors import StorageError, StoreClosed, Unknown
from plyhouse.storage.rows import (
    EventRow,
    FinishMatch,
    FinishPairing,
    MatchRow,
    NewMatch,
    NewPairing,
    Op,
    PairingRow,
    StartMatch,
    StoredMatch,
)

MOST: Final = 200
"""Pairings that are kept after their end."""


class KeptMatches:
    """The last matches; a `plyhouse.server.table.live_matches.MatchStorage`.

    A ply is kept before anyone hears of it, as a database would have it stored by then.
    """

    def __init__(self) -> None:
        self._pairings: dict[str, PairingRow] = {}
        self._matches: dict[str, list[str]] = {}
        """The matches of each pairing."""
        self._headers: dict[str, MatchRow] = {}
        self._events: dict[str, list[EventRow]] = {}
        self._over: deque[str] = deque()
        """The pairings that are over, the oldest first."""
        self._closed = False

    def submit_then(
        self, rows: Sequence[Op], done: Callable[[StorageError | None], None], /
    ) -> None:
        """Keep operations, then call ``done`` with None at once."""
        if self._closed:
            done(StoreClosed("these matches are over; nothing was kept"))
            return
        for row in rows:
            self._keep(row)
        done(None)

    def _keep(self, row: Op) -> None:
        headers = self._headers
        match row:
            case EventRow():
                self._events[row.match_id].append(row)
            case NewPairing():
                self._pairings[row.pairing.id] = row.pairing
                self._matches[row.pairing.id] = []
            case NewMatch():
                headers[row.match.id] = row.match
                self._matches[row.match.pairing_id].append(row.match.id)
                self._events[row.match.id] = []
            case StartMatch():
                headers[row.match_id] = replace(
                    headers[row.match_id],
                    nonces=row.nonces,
                    started_ms=row.started_ms,
                    status="running",
                )
            case FinishMatch():
                headers[row.match_id] = replace(
                    headers[row.match_id],
                    status="finished",
                    ply=row.ply,
                    finished_ms=row.finished_ms,
                    termination=row.termination,
                    culprit=row.culprit,
                    cause=row.cause,
                    returns=row.returns,
                )
            case FinishPairing():
                self._finish_pairing(row)

    def _finish_pairing(self, row: FinishPairing) -> None:
        pairing = self._pairings[row.pairing_id]
        self._pairings[pairing.id] = replace(pairing, finished_ms=row.finished_ms)
        self._over.append(pairing.id)
        if len(self._over) > MOST:
            oldest = self._over.popleft()
            del self._pairings[oldest]
            for match in self._matches.pop(oldest):
                del self._headers[match], self._events[match]

    def stored(self, match_id: str) -> StoredMatch:
        """Return a match with all of its events so far.

        Raises `Unknown` if it never began, or ended long ago.
        """
        header = self._headers.get(match_id)
        if header is None:
            raise Unknown(f"match {match_id!r} is not kept; only the last {MOST} pairings are")
        pairing = self._pairings[header.pairing_id]
        return StoredMatch(header, pairing, tuple(self._events[match_id]))

    async def close(self) -> None:
        """Accept nothing more."""
        self._closed = True
