"""Continual resolving in Leduc poker: each round solved when it begins, as DeepStack plays.

There is no policy for the whole game.  The first round is solved down to its last bet only.  There
*leaf values* say what each hand of both seats is worth in the second round, given the ranges with
which both seats come there.  They may be those of a network, or of subgames that are solved.

When the second round begins, a seat keeps its own range.  For each hand of the opponent it keeps
the value that the solver of the first round promised.  From these it resolves the rest with a
gadget, in which no hand of the opponent should get more than promised.

Moravčík and others, "DeepStack", Science 356 (2017).  Brown, Bakhtin, Lerer and Gong, "Combining
deep reinforcement learning and search", NeurIPS 2020 (ReBeL).  The values promised are the averages
over the iterations, as in CFR-D (Burch, Johanson and Bowling, AAAI 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import Game
from plyhouse.games.errors import GameMismatch
from plyhouse.games.hidden.leduc_poker import CALL, RAISE, STAKES
from plyhouse.learning.leduc_subgames import CARDS as CARDS_OF
from plyhouse.learning.leduc_subgames import FITS, RoundPolicies
from plyhouse.search.equilibria.resolving import resolve_subgame, subgames
from plyhouse.search.equilibria.tabular import TabularPolicy

Floats = NDArray[np.float64]

LeafValues = Callable[[NDArray[np.int64], Floats], Floats]
"""From chips paid, (n,), and ranges, (n, 2, 3), to values in chips, (n, 2, 3).

`plyhouse.learning.leduc_subgames` states what ranges and values mean.
"""

RANKS: Final = 3
OPEN: Final = ((), (CALL, RAISE), (RAISE, RAISE))
"""Betting of the first round at which the first seat acts; then those of the second seat."""
ANSWER: Final = ((CALL,), (RAISE,), (CALL, RAISE, RAISE))
LINES: Final = (
    (CALL, CALL),
    (CALL, RAISE, CALL),
    (CALL, RAISE, RAISE, CALL),
    (RAISE, CALL),
    (RAISE, RAISE, CALL),
)
"""Betting with which the second round begins."""
PAID: Final = np.array([1 + STAKES[0] * line.count(RAISE) for line in LINES])
LINE_PAID: Final = np.repeat(PAID, RANKS)
ORDER: Final = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])
"""By rank on the table, the ranks of a low hand, a high hand and a pair."""
LEFT: Final = 2.0 - np.eye(RANKS)
"""Cards of a rank that are left when one card, of the rank of the row, is gone."""
SHARE: Final = 1.0 / 20.0
"""Probability of a pair of cards, for the opponent and the table, when one's own is known."""


class FirstRound(RoundPolicies):
    """The first round, solved by CFR+ with values at its leaves; suits make no difference.

    After ``run``, `policy` is for the first round only, and `promised` has what each hand of a seat
    may get in the second round, on average.
    """

    def __init__(self, leaf_values: LeafValues, rng: np.random.Generator | None = None) -> None:
        """Begin with equal probabilities, or with random regrets if there is ``rng``."""
        self.leaf_values = leaf_values
        super().__init__(RANKS)
        self.total = 0.0
        self.values = np.zeros((2, len(LINES), RANKS, RANKS))
        """By seat, weighted sums of the values of its hands at leaves, times `scales`."""
        if rng is not None:
            for own, regrets in zip(self.chances, self.regrets, strict=True):
                for chances, regret in zip(own, regrets, strict=True):
                    chances[:] = rng.dirichlet(np.full(len(chances), 0.7), RANKS).T
                    regret[:] = chances * rng.exponential(3.0)

    def run(self, iterations: int) -> None:
        """Do so many more iterations."""
        for _ in range(iterations):
            before = float(self.iterations) ** 2
            self.iterations += 1
            weight = float(self.iterations) ** 2
            reach = self.line_reach(self.chances)
            values = self.leaf_sums(reach)
            self.values[0] += before * values[0]
            self.update(0, self._gains(0, values[0]))
            self.count(0, weight)
            values = self.leaf_sums(self.line_reach(self.chances))
            self.values[1] += weight * values[1]
            self.update(1, self._gains(1, values[1]))
            self.count(1, weight)
            self.total += weight

    def line_reach(self, chances: list[list[Floats]]) -> Floats:
        """Return by seat, line and rank how likely the seat's own actions lead to a leaf."""
        (opened, checked, raised), (passed, answered, last) = chances
        return np.array(
            [
                [
                    opened[0],
                    opened[0] * checked[1],
                    opened[0] * checked[2],
                    opened[1],
                    opened[1] * raised[1],
                ],
                [
                    passed[0],
                    passed[1],
                    passed[1] * last[1],
                    answered[1],
                    answered[2],
                ],
            ]
        )

    def leaf_sums(self, reach: Floats) -> Floats:
        """Return by seat, line, rank on the table and hand the value times the other's reach.

        The order of hands is low, high, pair.
        """
        ranges, scales = _ranges(reach)
        found = self.leaf_values(LINE_PAID, ranges).reshape(len(LINES), RANKS, 2, RANKS)
        sums: Floats = np.moveaxis(found, 2, 0) * scales[::-1, :, :, None]
        return sums

    def met_ranges(self, chances: list[list[Floats]]) -> Floats:
        """Return the ranges with which a policy comes to the leaves, in the order of LINE_PAID."""
        return _ranges(self.line_reach(chances))[0]

    def _gains(self, seat: int, sums: Floats) -> list[list[Floats]]:
        """Return what each action of a seat wins, by rank, without what follows its next action."""
        lines = np.zeros((len(LINES), RANKS))
        for table, ranks in enumerate(ORDER):
            lines[:, ranks] += sums[:, table] * CARDS_OF
        lines *= SHARE
        deal = LEFT / 5.0
        if seat == 0:
            passed, answered, last = self.chances[1]
            return [
                [lines[0], deal @ answered[0] + lines[3]],
                [-1.0 * deal @ passed[1], lines[1], 3.0 * deal @ (passed[1] * last[0]) + lines[2]],
                [-3.0 * deal @ answered[2], lines[4]],
            ]
        opened, checked, raised = self.chances[0]
        return [
            [lines[0], deal @ (opened[0] * checked[0]) + lines[1]],
            [-1.0 * deal @ opened[1], lines[3], 3.0 * deal @ (opened[1] * raised[0]) + lines[4]],
            [-3.0 * deal @ (opened[0] * checked[2]), lines[2]],
        ]

    def promised(self) -> Floats:
        """Return by seat, line, rank on the table and hand what it expects to win there.

        It is the mean over the iterations, given that the hand comes there.
        """
        last = self.leaf_sums(self.line_reach(self.chances))
        sums = self.values.copy()
        sums[0] += float(self.iterations) ** 2 * last[0]
        reach = self.line_reach(self.averages())
        likely = (reach[::-1][:, :, ORDER] * CARDS_OF) @ FITS
        found: Floats = sums / self.total / np.where(likely > 0, likely, 1.0)
        return found

    def policy(self, game: Game) -> TabularPolicy:
        """Return the average policy of the first round for all cards."""
        choices = []
        for seat, own in enumerate(self.averages()):
            for place, shares in enumerate(own):
                betting = (OPEN, ANSWER)[seat][place]
                for card in range(2 * RANKS):
                    other = 0 if card else 1
                    state = game.initial_state()
                    for action in ((card, other) if seat == 0 else (other, card)) + betting:
                        state = state.after(action)
                    choices.append((state, [float(share) for share in shares[:, card // 2]]))
        return TabularPolicy.of_states(
            game, choices, algorithm="continual_resolving", iterations=self.iterations
        )


def _ranges(reach: Floats) -> tuple[Floats, Floats]:
    """Return ranges at all leaves, and by seat and leaf what they were divided by."""
    cards = reach[:, :, ORDER] * CARDS_OF
    scales = cards.sum(axis=3)
    none = scales[..., None] <= 0
    ranges = np.where(
        none, CARDS_OF / CARDS_OF.sum(), cards / np.where(none, 1.0, scales[..., None])
    )
    return np.moveaxis(ranges, 0, 2).reshape(-1, 2, RANKS), scales


def continual_policy(
    game: Game,
    leaf_values: LeafValues,
    *,
    iterations: int = 1000,
    second: int = 1000,
    gadget: bool = True,
) -> TabularPolicy:
    """Return what continual resolving plays in all of Leduc poker, to measure it.

    The first round is solved by ``iterations``; the rest is as for `with_second_rounds`.  Raises
    `GameMismatch` for other games.
    """
    if game.spec != "leduc_poker":
        fits = "it plays leduc_poker without parameters"
        raise GameMismatch("continual_policy", game.spec, "it is another game", fits)
    first = FirstRound(leaf_values)
    first.run(iterations)
    return with_second_rounds(game, first, second, gadget=gadget)


def with_second_rounds(
    game: Game, first: FirstRound, iterations: int, *, gadget: bool = True
) -> TabularPolicy:
    """Return the policy of a first round with every second round resolved, once for each seat.

    ``gadget=False`` assumes in the second round that the opponent has come there as the first round
    was solved, which is not safe.  A seat that never comes there plays at random.
    """
    promised = first.promised()
    policy = first.policy(game)
    table = dict(policy.table)
    for roots in subgames(game, policy, lambda seen: seen.board is not None).values():
        for seat in range(2):
            if not any(root.reach[seat] for root in roots):
                continue
            state = roots[0].state
            line, board = LINES.index(state.one), state.board // 2
            values: dict[Hashable, float] = {}
            for root in roots:
                card = root.state.second if seat == 0 else root.state.first
                hand = list(ORDER[board]).index(card // 2)
                known = game.information_state(root.state, 1 - seat)
                values[known] = float(promised[1 - seat, line, board, hand])
            resolved = resolve_subgame(
                game,
                policy,
                roots,
                seat,
                iterations=iterations,
                gadget=gadget,
                values=values if gadget else None,
            )
            table.update(resolved.table)
    return TabularPolicy(game, table, algorithm="continual_resolving", iterations=first.iterations)
