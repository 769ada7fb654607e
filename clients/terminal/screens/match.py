"""A match: played, watched, or stepped through after it is over."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Footer, Input, Static

from plyhouse.clients.terminal.action_choice import placed_action
from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.followed_match import FollowedMatch, earlier
from plyhouse.clients.terminal.interfaces import Connection, Incoming, Refusal, ServerApi
from plyhouse.clients.terminal.line_reader import nearest
from plyhouse.clients.terminal.screens.actions import ActionList
from plyhouse.clients.terminal.screens.board import BoardView
from plyhouse.clients.terminal.screens.help import MATCH_KEYS, SIGNS, HelpScreen
from plyhouse.clients.terminal.screens.replay_control import DRAWN, ProgressLine, ReplayControl
from plyhouse.clients.terminal.screens.seats import PliesView, SeatsView
from plyhouse.protocol.messages import (
    AcceptDraw,
    Act,
    MatchMessage,
    OfferDraw,
    Ready,
    Resign,
    Sync,
    Watch,
)

TYPING: Final = "Enter plays, Esc goes back to the board, where q leaves"
TYPED: Final = ("type", "flip", "go", "play", "draw", "resign", "help", "leave")
"""Actions of the screen whose keys are text in the input field."""
PATIENCE: Final = 4.0
"""Seconds after which a key that must be pressed twice is forgotten."""


class MatchScreen(ReplayControl):
    """One match, live over a `Connection` or to replay.

    api: source of the positions that were played before the viewer joined.
    again: called for another match on the same terms; None if another match is impossible.
    quits: whether leaving resigns the match, as at a table that exists for this match only.
    """

    DEFAULT_CSS = """
    MatchScreen #title { height: 1; text-style: bold; background: $panel; padding: 0 1; }
    MatchScreen #table { height: 1fr; }
    MatchScreen #side { width: 28; padding: 0 0 0 1; }
    MatchScreen.wide #side { width: 38; }
    MatchScreen #status { height: 1; padding: 0 1; text-style: bold; }
    MatchScreen #news { height: auto; max-height: 2; padding: 0 1; background: $panel; }
    MatchScreen PliesView { height: 1fr; margin: 1 0 0 0; }
    MatchScreen ActionList { height: 1fr; margin: 1 0 0 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # Before the board gets it, so that what follows at once goes to the field.
        Binding("slash", "type", "Type", priority=True),
        Binding("f", "flip", "Flip"),
        Binding("m", "mute", "Mute", show=False),
        Binding("comma", "go(-1)", "Back", key_display=","),
        Binding("full_stop", "go(1)", "On", key_display="."),
        Binding("p", "play", "Play"),
        Binding("home", "go(-100000)", "Start", show=False),
        Binding("end", "go(100000)", "End", show=False),
        Binding("left", "go(-1)", show=False),
        Binding("right", "go(1)", show=False),
        Binding("plus,equals_sign", "speed(1)", "Faster", show=False),
        Binding("minus", "speed(-1)", "Slower", show=False),
        Binding("D", "draw", "Draw"),
        Binding("R", "resign", "Resign"),
        Binding("n", "again", "Again"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "leave", "Leave"),
        Binding("escape", "give_up", show=False),
    ]

    def __init__(
        self,
        course: FollowedMatch,
        ink: Ink,
        now: Callable[[], int],
        *,
        line: Connection | None = None,
        api: ServerApi | None = None,
        title: str = "",
        again: Callable[[], Awaitable[None]] | None = None,
        quits: bool = False,
        at: int | None = None,
        playing: float | None = None,
    ) -> None:
        super().__init__(course, ink, now, line, at=at, playing=playing)
        self._api = api
        self._title = title
        self._again = again
        self._quits = quits
        self.sent: int | None = None
        """The ply that we have played, until the server has answered."""
        self._armed = ""
        self._arming: Timer | None = None
        self._turn_shown: int | None = None
        self._news = ""

    def compose(self) -> ComposeResult:
        """The board, and beside it who plays, what was played, what can be played."""
        yield Static(id="title", markup=False)
        with Horizontal(id="table"):
            yield BoardView(self._ink, id="board")
            with Vertical(id="side"):
                yield SeatsView(markup=False)
                yield PliesView(markup=False)
                yield ActionList()
        yield Static(id="status", markup=False)
        yield Static(id="news", markup=False)
        yield ProgressLine(self._ink)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Begin."""
        self.set_interval(DRAWN / 1e9, self.tick)
        self._lay_out()
        if self.playing:
            self._run()
        self.set_focus(self.board)
        if self.course.seat is not None and self.course.status == "waiting":
            self._do(self._ready(self.course.match))
        self.refresh_all()

    def on_resize(self) -> None:
        """Use the room that there is."""
        self.set_class(self.size.width >= 110, "wide")
        self.call_after_refresh(self.refresh_all)

    # -------------------------------------------------------------------- what is shown

    @property
    def choosing(self) -> bool:
        """True if an action can be chosen now."""
        turn = self.course.turn
        return turn is not None and self.sent != turn and self.at >= turn and not self._lost

    @property
    def _lost(self) -> bool:
        return bool(self.course.trouble)

    @property
    def board(self) -> BoardView:
        """The widget with the board."""
        return self.query_one(BoardView)

    def _lay_out(self) -> None:
        """Show the possible actions of a player or a spectator."""
        mine = self.course.seat is not None and not self.course.over
        actions = self.query_one(ActionList)
        if not mine and self.focused in (actions.field, actions.options):
            self.set_focus(self.board)
        actions.display = mine
        self.query_one(ProgressLine).display = not mine or self.at < self.course.last

    def refresh_all(self) -> None:
        """Draw everything as it is now."""
        if not self.is_mounted:
            return
        course = self.course
        self.keep_up()
        self._lay_out()
        played_for = course.kind or ("rated" if course.rated else "casual")
        kind = f" \u00b7 {course.time_control} \u00b7 {played_for}" if course.time_control else ""
        title = self._title or f"{course.game}{kind}"
        self.query_one("#title", Static).update(
            title if self._ink.unicode else title.replace("\u00b7", "-")
        )
        self.board.show(
            course.position(self.at),
            course.holders,
            choosing=self.choosing,
            before=course.scenes.get(self.at - 1),
        )
        self._offer()
        self.query_one(PliesView).show(course, self.at, self._ink)
        self.query_one(SeatsView).show(course, self.at, self._ink, self._now())
        self._say()
        track = self.query_one(ProgressLine)
        track.show(self.at, course.last, self.speed, playing=self.playing, live=self.live)
        self.refresh_bindings()

    def _offer(self) -> None:
        """List what can be played; a new turn puts the cursor where it can be chosen."""
        actions, board = self.query_one(ActionList), self.board
        if not self.choosing:
            actions.offer((), {})
            self._turn_shown = None
            return
        asked = board.asked if board.choice is not None and not board.choice.open() else []
        if asked:
            actions.offer([move.action for move in asked], {m.action: m.label for m in asked})
        else:
            labels = dict(self.course.labels)
            unusual: set[str] = set()
            for button in board.scene.get("elements", ()):
                if button.get("kind") != "button" or button.get("via"):
                    continue
                action = button["action"]
                if button.get("aside"):
                    unusual.add(action)
                if button.get("key"):
                    key = SIGNS.get(button["key"], button["key"])
                    labels[action] = f"{labels.get(action) or action}  [{key}]"
            legal = self.course.legal or tuple(self.course.labels)
            actions.offer(sorted(legal, key=lambda action: action in unusual), labels)
        if self._turn_shown != self.course.turn:
            self._turn_shown = self.course.turn
            if self.focused is not actions.field:  # keep what was begun to type
                self.set_focus(board if board.choosable else actions.options)
        elif asked:
            self.set_focus(actions.options)

    def tick(self) -> None:
        """Let the clocks go on, and show the next position if it is due."""
        if self.is_due:
            self.refresh_all()
            return
        self.query_one(SeatsView).show(self.course, self.at, self._ink, self._now())

    def _say(self) -> None:
        """Show the state of the match, and notices."""
        course = self.course
        status = course.status_at(self.at)
        hint = TYPING if isinstance(self.focused, Input) else self.board.hint()
        if self.sent is not None and self.sent == course.turn:
            status = "Played; waiting for the server."
        elif not course.scenes:
            status = course.notice or "Waiting for the match."
        text = f"{status}   {hint}" if hint else status
        self.query_one("#status", Static).update(text, layout=False)
        news = self._armed_text() or course.trouble or course.notice
        shown = self.query_one("#news", Static)
        if news != self._news:
            self._news = news
            shown.update(news)
        shown.display = bool(news)

    def _armed_text(self) -> str:
        return {
            "resign": "Really resign? Press R once more; any other key forgets it.",
            "leave": "Leave and give up? Press q once more; any other key forgets it.",
        }.get(self._armed, "")

    # -------------------------------------------------------------------- what comes in

    def take(self, message: Incoming) -> None:
        """A message from the server."""
        if not self.course.take(message, self._now()):
            return
        if isinstance(message, MatchMessage) and self.course.seat is not None:
            snapshot = message.snapshot
            if snapshot.status == "waiting":
                self._do(self._ready(snapshot.match))
        if self.course.turn is None or self.course.turn != self.sent:
            self.sent = None
        if self.course.turn is not None and self.course.turn != self._turn_shown:
            self.follow = True  # The seat to move sees the position.
        self.refresh_all()

    async def _ready(self, match: str) -> None:
        if self._line is not None:
            await self._line.ask(lambda number: Ready(number, match))

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes time; what goes wrong is said."""

        async def guarded() -> None:
            try:
                await work
            except Refusal as error:
                self.course.notice = str(error)
                self.sent = None
                self.refresh_all()

        self.run_worker(guarded(), exit_on_error=True)

    def connected(self) -> None:
        """The line is there, perhaps again: what was missed in between is asked for."""
        if self.course.match and not self.course.over:
            self._do(self.look_on() if self.course.seat is None else self.sync())

    async def look_on(self) -> None:
        """Follow the match as a spectator."""
        if self._line is not None:
            answer = await self._line.ask(lambda number: Watch(number, self.course.match))
            if isinstance(answer, MatchMessage):
                self.take(answer)
                await self._look_back()

    async def _look_back(self) -> None:
        """Request the earlier positions, so that the user can step back to them."""
        if self._api is not None:
            with contextlib.suppress(Refusal):  # rolls or deals that another match has, too
                await earlier(self._api, self.course)
            self.refresh_all()

    async def sync(self) -> None:
        """Ask how our match stands, after the connection was lost."""
        if self._line is not None and self.course.seat is not None and not self.course.over:
            answer = await self._line.ask(lambda number: Sync(number, self.course.match))
            if isinstance(answer, MatchMessage):
                self.take(answer)

    # ----------------------------------------------------------------------- what is done

    def on_descendant_focus(self) -> None:
        """Name the keys of the part that has the focus."""
        self._say()

    def on_board_view_chosen(self, event: BoardView.Chosen) -> None:
        """An action was chosen on the board."""
        self.play(event.action)

    def on_board_view_changed(self) -> None:
        """The cursor has moved, or a spot was chosen."""
        self._offer()
        self._say()

    def on_action_list_chosen(self, event: ActionList.Chosen) -> None:
        """An action was chosen from the list, or typed."""
        self.play(event.action)

    def on_action_list_unknown(self, event: ActionList.Unknown) -> None:
        """The typed text is no action of the list."""
        placed = placed_action(self.board.scene, event.text)
        if placed is not None:
            self.play(placed)
            return
        near = nearest(event.text, list(self.course.legal))
        hint = f"Did you mean {' or '.join(near)}?" if near else "The list shows what is."
        self.course.notice = f"'{event.text}' is not possible here. {hint}"
        self._say()

    def on_action_list_left(self) -> None:
        """Back to the board."""
        self.set_focus(self.board)

    def play(self, action: str) -> None:
        """Play an action, once."""
        if not self.choosing or self._line is None:
            return
        line, match, ply = self._line, self.course.match, self.course.turn or 0
        self.sent = ply
        self.course.notice = ""
        self.set_focus(self.board)  # so that keys mean what they say again

        async def act() -> None:
            await line.ask(lambda number: Act(number, match, ply, action))

        self._do(act())
        self.refresh_all()

    def on_key(self, event: events.Key) -> None:
        """Keys of the game's own come before those of the screen."""
        if self._armed and event.key not in ("R", "q"):
            self._disarm()
        if isinstance(self.focused, Input):
            return
        action = self.board.key_of(event.key, event.character)
        if action is not None and self.choosing:
            event.stop()
            event.prevent_default()
            self.play(action)

    def action_type(self) -> None:
        """Type an action."""
        self.set_focus(self.query_one(ActionList).field)  # at once, for who types fast

    def action_flip(self) -> None:
        """Turn the board."""
        self.board.flip()

    def action_mute(self) -> None:
        """Show or hide what others say."""
        course = self.course
        course.quiet = not course.quiet
        course.notice = f"What others say is {'hidden' if course.quiet else 'shown'}."
        self.refresh_all()

    def action_give_up(self) -> None:
        """Forget what was chosen so far."""
        self.board.give_up()
        self.set_focus(self.board)

    # --------------------------------------------------------------- what cannot be undone

    def _arm(self, what: str) -> bool:
        """Return whether the key was pressed for the second time."""
        if self._armed == what:
            self._disarm()
            return True
        self._disarm()
        self._armed = what
        self._arming = self.set_timer(PATIENCE, self._disarm)
        self._say()
        return False

    def _disarm(self) -> None:
        self._armed = ""
        if self._arming is not None:
            self._arming.stop()
            self._arming = None
        if self.is_mounted:
            self._say()

    @property
    def _mine(self) -> bool:
        """True if this is a match of ours that goes on."""
        course = self.course
        return self._line is not None and course.seat is not None and not course.over

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys mean something now."""
        if isinstance(self.focused, Input) and action in TYPED:
            return False  # their keys are typed, as in 8/5
        if action in ("resign", "draw", "type"):
            return self._mine and bool(self.course.match)
        if action == "again":
            return self._again is not None and self.course.over
        if action == "flip":
            return self.is_mounted and self.board.sided
        if action == "play":
            return not self._mine
        return True

    def action_resign(self) -> None:
        """Give the match up, after one more press."""
        if not self._mine or not self._arm("resign"):
            return
        self._do(self._resign())

    async def _resign(self) -> None:
        match = self.course.match
        if self._line is not None:
            await self._line.ask(lambda number: Resign(number, match, "resignation"))

    def action_draw(self) -> None:
        """Offer a draw, or accept the one that is on offer."""
        line, match, accept = self._line, self.course.match, self.course.offered
        if not self._mine or line is None:
            return

        async def offer() -> None:
            if accept:
                await line.ask(lambda number: AcceptDraw(number, match))
            else:
                await line.ask(lambda number: OfferDraw(number, match))
                self.course.notice = "You offer a draw; it stands until the other has acted."
                self.refresh_all()

        self._do(offer())

    def action_again(self) -> None:
        """Another match on the same terms."""
        if self._again is None or not self.course.over:
            return
        again = self._again
        quiet = self.course.quiet
        self.course = FollowedMatch()
        self.course.quiet = quiet
        self.course.notice = "Waiting for the next match."
        self.at, self.follow, self.sent, self._since = 0, True, None, None

        async def begin() -> None:
            await again()

        self._do(begin())
        self.refresh_all()

    def action_help(self) -> None:
        """Show the help for the keys."""
        self.app.push_screen(HelpScreen(MATCH_KEYS))

    async def action_leave(self) -> None:
        """Leave; a match that exists only here is given up, after one more press."""
        if self._mine and self._quits:
            if not self._arm("leave"):
                return
            with contextlib.suppress(Refusal):  # it is over, then
                await self._resign()
        self.dismiss(None)
