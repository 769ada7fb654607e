"""Training of a policy and value network by self-play with PUCT, in steps that can be interrupted.

In a step the network plays some matches against itself at the same time, each action chosen by a
search.  The policy learns the search's visits, the value the result of the match.  Silver et al.,
"A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play",
Science 362 (2018).  Five things differ.  Matches begin with some random plies, and others may
follow, so the network meets more kinds of positions.  The trees know the exact values of positions
near the end.  A part of the search's own value goes into the target of the value.
Subtrees are kept from turn to turn.  A running mean of the weights plays, instead of the last ones
(B. Polyak and A. Juditsky, SIAM Journal on Control and Optimization 30, 1992).

Step n of a seed always draws the same random numbers.  So a training that continues from a
checkpoint gives the same weights as one that was never interrupted, on the same machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.registry import get_game
from plyhouse.learning.alphazero_curve import Rival, measure, random_opening
from plyhouse.learning.board_views import BoardView, view_of
from plyhouse.learning.checkpoints import Training
from plyhouse.learning.policy_networks import (
    EXPLORATION,
    PolicyNetwork,
    search_together,
    write_policy_network,
)
from plyhouse.learning.weights import adam_step
from plyhouse.search.garbage_collection import no_full_collections
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.self_play import SelfPlayTree

NOISE: Final = 0.25
"""Share of Dirichlet noise in the priors of a root."""
DECAY: Final = 0.01
"""Share of the weights that a step at rate 1 takes away."""
PLAYING: Final = 0.999
"""Most that the playing weights keep of themselves in a step of Adam."""
EARLIEST: Final = 8_000
"""Positions that are kept at least."""
RECENT: Final = 0.4
"""Share of all positions that are kept to learn from, the newest ones."""


@dataclass(frozen=True)
class AlphaZeroSettings:
    """Settings that, with the number of matches, determine the result of a training."""

    game: str = "connect_four"
    seed: int = 0
    channels: int = 64
    """Units that see each window of the board."""
    hidden: int = 128
    """Units of the dense layer."""
    direct: bool = False
    """Whether the dense layer also sees the inputs."""
    simulations: int = 50
    """Simulations for each action of self-play."""
    opening: int = 8
    """Most random plies at the start of a match."""
    sampled: int = 8
    """Plies after these in which actions are drawn by their visits; later the most visited."""
    random: float = 0.0
    """Share of actions after these that are random."""
    result: float = 0.5
    """Share of the match's result in the target of the value; the rest is the search's value."""
    rate: float = 0.002
    """Adam's first rate."""
    halving: int = 8_000
    """Matches after which the rate is a half of the first; after twice as many, a third."""
    matches: int = 100
    """Matches played at the same time in a step."""
    passes: float = 8.0
    """How often a position is learned from, on average."""
    batch: int = 256
    """Positions in a step of Adam."""
    positions: int = 600_000
    """Most positions that are kept to learn from."""
    measured: int = 300
    """Positions or matches that measure each point of the curve; 0 measures none."""

    def rate_after(self, played: int) -> float:
        """Return the rate of a step after so many matches."""
        return self.rate * self.halving / (self.halving + played)


@dataclass
class Samples:
    """Positions to learn from, oldest first."""

    words: NDArray[np.int64]
    """Positions as their view has them, of shape (n, 3)."""
    policies: NDArray[np.float32]
    """Shares of the visits, of shape (n, actions); -1 at illegal actions."""
    values: NDArray[np.float32]
    """Expected returns of the movers, of shape (n,)."""

    @classmethod
    def none(cls, view: BoardView) -> Samples:
        """Return no positions of a view."""
        return cls(
            np.zeros((0, 3), np.int64),
            np.zeros((0, view.actions), np.float32),
            np.zeros(0, np.float32),
        )

    def arrays(self) -> list[NDArray[Any]]:
        """Return the three arrays."""
        return [self.words, self.policies, self.values]

    def joined(self, other: Samples, most: int) -> Samples:
        """Return these and then others, at most so many: the newest."""
        pairs = zip(self.arrays(), other.arrays(), strict=True)
        return Samples(*[np.concatenate(pair)[-most:] for pair in pairs])


class AlphaZeroTraining(Training):
    """A network in training.

    >>> settings = AlphaZeroSettings("tic_tac_toe", channels=4, hidden=8, matches=2, measured=0)
    >>> training = AlphaZeroTraining(settings)
    >>> training.run(3)
    >>> training.played  # whole steps
    4
    """

    form = "plyhouse-alphazero-training-3"
    settings_type = AlphaZeroSettings
    counters = ("played", "made", "steps")

    def __init__(self, settings: AlphaZeroSettings) -> None:
        self.settings = settings
        self.game = get_game(settings.game)
        self.view = view_of(self.game)
        self.played = 0
        self.made = 0
        """Positions made in all."""
        self.steps = 0
        """Steps of Adam."""
        self.network = self.empty()
        self.network.randomize(settings.seed)
        self.player = self.empty()
        """The running mean of the weights, which plays."""
        self.player.weights = [weight.copy() for weight in self.network.weights]
        self.mean = [np.zeros_like(weight) for weight in self.network.weights]
        """Adam's mean of the gradients."""
        self.square = [np.zeros_like(weight) for weight in self.network.weights]
        """Adam's mean of their squares."""
        self.samples = Samples.none(self.view)
        self.curve: list[tuple[int, float, float]] = []
        """Matches played, the share that `plyhouse.learning.alphazero_curve` measures,
        and its margin at 95 %."""
        self.rival: Rival | None = None
        """Player that measures the curve of games without solved positions; set it to have one."""

    def empty(self) -> PolicyNetwork:
        """Return a network of the right size, with all weights 0."""
        settings = self.settings
        return PolicyNetwork(self.view, settings.channels, settings.hidden, direct=settings.direct)

    def step(self) -> None:
        """Play some matches and learn from them."""
        rng = np.random.default_rng([self.settings.seed, self.played])
        with no_full_collections():
            made = self.play(rng)
        self.played += self.settings.matches
        self.made += len(made.values)
        most = max(EARLIEST, int(self.made * RECENT))
        self.samples = self.samples.joined(made, min(self.settings.positions, most))
        updates = round(self.settings.passes * len(made.values) / self.settings.batch)
        for _ in range(max(1, updates)):
            self.learn(rng)

    def play(self, rng: np.random.Generator) -> Samples:
        """Return the positions of matches that the player plays against itself."""
        settings = self.settings
        view = self.view
        apply = self.player.function()
        kernel = kernel_for(SelfPlayTree, self.game.initial_state())
        running = []
        for _ in range(settings.matches):
            match = _Match(kernel(view.places, EXPLORATION), view)
            plies = int(rng.integers(settings.opening + 1))
            match.tree.plant(random_opening(self.game, plies, rng))
            running.append(match)
        ended = []
        while running:
            unseen = [match.tree for match in running if not match.tree.root.children]
            search_together(unseen, 1, view, apply)
            for match in running:
                count = len(match.tree.root.children)
                noise = rng.dirichlet([max(0.1, 10 / count / 4)] * count)
                match.tree.add_noise(noise.tolist(), NOISE)
            search_together([each.tree for each in running], settings.simulations, view, apply)
            for match in running:
                match.act(len(match.values) < settings.sampled, settings.random, rng)
            ended += [match for match in running if match.over]
            running = [match for match in running if not match.over]
        return Samples(
            view.words([state for match in ended for state in match.states]),
            np.array([row for match in ended for row in match.policies], np.float32),
            np.array([v for match in ended for v in match.targets(settings.result)], np.float32),
        )

    def learn(self, rng: np.random.Generator) -> None:
        """Take one step of Adam on positions drawn at random, each shown by a random symmetry."""
        settings = self.settings
        samples = self.samples
        drawn = rng.integers(len(samples.values), size=settings.batch)
        inputs = self.view.encode(samples.words[drawn])
        policies = samples.policies[drawn]
        ways = self.view.symmetries
        turned = rng.integers(len(ways), size=settings.batch)
        for way, (cells, actions) in enumerate(ways[1:], 1):
            rows = turned == way
            inputs[rows] = inputs[rows][:, cells]
            policies[rows] = policies[rows][:, actions]
        legal = (policies >= 0).astype(np.float32)
        slopes = self.network.gradient(
            inputs, legal, np.maximum(policies, 0), samples.values[drawn]
        )
        self.steps += 1
        rate = settings.rate_after(self.played)
        adam_step(self.network.weights, slopes, self.mean, self.square, self.steps, rate)
        kept = min(PLAYING, self.steps / (self.steps + 10))
        for weight, playing in zip(self.network.weights, self.player.weights, strict=True):
            if weight.ndim > 1:
                weight *= 1 - rate * DECAY
            playing += (1 - kept) * (weight - playing)

    def mark(self) -> None:
        """Add a point to the curve after 100, 200, 500, 1000, 2000 and so on matches."""
        if self.played >= self.next_point(100) and self.settings.measured > 1:
            found = measure(self.player, self.settings.measured, self.rival)
            if found is not None:
                self.curve.append((self.played, *found))

    def text(self) -> str:
        """Return the network as a file that `load_policy_network` reads, with the curve."""
        settings = self.settings
        trained = (
            f"{self.played} matches of self-play, seed {settings.seed}, "
            f"{settings.simulations} simulations an action, Adam's rate {settings.rate:g}, halved "
            f"after {settings.halving} matches, {settings.matches} matches a step"
        )
        return write_policy_network(self.player, trained, self.curve)

    def arrays(self) -> list[NDArray[Any]]:
        """Return the weights, those that play, Adam's means, and the positions."""
        weights = [*self.network.weights, *self.player.weights]
        return [*weights, *self.mean, *self.square, *self.samples.arrays()]

    def restore(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Continue with the arrays of a checkpoint; the positions are as many as it has."""
        self.samples = Samples(*arrays[-3:])
        super().restore(arrays)


class _Match:
    """A match of self-play and what is learned from it."""

    def __init__(self, tree: SelfPlayTree, view: BoardView) -> None:
        self.tree = tree
        self.view = view
        self.over = False
        self.states: list[Any] = []
        self.policies: list[NDArray[np.float32]] = []
        self.values: list[float] = []
        self.strayed: list[bool] = []
        """Whether the action was random."""
        self.returns: tuple[float, ...] = ()

    def act(self, sampled: bool, random: float, rng: np.random.Generator) -> None:
        """Note the position, and play an action: drawn by its visits, or the most visited.

        With a probability of ``random`` the action is any.
        """
        tree = self.tree
        root = tree.root
        shares = np.array(tree.shares())
        policy = np.full(self.view.actions, -1, np.float32)
        places = self.view.places[root.mover]
        policy[[places[action] for action in root.options]] = shares
        self.states.append(root.state)
        self.policies.append(policy)
        self.values.append(tree.value())
        strayed = bool(rng.random() < random)
        self.strayed.append(strayed)
        if strayed:
            place = int(rng.integers(len(shares)))
        else:
            place = int(rng.choice(len(shares), p=shares)) if sampled else int(shares.argmax())
        tree.advance(place)
        if tree.root.mover < 0:
            self.over = True
            self.returns = tree.root.state.returns()

    def targets(self, result: float) -> list[float]:
        """Return the targets of the values: a share of the result, and the search's value.

        Before a random action, the search's value where it was played stands for the result.
        """
        found = []
        end = self.returns[0]
        for state, value, strayed in zip(
            self.states[::-1], self.values[::-1], self.strayed[::-1], strict=True
        ):
            sign = 1 if state.to_move == 0 else -1
            if strayed:
                end = sign * value
            found.append(result * sign * end + (1 - result) * value)
        return found[::-1]
