"""Contract bridge for four seats: two partnerships bid for a contract and play it.

The rules are the Laws of Duplicate Bridge 2017 of the World Bridge Federation.  North and south
(seats 0 and 2) play against east and west (1 and 3).  Each seat is dealt 13 cards.  The auction
begins with the dealer and goes clockwise.  A call is ``pass``, a bid such as ``1C`` or ``3NT``, a
double ``X`` or a redouble ``XX``.  Each bid must be higher than the last one: more tricks, or as
many with a higher suit (clubs, diamonds, hearts, spades, no trumps).  A seat may double the last
bid of the other side, and redouble their double.  Three passes after a call end the auction, four
at its beginning end the board.

The declarer is the first seat of the side with the last bid that named its trumps.  The seat to its
left leads.  Then the declarer's partner, dummy, lays its cards on the table, and the declarer plays
for both.  Seats must follow suit if they can.  The highest trump takes the trick, or else the
highest card of the suit led.  To make the contract, the declarer needs six tricks more than the
level of the bid.

Dealer and vulnerability change from board to board as in duplicate bridge.  Points are those of
duplicate bridge.  They are turned into international match points (IMPs), and the return of a seat
is the IMPs of its side per board.

Cards are rank and suit: ``Qs``, ``Th``, ``2c``.  All cards are dealt one at a time at chance nodes,
beginning with north.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

from mypy_extensions import mypyc_attr

from plyhouse.games.base import (
    CHANCE,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Scoring,
    Utility,
)
from plyhouse.games.errors import IllegalAction
from plyhouse.games.hidden.bridge.sampling import sampled_state
from plyhouse.games.hidden.bridge.state import BIDS, PASS, SEATS, BridgeState, first_state
from plyhouse.games.hidden.bridge.views import CALLS, BridgeObservation, bridge_scene, observed
from plyhouse.games.playing_cards import (
    CARDS,
    PACK,
    SUIT_BITS,
    SUIT_NAMES,
    card_number,
    cards_by_suit,
)
from plyhouse.games.scene import Scene

__all__ = ["Bridge", "broken_rule"]

_MOST_BOARDS = 64
_MOST_CALLS = 3 + BIDS * 9
"""Three passes, then before and after each bid, double and redouble at most two passes."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Bridge(Game[BridgeState, int, BridgeObservation]):
    """Contract bridge.

    >>> game = Bridge(boards=1)
    >>> state = game.initial_state()
    >>> for number in range(52):  # deal the pack as it lies
    ...     state = state.after(number)
    >>> for text in "1C X XX 1NT pass pass pass 2c".split():
    ...     state = state.after(game.parse(state, text))
    >>> seen = game.observe(state, 0)
    >>> seen.contract, seen.declarer, len(seen.dummy)
    ('1NT', 3, 13)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="bridge",
        title="Bridge",
        summary="Bid with your partner for a contract, and take its tricks.",
        min_seats=SEATS,
        max_seats=SEATS,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.TEAM,
        min_return=-24.0,
        max_return=24.0,
        max_plies=(2 * PACK + _MOST_CALLS) * _MOST_BOARDS,
        parameters=(Parameter("boards", 4, "boards of a match", 1, _MOST_BOARDS),),
        seat_names=("north", "east", "south", "west"),
        scoring=Scoring.RETURNS,
    )
    observation_type: ClassVar[type[Observation]] = BridgeObservation
    action_pattern: ClassVar[str] = "pass|xx?|[1-7]([cdhs]|nt)|[2-9tjqka][cdhs]"
    action_notation: str = "a call like pass, 1C or X, or a card like Qs"

    def team(self, seat: int) -> int:
        """North and south are a team, and east and west."""
        return seat % 2

    def initial_state(self) -> BridgeState:
        """Return the state before the first card."""
        return first_state(self.int_parameter("boards"))

    # Notation

    def format(self, state: BridgeState, action: int) -> str:
        """Return a call, or the card that is played."""
        return CARDS[action] if action < PASS else CALLS[action]

    def format_chance(self, state: BridgeState, outcome: int) -> str:
        """Return the card that is dealt."""
        return CARDS[outcome]

    def likely(self, state: BridgeState, text: str, actions: tuple[Any, ...]) -> Sequence[int]:
        """Return the action that a text names, if it is legal."""
        return [each for each in actions if self.format(state, each) == text]

    def parse(self, state: BridgeState, text: str) -> int:
        """Return the legal action that ``text`` means; the error names the rule that it breaks."""
        try:
            return super().parse(state, text)
        except IllegalAction as error:
            rule = broken_rule(state, text.strip().lower()) if state.to_move >= 0 else ""
            raise IllegalAction(text, error.position, error.legal, rule) from None

    # Views

    def observe(self, state: BridgeState, seat: int | None) -> BridgeObservation:
        """Return the seat's own cards, dummy, the auction, the tricks, and the scores."""
        return observed(state, seat, self.legal_text(state, seat))

    def information_state(self, state: BridgeState, seat: int) -> Hashable:
        """Return own cards, dummy's, auction and play of this board, and results before it.

        Earlier boards count by their results: the next boards do not depend on their cards.
        """
        dummy = state.dummy()
        return (
            seat,
            state.board,
            state.points,
            state.imps,
            state.last,
            state.dealt,
            state.hands[seat],
            0 if dummy < 0 else state.hands[dummy],
            state.calls,
            state.played,
        )

    def visible(self, state: BridgeState, action: Any, viewer: int | None) -> str | None:
        """Return calls and played cards to all, and a dealt card to the seat that gets it."""
        if state.to_move != CHANCE:
            return self.format(state, action)
        return self.format_chance(state, action) if viewer == state.dealt % SEATS else None

    def sample_state(self, observation: BridgeObservation, rng: random.Random) -> BridgeState:
        """Return a state that fits the observation, with the unknown cards at random."""
        return sampled_state(observation, self.int_parameter("boards"), rng)

    def scene(self, observation: BridgeObservation) -> Scene:
        """Return the hands that may be seen, the trick, the auction or contract, and the scores."""
        return bridge_scene(observation, self.int_parameter("boards"), self.seat_name)

    def describe(self, state: BridgeState) -> str:
        """Return all hands, also hidden ones, the auction, the trick, and the scores."""
        hands = [" ".join([CARDS[c] for c in cards_by_suit(hand)]) or "-" for hand in state.hands]
        calls = " ".join([CALLS[call] for call in state.calls]) or "-"
        trick = " ".join([CARDS[card] for card in state.trick()]) or "-"
        return (
            f"board {state.board}, hands: {' / '.join(hands)}, calls: {calls}, trick: {trick}, "
            f"taken: {state.taken}, points: {state.points}, IMPs: {state.imps}"
        )


def broken_rule(state: BridgeState, text: str) -> str:
    """Return the rule that an illegal action breaks; it tells facts that the mover knows."""
    card = text[0].upper() + text[1:]
    if not state.bidding():
        if card not in CARDS:
            return "the auction is over: play a card"
        number = card_number(card)
        seat = state.hand_to_play()
        owner = "the seat" if seat == state.to_move else "dummy"
        if not state.hands[seat] >> number & 1:
            return f"{owner} does not hold this card"
        suit = state.trick()[0] % 4
        if state.hands[seat] & SUIT_BITS[suit]:
            return f"{owner} must follow suit: it has {SUIT_NAMES[suit]}"
        return ""
    contract = state.contract()
    if text == "x":
        if contract.bid < 0:
            return "there is no bid to double"
        if contract.doubled:
            return "the bid is doubled already"
        return "the last bid is of the seat's own side"
    if text == "xx":
        if contract.doubled != 1:
            return "there is no double to redouble"
        return "the double is of the seat's own side"
    if text[0] not in "1234567" or text.upper() not in CALLS.values():
        return "the auction is not over: make a call"
    return f"a bid must be higher than the last one, {CALLS[55 + contract.bid]}"
