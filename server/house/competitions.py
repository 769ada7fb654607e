"""Competitions: an organiser's round robin, played as its bots are there and have room.

The schedule follows from the entries alone, and pairing number ``n`` of a competition has the id
``COMPETITION-n``; so all that a restart needs is in the database: what exists has been played or
is being played, the rest is still to come.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.house.live import LiveMatch
from plyhouse.server.house.matches import MatchRunner, Terms
from plyhouse.server.house.participants import Participant
from plyhouse.server.house.schedule import Pairing, round_robin
from plyhouse.server.match.clock import TimeControl
from plyhouse.storage.errors import StorageError, Unknown
from plyhouse.storage.rows import CompetitionRow, EntryRow, TableRow, new_id, wall_ms
from plyhouse.storage.store import Store

__all__ = ["MAX_MATCHES", "CompetitionView", "Competitions"]

log = logging.getLogger("plyhouse.server.house.competitions")

MAX_MATCHES: Final = 100_000
"""The largest schedule accepted."""


@dataclass(frozen=True, slots=True)
class CompetitionView:
    """A competition as the API shows it."""

    row: CompetitionRow
    entries: list[EntryRow]
    table: list[TableRow]
    planned: int
    """Matches of the whole schedule."""
    created: int
    finished: int
    waiting_for: list[str]
    """Why pairings that could be played now are not: one sentence for each bot at fault."""


@dataclass(eq=False, slots=True)
class _Running:
    row: CompetitionRow
    terms: Terms
    names: dict[int, str]
    """The entries, ``player/bot`` by the bot's id."""
    planned: int
    """Matches of the whole schedule."""
    waiting: dict[int, Pairing[int]] = field(default_factory=dict)
    """Pairings that have not begun, by their number, in the order of the schedule."""
    playing: set[str] = field(default_factory=set)
    """Ids of pairings that have begun and are not over."""


class Competitions:
    """All competitions that are not over.

    ``participants`` are the connected bots, by their id in the database.
    """

    def __init__(
        self, store: Store, runner: MatchRunner, participants: Mapping[int, Participant]
    ) -> None:
        self._store = store
        self._runner = runner
        self._participants = participants
        self._running: dict[str, _Running] = {}
        self._soon = False
        self._open = True
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._running)

    # ----------------------------------------------------------------------- organising

    async def create(
        self,
        name: str,
        terms: Terms,
        *,
        rounds: int = 1,
        entries: Sequence[str] | None = None,
    ) -> str:
        """Make a round robin and start it; return its id.

        ``entries`` are names like ``player/bot`` (made known by the first login of the bot);
        None enters all connected bots that accept the game.  Raises `ProtocolError`.
        """
        game = terms.game
        if entries is None:
            bots = [
                each.bot_id
                for each in self._participants.values()
                if each.online and each.accepts(game.info.name, game.spec)
            ]
            if len(bots) < game.seats:
                raise ProtocolError(
                    "game/unfit",
                    f"Only {len(bots)} connected bots accept {game.spec}, which has "
                    f"{game.seats} seats: connect more, or name the entries.",
                )
        else:
            bots = [await self._bot(entry) for entry in entries]
        try:
            schedule = round_robin(bots, rounds, seats=game.seats, mirrored=terms.mirrored)
        except ValueError as error:
            raise ProtocolError("protocol/bad_field", f"No schedule: {error}.") from error
        if sum(len(pairing.matches) for pairing in schedule) > MAX_MATCHES:
            raise ProtocolError(
                "protocol/bad_field", f"A competition has {MAX_MATCHES:,} matches at most."
            )
        row = CompetitionRow(
            id=new_id(),
            name=name,
            game=game.spec,
            time_control=str(terms.time_control),
            format="round_robin",
            rounds=rounds,
            mirrored=terms.mirrored,
            rated=terms.rated,
            created_ms=wall_ms(),
        )
        await self._store.create_competition(row)
        for bot in bots:
            await self._store.add_entry(row.id, bot)
        await self._store.set_competition_status(row.id, "running")
        await self._take_up(row)
        return row.id

    async def _bot(self, name: str) -> int:
        player, _, bot = name.partition("/")
        try:
            row = await self._store.player(player)
        except Unknown as error:
            raise ProtocolError("protocol/bad_field", f"There is no player {player!r}.") from error
        wanted = (bot or row.name).lower()
        bots = await self._store.bots(row.id)
        for each in bots:
            if each.name.lower() == wanted:
                return each.id
        known = ", ".join(f"{row.name}/{each.name}" for each in bots) or "none yet"
        raise ProtocolError(
            "protocol/bad_field",
            f"There is no bot {name!r}; bots of {row.name}: {known}. "
            "A bot is known once it has logged in.",
        )

    async def restore(self) -> None:
        """Go on with the competitions that were running when the server stopped."""
        for row in await self._store.competitions():
            if row.status in ("running", "open"):
                await self._take_up(row)

    async def _take_up(self, row: CompetitionRow) -> None:
        entries = await self._store.entries(row.id)
        # In the order of ids, which no restart changes.
        bots = sorted(entry.bot_id for entry in entries)
        game = get_game(row.game)
        terms = Terms(game, TimeControl.parse(row.time_control), row.rated, row.mirrored)
        names = {entry.bot_id: f"{entry.player}/{entry.bot}" for entry in entries}
        schedule = round_robin(bots, row.rounds, seats=game.seats, mirrored=row.mirrored)
        planned = sum(len(pairing.matches) for pairing in schedule)
        running = _Running(row, terms, names, planned)
        begun = {live.pairing.id for live in self._runner.live.values()}
        for number, pairing in enumerate(schedule):
            identifier = f"{row.id}-{number}"
            if identifier in begun:
                running.playing.add(identifier)
            elif not await self._exists(identifier):
                running.waiting[number] = pairing
        self._running[row.id] = running
        self._finish_if_done(running)
        self.advance_soon()

    async def _exists(self, pairing: str) -> bool:
        try:
            await self._store.pairing(pairing)
        except Unknown:
            return False
        return True

    # ------------------------------------------------------------------------- playing

    def advance_soon(self) -> None:
        """Begin what can begin, once what is being handled now is done."""
        if self._running and not self._soon and self._open:
            self._soon = True
            asyncio.get_running_loop().call_soon(self._advance)

    def _advance(self) -> None:
        self._soon = False
        if not self._open:
            return
        for running in self._running.values():
            self._begin(running)

    def _begin(self, running: _Running) -> None:
        """Begin pairings in the order of the schedule, as far as their bots have room."""
        game = running.terms.game
        room: dict[int, int] = {}
        for bot in running.names:
            participant = self._participants.get(bot)
            here = participant is not None and participant.accepts(game.info.name, game.spec)
            room[bot] = participant.free if participant is not None and here else 0
        places = sum(room.values())
        for number, pairing in tuple(running.waiting.items()):
            if places < game.seats:
                break
            if any(room[bot] < len(pairing.matches) for bot in pairing.entries):
                continue
            del running.waiting[number]
            for bot in pairing.entries:
                room[bot] -= len(pairing.matches)
                places -= len(pairing.matches)
            orders = [[self._participants[bot] for bot in match] for match in pairing.matches]
            begun = self._runner.begin(
                running.terms,
                orders,
                competition=running.row.id,
                round_number=pairing.round,
                pairing_id=f"{running.row.id}-{number}",
            )
            running.playing.add(begun.id)

    def over(self, live: LiveMatch) -> None:
        """A match is over: its bots have room again, and its pairing may be over as well."""
        pairing = live.pairing
        running = self._running.get(pairing.competition or "")
        if running is not None and not pairing.open:
            running.playing.discard(pairing.id)
            self._finish_if_done(running)
        self.advance_soon()

    def _finish_if_done(self, running: _Running) -> None:
        if not running.waiting and not running.playing:
            self._running.pop(running.row.id, None)
            self._spawn(self._store.set_competition_status(running.row.id, "finished"))

    # ------------------------------------------------------------------------- looking

    async def view(self, identifier: str) -> CompetitionView:
        """A competition with its table and progress; raises `Unknown`."""
        running = self._running.get(identifier)
        row = await self._store.competition(identifier)
        entries = await self._store.entries(identifier)
        progress = await self._store.progress(identifier)
        table = await self._store.competition_table(identifier)
        # What has just begun may not be in the database yet; in the end all of it is there.
        planned = progress.planned if running is None else running.planned
        return CompetitionView(
            row,
            entries,
            table,
            planned,
            progress.created,
            progress.finished,
            self._missing(running) if running is not None else [],
        )

    def _missing(self, running: _Running) -> list[str]:
        """What keeps pairings from being played, whoever else may be busy."""
        needed: dict[int, int] = {}
        for pairing in running.waiting.values():
            for bot in pairing.entries:
                needed[bot] = max(needed.get(bot, 1), len(pairing.matches))
        game = running.terms.game
        missing = []
        for bot, matches in needed.items():
            name = running.names[bot]
            participant = self._participants.get(bot)
            if participant is None or not participant.online:
                missing.append(f"{name} is not connected.")
            elif not participant.accepts(game.info.name, game.spec):
                missing.append(
                    f"{name} is connected, but not for {game.spec}; "
                    f"it would say so with `--game {game.spec}`."
                )
            elif participant.max_matches < matches:
                missing.append(
                    f"{name} plays {participant.max_matches} match at a time, but the {matches} "
                    f"of a mirrored pairing are played together: `--workers {matches}` allows it."
                )
        return missing

    # --------------------------------------------------------------------------- ending

    def stop(self) -> None:
        """Begin nothing more."""
        self._open = False

    async def close(self) -> None:
        """Wait for what is being stored."""
        self.stop()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except StorageError as error:
                log.error("competition: %s", error)

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
