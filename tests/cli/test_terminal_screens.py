"""The screens of the terminal client, driven by keys and mouse, against a hub in memory."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import pytest
from tests.cli.scenes import scene_after, scene_of
from tests.harness.screens import until
from textual.pilot import Pilot
from textual.widgets import DataTable

from plyhouse.bots.client.backoff import Backoff
from plyhouse.bots.client.channel import Channel
from plyhouse.bots.client.client import Client, Introduction
from plyhouse.clients.arena.memory_server import connector_of, local_hub, online
from plyhouse.clients.shared.terminal_connection import TerminalConnection
from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.followed_match import FollowedMatch, replayed
from plyhouse.clients.terminal.interfaces import Board, Position
from plyhouse.clients.terminal.screens.actions import ActionList
from plyhouse.clients.terminal.screens.app import TerminalApp
from plyhouse.clients.terminal.screens.board import BoardView
from plyhouse.clients.terminal.screens.help import HelpScreen
from plyhouse.clients.terminal.screens.match import MatchScreen
from plyhouse.clients.terminal.screens.progress_line import ProgressLine
from plyhouse.clients.terminal.screens.standings import StandingsScreen
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import MatchMessage, Ready, SeatInfo, ServerMessage, Turn
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.table.match_runner import Terms

Rival = Callable[[Sequence[str]], str]


@dataclass
class Sitting:
    """A person at a screen, and an automatic opponent."""

    hub: Hub
    app: TerminalApp
    pilot: Pilot[None] = field(init=False)
    channels: list[Channel] = field(default_factory=list)

    @property
    def screen(self) -> MatchScreen:
        return next(each for each in self.app.screen_stack if isinstance(each, MatchScreen))

    @property
    def board(self) -> BoardView:
        return self.screen.board

    async def my_turn(self) -> None:
        await until(self.pilot, lambda: self.screen.choosing or self.screen.course.over)

    async def click(self, name: str) -> None:
        """Click on a spot of the board."""
        spot = self.board.spot(name)
        assert spot is not None, name
        left, top = self.board.shift
        at = left + spot.x + spot.width // 2, top + spot.y + spot.height // 2
        assert await self.pilot.click(BoardView, offset=at)

    def shown(self, selector: str) -> str:
        """The text of a line of the screen."""
        return str(self.screen.query_one(selector).render())


async def rival_plays(hub: Hub, token: str, choose: Rival) -> None:
    client = Client(connector_of(hub), Introduction(token))
    doing: list[asyncio.Future[ServerMessage]] = []
    async with aclosing(client.messages()) as messages:
        async for message, _ in messages:
            if isinstance(message, MatchMessage) and message.snapshot.status == "waiting":
                match = message.snapshot.match
                asking = client.request(partial(Ready, match=match))
                doing.append(asyncio.ensure_future(asking))
            elif isinstance(message, Turn):
                action = choose(message.observation["legal"])
                acting = client.act(message.match, message.ply, action)
                doing.append(asyncio.ensure_future(acting))


@asynccontextmanager
async def sitting(
    name: str, choose: Rival, *, seat: int = 0, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Sitting]:
    game = get_game(name)
    async with local_hub("retry") as hub:
        tokens = []
        for player in ("alice", "bob"):
            row = await hub.store.add_player(player)
            tokens.append(await hub.store.add_token(row.id, ["play"]))
        channels: list[Channel] = []

        async def connect() -> Channel:
            channels.append(hub.connect())
            return channels[-1]

        async def begin() -> None:
            two = [await online(hub, "alice"), await online(hub, "bob")]
            terms = Terms(game, TimeControl.parse("move:3600"), rated=False)
            hub.runner.begin(terms, [two if seat == 0 else two[::-1]])

        identity = Introduction(tokens[0], updates=True, scenes=True)
        client = Client(connect, identity, backoff=Backoff(first=0.0, longest=0.0))
        line = TerminalConnection(client, begin)
        app = TerminalApp(
            lambda app: MatchScreen(
                FollowedMatch(), app.ink, app.now, line=line, again=begin, quits=True
            ),
            Ink(),
            line=line,
        )
        rival = asyncio.create_task(rival_plays(hub, tokens[1], choose))
        try:
            async with app.run_test(size=size) as pilot:
                at = Sitting(hub, app, channels=channels)
                at.pilot = pilot
                await until(pilot, lambda: bool(app.screen_stack) and at.screen.is_mounted)
                await at.my_turn()
                yield at
        finally:
            rival.cancel()
            await asyncio.gather(rival, return_exceptions=True)


def script(*actions: str) -> Rival:
    """Plays these actions in turn."""
    left = list(actions)
    return lambda _: left.pop(0)


async def test_tic_tac_toe_by_mouse_and_keys_to_the_end_and_once_more() -> None:
    async with sitting("tic_tac_toe", script("a1", "b1", "c3", "a1")) as at:
        assert at.screen.query_one("#status").render() is not None
        assert "you" not in at.shown("#status")
        await at.click("\x000,1,1")  # b2, in the middle
        await until(at.pilot, lambda: at.screen.course.last == 2)
        await at.my_turn()
        assert at.board.has_focus
        at.board.cursor = "\x000,1,1"
        await at.pilot.press("up", "left", "enter")  # a3
        await until(at.pilot, lambda: at.screen.course.last == 4)
        await at.my_turn()
        await at.pilot.press("slash", *"c1", "enter")
        await until(at.pilot, lambda: at.screen.course.over)
        assert [each.text for each in at.screen.course.told] == ["b2", "a1", "a3", "b1", "c1"]
        assert at.shown("#status") == "alice wins."
        assert at.screen.query_one(ActionList).display is False
        lines = at.board.drawn.text()
        assert lines.count("*") == 6, "the winning line is marked"
        await at.pilot.press("comma", "comma")
        assert at.screen.at == 3
        await at.pilot.press("home")
        assert at.screen.at == 0
        await at.pilot.press("n")
        await until(at.pilot, lambda: at.screen.choosing)
        assert at.screen.course.told == []


async def test_a_choice_of_both_at_once_is_made_from_the_list() -> None:
    async with sitting("rock_paper_scissors", script("scissors")) as at:
        actions = at.screen.query_one(ActionList)
        assert actions.options.has_focus, "nothing is to be chosen on the board"
        await at.pilot.press("slash", *"pap")
        await until(at.pilot, lambda: actions.options.option_count == 1)
        await at.pilot.press("escape")
        await at.pilot.press("tab")
        actions.options.focus()
        await at.pilot.press("home", "enter")  # rock
        await until(at.pilot, lambda: at.screen.course.over)
        assert at.shown("#status") == "alice wins."


async def test_cards_are_seen_by_whom_they_belong_to_alone() -> None:
    def calls(legal: Sequence[str]) -> str:
        return "bet" if "bet" in legal else "call"

    async with sitting("kuhn_poker", calls, seat=1) as at:
        text = at.board.drawn.text()
        assert "Card of bob: \u2592" in text
        assert any(f"Card of alice:  {card}" in text for card in "JQK")
        await at.pilot.press("slash", *"xyzzy", "enter")
        assert "'xyzzy' is not possible here" in at.shown("#news")
        await at.pilot.press("escape", "slash", *"call", "enter")
        await until(at.pilot, lambda: at.screen.course.over)
        assert "win" in at.shown("#status")
        assert "seat 0" not in at.shown("#status")


async def test_resigning_asks_once_more_and_forgets() -> None:
    async with sitting("chess", script()) as at:
        await at.pilot.press("R")
        assert "Really resign?" in at.shown("#news")
        await at.pilot.press("down")
        assert "Really resign?" not in at.shown("#news")
        await at.pilot.press("R")
        assert not at.screen.course.over, "the first press was forgotten"
        await at.pilot.press("R")
        await until(at.pilot, lambda: at.screen.course.over)
        assert at.shown("#status").startswith("bob wins by resignation.")
        await at.pilot.press("q")
        await until(at.pilot, lambda: not at.app.is_running)


async def test_origin_then_target_then_flip_and_help() -> None:
    async with sitting("chess", script("e7e5")) as at:
        await at.click("e2")
        assert at.board.choice is not None
        assert set(at.board.choice.open()) == {"e3", "e4"}
        assert "e2: to e3, e4; Esc gives it up" in at.shown("#status")
        await at.pilot.press("escape")
        assert at.board.choice.path == []
        await at.click("g1")
        await at.click("f3")
        await until(at.pilot, lambda: at.screen.course.last == 2)
        low = at.board.spot("e1")
        await at.pilot.press("f")
        high = at.board.spot("e1")
        assert low is not None
        assert high is not None
        assert low.y > high.y
        await at.pilot.press("question_mark")
        assert isinstance(at.app.screen, HelpScreen)
        await at.pilot.press("escape")
        assert isinstance(at.app.screen, MatchScreen)


async def test_a_lost_connection_is_told_and_comes_back_to_the_match() -> None:
    async with sitting("tic_tac_toe", script("a1", "a2")) as at:
        at.channels[0].close(1006, "a cable was pulled")
        await until(at.pilot, lambda: len(at.channels) == 2)
        await until(at.pilot, lambda: at.screen.choosing)
        await at.click("\x000,1,1")
        await until(at.pilot, lambda: at.screen.course.last == 2)
        assert at.screen.course.trouble == ""


async def test_a_key_of_the_games_own_plays() -> None:
    async with sitting("pig", script()) as at:
        assert "Roll the die  [r]" in str(at.screen.query_one(ActionList).options.options[0].prompt)
        await at.pilot.press("r")
        await until(at.pilot, lambda: any(each.text == "roll" for each in at.screen.course.told))


GAMES = ("backgammon", "battleship", "checkers", "go(size=19)", "liars_dice", "pacman")


async def test_replays_step_jump_and_run() -> None:
    game, rng = get_game("connect_four"), random.Random(4)
    state = game.initial_state()
    positions = [Position(0, (), scene_of(game, state, None))]
    for ply in range(1, 9):
        action = rng.choice(state.actions())
        told = f"{game.seat_name(state.to_move)}: {game.format(state, action)} in 0.5 s"
        state = state.after(action)
        positions.append(Position(ply, (told,), scene_of(game, state, None)))
    course = replayed(positions, [SeatInfo("alice"), SeatInfo("bob")], game.spec)
    app = TerminalApp(partial(shown_by, course), Ink())
    async with app.run_test(size=(80, 24)) as pilot:
        screen = app.screen
        assert isinstance(screen, MatchScreen)
        await pilot.press("home", "right", "right")
        assert screen.at == 2
        await pilot.press("right", "right", "left")
        assert screen.at == 3
        assert "alice: " in str(screen.query_one("PliesView").render())
        await pilot.press("end")
        assert screen.at == 8
        await pilot.click(ProgressLine, offset=(17, 0))
        assert screen.at == 0
        await pilot.press("plus", "p")
        assert (screen.playing, screen.speed) == (True, 2.0)
        screen.advance()
        assert screen.at >= 1
        await pilot.press("p")
        assert screen.playing is False


def shown_by(course: FollowedMatch, app: TerminalApp) -> MatchScreen:
    return MatchScreen(course, app.ink, app.now)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_every_kind_of_board_is_drawn_with_everything_else_in_sight(
    size: tuple[int, int],
) -> None:
    for name in GAMES:
        scene, _ = scene_after(name, 6)
        course = replayed(
            [Position(6, (), scene)], [SeatInfo(f"player-{n}") for n in range(3)], name
        )
        app = TerminalApp(partial(shown_by, course), Ink())
        async with app.run_test(size=size):
            screen = app.screen
            assert isinstance(screen, MatchScreen)
            board = screen.board
            assert board.drawn.width <= board.size.width, name
            for widget in (screen.query_one(ProgressLine), screen.query_one("#status")):
                assert widget.region.bottom <= size[1]
            assert board.region.height >= 18


class Standings:
    """Two boards."""

    async def names(self) -> list[tuple[str, str]]:
        return [("pig", "pig"), ("chess", "chess")]

    async def board(self, key: str) -> Board:
        row = ("1", "rook", "1500", "[1400, 1600]")
        columns = ("#", "bot", "rating", "95 % interval")
        return Board(f"{key}, by wins", columns, (row,), "rlrR", ((1400.0, 1500.0, 1600.0),))


async def test_boards_are_gone_through_with_their_intervals() -> None:
    app = TerminalApp(lambda app: StandingsScreen(Standings(), "chess"), Ink())
    async with app.run_test(size=(80, 24)) as pilot:
        screen = app.screen
        title = screen.query_one("#title")
        await until(pilot, lambda: "chess, by wins" in str(title.render()))
        table = screen.query_one(DataTable)
        assert "\u25cf" in "".join(map(str, table.get_row_at(0)))
        await pilot.press("up")
        await until(pilot, lambda: "pig, by wins" in str(title.render()))
