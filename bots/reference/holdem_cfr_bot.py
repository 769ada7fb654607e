"""``cfr_holdem``: heads-up limit hold'em by a policy that ``plyhouse learn`` has computed."""

from __future__ import annotations

import functools
from concurrent.futures import Future
from typing import Any

from plyhouse.bots import Bot, Turn
from plyhouse.bots.reference.background import begun, value_in_time
from plyhouse.bots.reference.holdem_actions import PASSIVE, SHARE, drawn_kind, sized
from plyhouse.bots.reference.holdem_rule_bot import HoldemRuleBot
from plyhouse.games.base import Game
from plyhouse.games.hidden.texas_holdem.expected_strength import pair_strength
from plyhouse.games.playing_cards import card_number
from plyhouse.learning.limit_holdem import (
    MOST_BIG_BLINDS,
    SHIPPED,
    LimitPolicy,
    letter,
    load_limit_policy,
    preflop_class,
)

__all__ = ["CfrHoldemBot", "suits"]


class CfrHoldemBot(Bot):
    """Draws each action with the probability that the policy gives it.

    ``file`` is a policy that ``plyhouse learn texas_holdem`` has written; without it the bot takes
    one that the same command made for Plyhouse.  The policy is for two seats, fixed bets, and
    stacks of at least 24 big blinds.  In other games the bot plays like ``holdem_rules``.  Raises
    `InvalidFile` for a file without a policy.
    """

    name = "cfr_holdem"
    reads = ("file",)
    games = ("texas_holdem(betting=fixed)", "texas_holdem")

    def __init__(self, file: str = "") -> None:
        self.policy = policy_of(file) if file else None
        self.other = HoldemRuleBot()

    def choose(self, turn: Turn) -> Any:
        """Return an action drawn from the policy."""
        if not suits(turn.game):
            return self.other.choose(turn)
        turn.report(sized(turn.legal_text, PASSIVE, 0.0))
        policy = self.policy or value_in_time(turn, shipped_policy())
        if policy is None:
            return self.other.choose(turn)
        seen: Any = turn.observation
        own = [card_number(card) for card in seen.cards]
        board = [card_number(card) for card in seen.board]
        if board:
            mean, square = pair_strength(tuple(own), tuple(board), turn.stopper(SHARE))
            bucket = policy.buckets.bucket(len(board) - 2, mean, square)
        else:
            bucket = preflop_class(*own)
        bets = tuple([tuple([letter(text) for _, text in each]) for each in seen.rounds])
        return sized(turn.legal_text, drawn_kind(policy.shares(bets, bucket), turn.rng), 0.0)


policy_of = functools.cache(load_limit_policy)
"""Policies of this process by file, for later matches."""


@functools.cache
def shipped_policy() -> Future[LimitPolicy]:
    """Begin to read the policy that comes with Plyhouse, once per process."""
    return begun(functools.partial(load_limit_policy, SHIPPED))


@functools.lru_cache(maxsize=64)
def suits(game: Game) -> bool:
    """Return whether policies for limit hold'em are for this game."""
    if game.info.name != "texas_holdem" or game.seats != 2:
        return False
    start: Any = game.initial_state()
    rules = start.rules
    deep = min(rules.stacks) >= MOST_BIG_BLINDS * rules.big_blind + rules.ante
    return bool(rules.fixed and deep)
