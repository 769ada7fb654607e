"""A hosted final whose bots a test plays by hand, over connections in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.harness.server import BotClient, MemoryServer
from tests.harness.simulated_runner import OLGA, SimulatedRunner, digest

from plyhouse.protocol.hosting.runner_messages import BotWanted, RunnerPlan
from plyhouse.protocol.messages import Finished, MatchMessage, Ready, Sync, Welcome
from plyhouse.server.hosting.runners import SECOND
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.wire.memory import MemoryClient
from plyhouse.storage import (
    competition_entries,
    competition_sql,
    competition_students,
    people,
    submission_sql,
)
from plyhouse.storage.competition_rows import NewMember

__all__ = ["HostedFinal", "cup_file"]

STEP_SECONDS = 5
"""Less than the lease of a runner, and than any grace of a bot."""


def cup_file(
    name: str = "Cup", game: str = "tic_tac_toe", time_control: str = "total:60", rest: str = ""
) -> str:
    """A competition file."""
    return f'name = "{name}"\ngames = ["{game}"]\ntime_control = "{time_control}"\n{rest}'


class HostedFinal:
    """A competition whose bots were submitted, and machines that host them."""

    def __init__(self, house: MemoryServer, cup: str, machine: SimulatedRunner) -> None:
        self.house = house
        self.cup = cup
        self.machine = machine
        self.clients: dict[int, BotClient] = {}
        """Connections of the hosted bots, by their id."""
        self.welcomed: set[tuple[int, str]] = set()
        """Bots and the matches that they were told of when they logged in."""

    @classmethod
    async def begin(
        cls,
        house: MemoryServer,
        machine: SimulatedRunner,
        players: Sequence[str] = ("ann", "ben"),
        text: str = "",
        *,
        connect: bool = True,
    ) -> HostedFinal:
        """Open a competition in which each player has submitted a bot, and begin its final."""
        hub = house.hub
        cup = await hub.competitions.open(text or cup_file(), OLGA)
        members = [NewMember(name, name) for name in players]
        await hub.store.write(
            competition_students.take_in, cup.id, members, OLGA, hub.store.now(), adopt="*"
        )
        for name in players:
            player = await hub.store.read(people.player, name)
            bot = await hub.store.ensure_bot(player.id, "mine", "bot")
            if await hub.store.read(submission_sql.ready_version, bot.id, None) is not None:
                await hub.store.write(
                    competition_entries.enter,
                    cup.id,
                    player.id,
                    "mine",
                    version="",
                    replaces="",
                    now_ms=hub.store.now(),
                )
                continue
            number = sum(map(ord, name))
            row = await hub.store.submissions.add(
                bot.id, "v1", digest(number), b"zip", 1000 + number
            )
            games = [game.game for game in cup.games]
            await hub.store.write(submission_sql.check, row.id, True, "", games, 2000)
        made = cls(house, cup.id, machine)
        await made.run()
        if connect:
            await made.connect()
        return made

    async def run(self) -> None:
        """Freeze the competition and begin its final."""
        await self.house.hub.store.write(
            competition_sql.move, self.cup, "freeze", OLGA, self.house.hub.store.now()
        )
        await self.house.hub.competitions.run(self.cup, OLGA, anyway=True)

    async def move(self, step: str) -> None:
        """``pause``, ``resume``, ``finish`` or ``delete`` it, as an organiser does."""
        await self.house.hub.store.write(
            competition_sql.move, self.cup, step, OLGA, self.house.hub.store.now()
        )
        await self.house.hub.audit_follower.look()

    async def hosted(self, machine: SimulatedRunner | None = None) -> list[BotWanted]:
        """Return the bots that the server assigned to a machine."""
        return list((await (machine or self.machine).call()).bots)

    async def connect(self, machine: SimulatedRunner | None = None) -> None:
        """Log in all bots assigned to a machine, as a runner does; again on request."""
        told: RunnerPlan = await (machine or self.machine).call()
        for wanted in told.bots:
            directory = self.house.hub.directory
            here = directory.presences.get(wanted.bot)
            if here is not None and here.online and here.ticket != wanted.ticket:
                assert not here.matches, "a restart in the middle of a match"
                await self.clients[wanted.bot].close()
                await asyncio.sleep(0)
            if not directory.is_online(wanted.bot):
                client, welcome = await (machine or self.machine).host(told, wanted.bot)
                assert isinstance(welcome, Welcome), welcome
                self.clients[wanted.bot] = client
                self.welcomed |= {(wanted.bot, match.match) for match in welcome.matches}
        await asyncio.sleep(0)

    async def disconnect(self) -> None:
        """Cut all connections of hosted bots."""
        for client in self.clients.values():
            await client.close()
        await asyncio.sleep(0)

    async def be_heard(self) -> None:
        """Send a request from every client: these clients answer pings only while they wait."""
        for client in self.clients.values():
            if isinstance(client.wire, MemoryClient) and client.wire.close_code is None:
                await client.ask(Sync, "none")

    @property
    def lives(self) -> list[LiveMatch]:
        """The matches that run."""
        return list(self.house.hub.directory.own.values())

    async def ready(self) -> None:
        """Every bot says that it is ready for every match that was announced."""
        for live in self.lives:
            waiting = live.match.status == "waiting"
            for holder in live.seats if waiting else ():
                client = self.clients[holder.bot_id]
                if (holder.bot_id, live.id) not in self.welcomed:
                    await client.next(MatchMessage)
                await client.ask(Ready, live.id, "ab12")

    async def play(self) -> list[Finished]:
        """Play all matches that run to their end with legal actions, one match after another."""
        ends = []
        for live in self.lives:
            sides = [self.clients[holder.bot_id] for holder in live.seats]
            now = self.house.clock.now
            ends += await asyncio.gather(
                *(side.play(live.match.snapshot(seat, now)) for seat, side in enumerate(sides))
            )
        return ends

    async def pass_time(self, seconds: int, *machines: SimulatedRunner) -> None:
        """Let time pass, with what the server does meanwhile; these machines call all the time."""
        house, hub = self.house, self.house.hub
        for _ in range(0, seconds, STEP_SECONDS):
            house.move_to(house.clock.now + STEP_SECONDS * SECOND)
            for machine in machines:
                await machine.call()
            hub.hosting.refund(house.clock.now)
            hub.flag_reports.look(house.clock.now)
            for live in self.lives:
                live.input(live.match.tick, house.clock.now)
