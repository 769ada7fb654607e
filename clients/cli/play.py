"""``plyhouse play``: a person against bots, in a terminal, through the same referee."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import default_server, number_option, token_for, token_option
from plyhouse.clients.shared.output import has_colour, in_columns, note, signed
from plyhouse.clients.shared.screen_mode import draws_in_place, is_light, plain_option, terminal_ink

if TYPE_CHECKING:
    from plyhouse.bots.client.channel import Channel, Connector
    from plyhouse.bots.client.client import Client
    from plyhouse.clients.shared.match_text import MatchText
    from plyhouse.clients.terminal.line_reader import LineReader
    from plyhouse.games.base import Game
    from plyhouse.protocol.messages import Event, Finished, MatchSnapshot, Outcome, Turn, Update
    from plyhouse.server.gateway.local_hub import LocalHub

PERSON = "you"
"""The account that the person plays under."""

HUMAN_TIME = "move:3600"
"""A person should not lose on time; bots see a shorter time, see `_Hurried`."""

OFFERED: Final = 48
"""Characters of legal actions that the prompt shows."""

HELP = """\
Type an action, or one of these:
  moves    what you can do now; with a spot, such as `moves e2`, from there
  show     draw the position again
  resign   give up
  quit     leave (gives up)
  help     this text"""


@click.command()
@click.argument("game", metavar="[GAME]", required=False)
@click.option(
    "--server",
    metavar="[URL]",
    is_flag=False,
    flag_value="",
    help="Play on this server instead; without URL, on that of PLYHOUSE_SERVER, of "
    "`plyhouse login`, or http://127.0.0.1:8765.",
)
@token_option()
@click.option(
    "--against",
    "bots",
    metavar="BOT",
    multiple=True,
    help="Opponent: easy, medium, hard, a file or an installed bot. Repeat it for more seats. "
    "Not for games with one seat.",
)
@number_option("--seat", 1, "Your seat.")
@number_option("--bot-time", 1.0, "Seconds that a bot may think about an action.", 0.05, 600)
@plain_option()
def play(
    game: str | None,
    server: str | None,
    token: str | None,
    bots: tuple[str, ...],
    seat: int,
    bot_time: float,
    plain: bool,
) -> int:
    """Play a game in this terminal, here or on a server.

    GAME is a name, with parameters if you like: connect_four, 'pig(target=50)'. By default it is
    that of your own bot behind --against. Mouse and keys
    choose, `?` shows the keys. In a pipe and with --plain, actions are typed line by line: `help`
    says what can be typed.

    With --server you come to the lobby of a server and choose the game there: against its bots, or
    anyone who seeks the same game. Without a token you play as a guest, if the server accepts
    guests. In a pipe and with --plain, the lobby is printed: games, bots, open seeks, running
    matches.
    """
    if server is not None:
        from plyhouse.clients.cli.lobby import lobby

        if game is not None:
            raise click.UsageError(
                f"On a server you choose the game in its lobby: leave out {game}, or leave out "
                "--server to play here"
            )
        address = server or default_server()
        lobby(plain, address, token_for(address, token))
        return EXIT_OK
    if game is None and bots:
        from plyhouse.clients.shared.games import common_game

        game = common_game(bots, "before --against")
    if game is None:
        raise click.UsageError(
            "Name a game, such as connect_four (`plyhouse games` lists them), or play on a "
            "server with --server"
        )
    from plyhouse.bots.loading import check_spec
    from plyhouse.clients.shared.games import seat_index
    from plyhouse.games.registry import get_game

    rules = get_game(game, files=True)
    own = seat_index(rules, seat) or 0
    if bool(bots) != (rules.seats > 1):
        wanted = (
            "name an opponent, such as --against medium"
            if rules.seats > 1
            else "leave out --against"
        )
        others = "other seats" if rules.seats > 1 else "no other seat"
        raise CommandError(f"{rules.spec} has {others}: {wanted}.", EXIT_USAGE)
    opponents = [check_spec(bots[index % len(bots)]) for index in range(rules.seats - 1)]
    table = _Table(rules, opponents, own, bot_time, drawn=draws_in_place(plain))
    return asyncio.run(table.sit())


class _Hurried:
    """A bot's connection on which every turn seems to be due soon."""

    def __init__(self, channel: Channel, seconds: float) -> None:
        self._channel = channel
        self._milliseconds = int(seconds * 1000)
        self.close_code: int | None = None
        self.close_reason = ""

    def send(self, frame: bytes | str) -> None:
        self._channel.send(frame)

    async def recv(self) -> bytes | str | None:
        import msgspec

        from plyhouse.protocol.codec import MSGPACK
        from plyhouse.protocol.messages import Turn

        frame = await self._channel.recv()
        if frame is None:
            self.close_code = self._channel.close_code
            self.close_reason = self._channel.close_reason
            return None
        message = MSGPACK.decode_server(frame)
        if isinstance(message, Turn) and message.deadline_ms > self._milliseconds:
            return MSGPACK.encode(msgspec.structs.replace(message, deadline_ms=self._milliseconds))
        return frame

    def close(self, code: int = 1000, reason: str = "") -> None:
        self._channel.close(code, reason)


class _Table:
    """One match of a person against bots."""

    def __init__(
        self,
        game: Game,
        bots: Sequence[str],
        seat: int,
        bot_time: float,
        *,
        drawn: bool = False,
    ) -> None:
        self.game = game
        self.drawn = drawn
        """True if the match is drawn in place, on a screen."""
        self.kept: list[str] = []
        """Notes for the bots' authors, printed after the screen closes."""
        self.bots = bots
        self.seat = seat
        self.bot_time = bot_time
        self.names: list[str] = []
        self.scene: dict[str, Any] | None = None
        self.shown: dict[str, Any] | None = None
        self.legal: tuple[str, ...] = ()
        self.spelt: dict[str, str] = {}
        """Legal actions as people write them, where that is not how the game does."""
        self.match = ""
        self.texts: MatchText
        self.client: Client
        self.lines: LineReader

    async def sit(self) -> int:
        """Set the table, play, clear it; returns the exit code."""
        from plyhouse.clients.arena.memory_server import local_hub
        from plyhouse.clients.terminal.line_reader import LineReader

        if self.drawn:
            try:
                async with local_hub("retry") as hub:
                    return await self._play(hub)
            finally:
                for line in self.kept:
                    note(line)
        self.lines = LineReader()
        try:
            async with local_hub("retry") as hub:
                return await self._play(hub)
        finally:
            self.lines.close()

    async def _play(self, hub: LocalHub) -> int:
        from plyhouse.bots.client.client import Client
        from plyhouse.clients.arena.memory_server import connector_of
        from plyhouse.protocol.messages import Hello

        runs = await self._invite(hub)
        token = hub.add_player(PERSON)
        hello = Hello(0, token, client="plyhouse play", updates=True, scenes=True)
        self.client = Client(connector_of(hub), hello)
        main = asyncio.create_task(self._draw_in_place(hub) if self.drawn else self._converse(hub))
        try:
            await asyncio.wait({main, *runs}, return_when=asyncio.FIRST_COMPLETED)
            for run in runs:
                if run.done():  # a bot that cannot play
                    run.result()
            return await main
        finally:
            for task in (main, *runs):
                task.cancel()
            await asyncio.gather(main, *runs, return_exceptions=True)

    async def _invite(self, hub: LocalHub) -> list[asyncio.Task[Any]]:
        """Connect the bots."""
        from plyhouse.bots.running.python_session import RunOptions, run_bot
        from plyhouse.clients.arena.bot_labels import bot_labels
        from plyhouse.clients.arena.memory_server import PLAYER, connector_of

        token = hub.add_player(PLAYER)
        self.names = list(bot_labels(tuple(self.bots)))
        return [
            asyncio.create_task(
                run_bot(
                    spec,
                    "",
                    token,
                    RunOptions(
                        bot=name,
                        games=[self.game.spec],
                        say=_author_lines(name, self.kept.append if self.drawn else note),
                        first_attempts=1,
                    ),
                    connector=_hurried(connector_of(hub), self.bot_time),
                )
            )
            for spec, name in zip(self.bots, self.names, strict=True)
        ]

    async def _draw_in_place(self, hub: LocalHub) -> int:
        """The same on a screen, as often as the person wants another match."""
        from plyhouse.clients.shared.terminal_server import TerminalConnection
        from plyhouse.clients.terminal.followed_match import FollowedMatch as Followed
        from plyhouse.clients.terminal.screens.app import TerminalApp
        from plyhouse.clients.terminal.screens.match import MatchScreen

        line = TerminalConnection(self.client, lambda: self._begin(hub))
        screens: list[MatchScreen] = []

        def first(app: TerminalApp) -> MatchScreen:
            against = ", ".join(self.names)
            screen = MatchScreen(
                Followed(),
                app.ink,
                app.now,
                line=line,
                title=self.game.info.title + (f" against {against}" if against else ""),
                again=lambda: self._begin(hub),
                quits=True,
            )
            screens.append(screen)
            return screen

        app = TerminalApp(first, terminal_ink(), light=is_light(), line=line)
        await app.run_async()
        await line.leave()
        course = screens[0].course if screens else Followed()
        if app.failure is not None:
            raise CommandError(str(app.failure))
        if course.outcome is not None:
            click.echo(_verdict(course.outcome, self.seat))
            failed = course.outcome.termination in ("bot_crash", "server_fault")
            return EXIT_FAILED if failed else EXIT_OK
        return app.return_code or EXIT_OK

    async def _converse(self, hub: LocalHub) -> int:
        """The person's side of the connection, until the match is over."""
        from plyhouse.bots.client.client import Connected
        from plyhouse.protocol.messages import Accepted, Finished, MatchMessage, Turn, Update

        asking: asyncio.Task[None] | None = None
        sitting: asyncio.Task[None] | None = None
        try:
            async with aclosing(self.client.messages()) as messages:
                async for message, _ in messages:
                    match message:
                        case Connected():
                            await self._begin(hub)
                        case MatchMessage(snapshot=snapshot) if snapshot.status == "waiting":
                            self._greet(snapshot)
                            sitting = asyncio.create_task(self._ready())
                        case Accepted() if not message.duplicate:
                            self._events(message.events)
                        case Update():
                            self._tell(message)
                        case Turn():
                            self._tell(message)
                            self.legal = tuple(message.observation.get("legal", ()))
                            self.spelt = self.texts.spelt(message.observation)
                            asking = asyncio.create_task(self._ask(message))
                        case Finished():
                            return self._over(message)
                        case _:
                            pass
        finally:
            for task in (asking, sitting):
                if task is not None:
                    task.cancel()
        return EXIT_FAILED

    async def _begin(self, hub: LocalHub) -> None:
        from plyhouse.clients.arena.memory_server import PLAYER, online
        from plyhouse.server.match.terms import Terms
        from plyhouse.server.match.time_control import TimeControl

        bots = [await online(hub, f"{PLAYER}/{name}") for name in self.names]
        person = await online(hub, PERSON)
        order = [*bots[: self.seat], person, *bots[self.seat :]]
        terms = Terms(self.game, TimeControl.parse(HUMAN_TIME), rated=False)
        hub.live_matches.begin(terms, [order])

    async def _ready(self) -> None:
        from plyhouse.protocol.messages import Ready

        await self.client.request(lambda number: Ready(number, self.match), repeat=True)

    def _greet(self, snapshot: MatchSnapshot) -> None:
        from plyhouse.clients.shared.match_text import MatchText

        self.match = snapshot.match
        self.texts = MatchText(self.game)
        others = ", ".join(
            f"{self.game.seat_name(seat)} is {info.bot or info.player}"
            for seat, info in enumerate(snapshot.players)
            if seat != self.seat
        )
        you = f"you are {self.game.seat_name(self.seat)}"
        click.echo(f"{self.game.info.title}: {you}{', ' if others else ''}{others}.")
        click.echo("Type an action, or `help`.\n")

    def _tell(self, message: Turn | Update) -> None:
        """Report the last events, and draw the position."""
        self._events(message.events)
        self.scene = message.scene
        self._draw()

    def _events(self, events: Sequence[Event]) -> None:
        from plyhouse.clients.shared.match_text import event_text

        for event in events:
            who = "Chance" if event.seat < 0 else self.game.seat_name(event.seat)
            if event.seat == self.seat:
                who = "You"
            click.echo(f"{who}: {event_text(event)}")

    def _draw(self, *, again: bool = False) -> None:
        from plyhouse.games.scene_text import draw_fields

        if self.scene is not None and (again or self.scene != self.shown):
            click.echo(f"\n{draw_fields(self.scene, colour=has_colour(sys.stdout))}\n")
            self.shown = self.scene

    async def _ask(self, turn: Turn) -> None:
        """Ask until there is an action that can be played, and play it."""
        from plyhouse.bots.client.client import RequestRefused

        while True:
            click.echo(f"Your action ({self._offer()}): ", nl=False)
            sys.stdout.flush()
            line = await self.lines.line()
            word = "quit" if line is None else line.strip()
            if line is None:
                click.echo("\nThe input has ended: you leave.")
            elif not self.lines.echoed:
                click.echo(word)
            match word.lower():
                case "":
                    continue
                case "help" | "?":
                    click.echo(HELP)
                case "moves":
                    self._list_moves()
                case "show":
                    self._draw(again=True)
                case "resign" | "quit" | "exit":
                    await self._resign()
                    return
                case command if command.startswith("moves ") and self._list_moves(word[6:]):
                    continue
                case _:
                    action = self._meant(word)
                    if action is None and self._list_moves(word):
                        continue  # a spot alone: now they know where it leads
                    if action is None:
                        self._not_possible(word)
                        continue
                    try:
                        await self.client.act(self.match, turn.ply, action)
                    except RequestRefused as error:
                        click.echo(str(error))
                        continue
                    return

    def _offer(self) -> str:
        """The legal actions, or some of them where there are many."""
        names = [self.spelt.get(action, action) for action in self.legal]
        if len(" ".join(names)) <= OFFERED:
            return " ".join(names)
        some = ", ".join(names[:2])
        if len(some) > OFFERED // 2:
            some = names[0]
        return f"{len(names)} possible, such as {some}; `moves` lists them"

    def _meant(self, word: str) -> str | None:
        """Return the legal action that was typed, in any notation that the game reads."""
        from plyhouse.clients.terminal.line_reader import matching_action

        return matching_action(word, self.legal) or self.texts.read(word)

    def _list_moves(self, spot: str = "") -> bool:
        """Show all actions, or those from a spot; whether there are any."""
        from plyhouse.clients.terminal.action_choice import labels_from, labels_of

        labels = labels_of(self.scene) if self.scene is not None else {}
        wanted = labels_from(self.scene or {}, spot) if spot else self.legal
        entries = []
        for action in self.legal:
            if action in wanted:
                label = labels.get(action) or action
                entries.append(label if label.startswith(action) else f"{action}  {label}")
        for line in in_columns(entries):
            click.echo(f"  {line}")
        return bool(wanted)

    def _not_possible(self, word: str) -> None:
        from plyhouse.clients.terminal.line_reader import nearest

        rule = self.texts.broken_rule(word)
        near = nearest(word, [*self.spelt.values(), *self.legal]) if not rule else []
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        elif len(self.legal) <= 12:
            hint = f"you can play {', '.join(self.legal)}."
        else:
            hint = "type `moves` for what you can play."
        because = f", because {rule}" if rule else ""
        click.echo(f"'{word}' is not possible here{because}: {hint}")

    async def _resign(self) -> None:
        from plyhouse.protocol.messages import Resign

        match_id = self.match
        await self.client.request(lambda n: Resign(n, match_id, "resignation"), repeat=True)

    def _over(self, message: Finished) -> int:
        self._events(message.events)
        outcome = message.outcome
        click.echo(f"\n{_verdict(outcome, self.seat)}")
        if message.seed and self.game.chance_kind.value == "stochastic":
            click.echo(f"The seed of the dice was {message.seed}.")
        return EXIT_FAILED if outcome.termination in ("bot_crash", "server_fault") else EXIT_OK


def _verdict(outcome: Outcome, seat: int) -> str:
    """``You won (+1): ...``."""
    mine = outcome.returns[seat] if seat < len(outcome.returns) else 0.0
    best = max(outcome.returns, default=0.0)
    if not outcome.returns:
        word = "The match does not count"
    elif len(outcome.returns) == 1:
        word = "The match is over"
    elif mine == best:
        word = "You won" if sum(value == best for value in outcome.returns) == 1 else "A draw"
    else:
        word = "You lost"
    from plyhouse.protocol.parts import ending_words

    why = ending_words(outcome.termination)
    reason = f" {outcome.reason}" if outcome.reason else ""
    ended = "" if why == "normal" else f", by {why}"
    return f"{word} ({signed(mine, 2).rstrip('0').rstrip('.')}){ended}.{reason}"


def _hurried(connector: Connector, seconds: float) -> Connector:
    """Connections on which every turn seems to be due in ``seconds``."""

    async def connect() -> Channel:
        return _Hurried(await connector(), seconds)

    return connect


def _author_lines(name: str, tell: Callable[[str], None]) -> Callable[[str], None]:
    """Pass on what a bot prints and how it fails; its runner's progress is of no interest."""

    def say(line: str) -> None:
        if line.startswith(f"[{name}]"):
            tell(line)

    return say
