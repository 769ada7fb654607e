"""Matches that survive a stop of the server, because a database has them.

A restarted server, or another one of the cluster, resumes them from their events.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from plyhouse.games.base import Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.config import ServerConfig
from plyhouse.server.grades.final_rules import scoring_of
from plyhouse.server.match.engine import Match
from plyhouse.server.match.presence import Presence
from plyhouse.server.match.restore import RestoreError, restore
from plyhouse.server.match.terms import config_of, machines_of
from plyhouse.server.match.time_control import InvalidTimeControl
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live import LiveMatch, LivePairing
from plyhouse.server.table.live_matches import LiveMatches
from plyhouse.server.table.participants import Participant
from plyhouse.storage import match_reads, tournaments
from plyhouse.storage.causes import Cause
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import FinishMatch, FinishPairing, Op, SeatRow, StoredMatch, wall_ms
from plyhouse.storage.store import Store
from plyhouse.storage.writer import Writer

log = logging.getLogger("plyhouse.server.match.engine")


class ResumableMatches(LiveMatches):
    """A runner that stores matches in a database and resumes them from it.

    ``hidden_in`` returns the unnamed bots of a tournament, in small letters.  ``options`` are
    those of `LiveMatches`.
    """

    def __init__(
        self,
        config: ServerConfig,
        store: Store,
        directory: Directory,
        now: Callable[[], int],
        *,
        hidden_in: Callable[[str | None], Awaitable[Collection[str]]],
        **options: Any,
    ) -> None:
        self.writer = Writer(store)
        """The writer that makes plies durable."""
        super().__init__(config, self.writer, directory, now, **options)
        self._store = store
        self._hidden_in = hidden_in

    async def restore(self) -> int:
        """Resume every match that the database has as unfinished; return how many.

        A match that cannot be rebuilt (the game has changed, or rows are damaged) becomes void,
        and the log says why.  A match that shares its chance with another one also becomes void,
        because its bots could exchange messages.
        """
        stored = await self.stored_matches()
        return len(await self.resume(stored))

    async def stored_matches(self, pairings: Collection[str] | None = None) -> list[StoredMatch]:
        """Return the unfinished matches of the database, or those of some pairings."""
        return await self._store.read(match_reads.running_matches, pairings)

    async def resume(self, running: Sequence[StoredMatch]) -> list[LiveMatch]:
        """Resume stored matches, as `restore` does; return those that go on."""
        pairings: dict[str, LivePairing] = {}
        restored = []
        broken: list[StoredMatch] = []
        scoring: dict[str | None, Scoring] = {}
        for tournament in {each.pairing.tournament_id for each in running} - {None}:
            with contextlib.suppress(Unknown, GameError):  # deleted, or its game is missing
                found = await self._store.read(tournaments.find_tournament, str(tournament))
                scoring[tournament] = scoring_of(found)
        for stored in running:
            header = stored.header
            holders = [self._holder_of(seat) for seat in header.seats]
            hidden = await self._hidden_in(stored.pairing.tournament_id)
            try:
                match = self._rebuild(stored, [each.presence for each in holders], hidden)
                if match.config.shares_chance:
                    raise ValueError("its chance is shared with another match of its pairing")
                machines = machines_of(header)
            except (RestoreError, GameError, InvalidTimeControl, ValueError) as error:
                log.error("match cannot be resumed", extra={"match": header.id, "why": str(error)})
                broken.append(stored)
                continue
            row = stored.pairing
            pairing = pairings.get(row.id)
            if pairing is None:
                pairing = LivePairing(
                    row.id,
                    row.seed,
                    tournament=row.tournament_id,
                    scoring=scoring.get(row.tournament_id),
                )
                pairings[row.id] = pairing
            live = LiveMatch(self, match, pairing, holders)
            self._keep(live)
            for holder, machine in zip(holders, machines, strict=True):
                self._directory.update(holder, hosted=holder.presence.hosted or machine)
            self._resumed_plies += match.ply
            restored.append(live)
        await self._put_away(broken, going_on=pairings)
        for pairing in pairings.values():
            self._mark_last(pairing)
        for live in restored:
            live.input(live.match.resume, self.now())
        return restored

    def _holder_of(self, seat: SeatRow) -> Participant:
        """Return the participant of a stored seat, who is offline after a restart."""
        participant = self._directory.participants.get(seat.bot_id)
        if participant is not None:
            return participant
        in_person = seat.in_person
        return self._directory.add(
            Presence(
                player_id=seat.player_id,
                player=seat.player,
                bot_id=seat.bot_id,
                bot="" if in_person else seat.bot,
                version_id=seat.version_id,
                version=seat.version,
                kind="human" if in_person else "bot",
            )
        )

    async def _put_away(self, broken: Sequence[StoredMatch], *, going_on: Collection[str]) -> None:
        """End matches that cannot be resumed, and pairings without a resumed match."""
        wall = wall_ms()
        why = Cause("not_resumed")
        ends: list[Op] = [
            FinishMatch(each.header.id, "server_fault", (), each.header.ply, wall, cause=why)
            for each in broken
        ]
        over = {each.pairing.id for each in broken}.difference(going_on)
        ends += [FinishPairing(each, wall) for each in sorted(over)]
        if ends:
            await self._store.apply(ends)

    def _rebuild(
        self, stored: StoredMatch, holders: Sequence[Presence], hidden: Collection[str]
    ) -> Match:
        header = stored.header
        config = config_of(header, get_game(header.game))
        players = tuple(
            self._told(each, header.game, named=each.name.lower() not in hidden) for each in holders
        )
        return restore(replace(config, players=players), stored.events, self.now())
