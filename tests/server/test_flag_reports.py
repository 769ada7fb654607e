"""Flags that fell while a machine was too busy for its bot: void, replayed, and not for ever."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.server import BotClient, MemoryServer
from tests.harness.simulated_runner import GAME, SimulatedRunner, digest, submissions
from tests.tournaments import begin_round_robin, results

from plyhouse.protocol.hosting.runner_messages import FlagFell
from plyhouse.protocol.messages import MatchMessage, Ready, Welcome
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.hosting.runner_reports import HOLD_NS
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.table.live import LiveMatch
from plyhouse.storage import (
    audit,
    competition_sql,
    competition_students,
    match_reads,
    people,
    submission_sql,
    suspensions,
)
from plyhouse.storage.causes import written
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.rows import By
from plyhouse.storage.tournaments import TournamentView

SECOND = 1_000_000_000
MS = 1_000_000


class Hall:
    """A competition of two hosted bots, both on one machine."""

    def __init__(self, house: MemoryServer, machine: SimulatedRunner, identifier: str) -> None:
        self.house = house
        self.machine = machine
        self.identifier = identifier
        self.clients: dict[int, BotClient] = {}
        self.welcomed: set[str] = set()
        """Matches that bots were told of when they logged in."""

    async def connect(self) -> None:
        """Have the machine log in all that it is to host."""
        for wanted in (told := await self.machine.call()).bots:
            self.clients[wanted.bot], welcome = await self.machine.host(told, wanted.bot)
            assert isinstance(welcome, Welcome), welcome
            self.welcomed |= {match.match for match in welcome.matches}
        await asyncio.sleep(0)

    @classmethod
    async def open(cls, house: MemoryServer, time_control: str = "move:1", **kind: Any) -> Hall:
        await submissions(house, 2)
        terms = Terms(GAME, TimeControl.parse(time_control), rated=False, **kind)
        names = ["player0/mine", "player1/mine"]
        made = cls(
            house,
            SimulatedRunner(house),
            (
                await begin_round_robin(
                    house.hub.competitions, "cup", terms, By("olga", "a test"), entries=names
                )
            ).id,
        )
        await made.connect()
        return made

    async def lose(self, seconds: int = 2) -> LiveMatch:
        """Let the flag of the seat to move first fall; the match's end is durable then."""
        (live,) = self.house.hub.directory.own.values()
        for holder in live.seats:
            client = self.clients[holder.bot_id]
            if live.id not in self.welcomed:
                await client.next(MatchMessage)
            await client.ask(Ready, live.id, "ab12")
        mover = live.match.seat_to_move
        assert mover is not None
        self.house.move_to(self.house.clock.now + seconds * SECOND)
        live.input(live.match.tick, self.house.clock.now)
        while not live.over:  # noqa: ASYNC110 - its end is being stored
            await asyncio.sleep(0.001)
        assert live.match.outcome is not None
        assert (live.match.outcome.termination, live.match.outcome.seat) == ("flag_fall", mover)
        return live

    def flag(self, live: LiveMatch, **fields: Any) -> FlagFell:
        """The machine's report: by default it gave 400 of 1000 ms to others."""
        outcome = live.match.outcome
        assert outcome is not None
        assert outcome.seat is not None
        figures = {
            "match": live.id,
            "bot": live.seats[outcome.seat].bot_id,
            "ply": live.match.ply,
            **dict.fromkeys(("allowed", "wall", "match_wall"), 1000 * MS),
            "cpu": 600 * MS,
            **dict.fromkeys(("lost", "match_lost"), 400 * MS),
        }
        return FlagFell(**{**figures, **fields})

    async def view(self) -> TournamentView:
        await asyncio.sleep(0)
        return await self.house.hub.tournaments.view(self.identifier)

    async def counted(self) -> tuple[int, int, str]:
        """Matches planned and begun, and how the competition stands."""
        view = await self.view()
        return view.planned, view.created, view.row.status

    async def begun(self, matches: int) -> None:
        """Wait until so many matches have begun."""
        while (await self.counted())[1] < matches:  # noqa: ASYNC110 - they are stored
            await asyncio.sleep(0.001)

    async def void_reason(self, live: LiveMatch) -> str | None:
        return (
            await self.house.hub.store.read(match_reads.stored_match, live.id)
        ).header.void_reason


async def settled(hall: Hall, status: str) -> TournamentView:
    while (view := await hall.view()).row.status != status:  # noqa: ASYNC110 - it is stored
        await asyncio.sleep(0.001)
    return view


async def test_first_flag_on_a_busy_machine_is_void_and_the_next_counts(
    tmp_path: Path, clock: FakeClock
) -> None:
    """A bot that hangs loses on a busy machine, too, also if the server restarts meanwhile."""
    config = ServerConfig(database=f"sqlite:///{tmp_path}/house.db", suspend_after=1)
    hub = await Hub.open(config, now=clock)
    house = MemoryServer(hub, clock)
    try:
        hall = await Hall.open(house)
        await hall.begun(1)
        live = await hall.lose()
        # Nothing counts yet, and nothing begins, before the machine was heard.
        assert await hall.counted() == (1, 1, "running")
        assert await hall.void_reason(live) is None
        await hall.machine.call(flags=[hall.flag(live)])
        assert await hall.void_reason(live) == (
            f"The flag of {live.seats[0].name} fell at ply 1, but its machine lab1 was not the "
            "bot's for 400 of the 1000 ms that it had (in the match, 400 of 1000 ms). The match is "
            "played again; from now on flags of this version count here."
        )
        await hall.begun(2)
        # Anybody who reads the audit log sees what was done, and by whom.
        entries = await hub.store.read(audit.latest)
        assert [(each.who, each.what) for each in entries if each.what == "match.void"] == [
            ("runner lab1", "match.void")
        ]
        await hub.close()
        hub = house.hub = await Hub.open(config, now=clock)
        hall.machine = SimulatedRunner(house, "lab2")
        await hall.connect()
        guilty = live.seats[0].version_id
        again = await hall.lose()
        assert again.seats[0].version_id == guilty
        await hall.machine.call(flags=[hall.flag(again)])
        await settled(hall, "finished")
        assert await hall.void_reason(again) is None
        table = await results(hub.store, hall.identifier)
        assert sorted((row.player, row.games, row.losses) for row in table) == [
            ("player0", 1, 1),
            ("player1", 1, 0),
        ]
        while not await hub.store.read(suspensions.reason_of, guilty):  # noqa: ASYNC110 - it is stored
            await asyncio.sleep(0.001)
    finally:
        await hub.close()


@pytest.mark.parametrize(
    ("time_control", "figures", "void"),
    [
        ("move:1", {"lost": 250 * MS, "match_lost": 250 * MS}, False),
        ("move:1", {"lost": 251 * MS}, True),
        # Time lost at earlier plies matters if unused time is kept for later ones.
        ("move:1", {"lost": 0, "match_wall": 9 * SECOND, "match_lost": 4 * SECOND}, False),
        ("total:1", {"lost": 0, "match_wall": 9 * SECOND, "match_lost": 4 * SECOND}, True),
        # A bot that has slept for longer than its machine was busy is not excused.
        ("move:1", {"lost": 300 * MS, "slept": 290 * MS}, True),
        ("move:1", {"lost": 300 * MS, "slept": 310 * MS}, False),
        (
            "total:1",
            {"lost": 0, "slept": 3 * SECOND, "match_wall": 9 * SECOND, "match_lost": 4 * SECOND},
            True,
        ),
        (
            "total:1",
            {"lost": 0, "slept": 5 * SECOND, "match_wall": 9 * SECOND, "match_lost": 4 * SECOND},
            False,
        ),
        # Nothing excuses a bot of which it is not known what it had.
        ("move:1", {"allowed": 0}, False),
    ],
)
async def test_how_much_a_machine_may_give_to_others(
    time_control: str, figures: dict[str, int], void: bool, still_house: MemoryServer
) -> None:
    hall = await Hall.open(still_house, time_control)
    live = await hall.lose()
    await hall.machine.call(flags=[hall.flag(live, **figures)])
    assert (await hall.void_reason(live) is not None) is void
    if void:
        await hall.begun(2)
        assert await hall.counted() == (2, 2, "running")
    else:
        await settled(hall, "finished")
        table = await results(still_house.hub.store, hall.identifier)
        assert sorted((row.player, row.games, row.losses) for row in table) == [
            ("player0", 1, 1),
            ("player1", 1, 0),
        ]


@pytest.mark.parametrize(
    "wrong", [{"ply": 5}, {"bot": 99}, {"match": "another"}], ids=["ply", "bot", "match"]
)
async def test_what_does_not_fit_is_not_heard_and_a_silent_machine_is_not_waited_for_long(
    wrong: dict[str, Any], still_house: MemoryServer
) -> None:
    hall = await Hall.open(still_house)
    live = await hall.lose()
    await hall.machine.call(flags=[hall.flag(live, **wrong)])
    other = SimulatedRunner(still_house, "lab2")
    await other.call(flags=[hall.flag(live)])  # it has never hosted that bot
    verdicts = still_house.hub.flag_reports
    verdicts.look(still_house.clock.now + HOLD_NS - 1)
    assert await hall.counted() == (1, 1, "running")
    verdicts.look(still_house.clock.now + HOLD_NS)
    await settled(hall, "finished")
    await hall.machine.call(flags=[hall.flag(live)])  # too late
    assert await hall.void_reason(live) is None


async def test_other_endings_and_bots_of_people_wait_for_nobody(still_house: MemoryServer) -> None:
    hall = await Hall.open(still_house)
    (live,) = still_house.hub.directory.own.values()
    live.input(live.match.abort, written("for a test"), still_house.clock.now)
    while not live.over:  # noqa: ASYNC110 - its end is being stored
        await asyncio.sleep(0.001)
    await hall.begun(2)  # void, and begun again at once
    assert await hall.counted() == (2, 2, "running")
    clients, snapshots = await still_house.pair("tic_tac_toe", "move:1")
    lost = still_house.hub.directory.own[snapshots[0].match]
    still_house.move_to(still_house.clock.now + 2 * SECOND)
    lost.input(lost.match.tick, still_house.clock.now)
    while not lost.over:  # noqa: ASYNC110 - its end is being stored
        await asyncio.sleep(0.001)
    assert not still_house.hub.flag_reports.holds(lost.summary())
    for client in clients:
        await client.close()


FINAL = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "move:1"
mirrored = false
"""


async def test_the_organiser_of_a_final_is_told_which_machine_is_too_busy(
    still_house: MemoryServer,
) -> None:
    hub, olga = still_house.hub, By("olga")
    cup = await hub.competitions.open(FINAL, olga)
    await hub.store.write(
        competition_students.take_in,
        cup.id,
        [NewMember(name, name) for name in ("player0", "player1")],
        olga,
        hub.store.now(),
    )
    for number, name in enumerate(("player0", "player1")):
        found = await hub.store.read(people.player, name)
        bot = await hub.store.ensure_bot(found.id, "mine", "bot")
        row = await hub.store.submissions.add(bot.id, "v1", digest(number), b"zip", 1000)
        await hub.store.write(submission_sql.check, row.id, True, "", ["tic_tac_toe"], 2000)
    await hub.store.write(competition_sql.move, cup.id, "freeze", olga, hub.store.now())
    begun = await hub.competitions.run(cup.id, olga, anyway=True)
    assert begun.games[0].tournament_id is not None
    hall = Hall(still_house, SimulatedRunner(still_house), begun.games[0].tournament_id)
    await hall.connect()
    assert (await hub.competitions.view(cup.id)).warnings == ()
    live = await hall.lose()
    await hall.machine.call(flags=[hall.flag(live)])
    (told,) = (await hub.competitions.view(cup.id)).warnings
    assert told.startswith("tic_tac_toe: the machine lab1 was too busy for bots whose flags fell")
    assert "a match is void and played again" in told
