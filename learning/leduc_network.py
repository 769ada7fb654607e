"""A network that says what hands of Leduc poker are worth when the second round begins.

Each seat's range goes through layers of its own: `hidden` units, then `features` between 0 and 2.
The features of both seats are multiplied one by one.  From the products a last layer makes a
matrix: what each hand of the first seat wins against each hand of the second.  The ranges then give
the values of all hands.  So the values of both seats always sum to zero, which DeepStack forces in
an outer layer.  There are other weights for each number of chips with which the round may begin.

The shape follows from linear programming.  Each seat's range enters on one side of the program
only, so its solution changes at borders in each range by itself, and is constant between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.learning.leduc_subgames import HANDS, PAID
from plyhouse.learning.weights import read_fields, read_weights, weight_lines
from plyhouse.search.files import InvalidFile

Floats = NDArray[Any]

FORMAT: Final = "plyhouse-leduc-network-1"
SHIPPED: Final = Path(__file__).with_name("leduc_network.toml")
"""A network of `plyhouse learn leduc_poker`; docs/search/continual-resolving.md has its curve."""
WORTH: Final = 20.0
"""How much the error of a whole subgame counts, compared with that of a hand.

A first round is as exploitable as its leaves are wrong about whole subgames.
"""
LARGEST: Final = 1024
"""Most hidden units or features of a file."""


class LeducNetwork:
    """The weights of a network; call it with chips paid and ranges to get values.

    ``weights`` are three matrices, each followed by its bias.  The first axis is the chips, in the
    order of `PAID`; in the first two layers the next one is the seat.

    >>> network = LeducNetwork(4, 8)
    >>> network.randomize(1)
    >>> ranges = np.array([[[0.5, 0.25, 0.25], [0.2, 0.6, 0.2]]])
    >>> values = network(np.array([3]), ranges)
    >>> values.shape, bool(abs((values * ranges).sum()) < 1e-6)
    ((1, 2, 3), True)
    """

    def __init__(self, hidden: int, features: int) -> None:
        self.hidden = hidden
        self.features = features
        pots, hands = len(PAID), len(HANDS)
        shapes = [
            (pots, 2, hands, hidden),
            (pots, 2, 1, hidden),
            (pots, 2, hidden, features),
            (pots, 2, 1, features),
            (pots, features, hands * hands),
            (pots, 1, hands * hands),
        ]
        self.weights: list[Floats] = [np.zeros(shape, np.float32) for shape in shapes]

    def randomize(self, seed: int) -> None:
        """Draw first weights."""
        rng = np.random.default_rng(seed)
        for weight, gain in zip(self.weights[::2], (9.0, 2.0, 1.0), strict=True):
            scale = np.sqrt(gain / weight.shape[-2])
            weight[:] = rng.standard_normal(weight.shape, np.float32) * scale
        # A unit with a bias bends somewhere inside of the ranges.
        self.weights[1][:] = rng.uniform(-2.0, 2.0, self.weights[1].shape)

    def __call__(self, paid: NDArray[np.int64], ranges: NDArray[np.float64]) -> Any:
        """Return values in chips by seat and hand, shape (n, 2, 3)."""
        found = np.empty_like(ranges)
        for pot, chips in enumerate(PAID):
            rows = np.flatnonzero(paid == chips)
            seats = ranges[rows].astype(np.float32).swapaxes(0, 1)
            first, first_bias, second, second_bias, out, out_bias = [
                weight[pot] for weight in self.weights
            ]
            units = np.maximum(seats @ first + first_bias, 0)
            made = _between(units @ second + second_bias)
            matrix = (made[0] * made[1] @ out + out_bias).reshape(-1, 3, 3)
            found[rows] = _values(matrix, seats[0], seats[1]).swapaxes(0, 1)
        return found

    def gradient(self, ranges: Floats, targets: Floats) -> list[Floats]:
        """Return the gradient of the mean loss.

        The loss of a subgame is half the squared error of its values, and `WORTH` times half that
        of what the subgame is worth to the first seat.  ``ranges`` and ``targets`` have the shape
        (3, n, 2, 3), with the chips first.
        """
        first, first_bias, second, second_bias, out, out_bias = self.weights
        seats = np.ascontiguousarray(ranges.swapaxes(1, 2))
        units = np.maximum(seats @ first + first_bias, 0)
        made = _between(units @ second + second_bias)
        joint = made[:, 0] * made[:, 1]
        one, two = seats[:, 0], seats[:, 1]
        matrix = (joint @ out + out_bias).reshape(*joint.shape[:2], 3, 3)
        wanted = targets.swapaxes(1, 2).swapaxes(0, 1)
        wrong = (_values(matrix, one, two) - wanted) / len(one[0])
        back = wrong[0][..., :, None] * two[..., None, :]
        back -= one[..., :, None] * wrong[1][..., None, :]
        worth = ((one * wrong[0]).sum(axis=-1) - (two * wrong[1]).sum(axis=-1)) / 2
        back += WORTH * worth[..., None, None] * one[..., :, None] * two[..., None, :]
        back = back.reshape(*joint.shape[:2], 9)
        joint_back = (back @ out.swapaxes(1, 2))[:, None]
        made_back = joint_back * made[:, ::-1] * made * (2 - made) / 2
        units_back = made_back @ second.swapaxes(2, 3)
        units_back *= units > 0
        return [
            seats.swapaxes(2, 3) @ units_back,
            units_back.sum(axis=2, keepdims=True),
            units.swapaxes(2, 3) @ made_back,
            made_back.sum(axis=2, keepdims=True),
            joint.swapaxes(1, 2) @ back,
            back.sum(axis=1, keepdims=True),
        ]


def _between(sums: Floats) -> Floats:
    """Return numbers from 0 to 2 that grow with ``sums``."""
    found: Floats = 1 + np.tanh(sums / 2)
    return found


def _values(matrix: Floats, one: Floats, two: Floats) -> Floats:
    """Return the values of both seats, the seat first, from what pairs of hands win."""
    return np.stack([(matrix @ two[..., None])[..., 0], -(one[..., None, :] @ matrix)[..., 0, :]])


def write_leduc_network(
    network: LeducNetwork, trained: str, curve: Sequence[tuple[int, float, float, float]]
) -> str:
    """Return a file that `load_leduc_network` reads, with weights rounded to 16 bits.

    ``trained`` says in one line how; ``curve`` has a row for each measurement: subgames solved, the
    errors in chips in random subgames and in those met, and NashConv.
    """
    lines = [
        "# Values of hands in Leduc poker, made by `plyhouse learn leduc_poker`.",
        f'format = "{FORMAT}"',
        f'trained = "{trained}"',
        "# Subgames solved, mean error in chips: random ranges, ranges met; NashConv.",
        "curve = [",
        *[f"    [{row[0]}, {row[1]:.4f}, {row[2]:.4f}, {row[3]:.5f}]," for row in curve],
        "]",
        f"hidden = {network.hidden}",
        f"features = {network.features}",
        *weight_lines(network.weights, "three layers"),
    ]
    return "\n".join(lines) + "\n"


def load_leduc_network(path: str | Path = SHIPPED) -> LeducNetwork:
    """Read a network that a training has written, or the one that comes with Plyhouse.

    Raises `InvalidFile` for a file that is none or is damaged, and `OSError`.
    """
    content = read_fields(path, FORMAT, {"hidden": int, "features": int})
    hidden, features = content["hidden"], content["features"]
    if not (0 < hidden <= LARGEST and 0 < features <= LARGEST):
        raise InvalidFile(
            path, f"it has {hidden} hidden units and {features} features, expected 1 to {LARGEST}"
        )
    network = LeducNetwork(hidden, features)
    read_weights(path, content, network.weights)
    return network
