"""Starting, stopping, being killed, and coming back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient
from tests.tournaments import begin_round_robin
from websockets.asyncio.client import connect

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Accepted, Act, Notice, Ready, Turn, Welcome
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import CannotListen, CannotServe, DatabaseUnusable, running_server
from plyhouse.storage import match_reads
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

OpenHouse = Callable[..., Awaitable[Any]]

SERVE = """
import sys
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import serve
serve(ServerConfig(port=0, database=sys.argv[1], log_level="error"))
"""


@contextlib.asynccontextmanager
async def server_process(database: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A server in its own process; yields the process and the address of its websocket."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVE, database, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            line = (await process.stdout.readline()).decode().strip()
        assert line.startswith("Plyhouse is listening on http://127.0.0.1:")
        yield process, line.rpartition(" ")[2].replace("http", "ws") + "/ws"
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def log_in(stack: contextlib.AsyncExitStack, url: str, token: str, bot: str) -> Any:
    wire = await stack.enter_async_context(
        connect(url, subprotocols=[MSGPACK.subprotocol], compression=None)  # type: ignore[list-item]
    )
    client = BotClient(wire, MSGPACK)
    welcome = await client.hello(token, bot)
    assert isinstance(welcome, Welcome), welcome
    return client, welcome


async def tokens(database: str) -> dict[str, str]:
    async with await Store.open(database) as store:
        made = {}
        for name in ("alice", "bob"):
            await store.add_player(name)
            made[name] = await store.add_token(name)
        return made


async def test_after_a_kill_the_match_goes_on_where_it_was(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'house.db'}"
    token = await tokens(database)
    async with contextlib.AsyncExitStack() as stack, server_process(database) as (process, url):
        clients = [(await log_in(stack, url, token[name], "bot"))[0] for name in token]
        for client in clients:
            await client.seek("tic_tac_toe", "total:1000")
        starts = await asyncio.gather(*(client.start() for client in clients))
        if starts[0].seat == 1:
            clients.reverse()
        match = starts[0].match
        for ply, action in enumerate(("a1", "b2", "c3")):
            turn = await clients[ply % 2].next(Turn)
            assert isinstance(await clients[ply % 2].ask(Act, match, turn.ply, action), Accepted)
        await clients[1].next(Turn)
        process.send_signal(signal.SIGKILL)
        await process.wait()
    async with contextlib.AsyncExitStack() as stack, server_process(database) as (process, url):
        back = {}
        for name in token:
            client, welcome = await log_in(stack, url, token[name], "bot")
            (snapshot,) = welcome.matches
            back[snapshot.seat] = (client, snapshot)
        snapshot = back[1][1]
        assert snapshot.match == match
        assert [event.action for event in snapshot.events] == ["a1", "b2", "c3"]
        assert snapshot.your_turn
        assert all(900_000 < clock.remaining_ms <= 1_000_000 for clock in snapshot.clocks)
        answer = await back[1][0].ask(Act, match, 3, "a3")
        assert isinstance(answer, Accepted)
        back[1] = (back[1][0], msgspec.structs.replace(snapshot, your_turn=False))
        ends = await asyncio.gather(*(client.play(shot, 3) for client, shot in back.values()))
        assert ends[0].outcome.termination == "normal"
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0


async def test_graceful_stop_keeps_matches_and_competitions(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    database = f"sqlite:///{tmp_path / 'house.db'}"
    token = await tokens(database)
    config = ServerConfig(port=0, database=database)
    bots = {}
    async with contextlib.AsyncExitStack() as stack:
        async with running_server(config) as server:
            for name in token:
                client, _ = await log_in(stack, server.ws_url, token[name], "bot")
                await client.seek("pig", "total:100")
                bots[name] = client
            starts = await asyncio.gather(*(bot.start() for bot in bots.values()))
        told = await bots["alice"].until_closed()
        assert told[-1].code == "server/shutting_down"
        assert bots["alice"].close_code == 1001
    async with contextlib.AsyncExitStack() as stack, running_server(config) as server:
        assert list(server.hub.directory.own) == [starts[0].match]
        resumed = []
        for name in token:
            client, welcome = await log_in(stack, server.ws_url, token[name], "bot")
            resumed.append((client, welcome.matches[0]))
        ends = await asyncio.gather(*(client.play(shot, 3) for client, shot in resumed))
        assert ends[0].outcome.termination == "normal"


async def test_competition_goes_on_after_a_restart(tmp_path: Path) -> None:
    from plyhouse.games.registry import get_game
    from plyhouse.server.match.terms import Terms
    from plyhouse.server.match.time_control import TimeControl

    database = f"sqlite:///{tmp_path / 'house.db'}"
    token = await tokens(database)
    config = ServerConfig(port=0, database=database)
    terms = Terms(get_game("kuhn_poker"), TimeControl.parse("total:60"), True, True)

    async def enter(stack: contextlib.AsyncExitStack, url: str, name: str) -> Any:
        wire = await stack.enter_async_context(
            connect(url, subprotocols=[MSGPACK.subprotocol], compression=None)  # type: ignore[list-item]
        )
        client = BotClient(wire, MSGPACK)
        welcome = await client.hello(token[name], "bot", games=["kuhn_poker"], max_matches=2)
        return client, welcome

    async with contextlib.AsyncExitStack() as stack, running_server(config) as server:
        for name in token:
            await enter(stack, server.ws_url, name)
        competition = (
            await begin_round_robin(
                server.hub.competitions, "Cup", terms, By("olga", "a test"), rounds=2
            )
        ).id
    async with contextlib.AsyncExitStack() as stack, running_server(config) as server:
        assert len(server.hub.tournaments) == 1

        async def play(name: str) -> None:
            client, welcome = await enter(stack, server.ws_url, name)
            for shot in welcome.matches:
                if shot.status == "waiting":
                    await client.ask(Ready, shot.match)
                await client.play(shot, 1)
            for _ in range(4 - len(welcome.matches)):
                await client.play(await client.start(), 1)

        await asyncio.gather(*(play(name) for name in token))
        async with asyncio.timeout(PATIENCE):
            while (view := await server.hub.tournaments.view(competition)).row.status != "finished":
                pass
        assert (view.planned, view.finished) == (4, 4)


async def test_port_in_use_is_one_clear_sentence() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        server = running_server(ServerConfig(port=port, database="sqlite:///:memory:"))
        with pytest.raises(CannotListen, match=f"Port {port} .*in use") as caught:
            await server.__aenter__()
    assert caught.value.exit_code == 3


async def test_impossible_host_is_one_clear_sentence() -> None:
    for host in ("no.such.host.invalid", "203.0.113.7"):
        with pytest.raises(CannotListen, match="no address of this machine"):
            async with running_server(
                ServerConfig(host=host, port=0, database="sqlite:///:memory:")
            ):
                pass


async def test_locked_database_is_one_clear_sentence(tmp_path: Path) -> None:
    path = tmp_path / "house.db"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        url = f"sqlite:///{path}?busy_timeout_ms=50"
        server = running_server(ServerConfig(port=0, database=url))
        with pytest.raises(DatabaseUnusable, match="locked") as caught:
            await server.__aenter__()
    assert isinstance(caught.value, CannotServe)
    assert caught.value.exit_code == 3


async def test_second_server_on_a_database_is_one_clear_sentence(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'house.db'}"
    async with server_process(database) as (process, _):
        with pytest.raises(DatabaseUnusable) as caught:
            async with running_server(ServerConfig(port=0, database=database)):
                pass
        assert str(caught.value) == (
            f"another Plyhouse server (process {process.pid}) uses the database "
            f"{tmp_path / 'house.db'}; stop it or choose another database"
        )
        assert caught.value.exit_code == 3
        assert list(await tokens(database)) == ["alice", "bob"]  # short work is no server
        process.send_signal(signal.SIGKILL)
        await process.wait()
    async with running_server(ServerConfig(port=0, database=database)):
        pass


async def test_database_of_a_newer_version_is_one_clear_sentence(tmp_path: Path) -> None:
    path = tmp_path / "house.db"
    async with await Store.open(f"sqlite:///{path}"):
        pass
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE plyhouse_schema SET version_num = '9999'")
        other.commit()
    with pytest.raises(DatabaseUnusable, match="newer"):
        async with running_server(ServerConfig(port=0, database=f"sqlite:///{path}")):
            pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_read_only_database_is_one_clear_sentence(tmp_path: Path) -> None:
    path = tmp_path / "house.db"
    async with await Store.open(f"sqlite:///{path}"):
        pass
    path.chmod(0o444)
    with pytest.raises(DatabaseUnusable, match="cannot be written"):
        async with running_server(ServerConfig(port=0, database=f"sqlite:///{path}")):
            pass


async def test_database_opened_for_reading_only_is_one_clear_sentence(tmp_path: Path) -> None:
    path = tmp_path / "house.db"
    async with await Store.open(f"sqlite:///{path}"):
        pass
    with pytest.raises(DatabaseUnusable, match="mode=ro"):
        async with running_server(ServerConfig(port=0, database=f"sqlite:///{path}?mode=ro")):
            pass


async def test_a_match_waits_while_the_database_is_locked(tmp_path: Path) -> None:
    path = tmp_path / "house.db"
    database = f"sqlite:///{path}?busy_timeout_ms=10"
    token = await tokens(database)
    async with (
        contextlib.AsyncExitStack() as stack,
        running_server(ServerConfig(port=0, database=database)) as server,
    ):
        clients = [(await log_in(stack, server.ws_url, token[name], "bot"))[0] for name in token]
        for client in clients:
            await client.seek("tic_tac_toe")
        starts = await asyncio.gather(*(client.start() for client in clients))
        if starts[0].seat == 1:
            clients.reverse()
        await clients[0].next(Turn)
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            await clients[0].send(Act(50, starts[0].match, 0, "a1"))

            assert (await clients[1].next(Notice)).code == "server/storage"
            other.execute("ROLLBACK")
        assert (await clients[1].next(Turn)).events[-1].action == "a1"
        assert (await clients[0].next(Accepted)).ply == 0


async def test_match_whose_rows_do_not_fit_is_void_and_the_server_starts(tmp_path: Path) -> None:
    path = tmp_path / "house.db"
    database = f"sqlite:///{path}"
    token = await tokens(database)
    config = ServerConfig(port=0, database=database)
    async with contextlib.AsyncExitStack() as stack, running_server(config) as server:
        clients = [(await log_in(stack, server.ws_url, token[name], "bot"))[0] for name in token]
        for client in clients:
            await client.seek("tic_tac_toe")
        starts = await asyncio.gather(*(client.start() for client in clients))
        mover = clients[starts[0].seat]
        turn = await mover.next(Turn)
        await mover.ask(Act, starts[0].match, turn.ply, "a1")
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE events SET text = 'z9' WHERE kind = 'action'")
        other.commit()
    async with running_server(config) as server:
        assert not server.hub.directory.own
        stored = await server.hub.store.read(match_reads.stored_match, starts[0].match)
        assert stored.header.termination == "server_fault"


async def test_second_interrupt_ends_at_once(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'house.db'}"
    async with server_process(database) as (process, _):
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() in (0, 130)
