"""Looking on in the terminal: bots that are faster than eyes, and what was played before."""

from __future__ import annotations

from tests.harness.clocks import FakeClock
from tests.harness.screens import press, until
from tests.web.conftest import House

from plyhouse.clients.shared.terminal_server import TerminalServer
from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.followed_match import FollowedMatch
from plyhouse.clients.terminal.screens.app import TerminalApp
from plyhouse.clients.terminal.screens.match import MatchScreen
from plyhouse.clients.terminal.screens.replay_control import LEAST, TOO_MANY, ProgressLine, patience
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server


def test_nobody_is_left_far_behind() -> None:
    assert patience(1) == LEAST
    assert sum(patience(behind) for behind in range(TOO_MANY, 0, -1)) < 8_000_000_000
    assert patience(TOO_MANY + 1) == 0


async def test_who_comes_late_steps_back_and_fast_plies_are_seen_one_by_one() -> None:
    config = ServerConfig(port=0, database="sqlite:///:memory:")
    async with running_server(config) as server:
        bots = await House(server).pair("tic_tac_toe")
        await bots[0].act("a1")
        await bots[1].act("b1")
        there = TerminalServer(server.url, None)
        course, clock, line = FollowedMatch(bots[0].match), FakeClock(), there.line(())
        app = TerminalApp(
            lambda app: MatchScreen(course, app.ink, app.now, line=line, api=there),
            Ink(),
            line=line,
            now=clock,
        )
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: set(course.scenes) == {0, 1, 2})
            screen = app.screen
            assert isinstance(screen, MatchScreen)

            def track() -> str:
                return str(screen.query_one(ProgressLine).render())

            await until(pilot, lambda: " live " in track())
            assert screen.at == 2
            await press(pilot, "comma", "comma")
            assert (screen.at, screen.board.scene) == (0, course.scenes[0])
            assert course.scenes[0] != course.scenes[2]
            await press(pilot, "end")
            assert (screen.at, screen.follow) == (2, True)
            # Three plies and the end come at once.
            for mover, action in ((0, "a2"), (1, "b2"), (0, "a3")):
                await bots[mover].act(action)
            await until(pilot, lambda: course.over)
            assert (screen.at, screen.live) == (2, "live \u22123")
            assert "live \u22123" in track()
            assert "win" not in str(screen.query_one("#status").render())
            for at, live in ((3, "live \u22122"), (4, "live \u22121"), (5, "")):
                clock.now += LEAST
                screen.tick()
                assert (screen.at, screen.live) == (at, live)
                clock.now += 1
                screen.tick()
                assert screen.at == at, "each is shown for a while"
            assert "wins" in str(screen.query_one("#status").render())
        await line.leave()


async def test_who_was_not_there_to_look_sees_the_last_position_soon() -> None:
    course, clock = FollowedMatch("m"), FakeClock()
    course.scenes = {0: {}}
    screen = MatchScreen(
        course, Ink(), clock, line=TerminalServer("http://127.0.0.1:1", None).line(())
    )
    screen.keep_up()
    course.scenes |= {ply: {} for ply in range(1, TOO_MANY + 5)}
    clock.now += LEAST
    screen.keep_up()
    assert screen.at == course.last, "too many to go through"
    last = course.last
    course.scenes |= {last + 1: {}, last + 2: {}}
    clock.now += 60 * LEAST
    screen.keep_up()
    assert screen.at == last + 1, "the second one is shown for its time, too"
