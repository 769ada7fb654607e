"""Matches of this server in a cluster, for sockets of all servers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import structs

from plyhouse.games.errors import GameError
from plyhouse.protocol.messages import Error, ServerMessage
from plyhouse.server.cluster import member_messages as mm
from plyhouse.server.cluster.leadership import planned
from plyhouse.server.cluster.remote_matches import RemoteLine, RemoteMatch
from plyhouse.server.cluster.switchboard import Switchboard, handled
from plyhouse.server.match.presence import MatchSummary
from plyhouse.server.match.terms import planned_terms
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.live_matches import LiveMatches
from plyhouse.server.table.participants import Line
from plyhouse.server.table.running_match import RunningMatch

log = logging.getLogger("plyhouse.server.cluster")

ELECTION_SECONDS: Final = 20
"""How long bots may be unable to log in, because the servers elect a leader; added to graces."""
SILENT_NS: Final = 800_000_000
"""A server that was silent for longer than this missed a heartbeat."""


class OwnedMatches:
    """Carries out what other servers pass on for the matches here."""

    def __init__(
        self,
        board: Switchboard,
        *,
        directory: Directory,
        live_matches: LiveMatches,
        grace: float,
        redeliver: Callable[[LiveMatch], None],
        now: Callable[[], int],
    ) -> None:
        """``grace`` is how many seconds a match waits for a seat whose server has stopped.

        ``redeliver`` gives a match the requests of sockets here that its old owner has not
        answered.
        """
        self._board = board
        self._directory = directory
        self._live_matches = live_matches
        self._grace = grace
        self._redeliver = redeliver
        self._now = now
        self._told: dict[str, tuple[Any, int, bool]] = {}
        """The last report of each match to the leader: status, ply, whether all were ready."""
        self._gateways: dict[tuple[str, int], int] = {}
        """The servers that have reported the last turn of a seat, by match and seat."""
        self._parked: dict[str, list[tuple[int, Any]]] = {}
        """Messages about matches that are not here, or not yet, by match."""
        self.on_parked: Callable[[str], None] | None = None
        """Called with a match that has a first parked message; then `unpark` must be called."""
        board.handle(mm.Begin, self._begin)
        self._handlers: dict[type, Callable[[int, Any], None]] = {
            mm.Acted: self._acted,
            mm.Asked: self._asked,
            mm.Written: self._written,
            mm.Enter: self._enter,
            mm.Away: self._away,
            mm.LetIn: self._let_in,
            mm.TellAbsences: self._tell_absences,
            mm.Watched: self._watched,
            mm.Unwatched: self._unwatched,
            mm.ShowPublic: self._show_public,
            mm.StandStill: self._stand_still,
        }
        for kind in self._handlers:
            board.handle(kind, self._receive)

    def _receive(self, sender: int, message: Any) -> None:
        """Handle a message about a match, perhaps only when the match has been taken over."""
        match = message.match
        if self._board.stopping:
            return  # another server will take the match over, and get the request again
        if match in self._parked:
            self._parked[match].append((sender, message))
        elif match in self._directory.own or match in self._directory.recent:
            self._handlers[type(message)](sender, message)
        elif self.on_parked is not None:
            self._parked[match] = [(sender, message)]
            self.on_parked(match)

    def unpark(self, match: str) -> None:
        """Handle the parked messages about a match: it is here now, or will not come."""
        for sender, message in self._parked.pop(match, ()):
            handled(self._handlers, sender, message)

    def _begin(self, sender: int, message: mm.Begin) -> None:
        plan = message.plan
        if sender != self._board.leader or self._board.stopping:
            return  # another server leads now, or takes this one's matches over
        known = {each.bot_id: self._board.seated(each) for each in plan.holders}
        holders = [[known[bot] for bot in match.bots] for match in plan.matches]
        try:
            terms = planned_terms(plan)
        except GameError as error:  # the servers have different games
            log.error("pairing not played here", extra={"pairing": plan.id, "why": str(error)})
            for match, seats in zip(plan.matches, holders, strict=True):
                self._board.post(self._board.leader, mm.Over(planned(plan, match.id, seats)))
            return
        self._live_matches.start(plan, terms, holders)

    def send_elsewhere(self, lines: Sequence[Line], message: ServerMessage) -> None:
        """Send a message to connections of other servers, once to each of these servers."""
        connections: dict[int, list[int]] = {}
        for line in lines:
            if isinstance(line, RemoteLine):
                connections.setdefault(line.epoch, []).append(line.connection)
        for epoch, numbers in connections.items():
            self._board.post(epoch, mm.ToLines(numbers, message))

    def announce_owner(self, live: LiveMatch) -> None:
        """Tell the gateways of a match's seats that it runs here."""
        gateways: dict[int, dict[int, int]] = {}
        for number, holder in enumerate(live.holders):
            if isinstance(holder.line, RemoteLine):
                gateways.setdefault(holder.line.epoch, {})[number] = holder.line.connection
        if not gateways:
            return
        match = live.summary()
        seats = tuple([structs.replace(each, ticket="") for each in match.seats])
        match = structs.replace(match, seats=seats)
        for epoch, connections in gateways.items():
            self._board.post(epoch, mm.SeatTaken(match, connections))

    def took_over(self, live: LiveMatch, before: RunningMatch | None) -> None:
        """Tell everyone that this server runs a match now, and carry out what they have asked."""
        live.match.attendance.postpone(ELECTION_SECONDS * 1_000_000_000)
        self.announce_owner(live)
        if not self._board.leading:
            self._board.post(self._board.leader, mm.SeatTaken(live.summary(), {}))
        for number, holder in enumerate(live.holders):
            if holder.line is not None:
                live.rejoin(number)
        if isinstance(before, RemoteMatch):
            for line, scenes in before.spectators.items():
                live.watch(line, None, scenes=scenes)
        self._redeliver(live)

    def let_in_latecomers(self, live: LiveMatch) -> None:
        """Let in the bots that came while this server took over a match."""
        late = [seat for seat in live.match.attendance.away if live.holders[seat].line is not None]
        if late:
            self.announce_owner(live)
        for seat in late:
            live.rejoin(seat)

    def _own(self, match: str) -> LiveMatch | None:
        return None if self._board.stopping else self._directory.own.get(match)

    def _seat_line(
        self, sender: int, message: mm.Acted | mm.Asked | mm.Written | mm.Away | mm.TellAbsences
    ) -> tuple[LiveMatch, RemoteLine] | tuple[None, None]:
        """Return a match here and the line of a seat, if the message came by that line."""
        live = self._own(message.match)
        if live is None:
            recent = self._directory.recent.get(message.match)
            live = recent if isinstance(recent, LiveMatch) and not self._board.stopping else None
        if live is None:
            return None, None
        holder = live.holders[message.seat]
        if self._directory.participants.get(holder.presence.bot_id) is not holder:
            # The match is over.  This server forgot its bot, which may be back on another one.
            holder.line = self._board.line(sender, message.connection)
        line = holder.line
        place = sender, message.connection
        if isinstance(line, RemoteLine) and (line.epoch, line.connection) == place:
            return live, line
        return None, None

    def _acted(self, sender: int, message: mm.Acted) -> None:
        live, line = self._seat_line(sender, message)
        if live is None or line is None:
            return
        now = self._now()
        if message.thought_ns is not None:
            ply, begin = line.anchors.get(message.match, (-1, 0))
            if ply == message.message.ply:
                now = min(now, begin + message.thought_ns)
        live.act(message.seat, message.message, now, message.lag_ns)

    def _asked(self, sender: int, message: mm.Asked) -> None:
        live, _ = self._seat_line(sender, message)
        if live is not None:
            live.request(message.seat, message.message, self._now())

    def _written(self, sender: int, message: mm.Written) -> None:
        live, line = self._seat_line(sender, message)
        if live is None or line is None:
            return
        line.lag_ns, line.floor_ns = message.lag_ns, message.floor_ns
        line.anchors[message.match] = message.ply, self._now()
        self._gateways[message.match, message.seat] = sender
        live.turn_written(message.seat, message.ply, line)

    def _enter(self, sender: int, message: mm.Enter) -> None:
        live = self._own(message.match)
        if live is None:
            if not self._board.stopping:
                self._board.post(sender, mm.Entered(message.call))
            return
        self.returned(live, message.seat, sender, message.waited_ns)
        bot = message.bot
        participant = self._board.seated(bot)
        snapshot = live.enter(message.seat, updates=bot.updates, scenes=bot.scenes)
        if participant is not live.holders[message.seat]:
            self._directory.take_seat(live, message.seat, participant)
        stored = live.durable()
        if stored is None:
            self._board.post(sender, mm.Entered(message.call, snapshot))
        else:
            stored.add_done_callback(
                lambda _: self._board.post(sender, mm.Entered(message.call, snapshot))
            )

    def returned(self, live: LiveMatch, seat: int, gateway: int, waited_ns: int) -> None:
        """Excuse a seat, whose bot is back, for the time in which servers kept it away.

        Its socket is on the server ``gateway`` now.  The login waited ``waited_ns`` for a leader.
        """
        last = self.gateway_of(live, seat)
        self._gateways[live.id, seat] = gateway
        silent = 0
        if last and last not in (gateway, self._board.epoch) and last in self._board.peers:
            # Its bot left without a word from that server, which may be gone.
            silent = self._board.silence(last)
        away = max(waited_ns, silent if silent > SILENT_NS else 0)
        if away:
            live.match.excuse(seat, self._now() - away)
        elif silent:
            live.let_in(seat, silent)

    def gateway_of(self, live: LiveMatch, seat: int) -> int:
        """Return the server that last held the socket of a seat; 0 if none has reported it."""
        return self._gateways.get((live.id, seat), 0)

    def _away(self, sender: int, message: mm.Away) -> None:
        live, _ = self._seat_line(sender, message)
        if live is None:
            return
        holder = live.holders[message.seat]
        held = tuple(self._directory.matches_of(holder.presence.bot_id))
        if not self._board.leading:
            self._directory.leave(holder)
        for match, number in held:  # the connection was that of all of them
            own = self._directory.own.get(match.id)
            if own is None:
                continue
            self._gateways.pop((own.id, number), None)
            if message.excused:
                self.excuse(own, number, self._now())
            else:
                own.disconnected(number)

    def excuse(self, live: LiveMatch, seat: int, since: int) -> None:
        """Wait for a seat whose server has stopped, for as long as for an absent one."""
        live.match.excuse(seat, since)
        asyncio.get_running_loop().call_later(self._grace + ELECTION_SECONDS, live.unexcused, seat)

    def _let_in(self, _: int, message: mm.LetIn) -> None:
        live = self._own(message.match)
        if live is not None:
            live.let_in(message.seat, message.span_ns)

    def _tell_absences(self, sender: int, message: mm.TellAbsences) -> None:
        live, line = self._seat_line(sender, message)
        if live is not None and line is not None:
            live.send_absences(line, message.seat)

    def _watched(self, sender: int, message: mm.Watched) -> None:
        live = self._directory.match(message.match)
        line = self._board.line(sender, message.connection)
        if not isinstance(line, RemoteLine) or self._board.stopping:
            return
        if isinstance(live, LiveMatch):
            line.scenes = message.scenes
            line.watching.add(live.id)
            live.watch(line, message.re, scenes=message.scenes)
        elif message.re is not None:
            line.send(Error("match/unknown", "This match is over.", message.re))
        if live is None or live.over:  # the report of the end may have been sent before
            self._board.post(sender, mm.Gone(message.match))

    def _unwatched(self, sender: int, message: mm.Unwatched) -> None:
        live = self._own(message.match)
        line = self._board.line(sender, message.connection)
        if live is not None and line is not None:
            line.watching.discard(live.id)
            live.unwatch(line)

    def _show_public(self, sender: int, message: mm.ShowPublic) -> None:
        live = self._own(message.match)
        if live is None:
            self._board.post(sender, mm.Entered(message.call))
            return
        snapshot = live.match.snapshot(None, self._now(), scenes=False)
        answer = mm.Entered(message.call, snapshot)
        stored = live.durable()
        if stored is None:
            self._board.post(sender, answer)
        else:
            stored.add_done_callback(lambda _: self._board.post(sender, answer))

    def _stand_still(self, _: int, message: mm.StandStill) -> None:
        live = self._own(message.match)
        if live is not None:
            live.stand_still(message.lost, self._now())

    def match_over(self, match: MatchSummary) -> None:
        """Tell the others that a match of this server has ended."""
        live = self._directory.recent.get(match.id)
        for number in range(len(match.seats)):
            self._gateways.pop((match.id, number), None)
        if isinstance(live, LiveMatch):
            lines: list[Line | None] = [holder.line for holder in live.holders]
            others = {
                line.epoch for line in (*lines, *live.spectators) if isinstance(line, RemoteLine)
            }
            for epoch in others:
                self._board.post(epoch, mm.Gone(match.id))
        if not self._board.leading:
            self._told.pop(match.id, None)
            self._board.post(self._board.leader, mm.Over(match))

    def tell_progress(self) -> None:
        """Report to the leader what has changed in the matches of this server."""
        if self._board.leading or not self._board.leader:
            return
        changed = {}
        for live in self._directory.own.values():
            match = live.match
            here = match.course.status, match.ply, None not in match.course.nonces
            if live.id not in self._told and not live.is_durable:
                continue  # the leader does not begin a match again that it knows from a report
            if self._told.get(live.id) != here:
                changed[live.id] = self._told[live.id] = here
        if changed:
            self._board.post(self._board.leader, mm.Progress(changed))
