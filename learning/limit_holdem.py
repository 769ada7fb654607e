"""Heads-up limit hold'em with an abstraction of its cards: buckets, betting, policies and files.

A seat's cards are replaced by a *bucket* in each round, so that a policy is a table of 369,000 rows
instead of 10^14.  Before the flop there are 169 buckets: hands that differ in suits only are one.
On the flop and the turn, hands are sorted by E[HS^2] into forty parts of equal probability, and
each part by E[HS] into three, which separates draws from made hands.  On the river, where no draws
are left, fifty parts of the hand strength remain (M. Johanson, "Robust strategies and
counter-strategies", University of Alberta, 2007, section 2.5; E[HS] and E[HS^2] are those of
`plyhouse.games.hidden.texas_holdem.expected_strength`).  A policy forgets the buckets of earlier
rounds.  Seats are counted from the button here, whichever it is in a match.
"""

from __future__ import annotations

import base64
import binascii
import bisect
import functools
import itertools
import tomllib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.games.hidden.texas_holdem.state import PASSIVE
from plyhouse.search.files import InvalidFile
from plyhouse.search.kernels.betting_walks import FOLDED, SHOWN, BettingNode

FORMAT: Final = "plyhouse-limit-holdem-1"
SHIPPED: Final = Path(__file__).with_name("limit_holdem_policy.toml")
"""A policy that `plyhouse learn texas_holdem` has made."""
CLASSES: Final = 169
"""Classes of hands before the flop."""
LEVELS: Final = 63
"""A probability is stored as a whole number of such parts."""
LINE: Final = 100
"""Characters of a line of the table in a file."""
BIG_BLIND: Final = 2
MOST_BIG_BLINDS: Final = 24
"""Big blinds that a seat can pay in a hand: with as many, nobody is ever all in."""


def preflop_class(first: int, second: int) -> int:
    """Return the class of two cards, from 0 to 168: pairs, suited and other hands differ.

    >>> preflop_class(0, 1), preflop_class(48, 44), preflop_class(44, 49)
    (0, 167, 155)
    """
    low, high = sorted((first // 4, second // 4))
    if first % 4 == second % 4 or low == high:
        return high * 13 + low
    return low * 13 + high


Floats = NDArray[np.float64]
Bets = tuple[tuple[str, ...], ...]
"""Letters of the actions of a hand, by round."""


@dataclass(frozen=True)
class Buckets:
    """Bounds of the buckets on the flop, the turn and the river."""

    squares: tuple[tuple[float, ...], ...]
    """By round the bounds between the parts by E[HS^2]."""
    means: tuple[tuple[tuple[float, ...], ...], ...]
    """By round and part the bounds by E[HS]."""

    def counts(self) -> tuple[int, ...]:
        """Return the number of buckets in each of the four rounds."""
        pairs = zip(self.squares, self.means, strict=True)
        return (CLASSES, *[len(means) * (len(means[0]) + 1) for _, means in pairs])

    def bucket(self, street: int, mean: float, square: float) -> int:
        """Return the bucket of E[HS] and E[HS^2] on the flop (1), the turn (2) or the river (3)."""
        part = bisect.bisect_right(self.squares[street - 1], square)
        bounds = self.means[street - 1][part]
        return part * (len(bounds) + 1) + bisect.bisect_right(bounds, mean)

    def of_all(self, street: int, means: Floats, squares: Floats) -> NDArray[np.int64]:
        """Return the buckets of many hands at once, as `bucket` does."""
        parts = np.searchsorted(np.array(self.squares[street - 1]), squares, side="right")
        bounds = self.means[street - 1]
        inner = np.array(bounds).reshape(len(bounds), -1)
        places = (means[:, None] >= inner[parts]).sum(axis=1)
        return np.asarray(parts * (inner.shape[1] + 1) + places, dtype=np.int64)

    @classmethod
    def of_samples(
        cls,
        samples: list[list[tuple[float, float]]],
        parts: tuple[int, ...],
        finer: tuple[int, ...],
    ) -> Buckets:
        """Return buckets of equal probability, from samples of E[HS] and E[HS^2] by round.

        A round has ``parts`` by E[HS^2], each of which has ``finer`` parts by E[HS].
        """
        squares, means = [], []
        for sample, many, few in zip(samples, parts, finer, strict=True):
            ordered = sorted(sample, key=lambda pair: pair[1])
            bounds = _bounds([square for _, square in ordered], many)
            inner = []
            for low, high in itertools.pairwise((-1.0, *bounds, 2.0)):
                inside = sorted([mean for mean, square in ordered if low <= square < high])
                inner.append(_bounds(inside, few) if inside else (0.5,) * (few - 1))
            squares.append(bounds)
            means.append(tuple(inner))
        return cls(tuple(squares), tuple(means))


def _bounds(ordered: list[float], parts: int) -> tuple[float, ...]:
    """Return the values between equal parts of an ordered sample."""
    return tuple([ordered[len(ordered) * part // parts] for part in range(1, parts)])


def limit_game() -> TexasHoldem:
    """Return one hand of the game with the usual blinds."""
    return TexasHoldem(betting="fixed", hands=1, big_blind=BIG_BLIND, small_blind=1)


def betting_tree(counts: tuple[int, ...]) -> BettingNode:
    """Return the tree of the betting, with empty tables for so many buckets by round.

    It is made by the rules of the game.  Actions are in the order of the game: fold, if there is a
    bet, then check or call, then bet or raise.
    """

    def node(state: Any) -> BettingNode:
        while state.to_move == CHANCE:
            state = state.dealt(len(state.cards))
        if state.to_move == TERMINAL:
            if state.folded:
                return BettingNode(FOLDED, state.street, float(state.won[0]))
            return BettingNode(SHOWN, state.street, float(state.paid[0]))
        made = BettingNode(state.to_move, state.street, 0.0)
        made.spread([node(state.after(action)) for action in state.actions()], counts[state.street])
        return made

    return node(limit_game().initial_state())


def decisions(root: BettingNode) -> list[BettingNode]:
    """Return the decisions of a tree, each before those that follow it."""
    if root.mover < 0:
        return []
    return [root, *itertools.chain.from_iterable([decisions(kid) for kid in root.kids])]


class LimitPolicy:
    """Probabilities of fold, check or call, and bet or raise, by betting and bucket."""

    def __init__(self, buckets: Buckets, rows: list[bytes], deals: int, seed: int) -> None:
        self.buckets = buckets
        self.rows = rows
        """By decision the probabilities of each bucket, without that of check or call."""
        self.deals = deals
        """Deals of its training."""
        self.seed = seed

    def shares(self, bets: Bets, bucket: int) -> dict[int, float]:
        """Return the probabilities of fold (0), check or call (1), and bet or raise (2).

        ``bets`` has the `letter` of each action, by round, as in (("c", "c"), ("r",)).  Raises
        `KeyError` if no decision follows such bets.
        """
        place = places()[bets]
        kinds = kinds_of()[place]
        width = len(kinds) - 1
        levels = self.rows[place][bucket * width : (bucket + 1) * width]
        others = [kind for kind in kinds if kind != PASSIVE]
        found = {kind: level / LEVELS for kind, level in zip(others, levels, strict=True)}
        # Rounding may leave fold and raise with one level too many.
        return {**found, PASSIVE: max(0.0, 1.0 - sum(found.values()))}

    def text(self) -> str:
        """Return the policy as a file."""
        packed = base64.b64encode(zlib.compress(b"".join(self.rows), 9)).decode()
        lines = [packed[at : at + LINE] for at in range(0, len(packed), LINE)]
        table = "\n".join(lines)
        rounded = [[f"{value:.6f}" for value in bounds] for bounds in self.buckets.squares]
        inner = [
            [[f"{value:.6f}" for value in bounds] for bounds in parts]
            for parts in self.buckets.means
        ]
        squares = repr(rounded).replace("'", "")
        means = repr(inner).replace("'", "")
        return (
            f'format = "{FORMAT}"\n'
            f'game = "{limit_game().spec}"\n'
            f"deals = {self.deals}\nseed = {self.seed}\n"
            f"squares = {squares}\nmeans = {means}\n"
            # tomllib reads single quotes ten times as fast as double ones.
            f"table = '''\n{table}\n'''\n"
        )


def stored_rows(root: BettingNode) -> list[bytes]:
    """Return the average policy of a tree as rows of levels."""
    rows = []
    for node, kinds in zip(decisions(root), kinds_of(), strict=True):
        row = bytearray()
        arms = int(node.arms)
        for base in range(0, len(node.totals), arms):
            totals = node.totals[base : base + arms]
            whole = sum(totals)
            shares = [total / whole if whole > 0.0 else 1.0 / arms for total in totals]
            # Actions that the average hardly ever takes are remains of its first iterations.
            shares = [share if share > 0.02 else 0.0 for share in shares]
            whole = sum(shares)
            for kind, share in zip(kinds, shares, strict=True):
                if kind != PASSIVE:
                    row.append(int(LEVELS * share / whole + 0.5))
        rows.append(bytes(row))
    return rows


@functools.cache
def places() -> dict[Bets, int]:
    """Return the number of each decision by the letters of the betting before it."""
    return {bets: place for place, (bets, _) in enumerate(_layout())}


@functools.cache
def kinds_of() -> list[tuple[int, ...]]:
    """Return the kinds of the actions of each decision: fold (0), check or call (1), raise (2)."""
    return [kinds for _, kinds in _layout()]


@functools.cache
def _layout() -> list[tuple[Bets, tuple[int, ...]]]:
    """Return the letters before each decision and its kinds of actions, in the tree's order."""
    game = limit_game()
    found: list[tuple[Bets, tuple[int, ...]]] = []

    def walk(state: Any, bets: Bets) -> None:
        while state.to_move == CHANCE:
            state = state.dealt(len(state.cards))
        if state.to_move == TERMINAL:
            return
        bets += ((),) * (state.street + 1 - len(bets))
        actions = state.actions()
        found.append((bets, tuple([min(action, PASSIVE + 1) for action in actions])))
        for action in actions:
            walk(state.after(action), (*bets[:-1], (*bets[-1], letter(game.format(state, action)))))

    walk(game.initial_state(), ())
    return found


def letter(text: str) -> str:
    """Return the letter of an action: check and call, bet and raise have the same.

    >>> [letter(text) for text in ("fold", "check", "call", "bet 4", "raise 8")]
    ['f', 'c', 'c', 'r', 'r']
    """
    return "r" if text[0] == "b" else text[0]


def load_limit_policy(path: str | Path) -> LimitPolicy:
    """Read a policy that `plyhouse learn texas_holdem` has written.

    Raises `InvalidFile` for another file, and `OSError` if it cannot be read.
    """
    try:
        fields = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidFile(path, f"is no policy: {error}") from None
    if fields.get("format") != FORMAT:
        raise InvalidFile(path, f"is no policy for limit hold'em: {FORMAT} is missing")
    try:
        squares = tuple([tuple(bounds) for bounds in fields["squares"]])
        means = tuple([tuple([tuple(part) for part in parts]) for parts in fields["means"]])
        buckets = Buckets(squares, means)
        table = zlib.decompress(base64.b64decode(fields["table"]))
        deals, seed = int(fields["deals"]), int(fields["seed"])
        counts = buckets.counts()
    except (KeyError, TypeError, ValueError, IndexError, binascii.Error, zlib.error) as error:
        raise InvalidFile(path, f"is damaged: {error}") from None
    rows, at = [], 0
    for bets, kinds in _layout():
        size = counts[len(bets) - 1] * (len(kinds) - 1)
        rows.append(table[at : at + size])
        at += size
    if at != len(table):
        raise InvalidFile(path, f"is damaged: its table has {len(table)} bytes instead of {at}")
    return LimitPolicy(buckets, rows, deals, seed)
