"""``plyhouse watch``: a match of a server, while it runs or after it is over."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

import click

from plyhouse.clients.shared.errors import CommandError
from plyhouse.clients.shared.options import Server, on_server
from plyhouse.clients.shared.output import has_colour
from plyhouse.clients.shared.screen_mode import draws_in_place, plain_option

if TYPE_CHECKING:
    from plyhouse.clients.shared.terminal_server import TerminalServer
    from plyhouse.clients.terminal.followed_match import FollowedMatch
    from plyhouse.protocol.messages import Termination


@click.command()
@click.argument("match", required=False)
@click.option("--game", metavar="GAME", help="Without MATCH: the latest that runs, of this game.")
@plain_option()
@on_server
def watch(match: str | None, game: str | None, plain: bool, server: Server) -> int | None:
    """Watch a match of a server in this terminal.

    Without MATCH: the latest that runs there.

    One that is over is stepped through from its beginning. In a terminal the board is drawn in
    place, with keys that `?` lists; in a pipe and with --plain, every position is written once.
    Spectators see what is public.
    """
    from plyhouse.clients.shared.screens import failed, show_match
    from plyhouse.clients.shared.terminal_server import TerminalServer
    from plyhouse.clients.terminal.interfaces import Refusal

    api = TerminalServer(server.address, None)
    try:
        try:
            course = asyncio.run(_found(api, match, game))
        except Refusal:
            if server.token is None:
                raise
            # The match may be of a competition that is not public.
            api = TerminalServer(server.address, server.token)
            course = asyncio.run(_found(api, match, game))
        if draws_in_place(plain):
            show_match(course, None if course.over else api.line(()), api)
        else:
            asyncio.run(_Lines(course).follow(api))
    except Refusal as error:
        raise failed(error) from error
    return None


async def _found(api: TerminalServer, match: str | None, game: str | None) -> FollowedMatch:
    """The match with the positions so far; of one that is over, all."""
    from plyhouse.clients.terminal.followed_match import FollowedMatch, whole
    from plyhouse.protocol.api import calls
    from plyhouse.protocol.messages import Outcome, SeatInfo

    if match is None:
        running = await api.ask(calls.page_of_matches(status="running", game=game, limit=1))
        if not running:
            what = f" of {game}" if game else ""
            raise CommandError(f"No match{what} is being played at {api.address} now.")
        match = running[0].match
    header = await api.ask(calls.match(match))
    course = FollowedMatch(match)
    course.game, course.time_control = header.game, header.time_control
    course.rated, course.kind = header.rated, header.kind
    course.players = [SeatInfo(each.player, each.bot) for each in header.seats]
    if header.status != "finished":
        return course
    await whole(api, course)
    returns = [each.returned or 0.0 for each in header.seats]
    course.status = "finished"
    course.outcome = Outcome(cast("Termination", header.termination), returns, None, header.reason)
    return course


class _Lines:
    """A match as lines of text."""

    def __init__(self, course: FollowedMatch) -> None:
        self.course = course
        self.told = 0
        self.scene: dict[str, Any] | None = None

    async def follow(self, api: TerminalServer) -> None:
        """Write the plies so far, and each new one."""
        from plyhouse.protocol.messages import Watch, Welcome

        course = self.course
        who = ", ".join(course.holders)
        click.echo(f"{course.game}, {course.time_control}: {who}")
        finished = course.over
        if finished:
            for at in sorted(course.scenes):
                self._write(at)
        else:
            line = api.line(())
            async with aclosing(line.incoming()) as messages:
                async for message in messages:
                    course.take(message, time.monotonic_ns())
                    if isinstance(message, Welcome):
                        asking = asyncio.create_task(line.ask(lambda n: Watch(n, course.match)))
                        asking.add_done_callback(lambda done: done.exception())
                    elif course.scenes:
                        self._write(course.last)
                    if course.over:
                        break
                    if course.trouble:
                        click.echo(course.trouble, err=True)
            await line.leave()
        click.echo(course.result())

    def _write(self, at: int) -> None:
        """A position that was not written yet, after what led to it."""
        from plyhouse.games.scene_text import draw_fields

        course = self.course
        news = [each for each in course.told[self.told :] if each.at <= at]
        self.told += len(news)
        scene = course.position(at)
        if not news and scene == self.scene:
            return
        for each in news:
            taken = "" if each.seconds is None else f" in {each.seconds:g} s"
            click.echo(f"{course.name(each.seat)}: {each.text}{taken}")
        if scene != self.scene:
            click.echo(f"\n{draw_fields(scene, colour=has_colour(sys.stdout))}\n")
            self.scene = scene
