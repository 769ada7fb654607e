"""A person at a screen of the terminal client, in a match against an automatic opponent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from tests.harness.screens import settled, until
from textual.pilot import Pilot

from plyhouse.bots.client.channel import Channel
from plyhouse.bots.client.client import Client
from plyhouse.bots.client.timing import Backoff
from plyhouse.clients.arena.memory_server import connector_of, local_hub, online
from plyhouse.clients.shared.terminal_server import TerminalConnection
from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.followed_match import FollowedMatch
from plyhouse.clients.terminal.screens.app import TerminalApp
from plyhouse.clients.terminal.screens.board import BoardView
from plyhouse.clients.terminal.screens.match import MatchScreen
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import Hello, MatchMessage, Ready, ServerMessage, Turn
from plyhouse.server.gateway.local_hub import LocalHub
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl

__all__ = ["Rival", "Sitting", "sitting"]

Rival = Callable[[Sequence[str]], str]


@dataclass
class Sitting:
    """A person at a screen, and an automatic opponent."""

    hub: LocalHub
    app: TerminalApp
    pilot: Pilot[None] = field(init=False)
    channels: list[Channel] = field(default_factory=list)

    @property
    def screen(self) -> MatchScreen:
        return next(each for each in self.app.screen_stack if isinstance(each, MatchScreen))

    @property
    def board(self) -> BoardView:
        return self.screen.board

    async def my_turn(self) -> None:
        await until(self.pilot, lambda: self.screen.choosing or self.screen.course.over)

    async def click(self, name: str) -> None:
        """Click on a spot of the board."""
        spot = self.board.spot(name)
        assert spot is not None, name
        left, top = self.board.shift
        at = left + spot.x + spot.width // 2, top + spot.y + spot.height // 2
        assert await self.pilot.click(BoardView, offset=at)
        await settled(self.pilot)

    def shown(self, selector: str) -> str:
        """The text of a line of the screen."""
        return str(self.screen.query_one(selector).render())


async def rival_plays(hub: LocalHub, token: str, choose: Rival) -> None:
    client = Client(connector_of(hub), Hello(0, token))
    doing: list[asyncio.Future[ServerMessage]] = []
    async with aclosing(client.messages()) as messages:
        async for message, _ in messages:
            if isinstance(message, MatchMessage) and message.snapshot.status == "waiting":
                match = message.snapshot.match
                asking = client.request(partial(Ready, match=match))
                doing.append(asyncio.ensure_future(asking))
            elif isinstance(message, Turn):
                action = choose(message.observation["legal"])
                acting = client.act(message.match, message.ply, action)
                doing.append(asyncio.ensure_future(acting))


@asynccontextmanager
async def sitting(
    name: str, choose: Rival, *, seat: int = 0, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Sitting]:
    game = get_game(name)
    async with local_hub("retry") as hub:
        tokens = [hub.add_player(player) for player in ("alice", "bob")]
        channels: list[Channel] = []

        async def connect() -> Channel:
            channels.append(hub.connect())
            return channels[-1]

        async def begin() -> None:
            two = [await online(hub, "alice"), await online(hub, "bob")]
            terms = Terms(game, TimeControl.parse("move:3600"), rated=False)
            hub.live_matches.begin(terms, [two if seat == 0 else two[::-1]])

        identity = Hello(0, tokens[0], updates=True, scenes=True)
        client = Client(connect, identity, backoff=Backoff(first=0.0, longest=0.0))
        line = TerminalConnection(client, begin)
        app = TerminalApp(
            lambda app: MatchScreen(
                FollowedMatch(), app.ink, app.now, line=line, again=begin, quits=True
            ),
            Ink(),
            line=line,
        )
        rival = asyncio.create_task(rival_plays(hub, tokens[1], choose))
        try:
            async with app.run_test(size=size) as pilot:
                at = Sitting(hub, app, channels=channels)
                at.pilot = pilot
                await until(pilot, lambda: bool(app.screen_stack) and at.screen.is_mounted)
                await at.my_turn()
                yield at
        finally:
            rival.cancel()
            await asyncio.gather(rival, return_exceptions=True)
