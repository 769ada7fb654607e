"""The leader of a cluster: admits bots, passes on pairings, and hears of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import structs

from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Error, Notice
from plyhouse.server.cluster import member_messages as mm
from plyhouse.server.cluster.member_messages import MemberMessage
from plyhouse.server.cluster.remote_matches import RemoteLine, RemoteMatch
from plyhouse.server.cluster.remote_play import RemotePlay
from plyhouse.server.cluster.switchboard import Switchboard
from plyhouse.server.gateway.bot_connections import BotConnections
from plyhouse.server.gateway.requests import LOBBY_REQUESTS
from plyhouse.server.lobby.lobby import Lobby
from plyhouse.server.match.presence import MatchSummary, PairingPlan, Presence
from plyhouse.server.match.terms import planned_terms
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live import LivePairing
from plyhouse.server.table.live_matches import LiveMatches
from plyhouse.server.table.participants import Line, Participant
from plyhouse.server.table.running_match import RunningMatch


class Leadership:
    """The work of this server for the others while it leads."""

    def __init__(
        self,
        board: Switchboard,
        *,
        directory: Directory,
        live_matches: LiveMatches,
        bot_connections: BotConnections,
        sockets: RemotePlay,
        lobby: Lobby,
        on_over: Callable[[MatchSummary], None],
        on_entered: Callable[[Presence], None],
    ) -> None:
        """``on_over`` and ``on_entered`` are called for matches and bots elsewhere."""
        self._board = board
        self._directory = directory
        self._live_matches = live_matches
        self._bot_connections = bot_connections
        self._sockets = sockets
        self._lobby = lobby
        self._on_over = on_over
        self._on_entered = on_entered
        self._early: list[tuple[int, MemberMessage]] = []
        """Calls that came before this server was ready to lead."""
        handlers: dict[type, Callable[[int, Any], None]] = {
            mm.Admit: self._admit,
            mm.FindTicket: self._find_ticket,
            mm.FindBots: self._find_bots,
            mm.Left: self._left,
            mm.LobbyAsked: self._lobby_asked,
            mm.SeekAgain: self._seek_again,
            mm.Over: self._over,
            mm.Progress: self._progress,
        }
        for kind, handler in handlers.items():
            board.handle(kind, handler)

    def elsewhere(
        self, plan: PairingPlan, holders: Sequence[Sequence[Participant]]
    ) -> LivePairing | None:
        """Have the server begin a pairing where its first seat is connected; None if it is here."""
        line = holders[0][0].line
        if not isinstance(line, RemoteLine) or line.epoch not in self._board.peers:
            return None
        bots = {each.presence.bot_id: each for seated in holders for each in seated}
        records = tuple([self._board.record(each) for each in bots.values()])
        plan = structs.replace(plan, holders=records)
        pairing = LivePairing(plan.id, b"", tournament=plan.tournament)
        for match, seated in zip(plan.matches, holders, strict=True):
            remote = RemoteMatch(self._sockets, planned(plan, match.id, seated), line.epoch, seated)
            remote.report(players=match.players)
            remote.plan = plan
            self._directory.began(remote)
            pairing.open[match.id] = remote
        self._board.post(line.epoch, mm.Begin(plan))
        return pairing

    def _admit(self, sender: int, message: mm.Admit) -> None:
        call = message.call
        if not self._board.ready:
            self._early.append((sender, message))
            return
        line = self._board.line(*message.bot.socket)
        if line is None:
            return
        try:
            participant, was_hosted = self._bot_connections.admit(
                message.bot, line, key=message.key, takeover=message.takeover
            )
        except ProtocolError as error:
            self._board.post(sender, mm.Admitted(call, error.code, error.message))
            return
        presence = participant.presence
        matches = [
            mm.Owned(match.summary(), self._owner_of(match))
            for match, _ in self._directory.matches_of(presence.bot_id)
        ]
        self._board.post(
            sender,
            mm.Admitted(
                call,
                key=participant.key,
                login=presence.connection,
                was_hosted=was_hosted,
                matches=matches,
                early=message.early,
            ),
        )
        self._on_entered(presence)

    def _owner_of(self, match: RunningMatch) -> int:
        return match.owner if isinstance(match, RemoteMatch) else self._board.epoch

    def _find_ticket(self, sender: int, message: mm.FindTicket) -> None:
        if not self._board.ready:
            self._early.append((sender, message))
        else:
            ticket = self._bot_connections.ticket(message.secret)
            self._board.post(sender, mm.Found(message.call, ticket))

    def _left(self, sender: int, message: mm.Left) -> None:
        participant = self._directory.participants.get(message.bot)
        line = None if participant is None else participant.line
        if participant is None or not isinstance(line, RemoteLine):
            return
        if (line.epoch, line.connection) == (sender, message.connection):
            self.lost(participant)

    def lost(self, participant: Participant) -> None:
        """Note, as the leader, that a bot's connection on another server has ended."""
        self._directory.leave(participant)
        self._lobby.leave(participant.presence)
        self._directory.forget(participant.presence.bot_id)

    def _find_bots(self, sender: int, message: mm.FindBots) -> None:
        if not self._board.leading:
            return  # the sender asks again when it knows the leader
        self._board.post(sender, mm.FoundBots(message.call, self._board.records(message.bots)))

    def lead(self) -> None:
        """Answer the calls that have waited for this server to become the leader."""
        self._board.ready = True
        early, self._early = self._early, []
        for sender, message in early:
            if isinstance(message, mm.Admit):
                message = structs.replace(message, early=True)
            self._board.deliver(sender, message)

    def _asker(
        self, sender: int, message: mm.LobbyAsked | mm.SeekAgain
    ) -> tuple[Presence, Line] | None:
        """Return the bot that asks and its line; None if it has left, or must wait."""
        if not self._board.ready:
            self._early.append((sender, message))
            return None
        return self._board.connected(sender, message.connection, message.bot)

    def _lobby_asked(self, sender: int, message: mm.LobbyAsked) -> None:
        found = self._asker(sender, message)
        if found is None:
            return
        presence, line = found
        try:
            answer = LOBBY_REQUESTS[type(message.message)](self._lobby, presence, message.message)
            line.send(answer)
        except ProtocolError as error:
            number = message.message.id  # type: ignore[union-attr]
            line.send(Error(error.code, error.message, number, fatal=error.fatal))

    def _seek_again(self, sender: int, message: mm.SeekAgain) -> None:
        found = self._asker(sender, message)
        if found is None:
            return
        presence, line = found
        try:
            self._lobby.seek(presence, message.message, message.seek)
        except ProtocolError as error:
            line.send(Notice(error.code, error.message))

    def seek_changed(self, bot: int, seek: str, count: int, *, still_open: bool) -> None:
        """Tell the gateway of a bot what is left of its seek."""
        participant = self._directory.participants.get(bot)
        line = None if participant is None else participant.line
        if isinstance(line, RemoteLine):
            self._board.post(line.epoch, mm.SeekLeft(line.connection, seek, count, still_open))

    def begin_again(self, match: RemoteMatch) -> bool:
        """As the leader, begin a pairing here whose owner stopped before it was stored."""
        plan = match.plan
        if plan is None:
            return False
        for each in plan.matches:
            known = self._directory.live.get(each.id)
            if known is not None:
                self._directory.dropped(known)
        seats = {each.bot_id: each for each in plan.holders}
        known_bots = self._directory.participants
        holders = [
            [known_bots.get(bot) or self._directory.add(seats[bot]) for bot in each.bots]
            for each in plan.matches
        ]
        self._live_matches.start(plan, planned_terms(plan), holders)
        return True

    def _over(self, sender: int, message: mm.Over) -> None:
        remote = self._directory.live.get(message.match.id)
        if isinstance(remote, RemoteMatch):
            remote.report(
                status=message.match.status,
                ply=message.match.ply,
                began=message.match.began,
                outcome=message.match.outcome,
                stored=message.match.stored,
            )
            summary = remote.summary()
            self._sockets.forget_match(remote)
            self._on_over(summary)

    def _progress(self, _: int, message: mm.Progress) -> None:
        for identifier, (status, ply, began) in message.matches.items():
            match = self._directory.live.get(identifier)
            if isinstance(match, RemoteMatch):
                match.report(status=status, ply=ply, began=began)
                match.plan = None  # it is stored


def planned(plan: PairingPlan, match: str, seated: Iterable[Participant]) -> MatchSummary:
    """Return the record of a match that has not begun."""
    return MatchSummary(
        id=match,
        pairing=plan.id,
        tournament=plan.tournament,
        game=plan.game,
        family=plan.family,
        simultaneous=plan.simultaneous,
        time_control=plan.time_control,
        rated=plan.rated,
        players=(),
        seats=tuple([each.presence for each in seated]),
        status="waiting",
        ply=0,
        began=False,
        outcome=None,
        challenge=plan.challenge,
    )
