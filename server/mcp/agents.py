"""The connections of agents: clients of protocol v1 within the server.

MCP has no sessions: each request brings its token, and names its match.  A bot's presence, seeks
and challenges need a connection, though.  `Agents` keeps one for each bot, opened by its first
request.  After `IDLE_SECONDS` without a request it is closed, unless the bot has a running match.
It is a connection like any other, and takes a place of its account and of the client's address.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.connection import ClientConnection, Rejected, State
from plyhouse.protocol.errors import LocalProtocolError, ProtocolError
from plyhouse.protocol.messages import (
    ChallengeClosed,
    Challenged,
    ClientMessage,
    Error,
    Finished,
    Hello,
    MatchMessage,
    MatchSnapshot,
    Notice,
    Ready,
    ServerMessage,
    Welcome,
)
from plyhouse.protocol.parts import DEFAULT_HELP, HelpDemand, HelpLevel, help_label, labelled_help
from plyhouse.server.jobs.periodic import Periodic
from plyhouse.server.wire.memory import MemoryClient

log = logging.getLogger("plyhouse.server.mcp")

AnswerT = TypeVar("AnswerT")

ANSWER_SECONDS: Final = 30.0
"""How long a tool waits for the answer to one message."""
IDLE_SECONDS: Final = 600.0
"""After how long without a request an agent without a running match is disconnected."""
MOST_WAITING: Final = 8
"""Requests of one agent that may be served at once."""
MOST_KEPT: Final = 100
"""Earlier matches and challenges that are kept for each agent; others are in the database."""

Connect = Callable[[str], MemoryClient]
"""Opens a connection in this process for a client at an address."""


class Login(NamedTuple):
    """Token and name with which an agent logs in."""

    token: str
    bot: str
    games: tuple[str, ...] = ()
    """Games in which others may challenge it, and in which it enters competitions."""
    help: HelpLevel = DEFAULT_HELP
    """Help that the tools give it."""


class MatchTerms(NamedTuple):
    """Terms of a match, a seek or a challenge, written as the server writes them."""

    game: str
    time_control: str
    rated: bool
    help: HelpDemand
    """The level of help that all opponents have, or must have."""

    def fit(self, wanted: MatchTerms) -> bool:
        """Return whether a match with these terms is one that was wanted."""
        return self[:3] == wanted[:3] and wanted.help in ("", self.help)


class OpenSeek(NamedTuple):
    """A seek."""

    id: str
    known: frozenset[str]
    """Matches that began before it."""


class Agent:
    """The connection of one bot, with what it has been sent since it was opened."""

    def __init__(self, client: MemoryClient, now: Callable[[], int], level: HelpLevel) -> None:
        self._help = level
        self._client = client
        self._now = now
        self._connection = ClientConnection(MSGPACK, now())
        self._answers: dict[int, asyncio.Future[ServerMessage]] = {}
        self._news = asyncio.Event()
        self._error: Error | None = None
        self._reader = asyncio.create_task(self._read())
        self.name = ""
        """Name of the player and bot, as ``player/bot``."""
        self.heard = 0
        """Messages of the server that answered no request."""
        self.used = now()
        """When the last request began or ended."""
        self.busy = 0
        """Requests being served."""
        self.matches: dict[str, HelpLevel] = {}
        """Running matches in the order of their beginnings: id and level of help."""
        self.begun: dict[str, MatchTerms] = {}
        """Terms of the matches that began on this connection, the latest last."""
        self.results: dict[str, None] = {}
        """Ids of the matches that ended on this connection, the latest last."""
        self.challenges: dict[str, Challenged] = {}
        """Open challenges to this bot."""
        self.closed_challenges: dict[str, ChallengeClosed] = {}
        """Challenges that were closed on this connection, the latest last."""
        self.seeks: dict[MatchTerms, OpenSeek] = {}
        """Seeks whose match no tool has shown yet, by what they ask for."""
        self.notices: list[Notice] = []
        """Notices that no tool has shown yet."""

    @property
    def open(self) -> bool:
        """Whether the connection is open."""
        return self._connection.state is not State.CLOSED and not self._reader.done()

    def level(self, match: str) -> HelpLevel:
        """Return the help of a match: that in its record, even after a login with another one."""
        return self.matches.get(match, self._help)

    async def enter(self, login: Login) -> None:
        """Log in; raises `ProtocolError`."""
        welcome = await self.ask(
            Welcome,
            Hello,
            token=login.token,
            bot=login.bot,
            games=list(login.games),
            version=help_label(login.help),
            client="mcp",
            updates=True,
            scenes=True,
            takeover=True,
        )
        self.name = f"{welcome.player}/{welcome.bot}" if welcome.bot else welcome.player
        for snapshot in welcome.matches:
            self._begun(snapshot)

    async def ask(self, answer: type[AnswerT], kind: Callable[..., Any], **fields: Any) -> AnswerT:
        """Send a request and return its answer; raises `ProtocolError` for a refusal."""
        number = self._connection.next_id()
        level = self.level(fields.get("match", ""))  # an illegal action may end the match
        future = asyncio.get_running_loop().create_future()
        self._answers[number] = future
        try:
            self._send(kind(number, **fields))
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await future
        except TimeoutError:
            raise ProtocolError("server/overloaded", "The server was too busy to answer.") from None
        finally:
            self._answers.pop(number, None)
        if isinstance(found, Error):
            raise Refusal(found, level)
        if not isinstance(found, answer):
            raise TypeError(f"{type(found).__name__} answers no {kind}")
        return found

    async def news(self, seconds: float, since: int | None = None) -> bool:
        """Wait for a message of the server; return False after ``seconds`` without one.

        ``since`` is `heard` when the caller looked last, if it has waited for anything since then.
        """
        if since is not None and self.heard > since:
            return True
        self._news.clear()
        if not self.open:
            return False
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        """End the connection; running matches go on, and their clocks run."""
        self._client.close()
        self._reader.cancel()
        self._fail(Error("server/shutting_down", "The connection of this agent was closed."))

    def _send(self, message: ClientMessage) -> None:
        if self._error is not None:
            raise Refusal(self._error)
        try:
            self._client.send(self._connection.request(message))
        except LocalProtocolError as error:
            raise ProtocolError("protocol/bad_field", f"{error}.") from error

    async def _read(self) -> None:
        try:
            while (frame := await self._client.recv()) is not None:
                for event in self._connection.receive(frame, self._now()):
                    if not isinstance(event, Rejected):
                        self._handle(event)
                for reply in self._connection.outgoing():
                    self._client.send(reply)
        finally:  # whatever ended it, nobody waits for answers that cannot come
            why = self._client.close_reason or "the server closed it"
            text = f"The connection of this agent has ended: {why}."
            self._fail(Error("server/overloaded", text))

    def _fail(self, error: Error) -> None:
        """Answer all open requests, and those to come, with an error."""
        self._error = self._error or error
        self._refuse(self._error)
        self._news.set()

    def _refuse(self, error: Error) -> None:
        """Answer all open requests with an error."""
        for future in self._answers.values():
            if not future.done():
                future.set_result(error)

    def _handle(self, message: ServerMessage) -> None:
        number = getattr(message, "re", None)
        future = None if number is None else self._answers.get(number)
        if isinstance(message, Error) and message.fatal:
            self._error = message
        if isinstance(message, Error) and number is None:
            self._refuse(message)  # the server could not read which request it was
        match message:
            case MatchMessage(snapshot=snapshot) if number is None:
                self._begun(snapshot)
            case Finished(match=match):
                self.matches.pop(match, None)
                self.results[match] = None
                _forget(self.results)
            case Challenged(challenge=challenge):
                self.challenges[challenge] = message
            case ChallengeClosed(challenge=challenge):
                self.challenges.pop(challenge, None)
                self.closed_challenges[challenge] = message
                _forget(self.closed_challenges)
            case Notice(code=code) if code != "notice/spectators":
                self.notices = [*self.notices[-9:], message]
            case _:
                pass
        if future is not None and not future.done():
            future.set_result(message)
        if number is None:
            self.heard += 1
            self._news.set()

    def _begun(self, snapshot: MatchSnapshot) -> None:
        label = "" if snapshot.seat is None else snapshot.players[snapshot.seat].version
        self.matches[snapshot.match] = labelled_help(label) or self._help
        opponents = [each for seat, each in enumerate(snapshot.players) if seat != snapshot.seat]
        levels = {labelled_help(each.version) or "" for each in opponents}
        self.begun[snapshot.match] = MatchTerms(
            snapshot.game,
            snapshot.time_control,
            snapshot.rated,
            levels.pop() if len(levels) == 1 else "",
        )
        _forget(self.begun)
        if snapshot.status == "waiting":
            # The clock of a seat begins with its turn, and the opponent waits for this.
            number = self._connection.next_id()
            self._send(Ready(number, snapshot.match, secrets.token_hex(16)))


class Refusal(ProtocolError):  # noqa: N818 (the decision of the server)
    """A refusal by the server, without the legal actions where the level of help hides them."""

    def __init__(self, error: Error, level: HelpLevel = DEFAULT_HELP) -> None:
        hidden = bool(error.legal) and level == "position"
        super().__init__(error.code, _unhelped(error.code) if hidden else error.message)
        self.legal = () if hidden else tuple(error.legal)
        self.ply = error.ply


def _unhelped(code: str) -> str:
    """Return why an action was refused, without a legal one."""
    return {
        "action/invalid": "That is not written as an action of this game; see `rules`.",
        "action/ambiguous": "That could mean more than one legal action.",
    }.get(code, "That action is not legal here.")


def _forget(kept: dict[str, Any]) -> None:
    while len(kept) > MOST_KEPT:
        del kept[next(iter(kept))]


@dataclass(slots=True)
class _Entering:
    """The requests of a login that look for its agent, one after the other."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    requests: int = 0


class Agents:
    """All agents of a server, by their tokens and the names of their bots."""

    def __init__(self, connect: Connect, now: Callable[[], int]) -> None:
        self._connect = connect
        self._now = now
        self._agents: dict[Login, Agent] = {}
        self._entering: dict[Login, _Entering] = {}
        self._sweep = Periodic(self._close_idle, IDLE_SECONDS / 10, "sweep of agents", log)

    def start(self) -> None:
        """Begin to close agents that nobody uses."""
        self._sweep.start()

    @contextlib.asynccontextmanager
    async def agent(self, login: Login, address: str) -> AsyncIterator[Agent]:
        """Yield the connected agent of a login for one request; raises `ProtocolError`.

        ``address`` is that of the client, against whose limits the connection counts.
        """
        # One at a time: a second connection would replace the first.
        entering = self._entering.setdefault(login, _Entering())
        entering.requests += 1
        try:
            async with entering.lock:
                agent = self._agents.get(login)
                if agent is None or not agent.open:
                    agent = await self._enter(login, address)
        finally:
            entering.requests -= 1
            if not entering.requests:  # a released lock may have others in its queue
                del self._entering[login]
        if agent.busy >= MOST_WAITING:
            raise ProtocolError(
                "protocol/rate", f"At most {MOST_WAITING} requests of one agent are served at once."
            )
        agent.busy += 1
        agent.used = self._now()
        try:
            yield agent
        finally:
            agent.busy -= 1
            agent.used = self._now()

    async def _enter(self, login: Login, address: str) -> Agent:
        self._close_idle()  # a bot that logged in otherwise has left its last connection
        agent = Agent(self._connect(address), self._now, login.help)
        try:
            await agent.enter(login)
        except BaseException:
            agent.close()
            raise
        self._agents[login] = agent
        return agent

    def _close_idle(self) -> None:
        now = self._now()
        for key, agent in tuple(self._agents.items()):
            idle = not agent.busy and not agent.matches and now - agent.used > IDLE_SECONDS * 1e9
            if idle or not agent.open:
                agent.close()
                del self._agents[key]

    async def close(self) -> None:
        """Disconnect all agents."""
        self._sweep.stop()
        for agent in self._agents.values():
            agent.close()
        self._agents.clear()
