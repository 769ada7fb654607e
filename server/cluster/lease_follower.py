"""Follow the leases of a cluster: who is there, who leads, and what follows when one is gone.

Every `LOOK_SECONDS` a server reads the leases of all servers from the database.  It ends expired
ones, claims the leadership if nobody has it, and reports its progress to the leader.  The leader
gives the matches of servers without a lease to others.  Messages make all this faster, and none
of it depends on them.

A member holds sockets, runs matches, and may be the leader, all at once.  Each part has a module.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Outcome, Termination
from plyhouse.server.cluster import member_messages as mm
from plyhouse.server.cluster.leadership import Leadership
from plyhouse.server.cluster.link import Link
from plyhouse.server.cluster.owned_matches import OwnedMatches
from plyhouse.server.cluster.remote_matches import RemoteLine, RemoteMatch
from plyhouse.server.cluster.remote_play import RemotePlay
from plyhouse.server.cluster.switchboard import Switchboard
from plyhouse.server.jobs.periodic import Periodic
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.match.terminations import void_returns
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.resumable_matches import ResumableMatches
from plyhouse.storage import members
from plyhouse.storage.claim import silent_left_ms
from plyhouse.storage.errors import TRANSIENT
from plyhouse.storage.rows import MatchRow
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.cluster")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a server in a cluster."""

    board: Switchboard
    sockets: RemotePlay
    matches: OwnedMatches
    leadership: Leadership


LOOK_SECONDS: Final = 0.5
OWNED_EVERY: Final = 10
"""Looks after which a server compares its matches with those that the database says it owns."""
REPORT_SECONDS: Final = 10.0
"""How long a new leader waits for the reports of servers that live."""
RESTORE_SECONDS: Final = 10.0
"""How long a new leader waits until others have taken over matches without an owner."""
LOOKS_FOR_A_MATCH: Final = 6
"""Looks until a match that another server believes to be here is given up."""
ADOPTED_AT_ONCE: Final = 50
"""Pairings that one server takes over at once: restoring them delays the clocks of others."""


class LeaseFollower:
    """Follows the leases of all servers, and acts on what has changed."""

    def __init__(
        self,
        *,
        store: Store,
        link: Link,
        parts: Parts,
        directory: Directory,
        live_matches: ResumableMatches,
        begin_leading: Callable[[], Awaitable[None]],
        on_over: Callable[[MatchSummary], None],
        now: Callable[[], int],
    ) -> None:
        """``begin_leading`` is awaited when the connections and matches of all servers are known.

        ``on_over`` is called for matches whose end their owner could not report.
        """
        self._store = store
        self._link = link
        self._board = parts.board
        self._sockets = parts.sockets
        self._matches = parts.matches
        self._leadership = parts.leadership
        self._directory = directory
        self._live_matches = live_matches
        self._begin_leading = begin_leading
        self._on_over = on_over
        self._now = now
        self.members: dict[int, members.Member] = {}
        """All servers with a lease, by epoch."""
        self._reports: dict[int, asyncio.Event] = {}
        self._adopting = asyncio.Lock()
        self._given: set[str] = set()
        """Pairings that this server, as the leader, gave to others that have not answered."""
        self._taken = asyncio.Event()
        """Set when a server has answered."""
        self._looking = asyncio.Lock()
        self._looks_made = 0
        self._joined = False
        self._asked = False
        """True while a look is to follow soon."""
        self._soon: set[asyncio.Task[None]] = set()
        self._looks = Periodic(self.look, LOOK_SECONDS, "look at the cluster", log)
        parts.board.on_unknown = self.look_soon
        parts.board.handle(mm.LeadershipBegan, self._leadership_began)
        parts.board.handle(mm.Report, self._report)
        parts.board.handle(mm.Adopt, self._adopt)
        parts.board.handle(mm.Adopted, self._adopted)
        parts.board.handle(mm.Leaving, lambda *_: self.look_soon())
        parts.matches.on_parked = lambda match: self._spawn(self._find(match))

    @property
    def leader_address(self) -> str:
        """The base URL of the leader's HTTP interface; empty while there is none."""
        leader = self.members.get(self._board.leader)
        return "" if leader is None else leader.address

    @property
    def trouble(self) -> str:
        """Why bots cannot log in here, as a sentence; empty if they can."""
        leader = self._board.leader
        known = self._board.ready if leader == self._board.epoch else leader in self._board.peers
        return "" if known else "The servers elect a leader."

    def link_counts(self) -> dict[str, int]:
        """Return counts of messages to other servers, see `Link.counts`."""
        return self._link.counts()

    async def start(self) -> None:
        """Join the cluster; return when a leader is known."""
        log.info("server joined the cluster", extra={"server": self._board.epoch})
        await self._link.start()
        while not self._board.leader:
            try:
                await self.look()
            except TRANSIENT as error:
                log.warning("cluster not read", extra={"why": str(error)})
                await asyncio.sleep(LOOK_SECONDS)
        self._joined = True
        self._looks.start()

    async def leave(self) -> None:
        """Stop taking part; call `farewell` when the lease has ended."""
        self._joined = False
        await self._looks.close()
        for task in tuple(self._soon):
            task.cancel()

    async def farewell(self) -> None:
        """Tell the others that the lease has ended, so that they need not wait for a look."""
        for epoch in self._board.peers - {self._board.epoch}:
            self._board.post(epoch, mm.Leaving())
        await self._link.close()

    async def look(self) -> None:
        """Read the leases of all servers, and act on what has changed."""
        async with self._looking:
            self._asked = False
            await self._look()

    async def _look(self) -> None:
        own = self._board.epoch
        await self._look_for_members()
        if self._board.leader not in self._board.peers:
            leader = await self._store.write(members.claim_role, members.LEADER, own)
            if leader == own:
                await self._look_for_members()  # the last leader may have ended in between
                await self._lead()
            elif leader in self._board.peers:
                self._follow(leader)
        if self._board.ready:
            await self._give_away()
        await self._look_for_matches()
        self._sockets.answer_watchers()
        self._board.ask_again()
        self._matches.tell_progress()

    async def _look_for_members(self) -> None:
        """Find out who has come and who is gone."""
        own = self._board.epoch
        found = await self._store.read(members.members)
        silent, left_ms = self._link.silent_peers(), silent_left_ms()
        if any(
            each.expires_in_ms <= (left_ms if each.epoch in silent else 0)
            for each in found
            if each.epoch != own
        ):
            await self._store.write(members.end_expired, own, silent, left_ms)
            found = await self._store.read(members.members)
        self.members = {each.epoch: each for each in found}
        alive = frozenset(self.members)
        gone = self._board.peers - alive - {own}
        since = {each: self._now() - self._silence(each) for each in gone}
        self._link.set_peers(alive - {own})
        self._board.set_peers(alive)
        for epoch in gone:
            log.warning("server gone", extra={"server": epoch})
            self._lost(epoch, since[epoch])

    def _silence(self, epoch: int) -> int:
        return self._link.silence_ns(epoch) if epoch in self._link.peers else 0

    def look_soon(self) -> None:
        """Read the leases now, because a server has come or gone."""
        if self._asked or not self._joined:
            return
        self._asked = True
        self._spawn(self.look())

    def _looked(self, task: asyncio.Task[None]) -> None:
        self._soon.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.warning("cluster not read", extra={"why": str(task.exception())})

    # ------------------------------------------------------------------------ leading

    def _follow(self, leader: int) -> None:
        if self._board.leader != leader:
            log.info("leader changed", extra={"server": leader})
            self._sockets.change_leader(leader)

    def _leadership_began(self, sender: int, _: mm.LeadershipBegan) -> None:
        if sender != self._board.epoch:
            self._follow(sender)
            self._spawn(self._tell_all(sender))

    async def _tell_all(self, leader: int) -> None:
        """Report all connections and matches to a new leader, which also reads the database."""
        for live in tuple(self._directory.own.values()):
            stored = live.durable()
            if stored is not None:
                await stored
        here = [
            each
            for each in self._directory.participants.values()
            if each.line is not None and not each.line.on_other_server
        ]
        bots = [self._board.record(each) for each in here]
        matches = [live.summary() for live in self._directory.own.values()]
        self._board.post(leader, mm.Report(bots, [each.key for each in here], matches))

    def _report(self, sender: int, message: mm.Report) -> None:
        for bot, key in zip(message.bots, message.keys, strict=True):
            participant = self._board.seated(bot)
            if bot.connection >= participant.presence.connection:
                participant.key = key
        for match in message.matches:
            self._sockets.runs(match, sender)
        event = self._reports.get(sender)
        if event is not None:
            event.set()

    async def _lead(self) -> None:
        """Become the leader: learn what the others have, then decide who plays."""
        log.info("this server leads the cluster")
        self._board.leader = self._board.epoch
        others = self._board.peers - {self._board.epoch}
        self._reports = {each: asyncio.Event() for each in others}
        for epoch in others:
            self._board.post(epoch, mm.LeadershipBegan())
        waits = [asyncio.ensure_future(each.wait()) for each in self._reports.values()]
        if waits:
            _, late = await asyncio.wait(waits, timeout=REPORT_SECONDS)
            for each in late:
                each.cancel()
        for missing in [each for each, event in self._reports.items() if not event.is_set()]:
            log.warning("no report to the new leader", extra={"server": missing})
        await self._resettle()
        await self._begin_leading()
        self._directory.lead(True, self._board.epoch)
        self._leadership.lead()
        self._sockets.change_leader(self._board.epoch)

    async def _resettle(self) -> None:
        """Have all matches without an owner taken over before anybody logs in."""
        self._given.clear()
        while await self._give_away():
            pass
        try:
            async with asyncio.timeout(RESTORE_SECONDS):
                while self._given:
                    self._taken.clear()
                    await self._taken.wait()
        except TimeoutError:
            log.warning("pairings not taken over yet", extra={"pairings": len(self._given)})

    # ------------------------------------------------------------- servers that are gone

    def _lost(self, epoch: int, since: int) -> None:
        """Handle the end of a server, last heard at ``since``: its sockets are closed."""
        for live in tuple(self._directory.own.values()):
            for seat, holder in enumerate(live.holders):
                line = holder.line
                on_it = isinstance(line, RemoteLine) and line.epoch == epoch
                if on_it or self._matches.gateway_of(live, seat) == epoch:
                    self._matches.excuse(live, seat, since)
            for line in tuple(live.spectators):
                if isinstance(line, RemoteLine) and line.epoch == epoch:
                    live.unwatch(line)
        for participant in tuple(self._directory.participants.values()):
            line = participant.line
            if not isinstance(line, RemoteLine) or line.epoch != epoch:
                continue
            if self._board.leading:
                self._leadership.lost(participant)
            else:
                self._directory.leave(participant)

    async def _give_away(self) -> list[str]:
        """As the leader, have pairings of servers that are gone taken over; return their ids."""
        left = sum((await self._store.read(members.orphans)).values())
        given: list[str] = []
        for target in self._by_load() if left else ():
            ids = await self._store.write(members.adopt, target, ADOPTED_AT_ONCE)
            if ids:
                log.info("pairings taken over", extra={"server": target, "pairings": len(ids)})
                self._given.update(ids)
                self._board.post(target, mm.Adopt(ids))
            given += ids
            if len(given) >= left:
                break
        return given

    def _by_load(self) -> list[int]:
        """Return all servers, the one with the fewest matches first."""
        load = dict.fromkeys(self._board.peers, 0)
        for match in self._directory.live.values():
            owner = match.owner if isinstance(match, RemoteMatch) else self._board.epoch
            if owner in load:
                load[owner] += 1
        return sorted(load, key=lambda each: (load[each], each))

    def _adopt(self, sender: int, message: mm.Adopt) -> None:
        self._spawn(self._adopt_for(sender, message.pairings))

    async def _adopt_for(self, leader: int, pairings: list[str]) -> None:
        await self._take_over(pairings)
        self._board.post(leader, mm.Adopted(pairings))

    def _adopted(self, _: int, message: mm.Adopted) -> None:
        self._given.difference_update(message.pairings)
        self._taken.set()

    async def _find(self, match: str) -> None:
        """Take over a match if the database says that this server owns it.

        Another server has read there that it does, and has sent a request, before `Adopt` came.
        """
        try:
            for _ in range(LOOKS_FOR_A_MATCH):
                if match in self._directory.own or await self._settled(match):
                    break
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._matches.unpark(match)

    async def _settled(self, match: str) -> bool:
        """Take over a match that is this server's; return False if that is not known yet."""
        try:
            found = await self._store.read(members.places, [match])
        except TRANSIENT as error:
            log.warning("match not found", extra={"match": match, "why": str(error)})
            return False
        row, _, owner = found.get(match, (None, None, 0))
        if row is None or row.finished_ms:
            return row is not None
        if owner == self._board.epoch:
            await self._take_over([row.pairing_id])
        return owner == self._board.epoch

    async def _take_over(self, pairings: Iterable[str]) -> None:
        """Restore the matches of pairings that the database says are this server's."""
        async with self._adopting:
            here = {live.pairing.id for live in self._directory.own.values()}
            wanted = [each for each in pairings if each not in here]
            if not wanted or self._board.stopping:
                return
            stored = await self._live_matches.stored_matches(wanted)
            bots = {seat.bot_id for each in stored for seat in each.header.seats}
            for bot in await self._find_bots(bots):
                self._board.seated(bot)
            before = {each.header.id: self._directory.live.get(each.header.id) for each in stored}
            restored = await self._live_matches.resume(stored)
            log.info("matches resumed", extra={"matches": len(restored)})
            for live in restored:
                self._matches.took_over(live, before[live.id])
        # Bots that logged in before the leader heard of the new owner have not asked for it.
        for bot in await self._find_bots(bots):
            self._board.seated(bot)
        for live in restored:
            self._matches.let_in_latecomers(live)

    async def _find_bots(self, bots: Collection[int]) -> list[Presence]:
        while True:
            try:
                return await self._sockets.find_bots(bots)
            except ProtocolError:
                log.warning("bots not located", extra={"bots": len(bots)})

    async def _look_for_matches(self) -> None:
        """Find out what has become of matches that this server takes part in."""
        own, peers = self._board.epoch, self._board.peers
        lost = {
            match.id: match
            for match in self._directory.live.values()
            if isinstance(match, RemoteMatch) and match.owner not in peers
        }
        if lost:
            found = await self._store.read(members.places, list(lost))
            for identifier, match in lost.items():
                if self._directory.live.get(identifier) is not match:
                    continue  # it is over meanwhile, or its pairing has begun again
                if identifier not in found:
                    if self._board.ready and not self._leadership.begin_again(match):
                        self._over(match, None)
                    continue
                row, _, owner = found[identifier]
                if owner and owner != own and owner in peers:
                    self._sockets.moved(match, owner)
                elif row.finished_ms:
                    self._over(match, row)
        self._looks_made += 1
        if self._looks_made % OWNED_EVERY:
            return
        mine = await self._store.read(members.owned, own)
        if set(mine) - {live.pairing.id for live in self._directory.own.values()}:
            self._spawn(self._check_owned())

    async def _check_owned(self) -> None:
        """Take up the matches that the database gives this server and no message named."""
        await asyncio.sleep(4 * LOOK_SECONDS)  # it may just begin or end them
        mine = await self._store.read(members.owned, self._board.epoch)
        missing = set(mine) - {live.pairing.id for live in self._directory.own.values()}
        await self._take_over(sorted(missing))

    def _over(self, match: RemoteMatch, row: MatchRow | None) -> None:
        """Note the end of a match whose owner did not live to report it."""
        outcome = Outcome("server_fault", list(void_returns(len(match.holders))), None, "")
        if row is not None and row.termination:
            returns = list(row.returns) or list(void_returns(len(row.seats)))
            outcome = Outcome(cast(Termination, row.termination), returns, row.culprit, row.reason)
        match.report(status="finished", outcome=outcome)
        summary = match.summary()
        lines = {holder.line for holder in match.holders} | set(match.spectators)
        self._sockets.forget_match(match)
        for line in lines:
            if line is not None and not line.on_other_server:
                # The client has missed the end of the match; it asks for it when it is back.
                line.fail(
                    "server/shutting_down", "The server of a match that you play or watch stopped."
                )
        if self._board.leading:
            self._on_over(summary)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._soon.add(task)
        task.add_done_callback(self._looked)
