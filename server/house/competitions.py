"""Competitions: an organiser's round robin, played as its bots are there and have room.

The schedule follows from the entries alone, and pairing number ``n`` of a competition has the id
``COMPETITION-n``; so all that a restart needs is in the database: what exists has been played or
is being played, the rest is still to come.

Schedules are counted before they are made, and made in a thread.  To create or restore a
competition takes a few statements, however many pairings it has.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import VOID
from plyhouse.server.house.agenda import Agenda
from plyhouse.server.house.directory import Directory
from plyhouse.server.house.live import LiveMatch
from plyhouse.server.house.matches import MatchRunner, Terms
from plyhouse.server.house.schedule import count, round_robin
from plyhouse.server.match.clock import InvalidTimeControl, TimeControl
from plyhouse.storage.competitions import reason
from plyhouse.storage.errors import StorageError, Unknown
from plyhouse.storage.rows import By, CompetitionRow, EntryRow, TableRow, new_id, wall_ms
from plyhouse.storage.store import Store

__all__ = ["MAX_MATCHES", "CompetitionView", "Competitions"]

log = logging.getLogger("plyhouse.server.house.competitions")

MAX_MATCHES: Final = 100_000
"""The largest schedule accepted."""
AGAIN: Final = "~"
"""Stands in the id of a pairing between that of the one it repeats and the number of the try."""
MAX_AGAIN: Final = 3
"""How often a void match is played again."""
BEGUN_AT_ONCE: Final = 16
"""Pairings begun in one turn of the event loop, which has others to serve in between."""


@dataclass(frozen=True, slots=True)
class CompetitionView:
    """A competition as the API shows it."""

    row: CompetitionRow
    entries: list[EntryRow]
    table: list[TableRow]
    planned: int
    """Matches of the whole schedule, and void ones that are played again."""
    created: int
    finished: int
    waiting_for: list[str]
    """Why pairings that could be played now are not: one sentence for each bot at fault, or why
    the competition is suspended."""


@dataclass(frozen=True, slots=True)
class _Again:
    """Matches of a pairing that were void and are to be played again."""

    pairing: str
    """Id of the pairing in which they were first played."""
    attempt: int
    """Which time it is: 1 for the first repetition."""
    orders: tuple[tuple[int, ...], ...]
    """The bots in the order of seats, once per match."""

    @property
    def id(self) -> str:
        """Id of the pairing that repeats them."""
        return f"{self.pairing}{AGAIN}{self.attempt}"

    @classmethod
    def after(cls, pairing: str, orders: Iterable[tuple[int, ...]]) -> _Again | None:
        """The next try after a pairing in which these matches were void; None after the last."""
        base, _, attempt = pairing.partition(AGAIN)
        again = cls(base, int(attempt or 0) + 1, tuple(orders))
        return again if again.orders and again.attempt <= MAX_AGAIN else None


@dataclass(eq=False, slots=True)
class _Running:
    row: CompetitionRow
    terms: Terms
    names: dict[int, str]
    """The entries, ``player/bot`` by the bot's id."""
    agenda: Agenda[int]
    playing: set[str] = field(default_factory=set)
    """Ids of pairings that have begun and are not over."""
    again: list[_Again] = field(default_factory=list)
    """Matches to be played again, because they were void."""
    repeated: int = 0
    """How many matches were, or are to be, played again."""
    paused: bool = False
    dropped: int = 0
    """Pairings that are not played because an entry was withdrawn."""

    def withdraw(self, bot: int) -> None:
        """Leave out what a bot still has before it."""
        self.dropped += self.agenda.drop(bot)


class Competitions:
    """All competitions that are not over."""

    def __init__(self, store: Store, runner: MatchRunner, directory: Directory) -> None:
        self._store = store
        self._runner = runner
        self._directory = directory
        self._participants = directory.participants
        self._running: dict[str, _Running] = {}
        self._soon = False
        self._freed: set[int] | None = set()
        """Bots that may have room since the last look; None if it may be any."""
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
            bots = await self._bots(entries)
        try:
            planned = count(len(bots), rounds, seats=game.seats, mirrored=terms.mirrored)
        except ValueError as error:
            raise ProtocolError("protocol/bad_field", f"No schedule: {error}.") from error
        if len(set(bots)) != len(bots):
            raise ProtocolError("protocol/bad_field", "No schedule: an entry is listed twice.")
        if planned > MAX_MATCHES:
            raise ProtocolError(
                "protocol/bad_field",
                f"{len(bots)} entries and {rounds} rounds of {game.spec} make {planned:,} matches; "
                f"a competition has {MAX_MATCHES:,} at most: take fewer rounds or entries.",
            )
        now = wall_ms()
        row = CompetitionRow(
            id=new_id(),
            name=name,
            game=game.spec,
            time_control=str(terms.time_control),
            format="round_robin",
            rounds=rounds,
            mirrored=terms.mirrored,
            rated=terms.rated,
            created_ms=now,
            status="running",
            started_ms=now,
        )
        await self._store.create_competition(row, bots)
        log.info(
            "competition made",
            extra={
                "competition": row.id,
                "title": name,
                "game": row.game,
                "entries": len(bots),
                "matches": planned,
            },
        )
        await self._take_up(row, (), await self._store.entries(row.id))
        return row.id

    async def _bots(self, names: Sequence[str]) -> list[int]:
        """The bots of these names, found with one query as long as all are there."""
        known: dict[tuple[str, str], int] = {}
        for bot in await self._store.bots_of({name.partition("/")[0] for name in names}):
            known[bot.player.lower(), bot.name.lower()] = bot.id
        found = []
        for name in names:
            player, _, bot_name = name.lower().partition("/")
            key = player, bot_name or player
            found.append(known[key] if key in known else await self._bot(name))
        return found

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
        """Go on with the competitions that were running when the server stopped.

        One that cannot go on (its game's file is missing, its entries are too few) is suspended
        with the reason, and tried again at the next start.
        """
        for row in await self._store.competitions():
            if row.status not in ("running", "open", "paused", "suspended"):
                continue
            begun = await self._store.pairings_of(row.id)
            entries = await self._store.entries(row.id)
            try:
                await self._take_up(row, begun, entries)
            except Exception as error:  # whatever it is, the others go on
                known = isinstance(error, GameError | InvalidTimeControl | ValueError)
                log.error(
                    "competition suspended",
                    exc_info=not known,
                    extra={"competition": row.id, "why": str(error)},
                )
                await self._store.suspend_competition(row.id, f"It cannot go on: {error}")
            else:
                if row.status == "suspended":
                    await self._store.resume_competition(row.id)

    async def _take_up(
        self, row: CompetitionRow, begun: Collection[str], entries: Sequence[EntryRow]
    ) -> None:
        """Play on; ``begun`` are the ids of its pairings that are in the database."""
        game = get_game(row.game)
        terms = Terms(game, TimeControl.parse(row.time_control), row.rated, row.mirrored)
        names = {entry.bot_id: f"{entry.player}/{entry.bot}" for entry in entries}
        agenda = await asyncio.to_thread(_agenda, row, terms, names, begun)
        live = {each.pairing.id for each in self._directory.live.values()}
        running = _Running(row, terms, names, agenda, live.intersection(begun))
        if begun:
            for pairing, orders in (await self._store.void_matches(row.id)).items():
                again = _Again.after(pairing, orders)
                if again is not None and pairing not in live:
                    running.repeated += len(again.orders)
                    if again.id not in begun:
                        running.again.append(again)
        running.paused = row.status == "paused"
        for entry in entries:
            if entry.status == "withdrawn":
                running.withdraw(entry.bot_id)
        self._running[row.id] = running
        self._finish_if_done(running)
        self.advance_soon()

    # -------------------------------------------------------------- while it is played

    async def pause(self, identifier: str, by: By) -> None:
        """Begin nothing more until `resume`; matches that run are played on.

        This and the next three raise `Unknown`, and `NotNow` for what is over.
        """
        await self._set(identifier, "paused", by)

    async def resume(self, identifier: str, by: By) -> None:
        """Go on after `pause`."""
        await self._set(identifier, "running", by)

    async def delete(self, identifier: str, by: By) -> None:
        """Begin nothing more and list it nowhere; what was played stays on the leaderboard."""
        await self._set(identifier, "deleted", by)

    async def withdraw(self, identifier: str, bot_id: int, by: By) -> None:
        """Take a bot out of what is still to begin; what it has played stays in the table."""
        await self._store.administration.withdraw(identifier, bot_id, by)
        await self.changed(identifier)

    async def _set(self, identifier: str, status: str, by: By) -> None:
        await self._store.administration.set_competition_status(identifier, status, by)
        await self.changed(identifier)

    async def changed(self, identifier: str) -> None:
        """An organiser has changed a competition in the database: do as it says there."""
        running = self._running.get(identifier)
        if running is None:
            return
        try:
            found = await self._store.overview(identifier)
        except Unknown:  # deleted
            self._running.pop(identifier, None)
            return
        running.row = found.competition
        running.paused = found.competition.status == "paused"
        for entry in found.entries:
            if entry.status == "withdrawn":
                running.withdraw(entry.bot_id)
        self._finish_if_done(running)
        self.advance_soon()

    # ------------------------------------------------------------------------- playing

    def advance_soon(self, freed: Iterable[int] | None = None) -> None:
        """Begin what can begin, once what is being handled now is done.

        ``freed`` are the bots that may have room since the last time; None stands for any.
        """
        if freed is None or self._freed is None:
            self._freed = None
        else:
            self._freed.update(freed)
        if self._running and not self._soon and self._directory.leads("competitions"):
            self._soon = True
            asyncio.get_running_loop().call_soon(self._advance)

    def _advance(self) -> None:
        self._soon = False
        if not self._directory.leads("competitions"):
            return
        freed, self._freed = self._freed, set()
        for running in self._running.values():
            if not running.paused and not self._begin(running, freed):
                self.advance_soon(freed)

    def _begin(self, running: _Running, freed: Iterable[int] | None) -> bool:
        """Begin pairings in the order of the schedule, as far as their bots have room.

        False if there may be more of them than are begun at once.
        """
        terms = running.terms
        name, spec = terms.game.info.name, terms.game.spec

        def room(bot: int) -> int:
            participant = self._participants.get(bot)
            if participant is None or not participant.accepts(name, spec):
                return 0
            return participant.free

        self._begin_again(running, room)
        taken = running.agenda.take(room, freed, limit=BEGUN_AT_ONCE)
        for number, pairing in taken:
            begun = self._runner.begin(
                terms,
                [[self._participants[bot] for bot in match] for match in pairing.matches],
                competition=running.row.id,
                round_number=pairing.round,
                pairing_id=f"{running.row.id}-{number}",
            )
            running.playing.add(begun.id)
        return len(taken) < BEGUN_AT_ONCE

    def _begin_again(self, running: _Running, room: Callable[[int], int]) -> None:
        """Begin matches that were void anew, as far as their bots have room."""
        for again in tuple(running.again):
            if any(room(bot) < len(again.orders) for bot in again.orders[0]):
                continue
            running.again.remove(again)
            self._runner.begin(
                running.terms,
                [[self._participants[bot] for bot in order] for order in again.orders],
                competition=running.row.id,
                pairing_id=again.id,
            )
            running.playing.add(again.id)

    def over(self, live: LiveMatch) -> None:
        """A match is over: its bots have room again, and its pairing may be over as well.

        Void matches of the pairing are played again, `MAX_AGAIN` times at most: what is void so
        often (rules that fail, two bots that never come) would be so for ever.
        """
        pairing = live.pairing
        running = self._running.get(pairing.competition or "")
        if running is not None and not pairing.open:
            running.playing.discard(pairing.id)
            again = _Again.after(
                pairing.id,
                [
                    tuple([holder.bot_id for holder in each.holders])
                    for each in pairing.over
                    if each.match.outcome is None or each.match.outcome.termination in VOID
                ],
            )
            if again is not None:
                running.again.append(again)
                running.repeated += len(again.orders)
            self._finish_if_done(running)
        self.advance_soon([holder.bot_id for holder in live.holders])

    def _finish_if_done(self, running: _Running) -> None:
        if not running.agenda and not running.playing and not running.again:
            self._running.pop(running.row.id, None)
            log.info("competition finished", extra={"competition": running.row.id})
            self._spawn(self._store.set_competition_status(running.row.id, "finished"))

    # ------------------------------------------------------------------------- looking

    async def view(self, identifier: str) -> CompetitionView:
        """A competition with its table and progress; raises `Unknown`."""
        running = self._running.get(identifier)
        found = await self._store.overview(identifier)
        # What has just begun may not be in the database yet; in the end all of it is there.
        planned = found.progress.planned
        if running is not None:
            schedule = running.agenda.schedule
            planned = schedule.matches - running.dropped * schedule.at_once + running.repeated
        return CompetitionView(
            found.competition,
            found.entries,
            found.table,
            planned,
            found.progress.created,
            found.progress.finished,
            list(filter(None, [reason(found.competition)]))
            if running is None
            else self._missing(running),
        )

    def _missing(self, running: _Running) -> list[str]:
        """What keeps pairings from being played, whoever else may be busy."""
        if running.paused:
            return ["The competition is paused."]
        game = running.terms.game
        matches = running.agenda.schedule.at_once
        missing = []
        for bot in running.agenda.entries():
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

    async def close(self) -> None:
        """Wait for what is being stored."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except StorageError as error:
                log.error("competition not stored", extra={"why": str(error)})

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _agenda(
    row: CompetitionRow, terms: Terms, bots: Iterable[int], begun: Iterable[str]
) -> Agenda[int]:
    """What is left of a competition's schedule; this takes its time."""
    # In the order of ids, which no restart changes.
    schedule = round_robin(sorted(bots), row.rounds, seats=terms.game.seats, mirrored=row.mirrored)
    numbers = (pairing.partition(AGAIN)[0].rpartition("-")[2] for pairing in begun)
    return Agenda(schedule, (int(number) for number in numbers if number.isdecimal()))
