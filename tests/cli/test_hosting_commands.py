"""Commands about bots that the server runs: opened to people, and rehearsed before their final."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from tests.cli.conftest import Done, Plyhouse
from tests.harness.hosted_server import OLGA, PIG, HostedServer

from plyhouse.clients.shared.errors import EXIT_REFUSED, EXIT_USAGE
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server
from plyhouse.storage import competition_sql, competition_students
from plyhouse.storage.competition_rows import NewMember

CUP = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
board = "class"
"""
Command = Callable[..., Awaitable[Done]]


@pytest.fixture
async def house() -> AsyncIterator[HostedServer]:
    """A server that accepts submissions and has no runner, so nothing of them runs."""
    config = ServerConfig(port=0, database="sqlite:///:memory:", hosted=True)
    async with running_server(config) as server, contextlib.AsyncExitStack() as stack:
        yield HostedServer(server, stack)


@pytest.fixture
def command(house: HostedServer, plyhouse: Plyhouse) -> Command:
    """Run a command on the server, with the token of somebody."""

    async def run(who: str, *arguments: str) -> Done:
        scopes = ("organise",) if who == OLGA.who else ("play",)
        token, server = await house.token(who, *scopes), house.server.url
        env = {"PLYHOUSE_TOKEN": token, "PLYHOUSE_SERVER": server}
        return await asyncio.to_thread(plyhouse, *arguments, env=env)

    return run


async def test_an_author_opens_what_was_handed_in_and_closes_it(
    house: HostedServer, command: Command
) -> None:
    row = await house.submit("ada", PIG, "mine", "tic_tac_toe")
    number = str(row.id)

    async def opened() -> list[str]:
        return [f"{each.player}/{each.bot}" for each in await house.hub.hosted_play.listed()]

    which = await command("ada", "submission", "open")
    assert (which.code, "Missing argument 'NUMBER'" in which.err) == (EXIT_USAGE, True)
    # For others it does not exist, whichever request they make.
    strange = await command("eve", "submission", "open", number)
    assert strange.code == EXIT_USAGE
    assert await opened() == []
    done = await command("ada", "submission", "open", number)
    assert (done.code, done.err) == (0, "People can play against ada/mine.\n")
    assert await opened() == ["ada/mine"]
    done = await command("ada", "submission", "close", number, "--json")
    assert (done.code, json.loads(done.out)["open"]) == (0, False), done.err
    assert "can no longer play" in done.err
    assert await opened() == []


async def test_number_of_a_submission_is_no_match_whose_output_is_shown(command: Command) -> None:
    done = await command("ada", "submission", "logs", "4")
    assert done.code == EXIT_USAGE
    assert "4 is the number of a submission: give the id of a match" in done.err


async def test_an_organiser_rehearses_a_final_and_is_told_how_to_go_on(
    house: HostedServer, command: Command
) -> None:
    store = house.hub.store
    cup = await house.hub.competitions.open(CUP, OLGA)
    few = await command("olga", "competition", "rehearse", "Cup")
    assert (few.code, "nobody could be compared" in few.err) == (EXIT_REFUSED, True), few.err
    members = [NewMember(name, name) for name in ("ada", "bob", "cyd")]
    joined = await store.write(competition_students.take_in, cup.id, members, OLGA, store.now())
    house._players.update(each.account for each in joined)
    for name in ("ada", "bob"):
        await house.submit(name, PIG, "mine", "tic_tac_toe")
    cyd = await house.client()
    await cyd.hello(next(each.token for each in joined if each.account == "cyd"), "own")
    status = (await command("olga", "competition", "status", "Cup")).out
    ends = {line.split()[0]: line.split()[-1] for line in status.splitlines() if "/" in line}
    assert (ends["ada/mine"], ends["cyd/own"]) == ("hosted", "yes")
    pupil = await command("ada", "competition", "rehearse", "Cup")
    assert pupil.code == EXIT_REFUSED, pupil.err
    done = await command("olga", "competition", "rehearse", "Cup", "--why", "in time")
    assert done.code == 0, done.err
    for said in (
        "Left out, as they have no submission that is ready: cyd/own.",
        "Cup (rehearsal) has begun: plyhouse competition status 'Cup (rehearsal)'",
        "plyhouse competition delete 'Cup (rehearsal)'",
    ):
        assert said in done.err, done.err
    assert (await store.read(competition_sql.find, "Cup (rehearsal)")).rehearses == cup.id
    again = await command("olga", "competition", "rehearse", "Cup")
    assert (again.code, "already" in again.err) == (EXIT_USAGE, True), again.err
    # The command that it prints at the end works, too.
    end = await command("olga", "competition", "delete", "Cup (rehearsal)", "--why", "seen")
    assert end.code == 0, end.err
