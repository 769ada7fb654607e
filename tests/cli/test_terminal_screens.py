"""The screens of the terminal client, driven by keys and mouse, against a hub in memory."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import partial

import pytest
from tests.cli.scenes import scene_after, scene_of
from tests.harness.screens import press, settled, until
from tests.harness.terminal_match import Rival, sitting
from textual.widgets import DataTable

from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.followed_match import FollowedMatch, replayed
from plyhouse.clients.terminal.interfaces import Board, Position
from plyhouse.clients.terminal.screens.actions import ActionList
from plyhouse.clients.terminal.screens.app import TerminalApp
from plyhouse.clients.terminal.screens.help import HelpScreen
from plyhouse.clients.terminal.screens.match import MatchScreen
from plyhouse.clients.terminal.screens.replay_control import ProgressLine
from plyhouse.clients.terminal.screens.standings import StandingsScreen
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import SeatInfo

pytestmark = pytest.mark.usefixtures("patient_keys")


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
        await press(at.pilot, "up", "left", "enter")  # a3
        await until(at.pilot, lambda: at.screen.course.last == 4)
        await at.my_turn()
        await press(at.pilot, "slash", *"c1", "enter")
        await until(at.pilot, lambda: at.screen.course.over)
        assert [each.text for each in at.screen.course.told] == ["b2", "a1", "a3", "b1", "c1"]
        assert at.shown("#status") == "alice wins."
        assert at.screen.query_one(ActionList).display is False
        lines = at.board.drawn.text()
        assert lines.count("*") == 6, "the winning line is marked"
        await press(at.pilot, "comma", "comma")
        assert at.screen.at == 3
        await press(at.pilot, "home")
        assert at.screen.at == 0
        await press(at.pilot, "n")
        await until(at.pilot, lambda: at.screen.choosing)
        assert at.screen.course.told == []


async def test_turn_that_comes_while_one_types_leaves_the_focus() -> None:
    async with sitting("tic_tac_toe", script()) as at:
        await at.my_turn()
        await press(at.pilot, "slash", "b")
        at.screen._turn_shown = None  # the turn is a new one
        at.screen.refresh_all()
        await press(at.pilot, "2")
        field = at.screen.query_one(ActionList).field
        assert field.has_focus
        assert field.value == "b2"


async def test_a_choice_of_both_at_once_is_made_from_the_list() -> None:
    async with sitting("rock_paper_scissors", script("scissors")) as at:
        actions = at.screen.query_one(ActionList)
        assert actions.options.has_focus, "nothing is to be chosen on the board"
        await press(at.pilot, "slash", *"pap")
        assert "Esc goes back to the board, where q leaves" in at.shown("#status")
        assert not any(
            each.binding.key == "q"
            for each in at.app.screen.active_bindings.values()
            if each.enabled
        )
        await until(at.pilot, lambda: actions.options.option_count == 1)
        await press(at.pilot, "escape")
        await press(at.pilot, "tab")
        actions.options.focus()
        await press(at.pilot, "home", "enter")  # rock
        await until(at.pilot, lambda: at.screen.course.over)
        assert at.shown("#status") == "alice wins."


async def test_cards_are_seen_by_whom_they_belong_to_alone() -> None:
    def calls(legal: Sequence[str]) -> str:
        return "bet" if "bet" in legal else "call"

    async with sitting("kuhn_poker", calls, seat=1) as at:
        text = at.board.drawn.text()
        assert re.search("Card of bob: \u2592+\n", text)
        assert re.search(r"Card of alice: +[JQK][\u2660\u2663\u2665\u2666]\n", text)
        await press(at.pilot, "slash", *"xyzzy", "enter")
        assert "'xyzzy' is not possible here" in at.shown("#news")
        await press(at.pilot, "escape", "slash", *"call", "enter")
        await until(at.pilot, lambda: at.screen.course.over)
        assert "win" in at.shown("#status")
        assert "seat 0" not in at.shown("#status")


async def test_resigning_asks_once_more_and_forgets() -> None:
    async with sitting("chess", script()) as at:
        await press(at.pilot, "R")
        assert "Really resign?" in at.shown("#news")
        await press(at.pilot, "down")
        assert "Really resign?" not in at.shown("#news")
        await press(at.pilot, "R")
        assert not at.screen.course.over, "the first press was forgotten"
        await press(at.pilot, "R")
        await until(at.pilot, lambda: at.screen.course.over)
        assert at.shown("#status").startswith("bob wins by resignation.")
        await press(at.pilot, "q")
        await until(at.pilot, lambda: not at.app.is_running)


async def test_origin_then_target_then_flip_and_help() -> None:
    async with sitting("chess", script("e7e5")) as at:
        await at.click("e2")
        assert at.board.choice is not None
        assert set(at.board.choice.open()) == {"e3", "e4"}
        assert "e2: to e3, e4; Esc gives it up" in at.shown("#status")
        await press(at.pilot, "escape")
        assert at.board.choice.path == []
        await at.click("g1")
        await at.click("f3")
        await until(at.pilot, lambda: at.screen.course.last == 2)
        low = at.board.spot("e1")
        await press(at.pilot, "f")
        high = at.board.spot("e1")
        assert low is not None
        assert high is not None
        assert low.y > high.y
        await press(at.pilot, "question_mark")
        assert isinstance(at.app.screen, HelpScreen)
        await press(at.pilot, "escape")
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
        await press(at.pilot, "r")
        await until(at.pilot, lambda: any(each.text == "roll" for each in at.screen.course.told))


async def test_unusual_actions_are_listed_after_the_others() -> None:
    async with sitting("texas_holdem", script()) as at:
        options = at.screen.query_one(ActionList).options.options
        shown = [str(option.prompt).partition("  ")[0] for option in options]
        assert shown[:3] == ["Fold", "Call 1", "Raise to 4, half the pot"]
        assert shown[3:5] == ["Raise to 6, the pot", "Raise to 200, all in"]
        assert shown[5] == "Raise to 5"


GAMES = ("backgammon", "battleship", "checkers", "go(size=19)", "liars_dice", "pacman")


async def test_replays_step_jump_and_run(monkeypatch: pytest.MonkeyPatch) -> None:
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
        await press(pilot, "home", "right", "right")
        assert screen.at == 2
        await press(pilot, "right", "right", "left")
        assert screen.at == 3
        assert "alice: " in str(screen.query_one("PliesView").render())
        await press(pilot, "end")
        assert screen.at == 8
        await pilot.click(ProgressLine, offset=(17, 0))
        await settled(pilot)
        assert screen.at == 0
        advance = MatchScreen.advance
        with monkeypatch.context() as by_hand:  # the timer is not to play it to the end meanwhile
            by_hand.setattr(MatchScreen, "advance", lambda _: None)
            await press(pilot, "plus", "p")
            assert (screen.playing, screen.speed) == (True, 2.0)
            advance(screen)
            assert screen.at == 1
        await press(pilot, "p")
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
        await press(pilot, "up")
        await until(pilot, lambda: "pig, by wins" in str(title.render()))


async def test_typed_pieces_are_played_where_any_may_lie() -> None:
    def accepts(legal: Sequence[str]) -> str:
        return "accept" if "accept" in legal else "-"

    async with sitting("scrabble(challenges=single)", accepts) as at:
        await at.my_turn()
        placing = next(each for each in at.board.scene["elements"] if each["kind"] == "placing")
        first, second = [each["text"] for each in placing["pieces"] if each["text"] != "?"][:2]
        await press(at.pilot, "slash", *"H8", "equals_sign", first, "enter")
        assert "is not possible here" in at.shown("#news"), "a word has two letters"
        at.screen.query_one(ActionList).field.value = f"I8={second} h8={first}"
        await press(at.pilot, "enter")
        await until(at.pilot, lambda: at.screen.course.last >= 3)
        played = [each.text for each in at.screen.course.told if each.seat >= 0]
        assert played[0].startswith(f"8H {first}{second} +"), "with its points"
        assert played[1] == "accept"
