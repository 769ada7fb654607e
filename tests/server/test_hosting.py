"""Runner machines as the server sees them: assignments, logins and waits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import Connection
from tests.harness.clocks import FakeClock
from tests.harness.hosted_finals import cup_file
from tests.harness.server import BotClient, MemoryServer
from tests.harness.simulated_runner import GAME, OLGA, SimulatedRunner, digest, submissions
from tests.tournaments import begin_round_robin

from plyhouse.games.registry import get_game
from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.hosting.package import Manifest, Package, pack
from plyhouse.protocol.hosting.runner_messages import (
    CheckDone,
    Hosted,
    Trouble,
)
from plyhouse.protocol.messages import (
    Challenge,
    Error,
    Finished,
    MatchMessage,
    Ok,
    Ready,
    Resign,
    Welcome,
)
from plyhouse.server.competition_rules.file_reader import InvalidCompetition
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.hosting.check_queue import MAX_FAILURES
from plyhouse.server.hosting.runners import LEASE_NS, SECOND, RunnerRefused
from plyhouse.server.match.chance import SHARED_STREAM
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.results.record import stored_record
from plyhouse.server.results.verify import verify
from plyhouse.server.table import refunds
from plyhouse.storage import (
    competition_sql,
    competition_students,
    match_reads,
    people,
    people_changes,
    submission_checks,
    submission_sql,
)
from plyhouse.storage.competition_rows import CompetitionRow, NewMember
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import matches
from plyhouse.storage.rows import By, Identity


async def competition(house: MemoryServer, count: int, time_control: str = "total:60") -> str:
    terms = Terms(GAME, TimeControl.parse(time_control), rated=False, mirrored=True)
    names = [f"player{number}/mine" for number in range(count)]
    return (
        await begin_round_robin(
            house.hub.competitions, "cup", terms, By("olga", "a test"), entries=names
        )
    ).id


async def test_a_ticket_lets_in_one_bot_with_its_version_for_as_long_as_its_machine_is_heard(
    still_house: MemoryServer,
) -> None:
    house = still_house
    bots = await submissions(house, 2)
    first, second = SimulatedRunner(house), SimulatedRunner(house, "lab2")
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
    here = house.hub.directory.presences[bots[0]]
    ready = await house.hub.store.read(submission_sql.ready_version, bots[0], None)
    assert ready is not None
    assert (here.version_id, here.version, here.hosted) == (ready.version_id, "v1", "lab1")

    # Its author waits, even with takeover.
    author = BotClient(house.hub.connect(), MSGPACK)
    token = await house.hub.store.add_token("player0")
    refused = await author.hello(token, "mine", takeover=True)
    assert isinstance(refused, Error)
    assert (refused.code, refused.fatal) == ("bot/hosted", True)

    # Another machine of the same name waits until this one counts as gone.
    with pytest.raises(RunnerRefused, match="Another runner called 'lab1'"):
        await SimulatedRunner(house).call()

    # The machine is silent: its bots go to the other one, and its tickets are worth nothing.
    house.clock.now += LEASE_NS
    moved = await second.call()
    assert {each.bot for each in moved.bots} == set(bots)
    _, stale = await first.host(told, bots[1])
    assert isinstance(stale, Error)
    assert stale.code == "auth/bad_token"
    _, welcome = await second.host(moved, bots[0])
    assert isinstance(welcome, Welcome)
    assert house.hub.directory.presences[bots[0]].hosted == "lab2"
    closing = [each for each in await client.until_closed() if isinstance(each, Error)]
    assert [each.code for each in closing] == ["auth/replaced"]

    # A server that was killed knows nothing; what a machine has stays where it is.
    hosting = house.hub.hosting
    hosting.__init__(  # type: ignore[misc]
        house.hub.store, house.hub.directory, house.hub.tournaments, house.clock
    )
    hosts = [Hosted(bot, 1) for bot in bots]
    assert len((await second.call(hosts=hosts)).bots) == 2
    assert (await first.call()).bots == []
    assert len((await second.call(leaving=True)).bots) == 0
    assert len((await first.call()).bots) == 2


async def test_nobody_takes_the_room_of_a_hosted_bot_by_challenges(
    still_house: MemoryServer,
) -> None:
    house = still_house
    bots = await submissions(house, 2)
    machine = SimulatedRunner(house)
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
    still_house: MemoryServer,
) -> None:
    house = still_house
    await submissions(house, 2)
    token = await house.hub.store.add_token("player0")
    author = BotClient(house.hub.connect(), MSGPACK)
    assert isinstance(await author.hello(token, "mine", games=["tic_tac_toe"]), Welcome)
    await competition(house, 2)
    told = await SimulatedRunner(house).call()
    assert [each.player for each in told.bots] == ["player1"]
    await author.close()
    await asyncio.sleep(0)
    assert {each.player for each in (await SimulatedRunner(house, "lab2").call()).bots} <= {
        "player0"
    }


async def test_checks_are_made_by_one_machine_and_by_another_if_that_cannot(
    still_house: MemoryServer,
) -> None:
    house = still_house
    await submissions(house, 1, ready=False)
    first, second = SimulatedRunner(house), SimulatedRunner(house, "lab2")
    (check,) = (await first.call()).checks
    assert check.digest == digest(0)
    assert (await second.call()).checks == []
    assert (await first.call()).checks == [check]  # until it has said what came of it
    trouble = Trouble("no sandbox", submission=check.submission)
    assert (await first.call(troubles=[trouble])).checks == []
    assert (await second.call()).checks == [check]
    done = CheckDone(check.submission, True, "ok      loads", ["tic_tac_toe"])
    assert (await second.call(checked=[done])).checks == []
    row = await house.hub.store.read(submission_sql.find, check.submission)
    assert (row.status, row.report, row.games) == ("ready", "ok      loads", ("tic_tac_toe",))
    await second.call(checked=[done])  # told again, because the answer was lost


async def test_submission_that_waits_says_who_checks_it_or_how_many_are_before_it(
    still_house: MemoryServer,
) -> None:
    house = still_house
    hosting, store = house.hub.hosting, house.hub.store
    await submissions(house, 3, ready=False)

    async def told() -> list[str]:
        waiting = await store.read(submission_checks.waiting)
        rows = [await store.read(submission_sql.find, each) for each in waiting]
        return [hosting.why_unchecked(row) for row in rows]

    assert {each.partition(",")[0] for each in await told()} == {"No runner machine is connected"}
    machine = SimulatedRunner(house)
    (check,) = (await machine.call()).checks
    most = "A check takes at most 120 s"
    assert await told() == [
        f"Runner lab1 is checking it, for 0 min so far. {most}.",
        f"It is the next to be checked. {most}.",
        f"1 check is before it. {most}.",
    ]
    busy = Trouble("this machine was at work for others", submission=check.submission)
    await machine.call(troubles=[busy])
    failed = await store.read(submission_sql.find, check.submission)
    assert "; 1 ended without a result" in hosting.why_unchecked(failed)


async def test_competition_says_why_checks_wait_as_their_authors_are_told(
    still_house: MemoryServer,
) -> None:
    house = still_house
    hosting, store = house.hub.hosting, house.hub.store
    cup = await house.hub.competitions.open(cup_file(), OLGA)
    members = [NewMember(name, name) for name in ("ada1", "ada2")]
    await store.write(competition_students.take_in, cup.id, members, OLGA, store.now(), adopt="*")
    for number, name in enumerate(("ada1", "ada2")):
        player = await store.read(people.player, name)
        bot = await store.ensure_bot(player.id, "mine", "bot")
        await store.submissions.add(bot.id, "v1", digest(number), b"zip", 1000 + number)
    machine = SimulatedRunner(house)
    assert len((await machine.call()).checks) == 1
    rows = await store.read(submission_sql.waiting_for, cup.id)
    assert await hosting.waiting_checks(cup.id) == [
        f"{row.name} waits for its check. {hosting.why_unchecked(row)}" for row in rows
    ]


async def test_check_counts_flags_after_three_machines_could_not_decide(
    still_house: MemoryServer,
) -> None:
    house = still_house
    await submissions(house, 1, ready=False)
    for number in range(3):
        machine = SimulatedRunner(house, f"lab{number}")
        (check,) = (await machine.call()).checks
        assert not check.flags_count
        busy = Trouble("this machine was at work for others", submission=check.submission)
        assert (await machine.call(troubles=[busy])).checks == []
    last = SimulatedRunner(house, "lab3")
    (check,) = (await last.call()).checks
    assert check.flags_count
    refused = CheckDone(check.submission, False, "FAILED  plays", ["tic_tac_toe"])
    await last.call(checked=[refused])
    row = await house.hub.store.read(submission_sql.find, check.submission)
    assert row.status == "refused"


async def test_matches_run_as_processors_allow_and_lost_machines_cost_no_time(
    still_house: MemoryServer,
) -> None:
    house = still_house
    bots = await submissions(house, 4)
    identifier = await competition(house, 4)
    machine = SimulatedRunner(house, cores=3)
    told = await machine.call()
    clients = {}
    for bot in bots:
        clients[bot], welcome = await machine.host(told, bot)
        assert isinstance(welcome, Welcome)
    await asyncio.sleep(0)
    view = await house.hub.tournaments.view(identifier)
    assert (view.planned, view.created) == (12, 2)  # a pairing: another would need four

    # Both seats are ready, and the machine is lost with a bot to move.
    live = next(iter(house.hub.directory.own.values()))
    seated = [holder.bot_id for holder in live.seats]
    for bot in seated:
        for _ in range(2):
            snapshot = (await clients[bot].next(MatchMessage)).snapshot
            await clients[bot].ask(Ready, snapshot.match, "ab12")
    mover = live.match.seat_to_move
    assert mover is not None
    lost = clients[seated[mover]]
    await lost.close()
    await asyncio.sleep(0)
    assert not house.hub.directory.presences[seated[mover]].online
    before = live.match.deadline()
    assert before is not None
    hosting = house.hub.hosting
    # In all, less time passes than the server waits for the silent bot on the other seat.
    hosting.refund(house.clock.now)
    house.move_to(house.clock.now + 3_000_000_000)
    hosting.refund(house.clock.now)
    assert live.match.deadline() == before + 3_000_000_000
    # A report that is sent again, as its answer was lost, counts once.
    version = house.hub.directory.presences[seated[mover]].version_id
    trouble = Trouble("it cannot be imported", bot=seated[mover], version=version, id="1f")
    for _ in range(3):
        await machine.call(troubles=[trouble])
    house.move_to(house.clock.now + 3_000_000_000)
    hosting.refund(house.clock.now)
    assert live.match.deadline() == before + 6_000_000_000
    # A bot that keeps exiting is absent by its own fault.
    await machine.call(troubles=[structs.replace(trouble, id=each) for each in ("2f", "3f")])
    house.move_to(house.clock.now + 3_000_000_000)
    hosting.refund(house.clock.now)
    assert live.match.deadline() == before + 6_000_000_000


async def test_who_is_lost_again_and_again_is_not_given_time_without_end(
    still_house: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program may exit any number of times if it acts in between: its clock must run some day."""
    monkeypatch.setattr(refunds, "LONGEST_NS", 12 * SECOND)
    house, hosting = still_house, still_house.hub.hosting
    bots = await submissions(house, 2)
    await competition(house, 2)
    machine = SimulatedRunner(house, cores=3)
    told = await machine.call()
    clients = {bot: (await machine.host(told, bot))[0] for bot in bots}
    await asyncio.sleep(0)
    live = next(iter(house.hub.directory.own.values()))
    for bot in bots:
        for _ in range(2):
            snapshot = (await clients[bot].next(MatchMessage)).snapshot
            await clients[bot].ask(Ready, snapshot.match, "ab12")
    mover = live.match.seat_to_move
    assert mover is not None
    bot = live.seats[mover].bot_id
    before = live.match.deadline()
    assert before is not None
    given = []
    for _ in range(4):
        await clients[bot].close()
        await asyncio.sleep(0)
        hosting.refund(house.clock.now)
        house.move_to(house.clock.now + 5 * SECOND)
        hosting.refund(house.clock.now)
        given.append(round(((live.match.deadline() or 0) - before) / SECOND))
        clients[bot], welcome = await machine.host(await machine.call(), bot)
        assert isinstance(welcome, Welcome), welcome
        hosting.refund(house.clock.now)
    assert given == [5, 10, 12, 12]


REQUIRED = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
[hosting]
required = true
"""


async def test_a_final_of_submissions_has_nobody_else_and_is_run_by_the_server(
    still_house: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, hub = still_house, still_house.hub
    with pytest.raises(InvalidCompetition, match=r"hosting\.required: .*start it with --hosted"):
        await hub.competitions.open(REQUIRED, OLGA)
    monkeypatch.setattr(hub.competitions, "_config", ServerConfig(hosted=True))
    cup = await hub.competitions.open(REQUIRED, OLGA)
    names = [f"player{number}" for number in range(3)]
    members = [NewMember(name, name) for name in names]
    joined = await hub.store.write(
        competition_students.take_in, cup.id, members, OLGA, hub.store.now()
    )
    tokens = {each.account: each.token for each in joined}
    clients, rows = {}, []
    for name in names:  # All connect; two have submitted the same files.
        clients[name] = BotClient(hub.connect(), MSGPACK)
        number = names.index(name)
        found = {"games": ["tic_tac_toe"], "max_matches": 2, "version": "v1"}
        answer = await clients[name].hello(tokens[name], "mine", digest=digest(number), **found)
        assert isinstance(answer, Welcome), answer
        if number:
            bot = hub.directory.presences[number + 1].bot_id
            row = await hub.store.submissions.add(bot, "v1", digest(number), b"zip", 1000)
            rows.append(row.id)
    await hub.store.write(competition_sql.move, cup.id, "freeze", OLGA, hub.store.now())
    with pytest.raises(CompetitionRefusal, match="player1/mine, player2/mine is not checked"):
        await hub.competitions.run(cup.id, OLGA)
    for row_id in rows:
        await hub.store.write(submission_sql.check, row_id, True, "", ["tic_tac_toe"], 2000)
    with pytest.raises(
        CompetitionRefusal, match=r"player0/mine only connected; .* without it: --anyway"
    ):
        await hub.competitions.run(cup.id, OLGA)
    shown = await hub.competitions.view(cup.id)
    assert shown.left_out == {"player0/mine"}
    assert "player0/mine only connected: the final is without it" in shown.warnings[0]
    begun = await hub.competitions.run(cup.id, OLGA, anyway=True)
    (game,) = begun.games
    assert game.tournament_id is not None
    view = await hub.tournaments.view(game.tournament_id)
    assert [entry.player for entry in view.entries] == names[1:]
    # Their authors are there, with these versions: the house runs them all the same.
    assert view.waiting_for == [
        f"{name}/mine waits for a runner machine, and none is connected: `plyhouse runner` starts "
        "one."
        for name in names[1:]
    ]
    machine = SimulatedRunner(house)
    told = await machine.call()
    assert [each.player for each in told.bots] == names[1:]
    view = await hub.tournaments.view(game.tournament_id)
    assert view.waiting_for == [
        f"{name}/mine is being started on the runner machine lab1." for name in names[1:]
    ]
    _, welcome = await machine.host(told, told.bots[0].bot)
    assert isinstance(welcome, Welcome)
    (replaced,) = [
        each for each in await clients[names[1]].until_closed() if isinstance(each, Error)
    ]
    assert replaced.code == "auth/replaced"


async def test_submissions_are_looked_up_for_all_entries_at_once(
    still_house: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = still_house.hub
    monkeypatch.setattr(hub.competitions, "_config", ServerConfig(hosted=True))
    database = hub.store._database
    reads: list[int] = []
    read = database.read

    own = asyncio.current_task()

    async def counted(work: Any) -> Any:
        reads[-1] += asyncio.current_task() is own  # not what the house does meanwhile
        return await read(work)

    monkeypatch.setattr(database, "read", counted)
    number = 0
    few, many = 2, 12
    for count in (few, many):
        reads.append(0)
        text = REQUIRED.replace("Cup", f"Cup {count}")
        cup = await hub.competitions.open(text, OLGA)
        for _ in range(count):
            number += 1
            (joined,) = await hub.store.write(
                competition_students.take_in,
                cup.id,
                [NewMember(f"p{number}", f"p{number}")],
                OLGA,
                hub.store.now(),
            )
            player = await hub.store.read(people.player, joined.account)
            bot = await hub.store.ensure_bot(player.id, "mine", "bot")
            row = await hub.store.submissions.add(bot.id, "v1", digest(number), b"zip", 1000)
            await hub.store.write(submission_sql.check, row.id, True, "", ["tic_tac_toe"], 2000)
        await hub.store.write(competition_sql.move, cup.id, "freeze", OLGA, hub.store.now())
        reads[-1] = 0
        begun = await hub.competitions.run(cup.id, OLGA)
        assert begun.status == "running"
    # What is kept of a competition (its privacy) is read by whoever asks first: here or elsewhere.
    assert abs(reads[1] - reads[0]) < (many - few) / 2


DICE = """
name = "Dice"
games = ["pig"]
time_control = "total:60"
"""
ROLLER = b"from plyhouse.bots import Bot\n"


async def dice_cup(hub: Hub, archives: dict[str, bytes]) -> CompetitionRow:
    """A final that has begun, of bots whose packages these are, by their players."""
    cup = await hub.competitions.open(DICE, OLGA)
    await hub.store.write(
        competition_students.take_in,
        cup.id,
        [NewMember(name, name) for name in archives],
        OLGA,
        hub.store.now(),
    )
    for number, (name, archive) in enumerate(archives.items()):
        player = await hub.store.read(people.player, name)
        bot = await hub.store.ensure_bot(player.id, "mine", "bot")
        row = await hub.store.submissions.add(bot.id, "", digest(number), archive, 1000 + number)
        await hub.store.write(submission_sql.check, row.id, True, "", ["pig", "kuhn_poker"], 2000)
    await hub.store.write(competition_sql.move, cup.id, "freeze", OLGA, hub.store.now())
    return await hub.competitions.run(cup.id, OLGA)


def package(**files: bytes) -> bytes:
    names = {"bot": "bot.py", "manifest": "plyhouse.toml"}
    return pack(Package({names[key]: data for key, data in files.items()}, frozenset(), Manifest()))


async def test_match_with_shared_chance_of_an_older_server_is_void_and_played_again(
    tmp_path: Path, clock: FakeClock
) -> None:
    """Its bots could tell each other its dice; the record of the finished one stays valid."""
    config = ServerConfig(database=f"sqlite:///{tmp_path}/house.db")
    hub = await Hub.open(config, now=clock)
    house = MemoryServer(hub, clock)
    await dice_cup(hub, dict.fromkeys(("ann", "ben"), package(bot=ROLLER)))
    machine = SimulatedRunner(house, tier="landlock")
    told = await machine.call()
    clients = [(await machine.host(told, each.bot))[0] for each in told.bots]
    await asyncio.sleep(0)
    first, second = hub.directory.own.values()
    streams = [live.match.config.stream for live in (first, second)]
    assert streams == [f"match:{first.id}", f"match:{second.id}"]
    for client in clients:
        await client.ask(Ready, first.id, "ab")
    await clients[0].ask(Resign, first.id)
    await clients[1].next(Finished)

    def shared(connection: Connection) -> None:
        connection.execute(matches.update().values(stream=SHARED_STREAM))

    await hub.store._database.write(shared)
    await hub.close()

    hub = await Hub.open(config, now=clock)
    try:
        stored = await hub.store.read(match_reads.stored_match, second.id)
        assert stored.header.termination == "server_fault"
        assert stored.pairing.finished_ms is not None
        house = MemoryServer(hub, clock)
        machine = SimulatedRunner(house, tier="landlock")
        told = await machine.call()
        for wanted in told.bots:
            await machine.host(told, wanted.bot)
        await asyncio.sleep(0)
        (again,) = hub.directory.own.values()
        assert again.pairing.id == f"{second.pairing.id}~1"
        assert again.match.config.stream == f"match:{again.id}"
        assert again.pairing.seed != second.pairing.seed
        record = stored_record(
            await hub.store.read(match_reads.stored_match, first.id), get_game("pig")
        )
        assert record.chance.stream == SHARED_STREAM
        assert record.chance.seed == first.pairing.seed.hex()
        assert verify(record).ok
    finally:
        await hub.close()


async def opened(house: MemoryServer, bot: int) -> Bot:
    await house.hub.store.write(submission_sql.set_open, bot, 1)
    return await house.hub.store.read(people.bot_named, f"player{bot - 1}", "mine")


async def test_people_who_play_against_a_hosted_bot_keep_no_final_waiting(
    still_house: MemoryServer,
) -> None:
    house, hub = still_house, still_house.hub
    bots = await submissions(house, 5)
    person = await hub.store.add_player("zoe")
    zoe = Identity(person.id, "zoe", frozenset(("play",)), 1)
    machine = SimulatedRunner(house, cores=2)
    await machine.call()
    row = await opened(house, bots[4])
    asking = asyncio.create_task(hub.hosted_play.ready(zoe, row.player, row.name, GAME.spec))
    while not (told := await machine.call()).bots:
        assert not asking.done(), asking.result()
    (wanted,) = told.bots
    assert (wanted.bot, wanted.nice) == (bots[4], 19)
    played, welcome = await machine.host(await machine.call(), bots[4])
    assert isinstance(welcome, Welcome)
    assert await asking == "player4/mine"
    token = await hub.store.add_token("zoe")
    client = BotClient(hub.connect(), MSGPACK)
    assert isinstance(await client.hello(token), Welcome)
    rated = await client.ask(Challenge, "player4/mine", GAME.spec, "total:60", rated=True)
    assert isinstance(rated, Error), rated
    assert rated.code == "challenge/not_accepting"
    answer = await client.ask(Challenge, "player4/mine", GAME.spec, "total:60")
    assert isinstance(answer, Ok), answer
    assert len(hub.directory.own) == 1

    # A final has both processors all the same: its bots go before on them.
    identifier = await competition(house, 4)
    told = await machine.call()
    assert {each.bot: each.nice for each in told.bots} == dict.fromkeys(bots[:4], 0) | {bots[4]: 19}
    for bot in bots[:4]:
        await machine.host(told, bot)
    await asyncio.sleep(0)
    assert (await hub.tournaments.view(identifier)).created == 2
    # While more of it waits, nobody else begins; who asks has a place in the queue.
    again = await client.ask(Challenge, "player4/mine", GAME.spec, "total:60")
    assert isinstance(again, Error), again
    assert (again.code, "competitions go first" in again.message) == ("hosted/busy", True)
    # A bot that the final needs is unavailable, even if it is open to play.
    await opened(house, bots[0])
    taken = await client.ask(Challenge, "player0/mine", GAME.spec, "total:60")
    assert isinstance(taken, Error), taken
    assert taken.code == "challenge/not_accepting"
    await played.close()


async def test_guests_play_against_hosted_bots_where_the_operator_says_so(
    still_house: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, play = still_house, still_house.hub.hosted_play
    bots = await submissions(house, 1)
    row = await opened(house, bots[0])
    guest = Identity(99, "guest-1", frozenset(("guest",)), 0, guest=True)
    with pytest.raises(ProtocolError, match="Guests play against bots that are connected only"):
        await play.ready(guest, row.player, row.name, GAME.spec)
    monkeypatch.setattr(play, "_config", ServerConfig(hosted=True, hosted_play="guests"))
    with pytest.raises(ProtocolError, match="no runner machine is connected"):
        await play.ready(guest, row.player, row.name, GAME.spec)
    monkeypatch.setattr(play, "_config", ServerConfig(hosted=True, hosted_play="nobody"))
    with pytest.raises(ProtocolError, match="Here nobody plays"):
        await play.ready(guest, row.player, row.name, GAME.spec)


@pytest.mark.parametrize("how", ["closed", "banned"])
async def test_who_plays_an_open_bot_begins_no_match_with_it_once_it_is_closed(
    still_house: MemoryServer, how: str
) -> None:
    """Not even one who has never stopped playing it; the match that is played goes on."""
    house, hub = still_house, still_house.hub
    bots = await submissions(house, 1)
    person = await hub.store.add_player("zoe")
    zoe = Identity(person.id, "zoe", frozenset(("play",)), 1)
    machine = SimulatedRunner(house, cores=4)
    await machine.call()
    row = await opened(house, bots[0])
    asking = asyncio.create_task(hub.hosted_play.ready(zoe, row.player, row.name, GAME.spec))
    while not (await machine.call()).bots:
        assert not asking.done(), asking.result()
    played, welcome = await machine.host(await machine.call(), bots[0])
    assert isinstance(welcome, Welcome)
    await asking
    client = BotClient(hub.connect(), MSGPACK)
    assert isinstance(await client.hello(await hub.store.add_token("zoe")), Welcome)
    wanted = "player0/mine", GAME.spec, "total:60"
    assert isinstance(await client.ask(Challenge, *wanted), Ok)
    if how == "closed":
        await hub.store.write(submission_sql.set_open, bots[0], None)
    else:
        await hub.store.write(
            people_changes.disable_player, row.player, OLGA, hub.store.now(), keep_matches=True
        )
    assert [each.bot for each in (await machine.call()).bots] == bots  # for the match
    again = await client.ask(Challenge, *wanted)
    assert isinstance(again, Error), again
    assert again.code == "challenge/not_accepting"
    with pytest.raises(ProtocolError) as refused:
        await hub.hosted_play.ready(zoe, row.player, row.name, GAME.spec)
    assert refused.value.code == "hosted/closed"
    assert len(hub.directory.own) == 1
    await played.close()


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
async def test_match_of_a_person_with_a_hosted_bot_goes_on_after_a_restart(
    tmp_path: Path, clock: FakeClock, *, closed: bool
) -> None:
    config = ServerConfig(database=f"sqlite:///{tmp_path}/house.db")
    hub = await Hub.open(config, now=clock)
    house = MemoryServer(hub, clock)
    bots = await submissions(house, 1)
    person = await hub.store.add_player("zoe")
    zoe = Identity(person.id, "zoe", frozenset(("play",)), 1)
    token = await hub.store.add_token("zoe")
    machine = SimulatedRunner(house, cores=4)
    await machine.call()
    row = await opened(house, bots[0])
    asking = asyncio.create_task(hub.hosted_play.ready(zoe, row.player, row.name, GAME.spec))
    while not (await machine.call()).bots:
        assert not asking.done(), asking.result()
    await machine.host(await machine.call(), bots[0])
    await asking
    client = BotClient(hub.connect(), MSGPACK)
    await client.hello(token)
    assert isinstance(await client.ask(Challenge, "player0/mine", GAME.spec, "total:60"), Ok)
    if closed:
        await hub.store.write(submission_sql.set_open, bots[0], None)
    await hub.close()

    hub = await Hub.open(config, now=clock)
    try:
        house = MemoryServer(hub, clock)
        machine = SimulatedRunner(house, cores=4)
        _, welcome = await machine.host(await machine.call(), bots[0])
        assert isinstance(welcome, Welcome), welcome
        assert len(welcome.matches) == 1
    finally:
        await hub.close()


async def playing(
    house: MemoryServer, machine: SimulatedRunner
) -> tuple[Any, int, dict[int, BotClient]]:
    """Two hosted bots in a match: the match, who is to move, and their connections."""
    bots = await submissions(house, 2)
    await competition(house, 2)
    told = await machine.call()
    clients = {bot: (await machine.host(told, bot))[0] for bot in bots}
    await asyncio.sleep(0)
    live = next(iter(house.hub.directory.own.values()))
    for bot in bots:
        for _ in range(2):
            snapshot = (await clients[bot].next(MatchMessage)).snapshot
            await clients[bot].ask(Ready, snapshot.match, "ab12")
    mover = live.match.seat_to_move
    assert mover is not None
    return live, live.seats[mover].bot_id, clients


async def test_a_program_that_ended_by_itself_is_not_given_time(still_house: MemoryServer) -> None:
    house, hosting = still_house, still_house.hub.hosting
    machine = SimulatedRunner(house, cores=3)
    live, bot, clients = await playing(house, machine)
    version = house.hub.directory.presences[bot].version_id
    before = live.match.deadline()

    def after(seconds: int) -> int:
        """For how long the clock has stood still in all, that much later."""
        hosting.refund(house.clock.now)
        house.move_to(house.clock.now + seconds * SECOND)
        hosting.refund(house.clock.now)
        stood: int = live.match.deadline() - before
        return round(stood / SECOND)

    async def lost() -> None:
        await clients[bot].close()
        await asyncio.sleep(0)

    async def back() -> None:
        clients[bot], welcome = await machine.host(await machine.call(), bot)
        assert isinstance(welcome, Welcome), welcome
        hosting.refund(house.clock.now)

    await lost()
    assert after(3) == 3  # nobody knows why
    await machine.call()
    assert after(3) == 6  # its machine is there, and has not said that it was the program
    await machine.call(ended=[Hosted(bot, version)])
    assert after(3) == 6
    await machine.call()  # It left; a bot that exited stays absent by its own fault.
    assert after(3) == 6
    await back()
    await lost()
    assert after(3) == 9  # Lost again, and not by its own fault.
    await machine.call(ended=[Hosted(bot, version + 1)])  # of another version
    assert after(2) == 11
    await back()
    # It may be known before the connection is seen to end.
    await machine.call(ended=[Hosted(bot, version)])
    hosting.refund(house.clock.now)
    await lost()
    assert after(3) == 11


async def test_who_plays_well_after_a_trouble_starts_anew(
    still_house: MemoryServer,
) -> None:
    house, hosting = still_house, still_house.hub.hosting
    machine = SimulatedRunner(house, cores=3)
    live, bot, clients = await playing(house, machine)
    other = next(each for each in clients if each != bot)
    versions = {each.bot_id: each.version_id for each in house.hub.directory.presences.values()}

    async def trouble(whose: int) -> None:
        said = Trouble("it cannot be imported", bot=whose, version=versions[whose])
        await machine.call(troubles=[said] * MAX_FAILURES)

    for each in (bot, other):
        await trouble(each)
    assert {hosting._bots.count[versions[each]] for each in (bot, other)} == {MAX_FAILURES}
    # A forfeit is no match that was played well; the other one's is.
    await clients[bot].send(Resign(99, live.id, "bot_crash", "KeyError"))
    await clients[other].next(Finished)
    assert hosting._bots.count == {versions[bot]: MAX_FAILURES}


async def test_a_machine_that_joins_gets_matches_of_a_final_that_wait_for_cores(
    still_house: MemoryServer,
) -> None:
    house = still_house
    bots = await submissions(house, 4)
    identifier = await competition(house, 4)
    first, second = SimulatedRunner(house, cores=2), SimulatedRunner(house, "lab2", cores=2)
    told = await first.call()
    clients = {}
    for bot in bots:
        clients[bot], _ = await first.host(told, bot)
    await asyncio.sleep(0)

    async def created() -> int:
        return (await house.hub.tournaments.view(identifier)).created

    assert await created() == 2  # a pairing, which needs both cores
    here = house.hub.directory.presences
    at_work = {bot for bot in bots if here[bot].matches}
    moved = {each.bot for each in (await second.call()).bots}
    assert moved == set(bots) - at_work
    stay = {each.bot for each in (await first.call()).bots}
    assert stay == at_work
    # Until they are there nothing is begun with them: no match is to notice that they move.
    house.hub.tournaments.advance_soon()
    await asyncio.sleep(0)
    assert await created() == 2
    told = await second.call()
    for bot in moved:
        _, welcome = await second.host(told, bot)
        assert isinstance(welcome, Welcome)
        assert here[bot].hosted == "lab2"
    for _ in range(1000):
        if await created() > 2:
            break
        await asyncio.sleep(0)
    assert await created() == 4
    assert all(here[bot].online for bot in at_work)
    assert {each.bot for each in (await second.call()).bots} == moved


async def test_a_bot_that_needs_a_program_goes_where_that_is(
    still_house: MemoryServer,
) -> None:
    house, hosting = still_house, still_house.hub.hosting
    store = house.hub.store
    await submissions(house, 1)
    for name, ready in (("nina", True), ("nora", False)):
        player = await store.add_player(name)
        bot = await store.ensure_bot(player.id, "mine", "bot")
        row = await store.submissions.add(
            bot.id, "v1", digest(len(name) + ready), b"zip", 5000, needs="node"
        )
        if ready:
            await store.write(submission_sql.check, row.id, True, "", ["tic_tac_toe"], 6000)
    terms = Terms(GAME, TimeControl.parse("total:60"), rated=False, mirrored=True)
    names = ["player0/mine", "nina/mine"]
    identifier = (
        await begin_round_robin(
            house.hub.competitions, "cup", terms, By("olga", "a test"), entries=names
        )
    ).id
    assert hosting.why_unchecked(row).startswith(
        "No runner machine is connected, so nothing checks it."
    )
    python = SimulatedRunner(house, languages=["python", "program"])
    told = await python.call()
    assert [each.player for each in told.bots] == ["player0"]
    assert told.checks == []
    told = await python.call()
    view = await house.hub.tournaments.view(identifier)
    assert (
        "nina/mine is started with node, and waits for a runner machine that has it."
        in view.waiting_for
    )
    assert hosting.why_unchecked(row).startswith(
        "It is started with node, which no runner machine here"
    )
    both = SimulatedRunner(house, "lab2", languages=["python", "program", "node"])
    told = await both.call()
    assert [each.player for each in told.bots] == ["nina"]
    assert [each.submission for each in told.checks] == [row.id]
    assert hosting.why_unchecked(row).startswith("Runner lab2 is checking it")
    assert [each.player for each in (await python.call()).bots] == ["player0"]
