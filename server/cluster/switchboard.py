"""Messages to and from the other servers of a cluster, and the connections they name."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from weakref import WeakValueDictionary

import msgspec
from msgspec import structs

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.cluster import member_messages as mm
from plyhouse.server.cluster.link import Link
from plyhouse.server.cluster.member_messages import MemberMessage
from plyhouse.server.cluster.remote_matches import RemoteLine
from plyhouse.server.match.presence import Presence
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.participants import Line, Participant
from plyhouse.server.wire.session import Session

log = logging.getLogger("plyhouse.server.cluster")

ANSWER_SECONDS: Final = 20.0
"""How long a login waits for the leader, and for the owners of its matches."""
GONE_NS: Final = 60 * 1_000_000_000
"""The silence of a server that is not in the cluster."""


class Switchboard:
    """Sends messages, calls the handlers of those that come, and waits for answers."""

    def __init__(self, epoch: int, directory: Directory) -> None:
        self.epoch = epoch
        """The epoch of this server's lease."""
        self.leader = 0
        """The epoch of the leader; 0 while there is none."""
        self.ready = False
        """True once this server, as the leader, knows all connections and matches."""
        self.stopping = False
        self.link: Link | None = None
        self.peers: frozenset[int] = frozenset()
        """The epochs of all servers that live, with this one."""
        self.sessions: dict[int, Session] = {}
        """The connections whose sockets are here, by number."""
        self.on_unknown: Callable[[], None] | None = None
        """Called when a message is for a server, or from one, that is not among the peers."""
        self._unsent: dict[int, list[bytes]] = {}
        """Messages for servers that may have joined after the last look."""
        self._directory = directory
        self._numbers = itertools.count(1)
        self._number_of: dict[Line, int] = {}
        self._lines: WeakValueDictionary[tuple[int, int], RemoteLine] = WeakValueDictionary()
        self._calls: dict[int, tuple[int, asyncio.Future[Any]]] = {}
        """Calls without an answer: the server that got them, and the answer.

        The server is 0 for a call to the leader that waits for one.
        """
        self._call_numbers = itertools.count(1)
        answers = mm.Entered, mm.Admitted, mm.Found, mm.FoundBots
        self._handlers: dict[type, Callable[[int, Any], None]] = dict.fromkeys(
            answers, self.answered
        )

    @property
    def leading(self) -> bool:
        """True while this server is the leader."""
        return self.leader == self.epoch

    def handle(self, kind: type, handler: Callable[[int, Any], None]) -> None:
        """Register the handler of another kind of message."""
        self._handlers[kind] = handler

    def post(self, epoch: int, message: MemberMessage) -> None:
        """Send a message to a server, perhaps to this one."""
        if epoch == self.epoch:
            asyncio.get_running_loop().call_soon(self.deliver, epoch, message)
        elif self.link is not None and epoch in self.peers:
            self.link.send(epoch, mm.encode(message))
        elif epoch:
            self._unsent.setdefault(epoch, []).append(mm.encode(message))
            if self.on_unknown is not None:
                self.on_unknown()

    def met_stranger(self, _: int) -> None:
        """Note that a server which is not among the peers has sent something."""
        if self.on_unknown is not None:
            self.on_unknown()

    def set_peers(self, alive: Iterable[int]) -> None:
        """Note which servers live; discard what waits for others."""
        self.peers = frozenset(alive) | {self.epoch}
        unsent, self._unsent = self._unsent, {}
        for epoch, payloads in unsent.items():
            if self.link is not None and epoch in self.peers:
                for payload in payloads:
                    self.link.send(epoch, payload)

    def received(self, sender: int, payload: bytes) -> None:
        """Handle a message of another server."""
        try:
            message = mm.decode(payload)
        except msgspec.DecodeError as error:
            log.warning("message ignored", extra={"server": sender, "why": str(error)})
            return
        self.deliver(sender, message)

    def deliver(self, sender: int, message: MemberMessage) -> None:
        """Call the handler of a message; its errors are logged."""
        handled(self._handlers, sender, message)

    async def ask_leader(self, make: Callable[[int], MemberMessage]) -> Any:
        """Ask the leader; ``make`` makes the message with the number of the call."""
        return await self.ask(make, lambda: self.leader)

    async def ask(self, make: Callable[[int], MemberMessage], whom: Callable[[], int]) -> Any:
        """Ask a server, and again when another one has taken over from it."""
        loop = asyncio.get_running_loop()
        until = loop.time() + ANSWER_SECONDS
        while True:
            call = next(self._call_numbers)
            answer: asyncio.Future[Any] = loop.create_future()
            to = whom()
            self._calls[call] = to, answer
            if to:
                self.post(to, make(call))
            try:
                async with asyncio.timeout_at(until):
                    found = await answer
            except TimeoutError:
                raise ProtocolError(
                    "server/overloaded", "Another server does not answer. Try again later."
                ) from None
            finally:
                self._calls.pop(call, None)
            if found is not None:
                return found

    def ask_again(self) -> None:
        """Repeat the calls to servers that are gone, because others have taken over."""
        for to, answer in tuple(self._calls.values()):
            if not answer.done() and to not in self.peers:
                answer.set_result(None)

    def answered(self, _: int, message: Any) -> None:
        """Give the caller its answer; late answers are ignored."""
        waiting = self._calls.get(message.call)
        if waiting is not None and not waiting[1].done():
            waiting[1].set_result(message)

    def number(self, line: Line) -> int:
        """Return the number of a connection whose socket is here."""
        number = self._number_of.get(line)
        if number is None:
            number = self._number_of[line] = next(self._numbers)
            if isinstance(line, Session):
                self.sessions[number] = line
        return number

    def line(self, epoch: int, connection: int) -> Line | None:
        """Return a connection of any server; None if its socket was here and is closed."""
        if epoch == self.epoch:
            return self.sessions.get(connection)
        line = self._lines.get((epoch, connection))
        if line is None:
            line = RemoteLine(epoch, connection, self.post, self.silence)
            self._lines[epoch, connection] = line
        return line

    def silence(self, epoch: int) -> int:
        """Return for how long a server was silent; long for one that is gone."""
        if epoch not in self.peers or self.link is None:
            return GONE_NS
        try:
            return self.link.silence_ns(epoch)
        except KeyError:
            return GONE_NS

    def seated(self, presence: Presence) -> Participant:
        """Return the participant of a bot, with the connection of the record unless it is old."""
        participant = self._directory.participants.get(presence.bot_id)
        if participant is None:
            participant = self._directory.add_offline(presence)
        line = self.line(*presence.socket) if any(presence.socket) else None
        newer = presence.connection >= participant.presence.connection
        if line is not None and participant.line is not line and newer:
            self._directory.enter(participant, line, presence, presence.connection)
        return participant

    def record(self, participant: Participant) -> Presence:
        """Return the record of a bot, with the server that holds its socket."""
        line = participant.line
        if line is None:
            socket = (0, 0)
        elif isinstance(line, RemoteLine):
            socket = line.epoch, line.connection
        else:
            socket = self.epoch, self.number(line)
        return structs.replace(participant.presence, socket=socket)

    def records(self, bots: Iterable[int]) -> list[Presence]:
        """Return the records of those bots that are connected to any server."""
        known = [self._directory.participants.get(bot) for bot in bots]
        return [self.record(each) for each in known if each is not None and each.line is not None]

    def connected(self, sender: int, connection: int, bot: int) -> tuple[Presence, Line] | None:
        """Return a bot and its line if it is connected by this one."""
        participant = self._directory.participants.get(bot)
        line = None if participant is None else participant.line
        if participant is None or line is None or line is not self.line(sender, connection):
            return None
        return participant.presence, line

    def known(self, line: Line) -> int:
        """Return the number of a connection, or 0 if no other server knows it."""
        return self._number_of.get(line, 0)

    def hang_up(self, line: Line) -> int:
        """Forget a connection that has ended; return its number, or 0."""
        number = self._number_of.pop(line, 0)
        self.sessions.pop(number, None)
        return number


def handled(
    handlers: Mapping[type, Callable[[int, Any], None]], sender: int, message: MemberMessage
) -> None:
    """Call one of these handlers with a message of its kind; its errors are logged."""
    try:
        handlers[type(message)](sender, message)
    except Exception:
        what = {"server": sender, "message_type": type(message).__name__}
        log.exception("message failed", extra=what)
