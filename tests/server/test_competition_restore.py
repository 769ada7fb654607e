"""The server starts with every damage to a competition."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest
from tests.harness.stored_competitions import competition, three_bots
from tests.harness.zygote import Zygote
from tests.tournaments import add_competition, add_tournament

from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.storage import competition_sql, match_lists, people
from plyhouse.storage.rows import (
    By,
    EventRow,
    MatchRow,
    NewMatch,
    NewPairing,
    PairingRow,
    SeatRow,
)
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import TournamentSettings, settings

CREATE = """
import asyncio, os, signal, sys
from sqlalchemy import event
from plyhouse.storage import competition_sql
from plyhouse.storage.competition_rows import CompetitionGame, CompetitionRow
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

async def main(url, fatal):
    store = await Store.open(url)
    engine = store._database._writer.engine
    steps = 0

    def step(*_):
        global done
        nonlocal steps
        if steps == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        steps += 1

    event.listen(engine, "before_cursor_execute", step)
    event.listen(engine, "after_cursor_execute", step)
    event.listen(engine, "commit", step)
    games = (CompetitionGame(0, "tic_tac_toe", None),)
    row = CompetitionRow("cup", "Cup", "", "round_robin", "frozen", 1, 0, 5, games=games)
    await store.write(competition_sql.create, row, (), By("olga"), (), [1, 2, 3])
    step()
    print(steps)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


async def test_a_kill_while_a_competition_is_made_leaves_all_of_it_or_nothing(
    tmp_path: Path, zygote: Zygote
) -> None:
    survived = 0
    create = tmp_path / "create.py"
    create.write_text(CREATE)
    for fatal in range(100):
        url = f"sqlite:///{tmp_path / f'{fatal}.db'}"
        await three_bots(url)
        done = subprocess.run(  # noqa: ASYNC221
            [zygote.folder / "python", create, url, str(fatal)], capture_output=True, text=True
        )
        hub = await Hub.open(ServerConfig(database=url))
        try:
            made = await hub.store.read(competition_sql.list_all)
            entries = await hub.store.read(competition_sql.entries_of, "cup")
            assert (len(made), len(entries)) in ((0, 0), (1, 3)), f"killed at step {fatal}"
            survived += len(made)
        finally:
            await hub.close()
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
    assert fatal >= 8, "begin, look, row and entries, before and after each"
    assert survived == 2, "killed after COMMIT, and not killed"


async def test_a_competition_whose_game_is_missing_waits_for_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    await three_bots(url)
    async with await Store.open(url) as store:
        await add_tournament(store, competition("lost", "no_such_game"), [1, 2])
        await add_tournament(store, competition("fine"), [1, 2])
    for _ in range(2):
        hub = await Hub.open(ServerConfig(database=url))
        try:
            view = await hub.tournaments.view("lost")
            assert view.row.status == "suspended"
            assert view.row.finished_ms is None
            (why,) = view.waiting_for
            assert "no_such_game" in why
            assert (await hub.tournaments.view("fine")).row.status == "running"
            assert len(hub.tournaments) == 1
        finally:
            await hub.close()
    # The file is there again; here, the competition is made to name a game that is.
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("UPDATE tournaments SET game = 'tic_tac_toe'")
    connection.close()
    hub = await Hub.open(ServerConfig(database=url))
    try:
        view = await hub.tournaments.view("lost")
        assert view.row.status == "running"
        assert settings(view.row) == TournamentSettings()
        assert view.waiting_for == ["ada/mybot is not connected.", "bob/mybot is not connected."]
    finally:
        await hub.close()


async def test_paused_competition_stays_paused_after_its_game_was_missing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    await three_bots(url)
    async with await Store.open(url) as store:
        await add_competition(store, competition("cup"), [1, 2])
        await store.write(competition_sql.move, "cup", "pause", By("olga"), store.now())

    def name_game(game: str) -> None:
        with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
            connection.execute("UPDATE tournaments SET game = ?", (game,))

    name_game("no_such_game")
    for _ in range(2):
        hub = await Hub.open(ServerConfig(database=url))
        assert (await hub.tournaments.view("cup")).row.status == "suspended"
        await hub.close()
    name_game("tic_tac_toe")
    hub = await Hub.open(ServerConfig(database=url))
    try:
        running = hub.tournaments.running("cup")
        assert running is not None
        assert running.paused
        assert (await hub.tournaments.view("cup")).row.status == "paused"
        assert hub.tournaments.played() == []
    finally:
        await hub.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM tournament_entries WHERE bot_id > 1",
        "DELETE FROM tournament_entries",
        "UPDATE tournaments SET time_control = 'never'",
        "UPDATE tournaments SET rounds = 0",
        "UPDATE tournaments SET game = 'pig(target=-1)'",
        "UPDATE tournaments SET time_control = 'never', data = '{'",
    ],
)
async def test_a_damaged_competition_is_suspended_with_a_reason(
    tmp_path: Path, damage: str
) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    await three_bots(url)
    async with await Store.open(url) as store:
        await add_tournament(store, competition("cup"), [1, 2, 3])
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute(damage)
    connection.close()
    hub = await Hub.open(ServerConfig(database=url))
    try:
        view = await hub.tournaments.view("cup")
        assert view.row.status == "suspended"
        assert len(view.waiting_for) == 1
        assert view.waiting_for[0].startswith("It cannot go on: ")
    finally:
        await hub.close()


async def test_the_pairing_of_a_match_that_cannot_be_resumed_ends_with_it(tmp_path: Path) -> None:
    """Otherwise its seed would never be revealed."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    await three_bots(url)
    seed = secrets.token_bytes(32)
    commitment = hashlib.sha256(seed).hexdigest()
    async with await Store.open(url) as store:
        bots = [await store.read(people.bot_named, name, "mybot") for name in ("ada", "bob")]
        seats = tuple(
            [
                SeatRow(
                    seat, bot.player, "", "1", bot.player_id, bot.id,
                    await store.ensure_version(bot.id, "1"),
                )
                for seat, bot in enumerate(bots)
            ]
        )  # fmt: skip
        pairing = PairingRow("p", "tic_tac_toe", "move:1", True, seed, commitment, 2, 5)
        headers = [
            MatchRow(
                *(name, "p", "tic_tac_toe", "move:1", True, "forfeit", "0", commitment, seed),
                seats,
                5,
            )
            for name in ("m1", "m2")
        ]
        damaged = [EventRow(each.id, 0, "action", 0, 0, "z9") for each in headers]
        await store.apply([NewPairing(pairing), *map(NewMatch, headers), *damaged])
    hub = await Hub.open(ServerConfig(database=url))
    try:
        found = await hub.store.read(match_lists.list_matches, match_lists.MatchFilter())
        assert [each.termination for each in found] == ["server_fault"] * 2
        assert [each.seed for each in found] == [seed] * 2, "the pairing is over"
    finally:
        await hub.close()
