"""One seat of a game as an environment of Gymnasium; a policy plays the other seats.

A step is the action of the seat and all that follows until it moves again.  The reward is its
return, paid at the end.  An action that is not legal raises ``ValueError``, unless
``illegal="first"`` replaces it by the first legal one, for learners that know no masks.

Importing this module registers the environment, so that these two are the same:

    SeatEnv("pig", seat=1)
    gymnasium.make("Plyhouse/Seat-v0", game="pig", seat=1)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Literal

try:
    import gymnasium
except ImportError as error:
    raise ImportError(
        f"{error}. Environments of Gymnasium need: pip install 'plyhouse[pettingzoo]'",
        name=error.name,
    ) from error

from plyhouse.games.base import Game, Observation
from plyhouse.games.bridges.pettingzoo_env import PlyhouseEnv

__all__ = ["Policy", "SeatEnv", "random_policy"]

Policy = Callable[[Game, Observation, random.Random], str]
"""A player of another seat: from the observation of that seat, a legal action as text."""


def random_policy(game: Game, observation: Observation, rng: random.Random) -> str:
    """Return any legal action, all of them equally likely."""
    return rng.choice(observation.legal)


class SeatEnv(gymnasium.Env):  # type: ignore[misc] # without the library, its class is Any
    """Seat ``seat`` of a game against ``policy``."""

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        game: Game | str,
        seat: int = 0,
        policy: Policy = random_policy,
        illegal: Literal["error", "first"] = "error",
        render_mode: str | None = None,
    ) -> None:
        self.match = PlyhouseEnv(game, render_mode)
        self.render_mode = render_mode
        self.agent = self.match.possible_agents[seat]
        self.observation_space = self.match.observation_space(self.agent)
        self.action_space = self.match.action_space(self.agent)
        self._policy = policy
        self._illegal = illegal
        self._rng = random.Random()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a match; the others move until it is this seat's turn.

        A match that ends before this seat moves is begun again.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._rng = random.Random(seed)
        self.match.reset(seed=seed)
        self._others_move()
        while self._over():
            self.match.reset()
            self._others_move()
        return self.match.observe(self.agent), self.match.infos[self.agent]

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Take an action, let the others move, and return what Gymnasium wants."""
        match = self.match
        legal = match.infos[self.agent]["legal"]
        if int(action) not in legal and self._illegal == "first":
            action = next(iter(legal))
        match.step(int(action))
        self._others_move()
        reward = float(match.rewards[self.agent]) if self._over() else 0.0
        return (
            match.observe(self.agent),
            reward,
            match.terminations[self.agent],
            match.truncations[self.agent],
            match.infos[self.agent],
        )

    def render(self) -> Any:
        """Draw the view of the seat to move as text."""
        return self.match.render()

    def _over(self) -> bool:
        match = self.match
        return bool(match.terminations[self.agent] or match.truncations[self.agent])

    def _others_move(self) -> None:
        match = self.match
        while not self._over() and match.agent_selection != self.agent:
            info = match.infos[match.agent_selection]
            observation = match.game.decode_observation(info["observation"])
            text = self._policy(match.game, observation, self._rng)
            numbers = [number for number, written in info["legal"].items() if written == text]
            if not numbers:
                raise ValueError(f"The policy of {match.agent_selection} played {text!r}.")
            match.step(numbers[0])


gymnasium.register("Plyhouse/Seat-v0", entry_point=SeatEnv)
