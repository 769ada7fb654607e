"""Sockets of this server in a cluster: their logins, matches and seeks elsewhere.

The owner of a match, or the leader, carries out the requests of a socket.  Requests without an
answer are repeated when another server takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from msgspec import structs

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import (
    Act,
    ChallengeClosed,
    Challenged,
    ClientMessage,
    Error,
    MatchSnapshot,
    Ok,
    Seek,
    ServerMessage,
    Unseek,
)
from plyhouse.server.accounts.tickets import Ticket
from plyhouse.server.cluster import member_messages as mm
from plyhouse.server.cluster.member_messages import MemberMessage
from plyhouse.server.cluster.remote_matches import RemoteMatch
from plyhouse.server.cluster.switchboard import Switchboard
from plyhouse.server.gateway.bot_connections import BotConnections
from plyhouse.server.gateway.membership import Sockets
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.participants import Line, Participant, send_encoded
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.server.table.watchdog import Watchdog
from plyhouse.server.wire.session import Session
from plyhouse.storage.rows import MatchRow


class RemotePlay(Sockets):
    """Passes on what the sockets of this server ask for, and what they are sent."""

    def __init__(
        self,
        board: Switchboard,
        *,
        directory: Directory,
        bot_connections: BotConnections,
        watchdog: Watchdog,
        sessions: set[Session],
        now: Callable[[], int],
    ) -> None:
        super().__init__(bot_connections)
        self._board = board
        self._directory = directory
        self._watchdog = watchdog
        self._open = sessions
        self._now = now
        self.on_returned: Callable[[LiveMatch, int, int, int], None] = lambda *_: None
        """`OwnedMatches.returned`: called for bots of sockets here in matches of this server."""
        self._departed = 0
        """The number of the connection that has just ended."""
        self._turns: dict[tuple[int, str], tuple[int, int, int]] = {}
        """By connection and match: the ply of the last turn written, when, and the standstills."""
        self._pending: dict[tuple[int, int], tuple[int, MemberMessage]] = {}
        """Requests without an answer, by connection and id, with the server that got them."""
        self._seeks: dict[tuple[int, str], tuple[int, Seek]] = {}
        """The open seeks of sockets here, by connection and id: the bot and the request."""
        self._challenges: set[tuple[int, str]] = set()
        """The open challenges that concern sockets here, by connection and id."""
        board.handle(mm.ToLine, self._to_line)
        board.handle(mm.ToLines, self._to_lines)
        board.handle(mm.TurnSent, self._turn_sent)
        board.handle(mm.Expel, self._expel)
        board.handle(mm.SeatTaken, self._seat_taken)
        board.handle(mm.Gone, self._gone)
        board.handle(mm.SeekLeft, self._seek_left)

    async def ticket(self, secret: str) -> Ticket | None:
        """Return the ticket of a hosted bot with this secret; None if it is not valid."""
        if self._board.ready:
            return self._bot_connections.ticket(secret)
        answer = await self._board.ask_leader(lambda call: mm.FindTicket(call, secret))
        ticket: Ticket | None = answer.ticket
        return ticket

    async def admit(
        self, wanted: Presence, session: Session, *, key: str, takeover: bool
    ) -> tuple[Participant, bool, int]:
        """Have the leader make a session the connection of its bot."""
        number = self._board.number(session)
        wanted = structs.replace(wanted, socket=(self._board.epoch, number))
        if self._board.ready:
            return *self._bot_connections.admit(wanted, session, key=key, takeover=takeover), 0
        began, leader = self._now(), self._board.leader
        answer = await self._board.ask_leader(lambda call: mm.Admit(call, wanted, key, takeover))
        elected = answer.early or self._board.leader != leader
        waited = self._now() - began if elected else 0
        bot = wanted.bot_id
        if answer.code:
            raise ProtocolError(answer.code, answer.text)
        if session not in self._open:
            self._board.post(self._board.leader, mm.Left(bot, number))
            raise ProtocolError("auth/signed_out")
        known = self._directory.participants.get(bot)
        if known is None:
            participant = self._directory.add_offline(wanted)
            self._directory.come_back(participant)
        else:
            participant = known
            if participant.line is session:  # this server has become the leader meanwhile
                return participant, answer.was_hosted, waited
            if participant.line is not None and not participant.line.on_other_server:
                participant.line.fail("auth/replaced")
        participant.key = answer.key
        self._directory.enter(participant, session, wanted, answer.login)
        for each in answer.matches:
            if each.match.id not in self._directory.live and each.owner != self._board.epoch:
                self._follow(each.match, each.owner)
        return participant, answer.was_hosted, waited

    def returned(self, live: LiveMatch, seat: int, waited_ns: int) -> None:
        """Excuse a bot that is back in a match here for the time that servers kept it away."""
        self.on_returned(live, seat, self._board.epoch, waited_ns)

    async def enter(
        self, match: RunningMatch, seat: int, participant: Participant, waited_ns: int
    ) -> MatchSnapshot | None:
        """Let a bot back into a match of another server; None if that has lost it."""
        if participant.line is None or not isinstance(match, RemoteMatch):
            return None
        bot = self._board.record(participant)
        answer = await self._board.ask(
            lambda call: mm.Enter(call, match.id, seat, bot, waited_ns),
            lambda: self._owner_of(match),
        )
        found: MatchSnapshot | None = answer.snapshot
        if found is None and match.id in self._directory.live and not self._board.leading:
            self.forget_match(match)
        return found

    def _owner_of(self, match: RemoteMatch) -> int:
        """Return the server that runs a match now, which may be this one by now."""
        known = self._directory.live.get(match.id, match)
        return known.owner if isinstance(known, RemoteMatch) else self._board.epoch

    async def find_bots(self, bots: Collection[int]) -> list[Presence]:
        """Return the records of those bots that are connected anywhere."""
        if self._board.leading:
            return self._board.records(bots)
        answer = await self._board.ask_leader(lambda call: mm.FindBots(call, list(bots)))
        found: list[Presence] = answer.found
        return found

    async def show_public(self, match: RemoteMatch) -> MatchSnapshot | None:
        """Ask the owner what a spectator may know."""
        answer = await self._board.ask(
            lambda call: mm.ShowPublic(call, match.id), lambda: self._owner_of(match)
        )
        found: MatchSnapshot | None = answer.snapshot
        return found

    def leaving(self, session: Session) -> None:
        """Note that a connection has ended, before its matches hear of it."""
        self._departed = self._board.known(session)

    def left(self, session: Session, bot: int) -> None:
        """Forget a connection that has ended.

        ``bot`` is 0 if it had no bot, or if the bot has another connection.
        """
        number = self._board.hang_up(session)
        self._departed = 0
        for turn in [key for key in self._turns if key[0] == number]:
            del self._turns[turn]
        for request in [key for key in self._pending if key[0] == number]:
            del self._pending[request]
        for opened in [key for key in self._seeks if key[0] == number]:
            del self._seeks[opened]
        self._challenges = {each for each in self._challenges if each[0] != number}
        if bot and not self._board.leading:
            self._board.post(self._board.leader, mm.Left(bot, number))
            for match, _ in tuple(self._directory.matches_of(bot)):
                self.drop_unused(match)

    def drop_unused(self, match: RunningMatch) -> None:
        """Forget a match of another server if no seat or spectator has its socket here.

        Its owner does not report the end to this server.  The leader keeps all matches.
        """
        if self._board.leading or not isinstance(match, RemoteMatch):
            return
        lines = [holder.line for holder in match.holders]
        if match.spectators or any(line is not None and not line.on_other_server for line in lines):
            return
        if self._directory.live.get(match.id) is match:
            self._directory.dropped(match)
            for holder in match.holders:
                self._directory.forget(holder.presence.bot_id)

    def gone_away(self, match: RemoteMatch, seat: int) -> None:
        """Report that a seat's connection has ended; called after `leaving`."""
        away = mm.Away(match.id, seat, self._departed, excused=self._board.stopping)
        self._board.post(match.owner, away)

    def acted(self, match: RemoteMatch, seat: int, message: Act, stamp: int, lag: int) -> None:
        """Pass on an action, with the time that the bot has thought."""
        line = match.holders[seat].line
        if line is None:
            return
        number = self._board.number(line)
        thought = None
        turn = self._turns.get((number, match.id))
        if turn is not None and turn[0] == message.ply:
            stalled = self._watchdog.total_ns - turn[2]
            thought = max(0, stamp - turn[1] - stalled)
        sent = mm.Acted(match.id, seat, number, message, lag, thought)
        self._pending[number, message.id] = match.owner, sent
        self._board.post(match.owner, sent)

    def asked(self, match: RemoteMatch, seat: int, message: ClientMessage) -> None:
        """Pass on any other request of a seat."""
        line = match.holders[seat].line
        if line is not None:
            number = self._board.number(line)
            sent = mm.Asked(match.id, seat, number, message)
            self._pending[number, message.id] = match.owner, sent  # type: ignore[union-attr]
            self._board.post(match.owner, sent)

    def watched(self, match: RemoteMatch, line: Line, re: int | None, *, scenes: bool) -> None:
        """Pass on that a spectator wants to follow a match; ``re`` is its request, if any."""
        number = self._board.number(line)
        sent = mm.Watched(match.id, number, re, scenes)
        if re is not None:
            self._pending[number, re] = match.owner, sent
        self._board.post(match.owner, sent)

    def answer_watchers(self) -> None:
        """Answer requests to watch that were left open by servers that are gone.

        The match has ended, or nobody knows it; otherwise its next owner gets the request.
        """
        for key, (to, message) in tuple(self._pending.items()):
            if not isinstance(message, mm.Watched) or to in self._board.peers:
                continue
            if message.match not in self._directory.live:
                del self._pending[key]
                session = self._board.sessions.get(message.connection)
                if session is not None:
                    session.send(Error("match/unknown", "This match is over.", message.re))

    def wrote(self, match: RemoteMatch, seat: int, ply: int, line: Line) -> None:
        """Report that the turn at a ply was written to a seat's socket."""
        number = self._board.number(line)
        self._turns[number, match.id] = ply, self._now(), self._watchdog.total_ns
        match.written(seat, line, ply)
        for key, (to, message) in tuple(self._pending.items()):
            if key[0] != number or to == match.owner or not isinstance(message, mm.Acted):
                continue
            if message.match == match.id:  # the server that got it has gone
                again = structs.replace(message, thought_ns=None)
                self._pending[key] = match.owner, again
                self._board.post(match.owner, again)

    def ask_lobby(self, session: Session, presence: Presence, message: Any) -> None:
        """Pass a request about seeks or challenges to the leader."""
        number = self._board.number(session)
        sent = mm.LobbyAsked(presence.bot_id, number, message)
        self._pending[number, message.id] = self._board.leader, sent
        self._board.post(self._board.leader, sent)

    def _to_line(self, _: int, message: mm.ToLine) -> None:
        session = self._board.sessions.get(message.connection)
        if session is None:
            return
        answered = message.message
        re = getattr(answered, "re", None)
        asked = None if re is None else self._pending.pop((message.connection, re), None)
        self._note_lobby(message.connection, answered, None if asked is None else asked[1])
        session.send(answered)

    def _to_lines(self, _: int, message: mm.ToLines) -> None:
        known = map(self._board.sessions.get, message.connections)
        send_encoded([each for each in known if each is not None], message.message)

    def _note_lobby(
        self, number: int, answered: ServerMessage, asked: MemberMessage | None
    ) -> None:
        """Remember the open seeks and challenges of a connection, for the next leader."""
        if isinstance(answered, Challenged):
            self._challenges.add((number, answered.challenge))
        elif isinstance(answered, ChallengeClosed):
            self._challenges.discard((number, answered.challenge))
        elif isinstance(answered, Ok) and isinstance(asked, mm.LobbyAsked):
            if isinstance(asked.message, Seek):
                self._seeks[number, answered.seek] = asked.bot, asked.message
            elif isinstance(asked.message, Unseek):
                self._seeks.pop((number, asked.message.seek), None)
            elif answered.challenge:
                self._challenges.add((number, answered.challenge))

    def _seek_left(self, _: int, message: mm.SeekLeft) -> None:
        key = message.connection, message.seek
        if not message.open:
            self._seeks.pop(key, None)
        elif key in self._seeks:
            bot, seek = self._seeks[key]
            self._seeks[key] = bot, structs.replace(seek, count=message.count)

    def _turn_sent(self, _: int, message: mm.TurnSent) -> None:
        session = self._board.sessions.get(message.connection)
        match = self._directory.live.get(message.match)
        if session is None or not isinstance(match, RemoteMatch):
            return
        session.after(lambda: self.wrote(match, message.seat, message.ply, session))

    def _expel(self, _: int, message: mm.Expel) -> None:
        session = self._board.sessions.get(message.connection)
        if session is not None:
            session.fail(message.code, message.text)

    def _seat_taken(self, sender: int, message: mm.SeatTaken) -> None:
        known = self._directory.live.get(message.match.id)
        if isinstance(known, LiveMatch):
            return
        for each, connection in message.connections.items():
            if connection not in self._board.sessions:
                self._board.post(sender, mm.Away(message.match.id, each, connection))
        if self._board.leading:
            self.runs(message.match, sender)
        elif known is None:
            if any(each in self._board.sessions for each in message.connections.values()):
                self._follow(message.match, sender)
        else:
            self.moved(known, sender)  # type: ignore[arg-type]

    def runs(self, match: MatchSummary, owner: int) -> None:
        """Note, as the leader, that a server runs a match."""
        known = self._directory.live.get(match.id)
        if known is None:
            self._follow(match, owner)
        elif isinstance(known, RemoteMatch):
            self.moved(known, owner)

    def change_leader(self, leader: int) -> None:
        """Follow another leader: open seeks there again, and give up challenges."""
        self._board.leader = leader
        self._board.ask_again()
        for (number, seek), (bot, asked) in tuple(self._seeks.items()):
            self._board.post(leader, mm.SeekAgain(bot, number, seek, asked))
        challenges, self._challenges = self._challenges, set()
        for number, challenge in challenges:
            session = self._board.sessions.get(number)
            if session is not None:
                why = "The server that held this challenge has stopped."
                session.send(ChallengeClosed(challenge, "withdrawn", why))
        for key, (to, message) in tuple(self._pending.items()):
            if isinstance(message, mm.LobbyAsked) and to != leader:
                self._pending[key] = leader, message
                self._board.post(leader, message)

    def moved(self, match: RemoteMatch, owner: int) -> None:
        """Follow a match to its new owner, with the requests that the old one left open."""
        if match.owner == owner:
            return
        match.moved(owner)
        for key, (to, message) in tuple(self._pending.items()):
            waits = isinstance(message, mm.Asked | mm.Watched) and message.match == match.id
            if to != owner and waits:
                self._pending[key] = owner, message
                self._board.post(owner, message)

    def follow(self, row: MatchRow, tournament: str | None, owner: int) -> RunningMatch:
        """Follow a match that the database says another server runs."""
        summary = MatchSummary(
            id=row.id,
            pairing=row.pairing_id,
            tournament=tournament,
            game=row.game,
            family=row.game.partition("(")[0],
            simultaneous=False,
            time_control=row.time_control,
            rated=row.rated,
            players=(),
            seats=tuple(
                [
                    Presence(
                        bot_id=each.bot_id,
                        player_id=each.player_id,
                        player=each.player,
                        bot=each.bot,
                    )
                    for each in row.seats
                ]
            ),
            status="running",
            ply=row.ply,
            began=True,
            outcome=None,
        )
        return self._follow(summary, owner)

    def _follow(self, summary: MatchSummary, owner: int) -> RemoteMatch:
        """Add a match that another server runs, with bots that may log in here later."""
        known = self._directory.participants
        holders = [
            known.get(each.bot_id) or self._directory.add_offline(each) for each in summary.seats
        ]
        match = RemoteMatch(self, summary, owner, holders)
        self._directory.began(match)
        return match

    def _gone(self, sender: int, message: mm.Gone) -> None:
        match = self._directory.live.get(message.match)
        if isinstance(match, RemoteMatch) and match.owner == sender and not self._board.leading:
            self.forget_match(match)

    def forget_match(self, match: RemoteMatch) -> None:
        """Note that a match of another server is over."""
        match.over = True
        for line in tuple(match.spectators):
            line.watching.discard(match.id)
        match.spectators.clear()
        for key in [key for key in self._turns if key[1] == match.id]:
            del self._turns[key]
        self._directory.ended(match)
        for holder in match.holders:
            self._directory.forget(holder.presence.bot_id)

    def post(self, epoch: int, message: MemberMessage) -> None:
        """Send a message to a server, for a `RemoteMatch`."""
        self._board.post(epoch, message)

    def number(self, line: Line) -> int:
        """Return the number of a connection whose socket is here, for a `RemoteMatch`."""
        return self._board.number(line)

    def redeliver(self, live: LiveMatch) -> None:
        """Give a match that this server has taken over what the old owner has not answered."""
        for key, (_, message) in tuple(self._pending.items()):
            if isinstance(message, mm.Acted | mm.Asked | mm.Watched) and message.match == live.id:
                del self._pending[key]
                if isinstance(message, mm.Acted):
                    live.act(message.seat, message.message, self._now(), message.lag_ns)
                elif isinstance(message, mm.Asked):
                    live.request(message.seat, message.message, self._now())
                elif (session := self._board.sessions.get(message.connection)) is not None:
                    live.watch(session, message.re, scenes=message.scenes)
