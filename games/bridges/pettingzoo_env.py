"""A game as an environment of PettingZoo: each seat is an agent, and agents act in turn.

An agent may act several times in a row, as in kalah and pig.  The environment itself samples
chance, from the seed of `reset`.  Rewards are the returns, paid at the end.  An agent sees the
numbers of `plyhouse.games.bridges.encoding`, made of what its seat may see, and the mask of legal
actions.

    env = PlyhouseEnv("kuhn_poker")
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        done = termination or truncation
        env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.bridges.encoding import LARGEST, Encoding
from plyhouse.games.bridges.numbering import numbering_of
from plyhouse.games.registry import get_game
from plyhouse.games.scene_text import render_text

try:
    import gymnasium
    from pettingzoo import AECEnv
except ImportError as error:
    raise ImportError(
        f"{error}. Environments of PettingZoo need: pip install 'plyhouse[pettingzoo]'",
        name=error.name,
    ) from error

__all__ = ["PlyhouseEnv"]


class PlyhouseEnv(AECEnv):  # type: ignore[misc] # without the library, its class is Any
    """An environment of the game that a spec or a `Game` names; its agents are ``seat_0`` on.

    ``infos[agent]`` has "observation", the fields that the seat sees, and "legal", the texts of
    its legal actions by their numbers.
    """

    def __init__(self, game: Game | str, render_mode: str | None = None) -> None:
        super().__init__()
        self.game = get_game(game, files=True) if isinstance(game, str) else game
        self.metadata = {
            "name": f"plyhouse_{self.game.info.name}_v0",
            "render_modes": ["ansi"],
            "render_fps": 1,
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(self.game.seats)]
        self.numbering = numbering_of(self.game)
        self.encoding = Encoding(self.game)
        numbers = (self.encoding.size,)
        self.action_spaces = {
            agent: gymnasium.spaces.Discrete(self.numbering.size) for agent in self.possible_agents
        }
        self.observation_spaces = {
            agent: gymnasium.spaces.Dict(
                {
                    "observation": gymnasium.spaces.Box(-LARGEST, LARGEST, numbers, np.float32),
                    "action_mask": gymnasium.spaces.Box(0, 1, (self.numbering.size,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._rng = random.Random()

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return the space of an agent's observations, which is the same for all."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return the space of an agent's actions, which is the same for all."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match; without a seed, chance goes on as it was or, at first, is random."""
        if seed is not None:
            self._rng = random.Random(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._plies = 0
        self._state: Any = self.game.initial_state()
        self.agent_selection = self.agents[0]
        self._go_on()

    def step(self, action: int | None) -> None:
        """Let the agent to move take an action; ``None`` for an agent whose match is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or int(action) not in self.numbering.legal(self._state):
            raise ValueError(f"Action {action} is not legal for {agent}; see its action_mask.")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._plies += 1
        self._state = self._state.after(self.numbering.action(self._state, int(action)))
        self._go_on()
        self._accumulate_rewards()

    def _go_on(self) -> None:
        """Sample chance, then see who is to move or what everybody gets."""
        while self._state.to_move == CHANCE:
            outcomes, weights = zip(*self._state.chance_outcomes(), strict=True)
            self._state = self._state.after(self._rng.choices(outcomes, weights)[0])
            self._plies += 1
        if self._state.to_move == TERMINAL:
            self.rewards = dict(zip(self.agents, self._state.returns(), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = self.possible_agents[self._state.to_move]
            if self._plies >= self.game.info.max_plies:
                self.truncations = dict.fromkeys(self.agents, True)
        self.infos = {agent: self._info(seat) for seat, agent in enumerate(self.agents)}

    def _info(self, seat: int) -> dict[str, Any]:
        fields = self.game.observe(self._state, seat).fields()
        legal = {}
        if self._state.to_move == seat:
            for number, action in self.numbering.actions(self._state).items():
                legal[number] = self.game.format(self._state, action)
        return {"observation": fields, "legal": legal}

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent sees, and which actions are legal; none if it is not to move."""
        seat = self.possible_agents.index(agent)
        mask = np.zeros(self.numbering.size, np.int8)
        if self._state.to_move == seat and not self.truncations.get(agent, False):
            mask[self.numbering.legal(self._state)] = 1
        numbers = self.encoding.encode(self.game.observe(self._state, seat))
        return {"observation": numbers, "action_mask": mask}

    def render(self) -> str | None:
        """Draw the view of the seat to move, or after the end the spectators', as text."""
        if self.render_mode is None:
            return None
        viewer = self._state.to_move if self._state.to_move >= 0 else None
        return render_text(self.game.scene(self.game.observe(self._state, viewer)))

    def close(self) -> None:
        """Do nothing; no window and no process is open."""
