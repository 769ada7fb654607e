"""Hands of Texas hold'em, played by PokerKit and by our rules at the same time.

Random matches are played on our states.  PokerKit plays every hand with the same cards and actions.
Before each action, both must agree on the seat to move, the chips in the pot, the price of a call,
and the least and greatest raise; at the end on pots, showdown and chips won.

Four rules differ, and are counted:

* PokerKit lets an all-in below the big blind reopen the betting if it is the first bet or raise of
  a round; Robert's Rules, section 14, does not.
* PokerKit forgets short all-ins that have reopened the betting, although a later one still leaves a
  seat facing a full raise.
* With fixed limit, PokerKit takes every all-in for a raise, and the next raise goes up from it.
  By Robert's Rules, section 3, rule 6, half a bet is a full one, and less may be completed.
* PokerKit kills the hands that lose, and then joins pots with equal winners before it gives away
  odd chips.  By Robert's Rules ("Ties") each pot is divided for itself.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pokerkit import (
    Automation,
    BettingStructure,
    Deck,
    Mode,
    Opening,
    StandardHighHand,
    State,
    Street,
)

from plyhouse.games import CHANCE, TERMINAL
from plyhouse.games.hidden.texas_holdem.pots import divided, pots_of
from plyhouse.games.hidden.texas_holdem.ranking import hand_strength
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.games.hidden.texas_holdem.state import FOLD, PASSIVE, TexasHoldemState
from plyhouse.games.playing_cards import CARDS, hand_bits

__all__ = ["Tally", "compare_match", "random_game"]

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
)

SHORT_OPENING = "short all-in as first bet or raise"
HALF_BET = "all-in of less than a bet with fixed limit"
JOINED = "odd chips of pots that PokerKit has joined"
FORGOTTEN = "short all-ins that had reopened the betting"


@dataclass
class Tally:
    """What was compared, and what differed."""

    hands: int = 0
    decisions: int = 0
    showdowns: int = 0
    side_pots: int = 0
    known: Counter[str] = field(default_factory=Counter)
    """Decisions at which a rule differs that is named above."""
    mismatches: list[str] = field(default_factory=list)


def random_game(rng: random.Random) -> TexasHoldem:
    """Return a game with random parameters; half of them with unequal stacks."""
    seats = rng.randint(2, 6)
    small = rng.randint(1, 5)
    big = rng.randint(small + 1, 2 * small + 1)
    ante = rng.choice((0, 0, 1, 3))
    deepest = rng.choice((3, 12, 40)) * big + ante
    stacks = [rng.randint(big + ante, deepest) for _ in range(seats)]
    if rng.random() < 0.5:
        stacks = [stacks[0]] * seats
    return TexasHoldem(
        seats=seats,
        betting=rng.choice(("no_limit", "no_limit", "fixed")),
        hands=rng.choice((1, 1, 1, 2, 3)),
        stacks=",".join([str(stack) for stack in stacks]),
        small_blind=small,
        big_blind=big,
        ante=ante,
    )


def pokerkit_state(game: TexasHoldem, button: int) -> State:
    """Return PokerKit's state of a hand; its players begin with the seat left of the button."""
    seats = game.seats
    fixed = game.parameters["betting"] == "fixed"
    big = game.int_parameter("big_blind")
    streets = []
    for place, board in enumerate((0, 3, 1, 1)):
        least = 2 * big if fixed and place >= 2 else big
        # The big blind is the first of four bets.
        most = (3 if place == 0 else 4) if fixed else None
        hole = (False, False) if place == 0 else ()
        streets.append(Street(False, hole, board, False, Opening.POSITION, least, most))
    stacks = [game.stacks[(button + 1 + player) % seats] for player in range(seats)]
    return State(
        AUTOMATIONS,
        Deck.STANDARD,
        (StandardHighHand,),
        tuple(streets),
        BettingStructure.FIXED_LIMIT if fixed else BettingStructure.NO_LIMIT,
        True,
        game.int_parameter("ante"),
        (game.int_parameter("small_blind"), big),
        0,
        stacks,
        seats,
        mode=Mode.TOURNAMENT,
    )


def compare_match(rng: random.Random, tally: Tally) -> None:
    """Play one random match by both; note every difference in the tally."""
    game = random_game(rng)
    state = game.initial_state()
    boldness = rng.choice((0.05, 0.2, 0.5))
    while state.to_move != TERMINAL:
        other = _Hand(game, state, rng, boldness, tally)
        state = other.play()
        tally.hands += 1
        if other.difference:
            tally.mismatches.append(other.difference)
            return


class _Hand:
    """One hand, played by both."""

    def __init__(
        self,
        game: TexasHoldem,
        state: TexasHoldemState,
        rng: random.Random,
        boldness: float,
        tally: Tally,
    ) -> None:
        self.game = game
        self.state = state
        self.rng = rng
        self.boldness = boldness
        self.tally = tally
        self.button = state.hand % game.seats
        self.kit = pokerkit_state(game, self.button)
        self.difference = ""
        self.short_street = -1
        """The round with fixed limit in which an all-in of less than a bet was made."""

    def player(self, seat: int) -> int:
        """The player of PokerKit who has our seat."""
        return (seat - self.button - 1) % self.game.seats

    def by_seat(self, values: Any) -> tuple[Any, ...]:
        """PokerKit's values of the players, by our seats."""
        return tuple(values[self.player(seat)] for seat in range(self.game.seats))

    def same(self, what: str, ours: Any, theirs: Any) -> None:
        if ours != theirs and not self.difference:
            where = f"{self.game.spec}: {self.game.describe(self.state)}"
            self.difference = f"{what}: {ours} here, {theirs} in PokerKit; {where}"

    def play(self) -> TexasHoldemState:
        """Play to the end of the hand; return our state after it."""
        hand = self.state.hand
        cards = self.rng.sample(range(52), 2 * self.game.seats + 5)
        while self.state.to_move != TERMINAL and self.state.hand == hand:
            state = self.state
            if state.to_move == CHANCE:
                following = state.after(cards[len(state.cards)])
            else:
                self.follow(cards)
                self.compare_choices()
                if self.difference:
                    return state
                following = self.act()
            if following.hand != hand or following.to_move == TERMINAL:
                self.finish(cards, following)
                return following
            self.state = following
        return self.state

    def follow(self, cards: list[int]) -> None:
        """Let PokerKit deal the cards, and pass the checks that our rules do not ask for."""
        kit = self.kit
        seats = self.game.seats
        while True:
            if kit.can_deal_hole():
                player = sum(1 for held in kit.hole_cards if held)
                kit.deal_hole(CARDS[cards[player]] + CARDS[cards[player + seats]])
            elif kit.can_deal_board():
                dealt = 2 * seats + len(tuple(kit.get_board_cards(0)))
                count = 3 if dealt == 2 * seats else 1
                kit.deal_board("".join(CARDS[card] for card in cards[dealt : dealt + count]))
            elif kit.actor_index is not None and self.idle(kit.actor_index):
                kit.check_or_call()
            else:
                return

    def idle(self, player: int) -> bool:
        """Whether PokerKit asks a player who can only check, because nobody else has chips."""
        kit = self.kit
        rivals = [
            other
            for other in kit.player_indices
            if other != player and kit.statuses[other] and kit.stacks[other]
        ]
        return not rivals and kit.checking_or_calling_amount == 0

    def compare_choices(self) -> None:
        """Compare what the seat to move may do."""
        self.tally.decisions += 1
        state, kit = self.state, self.kit
        seat = state.to_move
        actor = kit.actor_index
        self.same("seat to move", self.player(seat), actor)
        if self.difference or actor is None:
            return
        paid = tuple(
            start - left for start, left in zip(kit.starting_stacks, kit.stacks, strict=True)
        )
        self.same("chips in the pot", state.paid, self.by_seat(paid))
        actions = state.actions()
        self.same("price of a call", state.to_call(), kit.checking_or_calling_amount)
        self.same("fold", FOLD in actions, kit.bets[actor] < max(kit.bets))
        self.same("call", PASSIVE in actions, kit.can_check_or_call())
        sizes = [action - 1 for action in actions if action > PASSIVE]
        least = kit.min_completion_betting_or_raising_to_amount
        most = kit.max_completion_betting_or_raising_to_amount
        ours = (sizes[0], sizes[-1]) if sizes else (None, None)
        if sizes:
            self.same("number of sizes", len(sizes), sizes[-1] - sizes[0] + 1)
        if ours != (least, most) and (reason := self.known_difference(bool(sizes))):
            self.tally.known[reason] += 1
            return
        self.same("least and greatest raise", ours, (least, most))

    def known_difference(self, may_raise: bool) -> str:
        """The rule by which PokerKit differs here; "" if it is none of those named above."""
        kit = self.kit
        assert kit.street is not None
        if self.short_street == self.state.street:
            return HALF_BET
        full = kit.street.min_completion_betting_or_raising_amount
        if not may_raise and 0 < kit.completion_betting_or_raising_amount < full:
            return SHORT_OPENING
        short = kit.consecutive_short_all_in_amounts
        if may_raise and short and sum(short) < kit.completion_betting_or_raising_amount:
            return FORGOTTEN
        return ""

    def act(self) -> TexasHoldemState:
        """Choose an action that both allow, and let both play it."""
        state, kit, rng = self.state, self.kit, self.rng
        actions = state.actions()
        sizes = [action for action in actions if action > PASSIVE]
        if not kit.can_complete_bet_or_raise_to() or self.short_street == state.street:
            sizes = []
        if sizes and rng.random() < self.boldness:
            few = (sizes[0], sizes[-1], rng.choice(sizes), rng.choice(sizes[:8]))
            action = rng.choice(few)
            kit.complete_bet_or_raise_to(action - 1)
            if state.rules.fixed and state.base + action - 1 < state.full + state.size:
                self.short_street = state.street
        elif FOLD in actions and rng.random() < 0.2:
            action = FOLD
            kit.fold()
        else:
            action = PASSIVE
            kit.check_or_call()
        return state.after(action)

    def finish(self, cards: list[int], following: TexasHoldemState) -> None:
        """Let PokerKit play to its end, and compare pots, showdown and results."""
        kit = self.kit
        self.follow(cards)
        _, _, shown, net = following.last
        before = following.won
        self.same("sum of chips won", sum(before), 0)
        if following.to_move == TERMINAL:  # only then are its last chips still known
            seats = range(self.game.seats)
            pots = [
                (amount, tuple(sorted(self.player(seat) for seat in seats if who >> seat & 1)))
                for amount, who in pots_of(following.paid, following.folded)
            ]
            theirs = [(pot.amount, pot.player_indices) for pot in kit.pots]
            # A bet that nobody called is a pot of one seat here; PokerKit has returned it.
            contested = [pot for pot in pots if len(pot[1]) > 1]
            self.same("pots", contested, [pot for pot in theirs if len(pot[1]) > 1])
            self.tally.side_pots += len(contested) > 1
        while kit.can_show_or_muck_hole_cards():
            kit.show_or_muck_hole_cards(True)
            self.follow(cards)  # after an all-in, cards are shown before the table is dealt
        paid = self.by_seat([-payoff for payoff in kit.payoffs])
        while kit.can_kill_hand():
            kit.kill_hand()
        while kit.can_push_chips():
            kit.push_chips()
        while kit.can_pull_chips():
            kit.pull_chips()
        self.same("end of the hand", True, not kit.status)
        theirs_won = self.by_seat(kit.payoffs)
        if net != theirs_won and theirs_won == self.joined(paid, following):
            self.tally.known[JOINED] += 1
        else:
            self.same("chips won", net, theirs_won)
        self.tally.showdowns += any(shown)

    def joined(self, paid: tuple[int, ...], following: TexasHoldemState) -> tuple[int, ...]:
        """Chips won if those who win no pot had folded before the pots are divided."""
        _, board, shown, _ = following.last
        strengths = [
            hand_strength(hand_bits((*board, *cards)), 2) if cards else 0 for cards in shown
        ]
        folded = sum(1 << seat for seat, cards in enumerate(shown) if not cards)
        winners = set()
        for _, seats in pots_of(paid, folded):
            rivals = [seat for seat in range(len(paid)) if seats >> seat & 1]
            best = max(strengths[seat] for seat in rivals)
            winners |= {seat for seat in rivals if strengths[seat] == best}
        folded = sum(1 << seat for seat in range(len(paid)) if seat not in winners)
        taken = divided(paid, folded, tuple(strengths), self.button)
        return tuple(chips - spent for chips, spent in zip(taken, paid, strict=True))
