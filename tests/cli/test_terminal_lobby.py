"""A server in the terminal: the lobby, and watching."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Plyhouse
from tests.harness.command_line_server import start, stop
from tests.harness.screens import press, until
from textual.widgets import OptionList, Static

from plyhouse.clients.shared.terminal_server import TerminalServer
from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.screens.app import TerminalApp
from plyhouse.clients.terminal.screens.lobby import LobbyScreen
from plyhouse.clients.terminal.screens.match import MatchScreen

pytestmark = pytest.mark.usefixtures("patient_keys")


async def test_a_guest_plays_a_bot_of_the_house_and_the_match_can_be_watched(
    tmp_path: Path, plyhouse: Plyhouse
) -> None:
    server = start(tmp_path, "--database", "sqlite:///club.db")
    try:
        app = TerminalApp(lambda app: LobbyScreen(TerminalServer(server.url, None)), Ink())
        async with app.run_test(size=(80, 24)) as pilot:
            lobby = app.screen
            assert isinstance(lobby, LobbyScreen)
            lists = [lobby.query_one(f"#{name}", OptionList) for name in ("running", "seeks")]
            # The list of levels comes before the other two are filled.
            await until(pilot, lambda: all([lobby.levels, *(each.options for each in lists)]))
            for empty in lists:
                assert "Choose a game on the left" in str(empty.options[0].prompt)
                assert empty.options[0].disabled
            names = [each.name for each in lobby.games]
            lobby.query_one("#games", OptionList).highlighted = names.index("tic_tac_toe")
            await press(pilot, "enter", "enter")  # the game, then the first level
            await until(pilot, lambda: isinstance(app.screen, MatchScreen))
            match = app.screen
            assert isinstance(match, MatchScreen)
            await until(pilot, lambda: match.choosing)
            listed = plyhouse("play", "--server", server.url)
            assert f"Match {match.course.match}: tic_tac_toe" in listed.out, listed.err
            await press(pilot, "R", "R")
            await until(pilot, lambda: match.course.over)
            assert "house/easy wins by resignation." in match.course.result()
            await press(pilot, "q")
            assert lobby.is_current
            # Alone: how many play, and no question against whom.
            lobby.query_one("#games", OptionList).highlighted = names.index("pacman")
            await press(pilot, "enter", "enter")
            await until(pilot, lambda: isinstance(app.screen, MatchScreen))
            alone = app.screen
            assert isinstance(alone, MatchScreen)
            await until(pilot, lambda: alone.choosing)
            assert len(alone.course.holders) == 1
            assert "against" not in str(alone.query_one("#title", Static).render())
            alone.play(alone.course.legal[0])
            await until(pilot, lambda: alone.course.last > 0 and alone.choosing)
            await press(pilot, "R", "R")
            await until(pilot, lambda: alone.course.over)
            await press(pilot, "q")
            # Three: two bots of the first level come.
            lobby.query_one("#games", OptionList).highlighted = names.index("kuhn_poker")
            await press(pilot, "enter", "down", "enter", "enter")
            await until(pilot, lambda: isinstance(app.screen, MatchScreen))
            three = app.screen
            assert isinstance(three, MatchScreen)
            await until(pilot, lambda: three.choosing or three.course.over)
            others = {name for name in three.course.holders if "guest" not in name}
            assert others == {"house/easy", "house/easy-2"}
            await press(pilot, "R", "R")
            await until(pilot, lambda: three.course.over)
            await press(pilot, "q")
            assert lobby.is_current
        watched = plyhouse("watch", match.course.match, "--server", server.url)
        assert watched.code == 0, watched.err
        assert watched.out.startswith("tic_tac_toe, total:300+5: ")
        assert "house/easy wins by resignation." in watched.out
        nothing = plyhouse("watch", "--server", server.url)
        assert (nothing.code, "No match is being played" in nothing.err) == (1, True)
        assert plyhouse("leaderboard", "--server", server.url).code == 0
    finally:
        stop(server)
