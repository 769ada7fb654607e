"""Real bots in real processes on a real server, over sockets that are cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.bots.conftest import BotFile

from plyhouse.bots.client.client import CannotConnect, Refused, Replaced
from plyhouse.bots.client.websocket import websocket_connector
from plyhouse.bots.running.python_session import RunOptions, RunSummary, SeekRequest, run_bot
from plyhouse.protocol.codec import JSON
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import RunningServer, running_server


class Proxy:
    """Passes bytes on to a server, and cuts every line when told to."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._lines: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.cuts = 0

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._line, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def cut(self) -> None:
        self.cuts += 1
        for writer in self._lines:
            writer.transport.abort()

    async def _line(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._target)
        self._lines |= {writer, back}
        pumps = [asyncio.create_task(pump(reader, back)), asyncio.create_task(pump(there, writer))]
        self._tasks |= set(pumps)
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for end in (writer, back):
            self._lines.discard(end)
            end.transport.abort()


async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    except OSError:
        pass


@pytest.fixture
async def server() -> AsyncIterator[RunningServer]:
    config = ServerConfig(port=0, database="sqlite:///:memory:", log_level="error")
    async with running_server(config) as server:
        yield server


async def token(server: RunningServer, player: str) -> str:
    row = await server.hub.store.add_player(player)
    return await server.hub.store.add_token(row.id, ["play"])


async def play(server: RunningServer, spec: str, secret: str, game: str, **more: Any) -> RunSummary:
    options: dict[str, Any] = {
        "seeks": [SeekRequest(game, "total:10+0.1", count=1)], "matches": 1, "say": lambda _: None,
    }  # fmt: skip
    connector = more.pop("connector", None)
    asked = RunOptions(**{**options, **more})
    running = run_bot(spec, server.url, secret, asked, connector=connector)
    return await asyncio.wait_for(running, 100)


@pytest.mark.parametrize(
    ("one", "other", "game"),
    [
        ("random", "random", "connect_four"),
        ("minimax", "alpha_beta", "tic_tac_toe"),
        ("coin_guess_optimal", "random", "coin_guess"),
        ("kuhn_optimal", "random", "kuhn_poker"),
        ("random", "random", "pig"),
    ],
)
async def test_reference_bots_play_their_games(
    server: RunningServer, one: str, other: str, game: str
) -> None:
    first, second = await asyncio.gather(
        play(server, one, await token(server, "anna"), game),
        play(server, other, await token(server, "bert"), game, codec=JSON),
    )
    assert first.results[0].outcome.termination == "normal"
    assert first.results[0].outcome == second.results[0].outcome
    assert first.results[0].points == -second.results[0].points
    assert {first.results[0].seat, second.results[0].seat} == {0, 1}


async def test_a_line_cut_in_mid_match_costs_nothing_but_time(
    server: RunningServer, bot_file: BotFile
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            async def choose(self, turn):
                print("ply", turn.ply, len(turn.history))
                return turn.rng.choice(turn.legal)
        """
    )
    async with Proxy(server.host, server.port) as proxy:

        def say(line: str) -> None:
            for ply in (2, 3, 4, 5):  # Whichever seat begins, no match ends before that.
                if f"ply {ply} " in line:
                    proxy.cut()

        mine, theirs = await asyncio.gather(
            play(
                server, spec, await token(server, "anna"), "connect_four",
                connector=websocket_connector(f"127.0.0.1:{proxy.port}"), say=say,
            ),
            play(server, "random", await token(server, "bert"), "connect_four"),
        )  # fmt: skip
        assert proxy.cuts >= 2
    assert theirs.results[0].outcome.termination == "normal"
    assert mine.results[0].outcome == theirs.results[0].outcome


async def test_a_crash_is_told_to_the_author_and_lost(
    server: RunningServer, bot_file: BotFile, tmp_path: Path
) -> None:
    spec = bot_file("class MyBot(Bot):\n    def choose(self, turn): return turn.no_such_thing\n")
    mine, theirs = await asyncio.gather(
        play(server, spec, await token(server, "anna"), "pig", log_folder=tmp_path / "logs"),
        play(server, "random", await token(server, "bert"), "pig"),
    )
    assert mine.lost == theirs.won == 1
    assert theirs.results[0].outcome.termination == "bot_crash"
    log = (tmp_path / "logs" / "my_bot.log").read_text(encoding="utf-8")
    assert "has no attribute 'no_such_thing'" in log
    assert "the position was:" in log


async def test_mirrored_matches_run_in_processes_of_their_own(server: RunningServer) -> None:
    seeks = [SeekRequest("tic_tac_toe", "move:1", mirrored=True)]
    one, other = await asyncio.gather(
        play(server, "random", await token(server, "anna"), "", seeks=seeks, matches=2),
        play(server, "random", await token(server, "bert"), "", seeks=seeks, matches=2),
    )
    assert sorted(result.seat for result in one.results) == [0, 1]
    assert one.won == other.lost


async def test_a_wrong_token_is_refused_in_one_sentence(server: RunningServer) -> None:
    with pytest.raises(Refused, match="token") as error:
        await play(server, "random", "ply_wrong", "pig")
    assert error.value.code == "auth/bad_token"


async def test_a_second_copy_is_refused_unless_it_takes_over(server: RunningServer) -> None:
    secret = await token(server, "anna")
    connected = asyncio.Event()
    first = asyncio.create_task(
        play(server, "random", secret, "pig", say=lambda line: connected.set())
    )
    await connected.wait()
    with pytest.raises(Refused) as error:
        await play(server, "random", secret, "pig")
    assert error.value.code == "auth/already_connected"
    second = asyncio.create_task(play(server, "random", secret, "pig", takeover=True))
    with pytest.raises(Replaced):
        await first
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)


async def test_no_server_is_said_after_a_few_attempts(unused_tcp_port: int) -> None:
    with pytest.raises(CannotConnect, match="Nothing listens"):
        await run_bot(
            "random",
            f"127.0.0.1:{unused_tcp_port}",
            "ply_x",
            RunOptions(say=lambda _: None, first_attempts=2),
        )
