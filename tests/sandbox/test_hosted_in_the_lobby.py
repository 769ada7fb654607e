"""A person in a terminal plays against a submitted bot, with a real server and runner."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.harness.hosted_server import PIG, hosted_server
from tests.harness.screens import press, until
from textual.widgets import OptionList, Static

from plyhouse.clients.cli.main import main
from plyhouse.clients.shared.terminal_server import TerminalServer
from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.screens.app import TerminalApp
from plyhouse.clients.terminal.screens.lobby import LobbyScreen
from plyhouse.clients.terminal.screens.match import MatchScreen
from plyhouse.clients.terminal.screens.match_options import Opponents
from plyhouse.storage import people, submission_sql

pytestmark = pytest.mark.usefixtures("patient_keys")


async def test_the_lobby_lists_what_was_handed_in_and_opened_and_plays_against_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with hosted_server(tmp_path) as house:
        await house.submit("ada", PIG, "mine", "tic_tac_toe")
        await house.submit("bob", PIG, "shut", "tic_tac_toe")
        row = await house.hub.store.read(people.bot_named, "ada", "mine")
        await house.hub.store.write(submission_sql.set_open, row.id, 1)
        token, url = await house.token("zoe"), house.server.url
        assert await asyncio.to_thread(main, ["play", "--plain", "--server", url]) == 0
        written = capfd.readouterr().out
        assert "Submitted bot: ada/mine (tic_tac_toe)\n" in written
        assert "bob/shut" not in written
        app = TerminalApp(lambda app: LobbyScreen(TerminalServer(url, token)), Ink())
        async with house.runner(), app.run_test(size=(80, 24)) as pilot:
            lobby = app.screen
            assert isinstance(lobby, LobbyScreen)
            await until(pilot, lambda: bool(lobby.hosted))
            names = [each.name for each in lobby.games]
            offered = {}
            for game in ("connect_four", "tic_tac_toe"):
                lobby.query_one("#games", OptionList).highlighted = names.index(game)
                await press(pilot, "enter")
                question = app.screen
                assert isinstance(question, Opponents)
                offered[game] = [each for each in question.answers if "/" in each]
                if not offered[game]:
                    await press(pilot, "escape")
            assert offered == {"connect_four": [], "tic_tac_toe": ["ada/mine"]}
            await press(pilot, "end", "enter")  # the last one
            await until(pilot, lambda: isinstance(app.screen, MatchScreen))
            match = app.screen
            assert isinstance(match, MatchScreen)
            assert "against ada/mine" in str(match.query_one("#title", Static).render())
            await press(pilot, "R", "R")
            await until(pilot, lambda: match.course.over)
            assert "ada/mine wins by resignation." in match.course.result()
