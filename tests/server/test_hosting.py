"""Runner machines as the server sees them: who is told what, who gets in, who waits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.server.conftest import Client, MemoryHouse

from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Challenge, Error, MatchMessage, Ready, Welcome
from plyhouse.server.competition.file import InvalidCompetition
from plyhouse.server.config import ServerConfig
from plyhouse.server.house import hosting as hosted
from plyhouse.server.house.hosting import LEASE_NS, SECOND, RunnerRefused
from plyhouse.server.house.matches import Terms
from plyhouse.server.house.runner_messages import CheckDone, Hosted, RunnerSays, RunnerTold, Trouble
from plyhouse.server.match.clock import TimeControl
from plyhouse.storage.class_rows import NewMember
from plyhouse.storage.errors import ClassRefusal
from plyhouse.storage.rows import By, Identity

STAFF = Identity(1, "staff", frozenset(("runner",)), 1)
GAME = get_game("tic_tac_toe")


def digest(number: int) -> str:
    return f"{number:064x}"


class Machine:
    """A runner without bots: it calls, and logs in what it was told to host."""

    def __init__(self, house: MemoryHouse, name: str = "lab1", **said: Any) -> None:
        self.house = house
        self.said = RunnerSays(name=name, instance=f"instance-{id(self)}", **{"cores": 2, **said})

    async def call(self, **news: Any) -> RunnerTold:
        fields = {field: getattr(self.said, field) for field in self.said.__struct_fields__}
        return await self.house.hub.hosting.sync(STAFF, RunnerSays(**{**fields, **news}))

    async def host(self, told: RunnerTold, bot: int) -> tuple[Client, Any]:
        wanted = next(each for each in told.bots if each.bot == bot)
        client = Client(self.house.hub.connect(), MSGPACK)
        answer = await client.hello(
            wanted.ticket, "whatever", games=wanted.games, max_matches=wanted.matches
        )
        return client, answer


async def submissions(house: MemoryHouse, count: int, *, ready: bool = True) -> list[int]:
    """Bots of one player each that were handed in; returns their ids."""
    bots, store = [], house.hub.store
    for number in range(count):
        player = await store.add_player(f"player{number}")
        bot = await store.ensure_bot(player.id, "mine", "bot")
        row = await store.submissions.submit(bot.id, "v1", digest(number), b"zip", 1000 + number)
        if ready:
            await store.submissions.checked(row.id, True, "", ["tic_tac_toe"], 2000)
        bots.append(bot.id)
    return bots


async def competition(house: MemoryHouse, count: int, time_control: str = "total:60") -> str:
    terms = Terms(GAME, TimeControl.parse(time_control), rated=False, mirrored=True)
    names = [f"player{number}/mine" for number in range(count)]
    return await house.hub.competitions.create("cup", terms, entries=names)


async def test_a_ticket_lets_in_one_bot_with_its_version_for_as_long_as_its_machine_is_heard(
    still_house: MemoryHouse,
) -> None:
    house = still_house
    bots = await submissions(house, 2)
    first, second = Machine(house), Machine(house, "lab2")
    assert (await first.call()).bots == []  # nobody needs them
    await competition(house, 2)
    told = await first.call()
    assert [(each.player, each.name, each.label) for each in told.bots] == [
        ("player0", "mine", "v1"),
        ("player1", "mine", "v1"),
    ]
    assert (await second.call()).bots == []  # one machine has a bot at any time
    client, welcome = await first.host(told, bots[0])
    assert isinstance(welcome, Welcome), welcome
    assert (welcome.player, welcome.bot) == ("player0", "mine")
    here = house.hub.directory.participants[bots[0]]
    ready = await house.hub.store.submissions.ready_version(bots[0], None)
    assert ready is not None
    assert (here.version_id, here.version, here.hosted) == (ready.version_id, "v1", "lab1")

    # Its author waits, even with takeover.
    author = Client(house.hub.connect(), MSGPACK)
    token = await house.hub.store.add_token("player0")
    refused = await author.hello(token, "mine", takeover=True)
    assert isinstance(refused, Error)
    assert (refused.code, refused.fatal) == ("bot/hosted", True)

    # Whoever else says that it is this machine has to wait until it counts as gone.
    with pytest.raises(RunnerRefused, match="Another runner called 'lab1'"):
        await Machine(house).call()

    # The machine is silent: its bots go to the other one, and its tickets are worth nothing.
    house.clock.now += LEASE_NS
    moved = await second.call()
    assert {each.bot for each in moved.bots} == set(bots)
    _, stale = await first.host(told, bots[1])
    assert isinstance(stale, Error)
    assert stale.code == "auth/bad_token"
    _, welcome = await second.host(moved, bots[0])
    assert isinstance(welcome, Welcome)
    assert here.hosted == "lab2"
    closing = [each for each in await client.until_closed() if isinstance(each, Error)]
    assert [each.code for each in closing] == ["auth/replaced"]

    # A server that was killed knows nothing; what a machine has stays where it is.
    hosting = house.hub.hosting
    hosting.__init__(  # type: ignore[misc]
        house.hub.store, house.hub.directory, house.hub.competitions, house.clock
    )
    hosts = [Hosted(bot, 1) for bot in bots]
    assert len((await second.call(hosts=hosts)).bots) == 2
    assert (await first.call()).bots == []
    assert len((await second.call(leaving=True)).bots) == 0
    assert len((await first.call()).bots) == 2


async def test_nobody_takes_the_room_of_a_hosted_bot_by_challenges(
    still_house: MemoryHouse,
) -> None:
    house = still_house
    bots = await submissions(house, 2)
    machine = Machine(house)
    await machine.call()
    await competition(house, 2)
    client, welcome = await machine.host(await machine.call(), bots[0])
    assert isinstance(welcome, Welcome), welcome
    rival = await house.bot("rival", games=["tic_tac_toe"])
    answer = await rival.ask(Challenge, "player0/mine", "tic_tac_toe", "total:3600")
    assert isinstance(answer, Error), answer
    assert answer.code == "challenge/not_accepting"
    assert "hosted" in answer.message
    await client.close()


async def test_an_author_who_is_there_with_that_version_is_let_play(
    still_house: MemoryHouse,
) -> None:
    house = still_house
    await submissions(house, 2)
    token = await house.hub.store.add_token("player0")
    author = Client(house.hub.connect(), MSGPACK)
    assert isinstance(await author.hello(token, "mine", games=["tic_tac_toe"]), Welcome)
    await competition(house, 2)
    told = await Machine(house).call()
    assert [each.player for each in told.bots] == ["player1"]
    await author.close()
    await asyncio.sleep(0)
    assert {each.player for each in (await Machine(house, "lab2").call()).bots} <= {"player0"}


async def test_checks_are_made_by_one_machine_and_by_another_if_that_cannot(
    still_house: MemoryHouse,
) -> None:
    house = still_house
    await submissions(house, 1, ready=False)
    first, second = Machine(house), Machine(house, "lab2")
    (check,) = (await first.call()).checks
    assert check.digest == digest(0)
    assert (await second.call()).checks == []
    assert (await first.call()).checks == [check]  # until it has said what came of it
    trouble = Trouble("no sandbox", submission=check.submission)
    assert (await first.call(troubles=[trouble])).checks == []
    assert (await second.call()).checks == [check]
    done = CheckDone(check.submission, True, "ok      loads", ["tic_tac_toe"])
    assert (await second.call(checked=[done])).checks == []
    row = await house.hub.store.submissions.get(check.submission)
    assert (row.status, row.report, row.games) == ("ready", "ok      loads", ("tic_tac_toe",))
    await second.call(checked=[done])  # told again, because the answer was lost


async def test_matches_run_as_processors_allow_and_lost_machines_cost_no_time(
    still_house: MemoryHouse,
) -> None:
    house = still_house
    bots = await submissions(house, 4)
    identifier = await competition(house, 4)
    machine = Machine(house, cores=3)
    told = await machine.call()
    clients = {}
    for bot in bots:
        clients[bot], welcome = await machine.host(told, bot)
        assert isinstance(welcome, Welcome)
    await asyncio.sleep(0)
    view = await house.hub.competitions.view(identifier)
    assert (view.planned, view.created) == (12, 2)  # a pairing: another would need four

    # Both seats are ready, and the machine is lost with a bot to move.
    live = next(iter(house.hub.directory.live.values()))
    seated = [holder.bot_id for holder in live.holders]
    for bot in seated:
        for _ in range(2):
            snapshot = (await clients[bot].next(MatchMessage)).snapshot
            await clients[bot].ask(Ready, snapshot.match, "ab12")
    mover = live.match.seat_to_move
    assert mover is not None
    lost = clients[seated[mover]]
    await lost.close()
    await asyncio.sleep(0)
    assert not house.hub.directory.participants[seated[mover]].online
    before = live.match.deadline()
    assert before is not None
    hosting = house.hub.hosting
    hosting.credit(house.clock.now)
    house.move_to(house.clock.now + 5_000_000_000)
    hosting.credit(house.clock.now)
    assert live.match.deadline() == before + 5_000_000_000
    # A bot that ends by itself again and again is away by its own doing.
    version = house.hub.directory.participants[seated[mover]].version_id
    trouble = Trouble("it cannot be imported", bot=seated[mover], version=version)
    await machine.call(troubles=[trouble] * 3)
    house.move_to(house.clock.now + 5_000_000_000)
    hosting.credit(house.clock.now)
    assert live.match.deadline() == before + 5_000_000_000


async def test_who_is_lost_again_and_again_is_not_given_time_without_end(
    still_house: MemoryHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program may end by itself as often as it acts in between: its clock must run some day."""
    monkeypatch.setattr(hosted, "LONGEST_NS", 12 * SECOND)
    house, hosting = still_house, still_house.hub.hosting
    bots = await submissions(house, 2)
    await competition(house, 2)
    machine = Machine(house, cores=3)
    told = await machine.call()
    clients = {bot: (await machine.host(told, bot))[0] for bot in bots}
    await asyncio.sleep(0)
    live = next(iter(house.hub.directory.live.values()))
    for bot in bots:
        for _ in range(2):
            snapshot = (await clients[bot].next(MatchMessage)).snapshot
            await clients[bot].ask(Ready, snapshot.match, "ab12")
    mover = live.match.seat_to_move
    assert mover is not None
    bot = live.holders[mover].bot_id
    before = live.match.deadline()
    assert before is not None
    given = []
    for _ in range(4):
        await clients[bot].close()
        await asyncio.sleep(0)
        hosting.credit(house.clock.now)
        house.move_to(house.clock.now + 5 * SECOND)
        hosting.credit(house.clock.now)
        given.append(round(((live.match.deadline() or 0) - before) / SECOND))
        clients[bot], welcome = await machine.host(await machine.call(), bot)
        assert isinstance(welcome, Welcome), welcome
        hosting.credit(house.clock.now)
    assert given == [5, 10, 12, 12]


REQUIRED = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
[hosting]
required = true
"""
OLGA = By("olga")


async def test_a_final_for_what_was_handed_in_has_nobody_else_and_is_run_by_the_house(
    still_house: MemoryHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, hub = still_house, still_house.hub
    with pytest.raises(InvalidCompetition, match=r"hosting\.required: .*start it with --hosted"):
        await hub.classes.open(REQUIRED, OLGA)
    monkeypatch.setattr(hub.classes, "_config", ServerConfig(hosted=True))
    cup = await hub.classes.open(REQUIRED, OLGA)
    names = [f"player{number}" for number in range(3)]
    members = [NewMember(name, name) for name in names]
    joined = await hub.store.classes.take_in(cup.id, members, OLGA)
    tokens = {each.account: each.token for each in joined}
    clients, rows = {}, []
    for name in names:  # all connect; two have handed in just that
        clients[name] = Client(hub.connect(), MSGPACK)
        number = names.index(name)
        found = {"games": ["tic_tac_toe"], "max_matches": 2, "version": "v1"}
        answer = await clients[name].hello(tokens[name], "mine", digest=digest(number), **found)
        assert isinstance(answer, Welcome), answer
        if number:
            bot = hub.directory.participants[number + 1].bot_id
            row = await hub.store.submissions.submit(bot, "v1", digest(number), b"zip", 1000)
            rows.append(row.id)
    await hub.store.classes.move(cup.id, "freeze", OLGA)
    with pytest.raises(ClassRefusal, match="player1/mine, player2/mine still waits"):
        await hub.classes.run(cup.id, OLGA)
    for row_id in rows:
        await hub.store.submissions.checked(row_id, True, "", ["tic_tac_toe"], 2000)
    with pytest.raises(ClassRefusal, match=r"player0/mine only connected; .* without it: --anyway"):
        await hub.classes.run(cup.id, OLGA)
    begun = await hub.classes.run(cup.id, OLGA, anyway=True)
    (game,) = begun.games
    assert game.competition_id is not None
    view = await hub.competitions.view(game.competition_id)
    assert [entry.player for entry in view.entries] == names[1:]
    # Their authors are there, with these versions: the house runs them all the same.
    assert view.waiting_for == [
        f"{name}/mine waits for a runner machine with room for it: `plyhouse runner` starts one."
        for name in names[1:]
    ]
    machine = Machine(house)
    told = await machine.call()
    assert [each.player for each in told.bots] == names[1:]
    _, welcome = await machine.host(told, told.bots[0].bot)
    assert isinstance(welcome, Welcome)
    (replaced,) = [
        each for each in await clients[names[1]].until_closed() if isinstance(each, Error)
    ]
    assert replaced.code == "auth/replaced"
