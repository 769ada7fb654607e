"""Perfect information Monte Carlo: sample hidden states, and search each as if all saw it.

Ginsberg, "GIB: imperfect information in a computationally challenging game", JAIR 14 (2001);
its faults: Frank and Basin, "Search in games with incomplete information: a case study using
bridge card play", Artificial Intelligence 100 (1998).  Russell and Norvig, AIMA 4th ed.,
section 6.6 ("averaging over clairvoyance").
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Literal

from plyhouse.games.base import ChanceKind, Game, Information, Observation, State
from plyhouse.games.scene import Scene
from plyhouse.search.game_requirements import require_turn
from plyhouse.search.limit import Limit, SearchResult, part_of, require_limit
from plyhouse.search.monte_carlo.mcts import mcts
from plyhouse.search.monte_carlo.simulating import DEFAULT_SIMULATIONS, checked_whole, checked_word
from plyhouse.search.poll import Poll

__all__ = ["OpenGame", "pimc"]

UNLIMITED: Final = Limit()
SAMPLES: Final = 30


class OpenGame(Game):
    """The variant of a game in which every seat sees the whole state."""

    def __init__(self, game: Game) -> None:
        self.closed = game
        self.info = replace(game.info, information=Information.PERFECT)  # type: ignore[misc]
        self._parameters = game.parameters
        self.source = game.source

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenGame, (self.closed,)

    @property
    def seats(self) -> int:
        """Delegate to the game."""
        return self.closed.seats

    @property
    def return_bounds(self) -> tuple[float, float]:
        """Delegate to the game."""
        return self.closed.return_bounds

    @property
    def chance_kind(self) -> ChanceKind:
        """Delegate to the game."""
        return self.closed.chance_kind

    def team(self, seat: int) -> int:
        """Delegate to the game."""
        return self.closed.team(seat)

    def initial_state(self) -> State:
        """Delegate to the game."""
        return self.closed.initial_state()

    def observe(self, state: State, seat: int | None) -> Observation:
        """Delegate to the game."""
        return self.closed.observe(state, seat)

    def information_state(self, state: State, seat: int) -> Any:
        """Return the information states of all seats together."""
        return tuple(self.closed.information_state(state, each) for each in range(self.seats))

    def sample_state(self, observation: Observation, rng: random.Random) -> State:
        """Delegate to the game."""
        return self.closed.sample_state(observation, rng)

    def scene(self, observation: Observation) -> Scene:
        """Delegate to the game."""
        return self.closed.scene(observation)

    def describe(self, state: State) -> str:
        """Delegate to the game."""
        return self.closed.describe(state)


def pimc(
    game: Game,
    observation: Observation,
    limit: Limit = UNLIMITED,
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    search: Callable[..., SearchResult] = mcts,
    combine: Literal["mean", "vote"] = "mean",
) -> SearchResult:
    """Find an action from one seat's observation by searching sampled full states.

    ``game.sample_state`` draws ``samples`` states.  Each gets the same share of the limit: time,
    nodes, simulations, or without a bound 1000 simulations in all.  ``search(game, state, limit,
    seed=...)`` searches it as a game of perfect information: `mcts`, `alpha_beta` or any other that
    fits the open game.

    ``combine``: "mean" takes the action with the best mean value, "vote" that which was the best
    in most states.  A search that prunes knows only bounds for what is not best: use "vote".

    It has two known faults that more samples do not cure.  By *strategy fusion* the search assumes
    that it will know the hidden state at its later actions, so it overrates waiting and never pays
    for information.  By *non-locality* it takes hidden states to be as likely as they are dealt,
    and ignores the information in the others' play.  `plyhouse.search.monte_carlo.ismcts.ismcts`
    does not have the first.

    ``visits`` counts the states in which an action was the best.  Raises `GameMismatch` if
    ``search`` does not fit, `ValueError` when it is not the observer's turn, or, like
    `TypeError`, for options out of range.
    """
    require_limit(limit)
    poll = Poll(replace(limit, nodes=None))
    require_turn("pimc", game, observation)
    checked_whole("pimc", "samples", samples, 1)
    checked_word("pimc", "combine", combine, ("mean", "vote"))
    rng = random.Random(seed)
    opened = OpenGame(game)
    some = game.sample_state(observation, random.Random(seed))
    tally = _Tally(tuple(some.actions()), combine, poll)
    for number in range(samples):
        if number and limit.time is not None and poll.seconds() >= limit.time:
            break
        state = game.sample_state(observation, rng)
        share = _share(limit, samples, number, poll)
        found = search(opened, state, share, seed=rng.getrandbits(32))
        tally.add(found)
        if limit.report is not None and number < samples - 1:
            limit.report(tally.result())
    result = tally.result()
    if limit.report is not None:
        limit.report(result)
    return result


def _share(limit: Limit, samples: int, number: int, poll: Poll) -> Limit:
    """Return the limit for the search of one state."""
    simulations = limit.simulations
    if simulations is None and limit.time is None and limit.nodes is None and limit.depth is None:
        simulations = DEFAULT_SIMULATIONS
    time = limit.time
    if time is not None:
        time = max(0.0, time - poll.seconds()) / (samples - number)
    return Limit(
        time=time,
        depth=limit.depth,
        nodes=part_of(limit.nodes, samples, number),
        simulations=part_of(simulations, samples, number),
        clock=limit.clock,
    )


class _Tally:
    """Return the combined results of the searches."""

    def __init__(self, actions: tuple[Any, ...], combine: str, poll: Poll) -> None:
        self.actions = actions
        self.combine = combine
        self.poll = poll
        self.totals: dict[Any, float] = {}
        self.counts: dict[Any, int] = {}
        self.votes: dict[Any, int] = {}
        self.depth = 0
        self.nodes = 1
        self.simulations = 0

    def add(self, found: SearchResult) -> None:
        """Count what one search found."""
        for action, value in found.values.items():
            self.totals[action] = self.totals.get(action, 0.0) + value
            self.counts[action] = self.counts.get(action, 0) + 1
        self.votes[found.action] = self.votes.get(found.action, 0) + 1
        self.depth = max(self.depth, found.depth)
        self.nodes += found.nodes
        self.simulations += found.simulations

    def result(self) -> SearchResult:
        """Put together what is known now."""
        values = {
            action: self.totals[action] / self.counts[action]
            for action in self.actions
            if action in self.counts
        }
        votes = {action: self.votes.get(action, 0) for action in self.actions}

        def rank(action: Any) -> tuple[float, float]:
            value = values.get(action, float("-inf"))
            return (votes[action], value) if self.combine == "vote" else (value, votes[action])

        best = max(self.actions, key=rank)
        return SearchResult(
            action=best,
            value=values.get(best, 0.0),
            pv=(best,),
            depth=self.depth,
            nodes=self.nodes,
            time=self.poll.seconds(),
            values=values,
            visits=votes,
            simulations=self.simulations,
        )
