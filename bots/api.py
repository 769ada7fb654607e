"""The interface for authors: `Bot`, and the `Turn` that it receives.

A whole bot::

    from plyhouse.bots import Bot, Turn
    from plyhouse.search import alpha_beta

    class MyBot(Bot):
        games = ("connect_four",)

        def choose(self, turn: Turn):
            return alpha_beta(turn.game, turn.state, turn.limit).action

How it is run:

* Your bot runs in a separate process.  Its output and its exceptions go to your terminal and to a
  log file; it cannot disturb the connection.
* For every match a new object of your class is made, so ``self`` is yours to keep notes on this
  match in.  Load what is large and shared (tables, models) once, at the top of the file.
* ``choose`` may be an ordinary function: then each process plays one match at a time.  Or it may
  be ``async def``: then one process thinks about many matches at once.
* **Time.**  ``turn.limit`` says what to spend now.  A bot that takes longer is not lost.  Shortly
  before its flag falls, the best action that it has reported is played for it.  Searches report
  through ``turn.limit``; other code calls `Turn.report`.  If it has reported nothing, nothing is
  played for it: it may think on until the flag falls.
* A bot that does not come back after its action was played for it is stopped with its process.  A
  new process takes over: a new object of your class, with the whole match in `Turn.history`.
* If ``choose`` raises, the match is resigned (``bot_crash``), and you get traceback and position.
"""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from plyhouse.bots.action_text import MAX_LINE, NoAction, said_of, text_of
from plyhouse.games.base import Game, Observation
from plyhouse.protocol.messages import Event, Outcome, SeatInfo
from plyhouse.search.limit import Limit, SearchResult

__all__ = [
    "Bot",
    "BotError",
    "HiddenInformation",
    "Match",
    "NoAnswer",
    "Resignation",
    "Turn",
    "TurnClock",
    "TurnOver",
]

SKIP: Final = 10**18
"""Nanoseconds by which the clock of searches jumps, each time it is read after the turn."""


class BotError(Exception):
    """A bot used this interface in a way that cannot work; the message says what would."""


class HiddenInformation(BotError):  # noqa: N818 - it names the reason
    """`Turn.state` was asked for in a game where it is not yours to see."""


class Resignation(Exception):  # noqa: N818 - no error: the bot's decision
    """Raise it from ``choose``, or call `Turn.resign`, to give the match up."""


class NoAnswer(Resignation):
    """Raise it if a language model names no legal action: a forfeit; its text is for you."""


class TurnOver(BaseException):
    """Raised by `Turn.report` when the turn has ended without you: stop thinking.

    Not an ``Exception``, so that a broad ``except Exception`` does not swallow it.
    """


@dataclass(frozen=True, slots=True)
class TurnClock:
    """The clocks at the start of the turn, in seconds."""

    left: float
    """Until your flag falls, all periods and the bank included."""
    seats: tuple[float, ...]
    """Time on the clock of each seat; in byo-yomi, of the current period."""
    periods: int | None
    """Your byo-yomi periods left, the current one included; None in other time controls."""
    time_control: str
    """The rule, like ``total:60+0.5``."""


@dataclass(frozen=True, slots=True)
class Match:
    """Metadata that stays constant during a match."""

    id: str
    game: Game
    seat: int
    """Yours."""
    players: tuple[SeatInfo, ...]
    """The player or bot in each seat."""
    time_control: str
    rated: bool
    illegal_rule: str
    """``forfeit``: an illegal action loses; ``retry``: you are asked again on the same clock."""


class Turn:
    """One decision: everything your bot may know, and what it can do about it.

    The runner makes it; tests can make one too:

    >>> from plyhouse.games import get_game
    >>> game = get_game("tic_tac_toe")
    >>> state = game.initial_state()
    >>> match = Match("m1", game, 0, (), "move:1", rated=False, illegal_rule="forfeit")
    >>> turn = Turn(match, ply=0, state=state, observation=game.observe(state, 0))
    >>> turn.legal_text[:3]
    ('a1', 'b1', 'c1')
    >>> turn.text_of(turn.legal[0])
    ('a1', '')
    >>> turn.text_of("d4")
    ('d4', "'d4' is not legal here, expected one of a1, b1, c1, a2, b2, c2, a3, b3, c3")

    ``state`` is the position where the game has perfect information and None elsewhere.  ``soft``
    and ``hard`` are nanoseconds of ``clock_ns`` (monotonic) at which to stop thinking and at which
    it is too late.  ``depth`` and ``nodes`` bound a search further.  ``history`` is kept, not
    copied: more may be added to it later, but nothing taken away.
    """

    def __init__(
        self,
        match: Match,
        *,
        ply: int,
        state: Any | None,
        observation: Observation,
        history: Sequence[Event] = (),
        clock: TurnClock | None = None,
        rng: random.Random | None = None,
        soft: int | None = None,
        hard: int | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        retry: bool = False,
        on_report: Callable[[str], None] | None = None,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._match = match
        self._ply = ply
        self._state = state
        self._observation = observation
        self._events = history
        self._told = len(history)
        self._history: tuple[Event, ...] | None = None
        self._clock = clock or TurnClock(float("inf"), (), None, match.time_control)
        self._rng = rng or random.Random(0)
        self._soft = soft
        self._hard = hard
        self._bounds = Limit(depth=depth, nodes=nodes)
        self._retry = retry
        self._on_report = on_report
        self._clock_ns = clock_ns
        self._consistent: Any | None = state
        self._legal: tuple[Any, ...] | None = None
        self._over = False
        self._skipped = 0
        self.said: dict[str, Any] | None = None
        """The message of the last call of `info`, as it is sent; None without a call."""

    # The match

    @property
    def match(self) -> Match:
        """Id, players, time control: what does not change during the match."""
        return self._match

    @property
    def game(self) -> Game:
        """The game with its parameters; searches and notation need it."""
        return self._match.game

    @property
    def seat(self) -> int:
        """Your seat, counted from 0."""
        return self._match.seat

    @property
    def ply(self) -> int:
        """Index of the action you choose, counting the actions of all seats from 0."""
        return self._ply

    @property
    def retry(self) -> bool:
        """True if your last action was refused and you may try again on the same clock."""
        return self._retry

    # Your knowledge

    @property
    def state(self) -> Any:
        """The position, in games of perfect information: ready for any search.

        Raises `HiddenInformation` in the others, where the position holds what you may not see:
        use `observation`, or guess positions with `sample`.
        """
        if self._state is None:
            raise HiddenInformation(
                f"{self.game.info.name} has hidden information, so there is no turn.state: use "
                "turn.observation for what you see, or turn.sample() for a position that fits it"
            )
        return self._state

    @property
    def observation(self) -> Observation:
        """All that you may see now; its fields are documented with the game."""
        return self._observation

    @property
    def history(self) -> tuple[Event, ...]:
        """Everything that happened in the match, as you may see it.

        Each event has ``ply``, ``seat`` (-1 is chance), ``action`` (text, or None if it is hidden
        from you) and ``ms`` (time charged, or None).  Made when first asked for: a bot that does
        not look at it pays nothing for a long match.
        """
        if self._history is None:
            self._history = tuple(self._events[: self._told])
        return self._history

    @property
    def legal(self) -> tuple[Any, ...]:
        """The actions you can choose from, as the game's own values (what searches use)."""
        if self._legal is None:
            self._legal = tuple(self._any_state().actions())
        return self._legal

    @property
    def legal_text(self) -> tuple[str, ...]:
        """The same actions as text, in the same order: what goes over the wire."""
        state = self._any_state()
        return tuple([self.game.format(state, action) for action in self.legal])

    @property
    def some_action(self) -> Any:
        """One of `legal`, found without listing them all where a game has very many.

        Report it first where the search for a better one may take long.
        """
        return self.game.some_action(self._any_state())

    def random_action(self) -> Any:
        """Draw one of `legal` by `rng`; of very many, among those found in half of the time."""
        stop = None if self._soft is None else self.stopper(0.5)
        return self.game.random_action(self._any_state(), self._rng, stop)

    def sample(self, rng: random.Random | None = None) -> Any:
        """Return a full position that fits everything you see; another one with each call.

        With perfect information it is the position itself.  ``rng`` is `Turn.rng` by default.
        """
        if self._state is not None:
            return self._state
        return self.game.sample_state(self._observation, rng or self._rng)

    @property
    def rng(self) -> random.Random:
        """Randomness for this turn: the same match position in the same run gives the same."""
        return self._rng

    # Time

    @property
    def clock(self) -> TurnClock:
        """The clocks as they stood when your turn began."""
        return self._clock

    @property
    def time_left(self) -> float:
        """Seconds from now until your action has to be on its way; never below 0."""
        if self._hard is None:
            return float("inf")
        return max(0, self._hard - self._clock_ns()) / 1e9

    @property
    def limit(self) -> Limit:
        """The budget of a search on this turn, for any function of ``plyhouse.search``.

        Its time is counted from this moment, leaves a margin for the measured way to the server,
        and spreads what the clock has over the moves to come.  Its ``report`` passes the best
        action so far to `report`.  A search within this limit ends when the turn is over.
        """
        soft = self._soft
        time = None if soft is None else max(0, soft - self._clock_ns()) / 1e9
        clock = self._clock_of_searches
        return replace(self._bounds, time=time, report=self._reported, clock=clock)

    def narrow(self, bounds: Limit) -> None:
        """Let this turn take no more than ``bounds``, whose time is counted from now.

        From then on `limit` has the tighter of these bounds and those of the clock.  They also hold
        for a bot that is given the turn by yours.
        """
        if bounds.time is not None:
            soft = self._clock_ns() + round(bounds.time * 1e9)
            self._soft = soft if self._soft is None else min(self._soft, soft)
        self._bounds = self._bounds.within(bounds)

    def stopper(self, share: float = 1.0) -> Callable[[], bool]:
        """Return a function that says whether to stop: it is true once a share of the time of
        `limit` is used, or the turn is `over`.

        Call it in loops that are no search.
        """
        limit = self.limit
        if limit.time is None:
            return lambda: self._over
        end = limit.clock() + round(share * limit.time * 1e9)
        return lambda: limit.clock() >= end

    @property
    def over(self) -> bool:
        """True once the turn has ended without you, so that nothing you return counts.

        `report` raises `TurnOver` then; code that waits for something else looks here.
        """
        return self._over

    # Your actions

    def report(self, action: Any) -> None:
        """Say that ``action`` is the best you know so far.

        It is played for you when your time is nearly out (unless
        `Bot.play_best_at_deadline` is off).  Costs a few microseconds.  Raises `TurnOver` when
        the turn has ended without you, and `BotError` if the action is not legal.
        """
        if self._over:
            raise TurnOver
        if self._on_report is not None:
            text, problem = self.text_of(action)
            if problem:
                raise BotError(f"turn.report: {problem}")
            self._on_report(text)

    def info(
        self,
        result: SearchResult | None = None,
        *,
        value: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        pv: Sequence[Any] = (),
        text: str = "",
        live: bool = False,
    ) -> None:
        """Say what you thought: it goes along with your action, and replays show it.

        Either what a search found, or parts of your own: ``value`` is what you expect in the
        game's returns, ``pv`` the play that you expect from here (actions or their texts).  The
        last call counts.  Nobody sees your thoughts before all matches of the pairing are over; to
        keep them secret, do not call it.  With ``live`` spectators see it while the match runs, if
        it is casual, nothing is hidden in the game, and only your own bots and built-in bots play
        in it.  Raises `BotError` for what cannot be sent.

        >>> from plyhouse.games import get_game
        >>> game = get_game("tic_tac_toe")
        >>> state = game.initial_state()
        >>> match = Match("m1", game, 0, (), "move:1", rated=False, illegal_rule="forfeit")
        >>> turn = Turn(match, ply=0, state=state, observation=game.observe(state, 0))
        >>> turn.info(value=0, depth=9, pv=["b2", "a1"], text="a draw, as always")
        >>> turn.said
        {'value': 0.0, 'depth': 9, 'pv': ['b2', 'a1'], 'text': 'a draw, as always'}
        """
        if result is not None:
            value, depth, nodes, pv = result.value, result.depth, result.nodes, result.pv
            if result.source != "search":
                text = text or f"value from the {result.source}"
        try:
            self.said = said_of(value, depth, nodes, self._line(pv), text, live)
        except ValueError as error:
            raise BotError(f"turn.info: {error}") from error

    def resign(self) -> None:
        """Give the match up; does not return."""
        raise Resignation

    # For the runner

    def text_of(self, action: Any) -> tuple[str, str]:
        """Return the wire text of an action or of its text, and what is wrong with it ("" if
        nothing); see `plyhouse.bots.action_text`.
        """
        try:
            return text_of(self.game, self._any_state(), action, lambda: self.legal)
        except NoAction as error:
            raise BotError(str(error)) from error

    def describe(self) -> str:
        """Return the position for people: in hidden-information games, what you see of it."""
        if self._state is not None:
            return self.game.describe(self._state)
        return repr(self._observation)

    def end(self) -> None:
        """The turn is over: `report` raises from now on."""
        self._over = True

    def _line(self, pv: Sequence[Any]) -> list[str]:
        """Return a line of play as texts; it ends where this seat cannot know how it goes on."""
        state, line = self._state, list[str]()
        for action in pv[:MAX_LINE]:
            if isinstance(action, str) and (state is None or action not in state.actions()):
                line.append(action)
                state = None
            elif state is not None and state.to_move >= 0:
                line.append(self.game.format(state, action))
                state = state.after(action)
            else:
                break
        return line

    def _clock_of_searches(self) -> int:
        """Return the time, beyond every deadline of a search once the turn is over."""
        if self._over:
            self._skipped += SKIP
        return self._clock_ns() + self._skipped

    def _reported(self, result: SearchResult) -> None:
        self.report(result.action)

    def _any_state(self) -> Any:
        # Legal actions depend on what the mover knows only, so any fitting position has them.
        if self._consistent is None:
            self._consistent = self.game.sample_state(self._observation, random.Random(0))
        return self._consistent

    def __repr__(self) -> str:
        return f"<Turn {self.game.spec} seat {self.seat} ply {self.ply}>"


class Bot:
    """Derive from it, name your games, and write ``choose``.

    The constructor may take options by keyword, each with a default, so that one file holds
    several strengths: ``def __init__(self, depth: int = 4)`` is run as ``mybot.py(depth=6)``.
    """

    name: ClassVar[str] = ""
    """Name of the bot under your account; the class's name in lower case if empty."""

    games: ClassVar[Sequence[str]] = ()
    """Games it can play, like ``("pig", "connect_four(columns=5)")``; empty: any game."""

    reads: ClassVar[Sequence[str]] = ()
    """Options that name files.  A missing one is reported on loading; read it in the constructor to
    report a damaged one there, too."""

    preload: ClassVar[bool] = False
    """True if one object is made on loading, with what the process keeps and before any clock."""

    play_best_at_deadline: ClassVar[bool] = True
    """True if the best action you reported is played when your time is nearly out."""

    @classmethod
    def version_label(cls, **options: Any) -> str:
        """Label of the version with these options, shown after that of its author."""
        return ""

    @classmethod
    def claims(cls) -> Sequence[str]:
        """Games it can play; by default those of ``games``.  Asked once, when it is loaded."""
        return cls.games

    def prepare(self, match: Match) -> None:
        """Prepare before any clock runs, for 20 s at most; on your clock if the bot is hosted."""

    def start(self, turn: Turn) -> None:
        """Prepare for a match; called before its first ``choose``, on your clock."""

    def choose(self, turn: Turn) -> Any | Awaitable[Any]:
        """Return the action to play: what equals one of ``turn.legal``, or its text.

        May be ``async``.
        """
        raise BotError(f"{type(self).__name__} has no choose(self, turn): write one")

    def finish(self, outcome: Outcome) -> None:
        """Called when the match is over, off the clock; ``outcome.returns`` has the result."""

    @classmethod
    def unload(cls) -> None:
        """Called once before the process ends: end what it started, such as other programs."""
