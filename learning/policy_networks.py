"""Networks with a policy and a value, in numpy: layers, gradient, files.

The first layer looks at every square window of the board with the same weights (a convolution).
A dense layer follows, which may also see the board itself, and after it one logit for each action
and the value.  `search_together` searches many positions at the same time, with one call of a
network for all of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.learning.board_views import BoardView, Floats, view_of
from plyhouse.learning.weights import read_fields, read_weights, weight_lines
from plyhouse.search.files import InvalidFile
from plyhouse.search.kernels.self_play import SelfPlayTree

FORMAT: Final = "plyhouse-policy-network-1"
LARGEST: Final = 4096
"""Most channels or hidden units of a file."""
EXPLORATION: Final = 1.25
"""Weight of the priors, as in `plyhouse.search.monte_carlo.puct.puct`."""


class PolicyNetwork:
    """The weights of a network for one game.

    ``weights`` are three matrices, each followed by its bias. The windows have the shape (planes *
    window * window, channels), the dense layer (windows * channels, hidden), and the outputs
    (hidden, actions + 1). The last output is the value. A ``direct`` network has more rows in the
    dense layer, one for each input.
    """

    def __init__(
        self, view: BoardView, channels: int, hidden: int, *, direct: bool = False
    ) -> None:
        self.view = view
        self.channels = channels
        self.hidden = hidden
        self.direct = direct
        self.windows = view.windows()
        count, size = self.windows.shape
        seen = count * channels + (view.inputs if direct else 0)
        shapes: list[tuple[int, ...]] = [
            (size, channels),
            (channels,),
            (seen, hidden),
            (hidden,),
            (hidden, view.actions + 1),
            (view.actions + 1,),
        ]
        self.weights: list[Floats] = [np.zeros(shape, np.float32) for shape in shapes]

    def randomize(self, seed: int) -> None:
        """Draw first weights that keep the scale of inputs (He et al., ICCV 2015)."""
        rng = np.random.default_rng(seed)
        for weight, gain in zip(self.weights[::2], (2.0, 2.0, 0.1), strict=True):
            scale = np.sqrt(gain / len(weight))
            weight[:] = rng.standard_normal(weight.shape, np.float32) * scale

    def shown(self, inputs: Floats) -> Floats:
        """Return what each window shows, of shape (n * windows, planes * window * window)."""
        cells = self.windows.ravel()
        return inputs.take(cells, axis=1).reshape(-1, self.windows.shape[1])

    def seen(self, inputs: Floats, shown: Floats, weights: Sequence[Floats]) -> Floats:
        """Return what the dense layer sees; ``shown`` is `shown` of the inputs."""
        found: Floats = shown @ weights[0]
        found += weights[1]
        np.maximum(found, 0, out=found)
        found = found.reshape(len(inputs), -1)
        return np.concatenate([found, inputs], axis=1) if self.direct else found

    def function(self) -> Callable[[Floats], tuple[Floats, Floats]]:
        """Return a function from inputs to logits and values, with the weights as they are now.

        Inputs have the shape (n, inputs), logits (n, actions) and values (n,).
        """
        weights = [weight.copy() for weight in self.weights]
        _, _, dense, dense_bias, out, out_bias = weights

        def apply(inputs: Floats) -> tuple[Floats, Floats]:
            mixed = self.seen(inputs, self.shown(inputs), weights) @ dense
            mixed += dense_bias
            np.maximum(mixed, 0, out=mixed)
            found: Any = mixed @ out
            found += out_bias
            return found[:, :-1], np.tanh(found[:, -1])

        return apply

    def gradient(
        self, inputs: Floats, legal: Floats, policies: Floats, values: Floats
    ) -> list[Floats]:
        """Return the gradient of the mean loss.

        The loss of a position is the cross-entropy of its policy plus that of its value, as the
        chance (1 + value) / 2 of a win. ``legal`` is 0 at illegal actions; ``policies`` has the
        same shape (n, actions).
        """
        count = len(inputs)
        _, _, dense, dense_bias, out, out_bias = self.weights
        shown = self.shown(inputs)
        seen = self.seen(inputs, shown, self.weights)
        mixed = seen @ dense
        mixed += dense_bias
        np.maximum(mixed, 0, out=mixed)
        found = mixed @ out
        found += out_bias
        logits = np.where(legal > 0, found[:, :-1], -1e30)
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        value = np.tanh(found[:, -1])
        back = np.empty_like(found)
        back[:, :-1] = shares - policies
        back[:, -1] = value - values
        back /= count
        mixed_back = back @ out.T
        mixed_back *= mixed > 0
        seen_back = mixed_back @ dense.T
        seen_back *= seen > 0
        windows = len(self.windows) * self.channels
        windows_back = seen_back[:, :windows].reshape(-1, self.channels)
        return [
            shown.T @ windows_back,
            windows_back.sum(axis=0),
            seen.T @ mixed_back,
            mixed_back.sum(axis=0),
            mixed.T @ back,
            back.sum(axis=0),
        ]


def evaluator_by(
    network: PolicyNetwork,
) -> Callable[[Any], tuple[Sequence[float], Sequence[float]]]:
    """Return an evaluator for `plyhouse.search.monte_carlo.puct.puct` that asks a network."""
    view = network.view
    apply = network.function()

    def evaluator(state: Any) -> tuple[Sequence[float], Sequence[float]]:
        logits, values = apply(view.encode(view.words([state])))
        places = view.places[state.to_move]
        legal = logits[0, [places[action] for action in state.actions()]]
        value = float(values[0])
        priors = np.exp(legal - legal.max()).tolist()
        return priors, (value, -value) if state.to_move == 0 else (-value, value)

    return evaluator


def write_policy_network(
    network: PolicyNetwork, trained: str, curve: Sequence[tuple[int, float, float]]
) -> str:
    """Return a file that `load_policy_network` reads, with weights rounded to 16 bits.

    ``trained`` says in one line how; ``curve`` has a row for each measurement: matches played,
    the share, and its margin.
    """
    lines = [
        f"# A network for {network.view.spec}, made by `plyhouse learn`.",
        f'format = "{FORMAT}"',
        f'game = "{network.view.spec}"',
        f'trained = "{trained}"',
        "# Matches of self-play, share (of best actions, or of points), 95 % margin.",
        "curve = [",
        *[f"    [{played}, {share:.4f}, {margin:.4f}]," for played, share, margin in curve],
        "]",
        f"channels = {network.channels}",
        f"hidden = {network.hidden}",
        f"direct = {str(network.direct).lower()}",
        *weight_lines(network.weights, "windows, dense layer, outputs"),
    ]
    return "\n".join(lines) + "\n"


def load_policy_network(path: str | Path, game: Game | None = None) -> PolicyNetwork:
    """Read a network that a training has written, for ``game`` or any of its games.

    Raises `InvalidFile` for a file that is none, is damaged, or is for another game or board, and
    `OSError`.
    """
    content = read_fields(path, FORMAT, {"game": str, "channels": int, "hidden": int})
    channels, hidden = content["channels"], content["hidden"]
    direct = content.get("direct", False)
    if not isinstance(direct, bool):
        raise InvalidFile(path, "its direct is not true or false")
    if not (0 < channels <= LARGEST and 0 < hidden <= LARGEST):
        raise InvalidFile(
            path,
            f"it has {channels} channels and {hidden} hidden units, expected 1 to {LARGEST}",
        )
    if game is not None and content["game"] != game.spec:
        raise InvalidFile(path, f"this network plays {content['game']}, not {game.spec}")
    try:
        view = view_of(get_game(content["game"]))
    except (GameError, ValueError) as error:
        raise InvalidFile(path, f"its game does not fit: {error}") from error
    network = PolicyNetwork(view, channels, hidden, direct=direct)
    read_weights(path, content, network.weights)
    return network


def shipped_network(game: Game) -> Path | None:
    """Return the file of the network that comes with Plyhouse for a game, or None."""
    found = Path(__file__).with_name(f"alphazero_{game.info.name}.toml")
    if not found.is_file():
        return None
    head = tomllib.loads(found.read_text(encoding="utf-8"))
    return found if head["game"] == game.spec else None


Apply = Callable[[Floats], tuple[Floats, Floats]]


def search_together(
    trees: Sequence[SelfPlayTree], simulations: int, view: BoardView, apply: Apply
) -> None:
    """Add simulations to trees; each call of the network serves one position of every tree."""
    for _ in range(simulations):
        reached = [(tree, state) for tree in trees if (state := tree.descend()) is not None]
        if reached:
            evaluate([tree for tree, _ in reached], [state for _, state in reached], view, apply)


def evaluate(
    trees: Sequence[SelfPlayTree], states: Sequence[Any], view: BoardView, apply: Apply
) -> None:
    """Complete the simulations that reached these states."""
    logits, values = apply(view.encode(view.words(states)))
    for tree, row, value in zip(trees, logits.tolist(), values.tolist(), strict=True):
        tree.receive(row, value)
