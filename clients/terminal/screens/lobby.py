"""The lobby of a server: games to play, open seeks, running matches."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Label, OptionList, Static
from textual.widgets.option_list import Option

from plyhouse.clients.terminal.followed_match import FollowedMatch
from plyhouse.clients.terminal.interfaces import Connection, Incoming, Lost, Refusal, ServerApi
from plyhouse.clients.terminal.screens.help import HelpScreen
from plyhouse.clients.terminal.screens.match import MatchScreen
from plyhouse.clients.terminal.screens.match_options import TIMES, Opponents, Players, Terms
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.api.people import Seek as OpenSeek
from plyhouse.protocol.api.server import ListedGame
from plyhouse.protocol.api.submissions import OpenBot
from plyhouse.protocol.messages import (
    Answer,
    Challenge,
    ChallengeClosed,
    Challenged,
    Error,
    MatchMessage,
    MatchSnapshot,
    Notice,
    Seek,
    Unseek,
    Welcome,
)

if TYPE_CHECKING:
    from plyhouse.clients.terminal.screens.app import TerminalApp

EVERY: Final = 3.0
"""Seconds between looks at seeks and matches."""
PAUSE: Final = 1.0
"""Seconds before a bot that is not there yet is asked for again."""

EMPTY: Final = {
    "running": "No match is running. Choose a game on the left to play one.",
    "seeks": "Nobody is waiting. Choose a game on the left, then anyone, and wait here.",
}
"""Advice in place of an empty list."""

HELP: Final = """\
KEYS

Tab             games, running matches, open seeks, your matches
arrow keys      up and down in a list
Enter           play the game, watch the match, join the seek
t               another time control for the next match
x               stop waiting for an opponent
a               accept the challenge that is told
r               look again
ctrl+t          light or dark
q               leave
?               this list"""


def _plays(bot: OpenBot, spec: str) -> bool:
    """Return whether a bot plays a game, with these parameters or with any."""
    return spec in bot.games or spec.partition("(")[0] in bot.games


class LobbyScreen(Screen[None]):
    """The offers of a server."""

    DEFAULT_CSS = """
    LobbyScreen #title { height: 1; text-style: bold; background: $panel; padding: 0 1; }
    LobbyScreen #lists { height: 1fr; }
    LobbyScreen Vertical { width: 1fr; }
    LobbyScreen Label { text-style: bold; padding: 0 1; width: 1fr; }
    LobbyScreen OptionList { height: 1fr; border: none; padding: 0 1; }
    LobbyScreen OptionList:focus { border: none; }
    LobbyScreen #about { height: 2; padding: 0 1; }
    LobbyScreen #news { height: 1; padding: 0 1; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "time", "Time"),
        Binding("x", "stop", "Stop waiting"),
        Binding("a", "accept", "Accept"),
        Binding("r", "look", "Look again"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "leave", "Leave"),
    ]

    def __init__(self, api: ServerApi) -> None:
        super().__init__()
        self.api = api
        self.games: list[ListedGame] = []
        self.seeks: list[OpenSeek] = []
        self.running: list[Match] = []
        self.own: dict[str, MatchSnapshot] = {}
        """Matches of ours that are not over."""
        self.levels: list[str] = []
        self.hosted: list[OpenBot] = []
        """Submitted bots that are open to people."""
        self.time_control = TIMES[0]
        self.player = ""
        self.wanted: Terms | None = None
        self.challenged: Challenged | None = None
        self._seek = ""
        self._line: Connection | None = None
        self._answered: set[str] = set()

    def compose(self) -> ComposeResult:
        """The lists of matches, seeks and bots."""
        yield Static(id="title", markup=False)
        with Horizontal(id="lists"):
            with Vertical():
                yield Label("Games: Enter plays")
                yield OptionList(id="games", markup=False, compact=True)
            with Vertical():
                yield Label("Your matches: Enter goes on", id="own_label")
                yield OptionList(id="own", markup=False, compact=True)
                yield Label("Running matches: Enter watches")
                yield OptionList(id="running", markup=False, compact=True)
                yield Label("Open seeks: Enter joins")
                yield OptionList(id="seeks", markup=False, compact=True)
        yield Static(id="about", markup=False)
        yield Static(id="news", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Ask for the lists, regularly."""
        self.query_one("#own").display = self.query_one("#own_label").display = False
        self.query_one("#games").focus()
        self._title()
        self.do(self._begin())
        self.set_interval(EVERY, self.action_look)

    @property
    def _app(self) -> TerminalApp:
        return cast("TerminalApp", self.app)

    # --------------------------------------------------------------------- what there is

    async def _begin(self) -> None:
        self.games = await self.api.ask(calls.games())
        games = self.query_one("#games", OptionList)
        games.add_options(Option(each.title) for each in self.games)
        games.highlighted = 0 if self.games else None
        self.levels = (await self.api.ask(calls.session())).levels
        if self.api.known:
            await self._connect()
        await self.look()

    async def look(self) -> None:
        """Ask for seeks, matches and bots that the server would start."""
        self.hosted = await self.api.ask(calls.hosted_bots())
        seeks = await self.api.ask(calls.seeks())
        running = await self.api.ask(calls.page_of_matches(status="running", limit=50))
        self.seeks = [
            each
            for each in seeks
            if each.player != self.player and not each.mirrored and each.seats > 1
        ]
        self.running = [each for each in running if each.match not in self.own]
        self._fill("seeks", [self._seek_text(each) for each in self.seeks])
        self._fill("running", [self._match_text(each) for each in self.running])

    def _fill(self, name: str, texts: Sequence[str]) -> None:
        """Show a list, or what to do while it is empty; what is marked stays marked."""
        shown = self.query_one(f"#{name}", OptionList)
        options = [Option(text) for text in texts]
        if not options and name in EMPTY:
            options = [Option(EMPTY[name], disabled=True)]
        if [option.prompt for option in shown.options] == [option.prompt for option in options]:
            return
        at = shown.highlighted
        shown.clear_options()
        shown.add_options(options)
        if texts:
            shown.highlighted = min(at or 0, len(texts) - 1)

    @staticmethod
    def _seek_text(seek: OpenSeek) -> str:
        kind = "rated" if seek.rated else "casual"
        many = f", {seek.seats} players" if seek.seats > 2 else ""
        return f"{seek.player}: {seek.game}, {seek.time_control}, {kind}{many}"

    @staticmethod
    def _match_text(match: Match) -> str:
        who = " - ".join(each.bot or each.player for each in match.seats)
        return f"{match.game}: {who}, ply {match.ply}"

    def _title(self) -> None:
        dot = "\u00b7" if self._app.ink.unicode else "-"
        who = f"you play as {self.player}" if self.player else "you play as a guest"
        text = f"{self.api.address} {dot} {who} {dot} {self.time_control}"
        self.query_one("#title", Static).update(text)

    def say(self, text: str) -> None:
        """Tell something."""
        self.query_one("#news", Static).update(text)

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes time; what goes wrong is said."""

        async def guarded() -> None:
            try:
                await work
            except Refusal as error:
                self.wanted = None
                self.say(str(error))

        self.run_worker(guarded(), exit_on_error=True)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say more of a game."""
        if event.option_list.id == "games":
            self.query_one("#about", Static).update(self.games[event.option_index].summary)

    # ------------------------------------------------------------------------- playing

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Play, join, watch, go on."""
        at = event.option_index
        match event.option_list.id:
            case "games":
                self._choose(self.games[at])
            case "seeks":
                seek = self.seeks[at]
                wish = Terms(seek.game, seek.time_control, rated=seek.rated, players=seek.seats)
                self.do(self.want(wish))
            case "running":
                self.do(self.look_on(self.running[at]))
            case "own":
                self._enter(list(self.own.values())[at])

    def _choose(self, game: ListedGame) -> None:
        """Ask how many play, where that is open, and against whom."""
        tables = {each.seats: each.game for each in game.tables}

        def counted(players: int | None) -> None:
            if players is not None:
                self._seat(game.title, tables[players], players)

        if len(tables) > 1:
            self.app.push_screen(Players(game.title, list(tables)), counted)
        else:
            counted(next(iter(tables)))

    def _seat(self, title: str, spec: str, players: int) -> None:
        """Play alone, or ask against whom."""
        wish = Terms(spec, self.time_control, players=players)
        if players == 1:
            self.do(self.want(wish))
            return

        # Submitted bots play with one person at a time.
        hosted = [each.bot for each in self.hosted if players == 2 and _plays(each, spec)]

        def chosen(whom: str | None) -> None:
            if whom is None:
                return
            if whom in hosted:
                self.do(self.want(replace(wish, opponent=whom, hosted=True)))
            else:
                self.do(self.want(replace(wish, level=whom)))

        # The server starts a limited number of each level, and says so if none is free.
        asked = Opponents(title, self.time_control, self.levels, players - 1, hosted)
        self.app.push_screen(asked, chosen)

    async def _connect(self) -> Connection:
        """The line over which we play."""
        if self._line is None:
            self.player = await self.api.enter() or self.player
            self._line = self.api.line([each.name for each in self.games])
            self._app.attend(self._line)
            self._title()
        return self._line

    async def want(self, wish: Terms) -> None:
        """Ask for a match."""
        self.wanted = wish
        self.say(f"Waiting for {wish.awaited()}; x stops that.")
        line = await self._connect()
        if wish.level:
            found = await self.api.ask(calls.start_builtin_bots(wish.level, wish.players - 1))
            wish = replace(wish, opponent=found.opponent, others=tuple(found.others))
        if wish.hosted and not await self._started(wish):
            return
        if wish.opponent:
            await line.ask(
                lambda n: Challenge(
                    n,
                    wish.opponent,
                    wish.game,
                    wish.time_control,
                    wish.rated,
                    others=list(wish.others),
                )
            )
        else:
            answer = await line.ask(lambda n: Seek(n, wish.game, wish.time_control, wish.rated))
            self._seek = getattr(answer, "seek", "")

    async def _started(self, wish: Terms) -> bool:
        """Wait until a submitted bot has started; return False if it is no longer wanted."""
        while self.wanted is wish:
            try:
                await self.api.ask(calls.start_hosted_bot(wish.opponent, wish.game))
            except Refusal as error:
                if error.code != "hosted/busy":
                    raise
                if self.wanted is wish:
                    self.say(f"{error} Asking again; x stops that.")
                    await asyncio.sleep(PAUSE)  # the place in the queue is kept
            else:
                return self.wanted is wish
        return False

    async def look_on(self, match: Match) -> None:
        """Look on."""
        line = self.api.line(())
        course = FollowedMatch(match.match)
        ink, now = self._app.ink, self._app.now
        self._app.attend(line)
        screen = MatchScreen(course, ink, now, line=line, api=self.api)
        self.app.push_screen(screen, lambda _: self.do(line.leave()))

    def _enter(self, snapshot: MatchSnapshot) -> None:
        """Sit down at a match of ours."""
        line, wish = self._line, self.wanted
        if line is None:
            return
        course = FollowedMatch(snapshot.match)
        course.take(MatchMessage(snapshot), self._app.now())

        async def again() -> None:
            if wish is not None:
                await self.want(wish)

        title = next(
            (each.title for each in self.games if each.name == snapshot.game), snapshot.game
        )
        against = ", ".join(
            name for seat, name in enumerate(course.holders) if seat != snapshot.seat
        )
        screen = MatchScreen(
            course,
            self._app.ink,
            self._app.now,
            line=line,
            title=f"{title}{f' against {against}' if against else ''}, {snapshot.time_control}",
            again=again if wish is not None else None,
        )
        self.app.push_screen(screen, lambda _: self._back(course))

    def _back(self, course: FollowedMatch) -> None:
        """A match was left."""
        if course.over:
            self.own.pop(course.match, None)
        elif course.match:
            self.say("The match goes on without you: it is among yours, go on with it there.")
        self._show_own()
        self.action_look()

    def hear(self, message: Incoming) -> None:
        """A message of the line."""
        match message:
            case Welcome():
                self.player = message.player or self.player
                self._title()
                self.own.update((each.match, each) for each in message.matches)
                self.say("")
                self._show_own()
            case MatchMessage(snapshot=snapshot) if snapshot.seat is not None:
                self._found(snapshot)
            case Challenged():
                self.challenged = message
                kind = ", rated" if message.rated else ""
                terms = f"{message.game}, {message.time_control}{kind}"
                self.say(f"{message.opponent} asks you for {terms}: a accepts.")
            case ChallengeClosed(reason="declined" | "expired" as why):
                self.wanted = self.challenged = None
                how = "not answered" if why == "expired" else "declined"
                self.say(f"The challenge was {how}. {message.detail}".rstrip())
            case Notice() | Error() if not message.match:
                self.say(message.message)
            case Lost():
                self.say(f"Connection lost: {message.reason}. Trying again.")

    def _found(self, snapshot: MatchSnapshot) -> None:
        """Handle a match of ours that begins, or is sent again."""
        known = snapshot.match in self.own
        self.own[snapshot.match] = snapshot
        self._seek = ""
        self.say("")
        for screen in self.app.screen_stack:
            if isinstance(screen, MatchScreen) and screen.course.match in ("", snapshot.match):
                return  # it is shown already, or that screen waits for it
        if not known and snapshot.status != "finished":
            self._enter(snapshot)

    def _show_own(self) -> None:
        texts = [
            f"{each.game}: {' - '.join(info.bot or info.player for info in each.players)}"
            for each in self.own.values()
        ]
        self._fill("own", texts)
        self.query_one("#own").display = self.query_one("#own_label").display = bool(texts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys mean something now."""
        if action == "accept":
            return self.challenged is not None
        return True

    def action_time(self) -> None:
        """Another time control."""
        self.time_control = TIMES[(TIMES.index(self.time_control) + 1) % len(TIMES)]
        self._title()

    def action_look(self) -> None:
        """Look again."""
        if self.games and self.is_current:
            self.do(self.look())

    def action_accept(self) -> None:
        """Play with who asks."""
        line, asked = self._line, self.challenged
        if line is None or asked is None:
            return
        self.challenged = None

        async def answer() -> None:
            await line.ask(lambda n: Answer(n, asked.challenge, True))

        self.do(answer())

    def action_stop(self) -> None:
        """Stop waiting for an opponent."""
        line, seek = self._line, self._seek
        self.wanted, self._seek = None, ""
        self.say("")
        if line is not None and seek:

            async def withdraw() -> None:
                await line.ask(lambda n: Unseek(n, seek))

            self.do(withdraw())

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(HelpScreen(HELP))

    async def action_leave(self) -> None:
        """Leave the server."""
        if self._line is not None:
            await self._line.leave()
        self.dismiss(None)
