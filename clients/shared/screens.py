"""Start the screens of the terminal; this module imports Textual."""

from __future__ import annotations

from collections.abc import Sequence

from plyhouse.clients.shared.errors import EXIT_FAILED, CommandError, code_exit
from plyhouse.clients.shared.screen_mode import is_light, terminal_ink
from plyhouse.clients.terminal.followed_match import FollowedMatch, replayed
from plyhouse.clients.terminal.interfaces import Boards, Connection, Position, Refusal, ServerApi
from plyhouse.clients.terminal.screens.app import TerminalApp
from plyhouse.clients.terminal.screens.lobby import LobbyScreen
from plyhouse.clients.terminal.screens.match import MatchScreen
from plyhouse.clients.terminal.screens.standings import StandingsScreen
from plyhouse.games.base import Game
from plyhouse.protocol.messages import SeatInfo
from plyhouse.server.results.record import Record


def failed(refusal: Refusal) -> CommandError:
    """The server's sentence that ends the command."""
    code = code_exit(refusal.code) if refusal.code else EXIT_FAILED
    return CommandError(str(refusal), code)


def run(app: TerminalApp) -> None:
    """Show an application until the user leaves it; raises `CommandError` if it ended earlier."""
    app.run()
    if app.failure is not None:
        raise failed(app.failure)


def show_replay(
    record: Record,
    game: Game,
    positions: Sequence[Position],
    title: str,
    start: int,
    pace: float | None,
) -> None:
    """Step through a record; ``pace`` is seconds per position for automatic playback."""
    players = [SeatInfo(each.player, each.bot) for each in record.seats]
    course = replayed(positions, players, game.spec)
    run(_replaying(course, title, positions[start].ply, pace))


def _replaying(course: FollowedMatch, title: str, at: int, pace: float | None) -> TerminalApp:
    speed = None if pace is None else 1 / max(pace, 1 / 16)
    return TerminalApp(
        lambda app: MatchScreen(course, app.ink, app.now, title=title, at=at, playing=speed),
        terminal_ink(),
        light=is_light(),
    )


def show_match(course: FollowedMatch, line: Connection | None, api: ServerApi) -> None:
    """Watch a match that runs, or step through one that is over."""
    run(
        TerminalApp(
            lambda app: MatchScreen(
                course,
                app.ink,
                app.now,
                line=line,
                api=api,
                at=0 if line is None else None,
            ),
            terminal_ink(),
            light=is_light(),
            line=line,
        )
    )


def show_lobby(api: ServerApi) -> None:
    """Show the lobby: games to play, open seeks, running matches."""
    run(TerminalApp(lambda app: LobbyScreen(api), terminal_ink(), light=is_light()))


def show_boards(boards: Boards, first: str | None) -> None:
    """Show leaderboards and tables of competitions."""
    run(TerminalApp(lambda app: StandingsScreen(boards, first), terminal_ink(), light=is_light()))
