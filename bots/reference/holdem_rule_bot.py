"""``holdem_rules``: Texas hold'em by a chart of starting hands and by what a hand has become.

Before the flop it counts points by the formula of Bill Chen, printed in L. Krieger, "Hold'em
Excellence" (1995): more of them are needed with more seats still to act, and after raises.  After
the flop it looks at the made hand, at draws, and at its chances against random cards.  It calls if
these are better than the price of the call (Sklansky, "The Theory of Poker", 1987).

With free sizes of bets the play after the flop is that of `no_limit_postflop`.
"""

from __future__ import annotations

from typing import Any, Final

from plyhouse.bots import Bot, Turn
from plyhouse.bots.reference.holdem_actions import (
    FOLD,
    PASSIVE,
    RAISE,
    SHARE,
    drawn_kind,
    raises_in_round,
    sized,
)
from plyhouse.bots.reference.no_limit_postflop import no_limit_shares
from plyhouse.games.hidden.texas_holdem.expected_strength import pair_strength
from plyhouse.games.hidden.texas_holdem.ranking import hand_strength
from plyhouse.games.playing_cards import card_number, hand_bits

__all__ = [
    "HoldemRuleBot",
    "aimed_at",
    "chen_points",
    "has_draw",
    "made_hand",
    "rule_shares",
]

HIGH_CARDS: Final = {12: 10.0, 11: 8.0, 10: 7.0, 9: 6.0}
"""Points of ace, king, queen and jack; lower cards have half of their pips."""
GAPS: Final = (0, 1, 2, 4)
"""Points that a gap of no, one, two and three ranks costs; a wider one costs five."""

OPENING: Final = (2.0, 2.0, 6.0, 7.0, 8.0, 9.0)
"""Points to raise first, by the number of seats still to act."""
RERAISE: Final = {2: (9.0, 11.0, 13.0)}
"""Points to raise after one raise, two, and more, in a duel."""
RING_RERAISE: Final = (11.0, 13.0, 15.0)
CALLING: Final = (3.0, 6.0, 8.0)
"""Points to call one raise, two, and more, in a duel at the price of a third of the pot."""
RING_CALLING: Final = (7.0, 9.0, 11.0)

NOTHING: Final = 0
PAIR: Final = 1
"""A pair lower than the highest card on the table."""
TOP_PAIR: Final = 2
"""A pair with the highest card on the table, or a higher one in the hand."""
STRONG: Final = 3
"""Two pairs or better, with a card of the hand."""

VALUE: Final = 0.6
"""Chance against random cards from which a hand is bet."""
DRAW_BETS: Final = 0.5
"""Probability of a bet with a draw."""
BLUFFS: Final = 0.15
"""Probability of a bet with nothing."""
DRAW_CHANCES: Final = {1: 0.33, 2: 0.18}
"""Chance that a draw comes in, from the flop and from the turn."""
DOUBTS: Final = {NOTHING: 0.15, PAIR: 0.05, TOP_PAIR: -0.05, STRONG: -0.3}
"""Added to the price of a call, by what the hand is."""


class HoldemRuleBot(Bot):
    """Plays by rules of thumb; raises to three big blinds, and bets two thirds of the pot."""

    name = "holdem_rules"
    games = ("texas_holdem",)

    def choose(self, turn: Turn) -> Any:
        """Return what the rules say."""
        seen: Any = turn.observation
        own = tuple([card_number(card) for card in seen.cards])
        board = tuple([card_number(card) for card in seen.board])
        turn.report(sized(turn.legal_text, PASSIVE, 0.0))
        chance = pair_strength(own, board, turn.stopper(SHARE))[0] if board else 0.0
        no_limit = turn.game.parameters["betting"] == "no_limit"
        shares = rule_shares(seen, own, board, chance, no_limit=no_limit)
        return sized(turn.legal_text, drawn_kind(shares, turn.rng), aimed_at(seen))


def aimed_at(seen: Any) -> int:
    """Return the chips to which the bot bets or raises, as far as the rules let it."""
    if not seen.board:
        return int(3 * max(seen.bets))
    pot = sum(seen.paid) + seen.to_call
    return int(seen.bets[seen.to_move] + seen.to_call + (2 * pot) // 3)


def rule_shares(
    seen: Any,
    own: tuple[int, ...],
    board: tuple[int, ...],
    chance: float,
    *,
    no_limit: bool = False,
) -> dict[int, float]:
    """Return the probabilities of fold, check or call, and bet or raise.

    ``chance`` is the mean share of the pot against one random hand; before the flop it is not used.
    """
    if not board:
        return _preflop(seen, chen_points(*own))
    street = len(board) - 2
    draw = street < 3 and has_draw(own, board)
    if no_limit:
        return no_limit_shares(seen, chance, draw, street)
    rivals = seen.folded.count(False) - 1
    raises = raises_in_round(seen)
    made = made_hand(own, board)
    chances = chance**rivals
    if seen.to_call == 0:
        if made >= TOP_PAIR or chances > VALUE:
            return {RAISE: 0.9, PASSIVE: 0.1}
        bets = DRAW_BETS if draw else BLUFFS / rivals
        return {RAISE: bets, PASSIVE: 1.0 - bets}
    price = seen.to_call / (sum(seen.paid) + seen.to_call)
    if made == STRONG and chance > 0.75 + 0.05 * raises:
        return {RAISE: 0.85, PASSIVE: 0.15}
    if made == TOP_PAIR and raises < 2 and chance > 0.75:
        return {RAISE: 0.5, PASSIVE: 0.5}
    if draw and DRAW_CHANCES[street] + 0.1 > price:
        semi_bluffs = 0.2 if raises < 2 else 0.0
        return {RAISE: semi_bluffs, PASSIVE: 1.0 - semi_bluffs}
    doubt = DOUBTS[made] + 0.05 * (raises - 1)
    return {PASSIVE if chances > price + doubt else FOLD: 1.0}


def _preflop(seen: Any, points: float) -> dict[int, float]:
    """Return what the chart says for the points of the cards."""
    raises = raises_in_round(seen)
    rivals = seen.folded.count(False) - 1
    if raises == 0:
        acted = {seat for seat, _ in seen.rounds[0]}
        behind = len([gone for gone in seen.folded if not gone]) - 1
        behind -= len([seat for seat in acted if not seen.folded[seat]])
        if seen.to_call == 0:
            return {RAISE if points >= (6.0 if rivals == 1 else 9.0) else PASSIVE: 1.0}
        if points >= OPENING[max(0, behind)]:
            return {RAISE: 1.0}
        return {FOLD: 1.0} if len(acted) == len(seen.folded) - rivals - 1 else {PASSIVE: 1.0}
    level = min(raises, 3) - 1
    duel = rivals == 1 and len(seen.folded) == 2
    if points >= (RERAISE[2] if duel else RING_RERAISE)[level]:
        return {RAISE: 1.0}
    price = seen.to_call / (sum(seen.paid) + seen.to_call)
    wanted = (CALLING if duel else RING_CALLING)[level] + 15.0 * (price - 1.0 / 3.0)
    return {PASSIVE if points >= wanted else FOLD: 1.0}


def chen_points(first: int, second: int) -> float:
    """Return the points of two cards by Chen's formula, without rounding.

    >>> chen_points(card_number("As"), card_number("Ks"))
    12.0
    >>> chen_points(card_number("Th"), card_number("Td"))
    10.0
    >>> chen_points(card_number("7c"), card_number("2d"))
    -1.5
    """
    low, high = sorted((first // 4, second // 4))
    points = HIGH_CARDS.get(high, (high + 2) / 2.0)
    if low == high:
        return max(5.0, 2.0 * points)
    if first % 4 == second % 4:
        points += 2.0
    gap = high - low - 1
    points -= GAPS[gap] if gap < len(GAPS) else 5
    if gap <= 1 and high < 10:
        points += 1.0
    return points


def made_hand(own: tuple[int, ...], board: tuple[int, ...]) -> int:
    """Return what the hand is: nothing, a pair, a top pair, or stronger.

    >>> board = tuple([card_number(name) for name in ("Kc", "9s", "4h")])
    >>> [made_hand((card_number(a), card_number(b)), board)
    ...  for a, b in (("Ad", "Qd"), ("9d", "8d"), ("Kd", "2d"), ("Ad", "As"), ("9d", "9c"))]
    [0, 1, 2, 2, 3]
    """
    bits = hand_bits((*own, *board))
    category = hand_strength(bits, len(board) - 3) >> 26
    ranks = [card // 4 for card in board]
    paired = len(ranks) - len(set(ranks))
    table = category_of_board(ranks, paired)
    if category >= 4 or (category >= 2 and category > table + 1):
        return STRONG
    if category <= table:
        return NOTHING
    mine = [card // 4 for card in own]
    if mine[0] == mine[1]:
        return TOP_PAIR if mine[0] > max(ranks) else PAIR
    held = [rank for rank in mine if rank in ranks]
    if category >= 2 and not paired:
        return STRONG
    return TOP_PAIR if held and max(held) == max(ranks) else PAIR


def category_of_board(ranks: list[int], paired: int) -> int:
    """Return the category of the pairs on the table: 0 without, 1 one, 2 two, 3 three alike."""
    if paired == 0:
        return 0
    if max([ranks.count(rank) for rank in ranks]) > 2:
        return 3
    return min(paired, 2)


def has_draw(own: tuple[int, ...], board: tuple[int, ...]) -> bool:
    """Return whether one card makes a flush, or a straight from either end.

    >>> board = tuple([card_number(name) for name in ("Kc", "9s", "8s")])
    >>> [has_draw((card_number(a), card_number(b)), board)
    ...  for a, b in (("As", "2s"), ("Td", "7d"), ("Jd", "7d"), ("Ad", "Qd"))]
    [True, True, False, False]
    """
    cards = (*own, *board)
    for suit in range(4):
        if sum([card % 4 == suit for card in cards]) == 4 and suit in (own[0] % 4, own[1] % 4):
            return True
    ranks = {card // 4 for card in cards}
    for low in range(8):
        run = set(range(low, low + 4))
        if run <= ranks and run & {own[0] // 4, own[1] // 4} and low > 0:
            return True
    return False
