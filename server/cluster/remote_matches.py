"""Matches and connections that another server of the cluster holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from msgspec import structs

from plyhouse.protocol.codec import MSGPACK, Frame
from plyhouse.protocol.messages import Act, ClientMessage, MatchSnapshot, ServerMessage
from plyhouse.server.cluster.member_messages import (
    Expel,
    LetIn,
    MemberMessage,
    StandStill,
    TellAbsences,
    ToLine,
    TurnSent,
    Unwatched,
    Written,
)
from plyhouse.server.match.presence import MatchSummary, PairingPlan, Presence
from plyhouse.server.table.participants import Line, Participant


class Relay(Protocol):
    """The interface of this server for its remote matches (`RemotePlay` in `remote_play`)."""

    def post(self, epoch: int, message: MemberMessage) -> None:
        """Send a message to a server."""

    def number(self, line: Line) -> int:
        """Return the number of a connection whose socket is here."""

    def acted(self, match: RemoteMatch, seat: int, message: Act, stamp: int, lag: int) -> None:
        """Pass on an action of a seat whose socket is here."""

    def asked(self, match: RemoteMatch, seat: int, message: ClientMessage) -> None:
        """Pass on any other request of a seat whose socket is here."""

    def watched(self, match: RemoteMatch, line: Line, re: int | None, *, scenes: bool) -> None:
        """Pass on that a spectator whose socket is here wants to follow the match."""

    def gone_away(self, match: RemoteMatch, seat: int) -> None:
        """Report that a seat's connection has ended."""

    def wrote(self, match: RemoteMatch, seat: int, ply: int, line: Line) -> None:
        """Report that the turn at a ply was written to a seat's socket."""

    async def show_public(self, match: RemoteMatch) -> MatchSnapshot | None:
        """Ask the owner what a spectator may know."""

    def drop_unused(self, match: RemoteMatch) -> None:
        """Forget a match that no seat or spectator here needs any more."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The facts about the pairing of a remote match."""

    id: str
    tournament: str | None


class RemoteMatch:
    """A `plyhouse.server.table.running_match.RunningMatch` of another server."""

    __slots__ = ("_relay", "_summary", "holders", "id", "over", "owner", "plan", "spectators")

    def __init__(
        self,
        relay: Relay,
        summary: MatchSummary,
        owner: int,
        holders: Sequence[Participant],
    ) -> None:
        self._relay = relay
        self._summary = summary
        self.id = summary.id
        self.owner = owner
        """The epoch of the server that runs it."""
        self.holders = tuple(holders)
        self.over = False
        self.plan: PairingPlan | None = None
        """For the leader, how to begin its pairing again until it is stored."""
        self.spectators: dict[Line, bool] = {}
        """The spectators whose sockets are here; True for those that want drawings."""

    @property
    def pairing(self) -> Pairing:
        """The facts about its pairing."""
        return Pairing(self._summary.pairing, self._summary.tournament)

    @property
    def ply(self) -> int:
        """The number of plies, as last reported."""
        return self._summary.ply

    @property
    def seats(self) -> tuple[Presence, ...]:
        """The bot on each seat, as known here."""
        return tuple([holder.presence for holder in self.holders])

    def summary(self) -> MatchSummary:
        """Return the record of the match, as last reported."""
        return structs.replace(self._summary, seats=self.seats)

    def report(self, **fields: object) -> None:
        """Change fields of the record."""
        self._summary = structs.replace(self._summary, **fields)

    def act(self, seat: int, message: Act, stamp: int, lag_ns: int) -> None:
        """Pass on an action."""
        self._relay.acted(self, seat, message, stamp, lag_ns)

    def request(self, seat: int, message: ClientMessage, stamp: int) -> None:
        """Pass on a request."""
        self._relay.asked(self, seat, message)

    def disconnected(self, seat: int) -> None:
        """Report that a seat has lost its connection."""
        self._relay.gone_away(self, seat)

    def turn_written(self, seat: int, ply: int, line: Line) -> None:
        """Report that a seat has learned of its turn."""
        self._relay.wrote(self, seat, ply, line)

    def send_absences(self, line: Line, seat: int) -> None:
        """Have the owner tell a seat which others are away."""
        self._post(TellAbsences(self.id, seat, self._relay.number(line)))

    def let_in(self, seat: int, span: int) -> None:
        """Have the owner give a seat back the time of its login."""
        self._post(LetIn(self.id, seat, span))

    def stand_still(self, lost: Mapping[int, int], now: int) -> None:
        """Have the owner give back to seats the nanoseconds that they lost until now."""
        self._post(StandStill(self.id, dict(lost)))

    def watch(self, line: Line, re: int | None, *, scenes: bool) -> None:
        """Let a spectator follow the match."""
        self.spectators[line] = scenes
        self._relay.watched(self, line, re, scenes=scenes)

    def unwatch(self, line: Line) -> None:
        """Stop following; unknown lines are ignored."""
        if self.spectators.pop(line, None) is not None:
            self._post(Unwatched(self.id, self._relay.number(line)))
            self._relay.drop_unused(self)

    def moved(self, owner: int) -> None:
        """Note that another server runs the match now, and follow it there."""
        self.owner = owner
        for line, scenes in self.spectators.items():
            self._relay.watched(self, line, None, scenes=scenes)

    def written(self, seat: int, line: Line, ply: int) -> None:
        """Report that the turn at a ply is on its way to the seat."""
        number = self._relay.number(line)
        self._post(Written(self.id, seat, number, ply, line.lag_ns, line.floor_ns))

    async def public_snapshot(self) -> MatchSnapshot | None:
        """Return what a spectator may know now; None if the owner does not answer."""
        return await self._relay.show_public(self)

    def seats_with_public_thoughts(self) -> frozenset[int]:
        """Return no seat: the thoughts of bots are shown by the owner only."""
        return frozenset()

    def send_to_all(self, message: ServerMessage) -> None:
        """Do nothing, because the owner sends it."""

    def _post(self, message: MemberMessage) -> None:
        self._relay.post(self.owner, message)


PATIENCE_NS: Final = 500_000_000
"""How long a flag waits for an action that the server with the socket read in time."""
SILENCE_NS: Final = 1_000_000_000
"""After this long without a message from that server, its flags wait until it is heard again."""


class RemoteLine:
    """A `plyhouse.server.table.participants.Line` to a socket of another server.

    Thinking times are measured where the socket is.  ``anchors`` has, for each match, the ply of
    the last turn and the instant at which its write was reported here.
    """

    __slots__ = (
        "__weakref__",
        "_post",
        "_silence",
        "anchors",
        "codec",
        "connection",
        "epoch",
        "floor_ns",
        "holding",
        "lag_ns",
        "on_other_server",
        "remote",
        "scenes",
        "watching",
    )

    def __init__(
        self,
        epoch: int,
        connection: int,
        post: Callable[[int, MemberMessage], None],
        silence: Callable[[int], int],
    ) -> None:
        """``post`` sends a message to a server; ``silence`` says for how long it was silent."""
        self.epoch = epoch
        self.connection = connection
        self._post = post
        self._silence = silence
        self.codec = MSGPACK
        self.on_other_server = True
        self.remote = True
        self.holding = False
        self.scenes = False
        self.watching: set[str] = set()
        self.lag_ns = 0
        self.floor_ns = 0
        self.anchors: dict[str, tuple[int, int]] = {}

    def __repr__(self) -> str:
        return f"<connection {self.connection} of server {self.epoch}>"

    @property
    def patience_ns(self) -> int:
        """How long an action may take from the server with the socket, in nanoseconds."""
        silent = self._silence(self.epoch)
        return PATIENCE_NS if silent < SILENCE_NS else PATIENCE_NS + silent

    def report_turn(self, match: str, seat: int, ply: int) -> None:
        """Have the server with the socket report when it has written the turn sent last."""
        self._post(self.epoch, TurnSent(self.connection, match, seat, ply))

    def after(self, call: Callable[[], None]) -> None:
        """Run ``call``; the server with the socket keeps the order of messages."""
        call()

    def send(self, message: ServerMessage) -> None:
        """Send a message; it is lost if the socket closes before."""
        self._post(self.epoch, ToLine(self.connection, message))

    def send_together(self, messages: Iterable[ServerMessage]) -> None:
        """Send messages in one piece."""
        for message in messages:
            self.send(message)

    def send_frame(self, frame: Frame) -> None:
        """Never called, because `on_other_server` is True."""
        raise AssertionError("the socket has another codec")

    def fail(self, code: str, text: str = "") -> None:
        """End the connection with a fatal error."""
        self._post(self.epoch, Expel(self.connection, code, text))
