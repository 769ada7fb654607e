"""One seat of a game as an environment, with bots in the other seats.

A step is the action of the seat and everything until it is to move again.  The observation comes
from `plyhouse.server.match.views`, as on a server.  The reward is the seat's return, paid at the
end.  An action that is not legal is refused, and the match goes on as it was.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import time
import uuid
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from plyhouse.bots.api import Bot, Match, Turn
from plyhouse.games.base import CHANCE, TERMINAL, Game, Information
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.games.scene_text import draw_fields
from plyhouse.protocol.messages import Outcome, SeatInfo
from plyhouse.server.match.views import Views
from plyhouse.server.results.dataset import event_lines

SECONDS: Final = 5.0
"""Time of a bot for a ply; the built-in opponents take one second at most."""


class Action(Struct, frozen=True):
    """An action of the seat, as one of the legal ones is written."""

    action: str
    metadata: dict[str, Any] = {}


class Observation(Struct, frozen=True):
    """The position as the seat may see it."""

    game: str
    seat: int
    """The seat, from 0; the text counts seats from 1."""
    ply: int
    text: str
    seen: list[str]
    """The events since the seat's last ply as it saw them: ``SEAT: ACTION``.  Chance has seat -1,
    and ``?`` stands for a hidden action."""
    legal: list[str]
    """The legal actions; empty at the end."""
    metadata: dict[str, Any] = {}


class Result(Struct, frozen=True):
    """An observation with what OpenEnv tells beside it."""

    observation: Observation
    reward: float | None
    done: bool


class State(Struct, frozen=True):
    """The progress of an episode, with nothing that its seat may not know."""

    episode_id: str | None = None
    step_count: int = 0
    game: str = ""
    seat: int = 0
    ply: int = 0


class Refused(ValueError):  # noqa: N818 - a condition, told to the client
    """A step or reset that cannot be made; the text says why."""


class Environment:
    """Episodes of one seat, one after the other."""

    def __init__(self, game: Game, opponent: Callable[[], Bot]) -> None:
        self._game = game
        self._opponent = opponent
        self._position = Position(game)
        self._views = Views(game, game.seats)
        self._bots: dict[int, Bot] = {}
        self._rng = random.Random()
        self._seat = self._told = 0
        self.state = State(game=game.spec)

    async def reset(
        self, seed: int | None = None, episode_id: str | None = None, seat: int | None = None
    ) -> Result:
        """Begin an episode; without a seat, one is drawn.

        A match that ends before the seat moves is begun again.
        """
        if seat is not None and not 0 <= seat < self._game.seats:
            raise Refused(f"{self._game.spec} has seats 0 to {self._game.seats - 1}.")
        if seed is not None:
            self._rng = random.Random(seed)
        self._seat = self._rng.randrange(self._game.seats) if seat is None else seat
        name = episode_id or uuid.uuid4().hex
        self.state = State(name, 0, self._game.spec, self._seat, 0)
        while True:
            self._position, self._views = Position(self._game), Views(self._game, self._game.seats)
            self._told = 0
            self._bots = {}
            result = await self._go_on()
            if not result.done:
                return Result(result.observation, None, done=False)

    async def step(self, text: str) -> Result:
        """Play an action and what follows it; raises `Refused`."""
        if self.state.episode_id is None or self._position.mover != self._seat:
            raise Refused("There is no episode under way: send reset first.")
        try:
            self._apply(text)
        except GameError as error:
            refusal = self._views.refusal(error, text)
            raise Refused(refusal) from error
        self._told = self._views.length
        return await self._go_on(1)

    async def _go_on(self, steps: int = 0) -> Result:
        """Let chance and the others move until it is the seat's turn."""
        position = self._position
        while position.mover != TERMINAL and position.mover != self._seat:
            if position.mover == CHANCE:
                outcomes, weights = zip(*position.state.chance_outcomes(), strict=True)
                outcome = self._rng.choices(outcomes, weights)[0]
                self._apply(self._views.chance_text(position.state, outcome))
            else:
                try:
                    self._apply(await self._chosen(position.mover))
                except Exception as error:  # the opponent may be anybody's code
                    raise Refused(f"The opponent failed, send reset: {error!r}") from error
        done = position.mover == TERMINAL
        steps += self.state.step_count
        name = self.state.episode_id
        self.state = State(name, steps, self._game.spec, self._seat, position.ply)
        fields, scene = self._views.drawn(position.state, self._seat)
        seen = event_lines(self._views.events(self._seat, self._told))
        observation = Observation(
            *(self._game.spec, self._seat, position.ply, draw_fields(scene), seen),
            [] if done else list(fields["legal"]),
        )
        if not done:
            return Result(observation, 0.0, done)
        returns = list(map(float, position.state.returns()))
        for bot in self._bots.values():
            await asyncio.to_thread(bot.finish, Outcome("normal", returns))
        return Result(observation, returns[self._seat], done)

    def _apply(self, text: str) -> None:
        state, seat, ply = self._position.state, self._position.mover, self._position.ply
        action = self._position.apply(seat, text)
        form = self._game.format if seat != CHANCE else self._game.format_chance
        self._views.record(state, action, form(state, action), seat, ply, None)

    async def _chosen(self, seat: int) -> str:
        """Return the action of a bot."""
        game, state = self._game, self._position.state
        players = tuple([SeatInfo("controller") for _ in range(game.seats)])
        match = Match(
            *("openenv", game, seat, players, "move:5"), rated=False, illegal_rule="forfeit"
        )
        new = seat not in self._bots
        if new:
            self._bots[seat] = self._opponent()
            await asyncio.to_thread(self._bots[seat].prepare, match)
        bot = self._bots[seat]
        now = time.monotonic_ns()
        turn = Turn(
            match,
            ply=self._position.ply,
            state=state if game.info.information is Information.PERFECT else None,
            observation=game.observe(state, seat),
            history=self._views.events(seat),
            rng=random.Random(self._rng.random()),
            soft=now + round(SECONDS / 2 * 1e9),
            hard=now + round(SECONDS * 1e9),
        )
        if new:
            await asyncio.to_thread(bot.start, turn)
        if inspect.iscoroutinefunction(bot.choose):
            action = await bot.choose(turn)
        else:
            action = await asyncio.to_thread(bot.choose, turn)
        return turn.text_of(action)[0]
