"""Contract bridge for four seats in two partnerships: an auction, then thirteen tricks.

The rules are those of the "Laws of Duplicate Bridge 2017" (World Bridge Federation), without the
laws about irregularities.  North and South, seats 0 and 2, play against East and West.  Each seat
is dealt thirteen cards.

Then the seats call in turn from the dealer: ``Pass``, a bid such as ``1NT``, a double ``X`` of the
opponents' bid, or a redouble ``XX``.  A bid is a level from 1 to 7 and a strain, from the lowest:
clubs, diamonds, hearts, spades, no trump.  It must be higher than the last one.  Three passes in a
row after a bid end the auction, and so do four passes at the start, with no points.

The last bid is the contract: its side has to win six tricks more than its level.  The declarer is
the seat of that side that bid its strain first.  The seat after the declarer leads to the first
trick.  Then the declarer's partner, dummy, shows its cards, and the declarer plays them.  A seat
must follow suit if it can.  The highest trump wins a trick, or else the highest card of the suit
led, and its seat leads to the next trick.

A match is a number of boards.  Points are those of duplicate bridge: tricks, bonuses for a part
score, a game or a slam, and penalties, which are higher for a vulnerable side.  The number of a
board fixes its dealer and the vulnerable sides, as in Law 2.  Returns are points per board, equal
for partners.

Cards are suit and rank, as in PBN: ``SQ``, ``HT``, ``C2``.  They are dealt one at a time at chance
nodes, from the seat after the dealer.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Scoring,
    Utility,
)
from plyhouse.games.hidden.bridge.cards import (
    BITS,
    CALL_NAMES,
    CARD_NAMES,
    FIRST_BID,
    PACK,
    PASS,
    SUIT_NAMES,
    bid_name,
    call_number,
    card_number,
    hand_bits,
    names,
)
from plyhouse.games.hidden.bridge.sampling import Unseen
from plyhouse.games.hidden.bridge.state import NO_HANDS, BridgeState, start_of_board
from plyhouse.games.hidden.bridge.views import (
    BridgeObservation,
    bridge_scene,
    observed,
)
from plyhouse.games.scene import Scene

__all__ = ["Bridge", "OneBoard", "broken_rule"]

_MOST_BOARDS: Final = 64
_LONGEST_AUCTION: Final = 319
"""Three passes, 35 bids that are doubled and redoubled with two passes before each, and a pass."""
_MOST_POINTS: Final = 7600
"""Thirteen tricks too few, vulnerable and redoubled."""
_CHOICES: Final[dict[str, int]] = {
    **{name.lower(): card for card, name in enumerate(CARD_NAMES)},
    **{name.lower(): PASS + place for place, name in enumerate(CALL_NAMES)},
}


@mypyc_attr(allow_interpreted_subclasses=True)
class Bridge(Game[BridgeState, int, BridgeObservation]):
    """Contract bridge.

    >>> bridge = Bridge(boards=1)
    >>> state = bridge.initial_state()
    >>> for _ in range(52):
    ...     state = state.after(state.chance_outcomes()[0][0])
    >>> bridge.observe(state, 1).cards[:4], bridge.observe(state, 0).to_move
    (('SJ', 'S7', 'S3', 'HQ'), 0)
    >>> state = state.after(bridge.parse(state, "1NT"))
    >>> broken_rule(state, "1H")
    'a bid must be higher than 1NT'
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="bridge",
        title="Bridge",
        summary="Bid for a contract with your partner, then make it, or defeat the others'.",
        min_seats=4,
        max_seats=4,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.TEAM,
        min_return=-_MOST_POINTS,
        max_return=_MOST_POINTS,
        max_plies=_MOST_BOARDS * (_LONGEST_AUCTION + 2 * PACK),
        parameters=(
            Parameter("boards", 4, "boards of a match", 1, _MOST_BOARDS),
            Parameter("first", 1, "number of the first board", 1, 16),
        ),
        seat_names=("North", "East", "South", "West"),
        scoring=Scoring.RETURNS,
    )
    observation_type: ClassVar[type[Observation]] = BridgeObservation
    action_pattern: ClassVar[str] = "pass|x|xx|[1-7](c|d|h|s|nt)|[cdhs][2-9tjqka]"
    action_notation: str = "a call such as Pass, 1NT, 2H, X or XX, or a card such as SQ, HT or C2"

    def check_parameters(self) -> None:
        """Accept all parameters within their ranges."""
        self._seen: tuple[Any, BridgeState, Unseen] | None = None
        """The last observation that was sampled from, its position, and the cards not seen."""

    def team(self, seat: int) -> int:
        """Return 0 for North and South, 1 for East and West."""
        return seat % 2

    def initial_state(self) -> BridgeState:
        """Return the state before the first card."""
        return start_of_board(self.int_parameter("first"), self.int_parameter("boards"), 0, 0, ())

    # Notation

    def format(self, state: BridgeState, action: int) -> str:
        """Return a call such as ``1NT`` or a card such as ``SQ``."""
        return CARD_NAMES[action] if action < PACK else CALL_NAMES[action - PASS]

    def likely(self, state: BridgeState, text: str, actions: tuple[Any, ...]) -> Sequence[int]:
        """Return the action that a text names, if it is legal."""
        choice = _CHOICES.get(text.lower(), -1)
        return (choice,) if choice in actions else ()

    def broken_rule(self, state: BridgeState, text: str) -> str:
        """Return the rule that an illegal action breaks."""
        return broken_rule(state, text)

    def format_chance(self, state: BridgeState, outcome: int) -> str:
        """Return the card that is dealt."""
        return CARD_NAMES[outcome]

    # Views

    def observe(self, state: BridgeState, seat: int | None) -> BridgeObservation:
        """Return the seat's own cards and all that is public."""
        return observed(state, seat, self.legal_text(state, seat))

    def information_state(self, state: BridgeState, seat: int) -> Hashable:
        """Return own cards, dummy, calls and plays of this board, and results before it."""
        exposed = state.hands[state.dummy()] if state.plays else 0
        return (
            seat,
            state.board,
            state.points,
            state.last,
            state.count,
            state.hands[seat],
            exposed,
            state.calls,
            state.plays,
        )

    def visible(self, state: BridgeState, action: Any, viewer: int | None) -> str | None:
        """Return calls and plays to all, and a card to the seat that is dealt it."""
        if state.to_move != CHANCE:
            return self.format(state, action)
        if viewer is None or viewer != (state.dealer() + 1 + state.count) % 4:
            return None
        return self.format_chance(state, action)

    def sample_state(self, observation: BridgeObservation, rng: random.Random) -> BridgeState:
        """Return a state with the unknown cards dealt at random.

        A seat that has not followed suit gets none of that suit.  All other deals are equally
        likely: what the auction tells is left to bots.
        """
        seen = self._seen
        if seen is None or seen[0] is not observation:
            state, unseen = _rebuilt(observation, self.start_of(observation))
            seen = self._seen = (observation, state, unseen)
        return seen[1].redealt(seen[2].deal(rng))

    def start_of(self, seen: BridgeObservation) -> BridgeState:
        """Return the start of the observed board, with the results before it."""
        first = self.int_parameter("first")
        # At the end the result of the observed board is counted already.
        over = seen.to_move == TERMINAL
        points = seen.points - seen.last_points if over else seen.points
        return start_of_board(first, self.int_parameter("boards"), seen.board - first, points, ())

    def scene(self, observation: BridgeObservation) -> Scene:
        """Return the table with hands, the auction or the trick, tricks and points."""
        return bridge_scene(observation, self.int_parameter("boards"), self.seat_name)

    def describe(self, state: BridgeState) -> str:
        """Return all hands, also hidden ones, calls and plays of the board, and points."""
        hands = [" ".join(names(state.hands[seat])) or "-" for seat in range(4)]
        calls = " ".join([CALL_NAMES[call - PASS] for call in state.calls]) or "-"
        plays = " ".join([CARD_NAMES[card] for card in state.plays]) or "-"
        return (
            f"board {state.number()}, dealt: {' / '.join(hands)}, calls: {calls}, plays: {plays}, "
            f"points: {state.points}, last: {state.last}"
        )

    def abstraction(self) -> Game:
        """Return a match of the observed board only, for searches."""
        return OneBoard(**self.parameters)


@mypyc_attr(allow_interpreted_subclasses=True)
class OneBoard(Bridge):
    """The board that is played, taken for the whole match.

    Searches look for actions in this game (`Game.abstraction`): later boards do not depend on this
    one, and would only add chance.
    """

    exploration_scale: ClassVar[float] = 0.05

    def start_of(self, seen: BridgeObservation) -> BridgeState:
        """Return the start of the observed board as that of a match of one board."""
        return start_of_board(seen.board, 1, 0, 0, ())


def broken_rule(state: BridgeState, text: str) -> str:
    """Return the rule that an illegal action breaks; it tells nothing that is hidden."""
    choice = _CHOICES.get(text.lower(), -1)
    if choice < 0:
        return ""
    if state.declarer < 0:
        if choice < PACK:
            return "the auction is not over"
        if choice >= FIRST_BID:
            return f"a bid must be higher than {bid_name(state.bid)}"
        if choice == call_number("X"):
            if state.bid < 0:
                return "there is no bid to double"
            if (state.bidder + state.to_move) % 2 == 0:
                return "only a bid of the opponents can be doubled"
            return "the bid has been doubled already"
        if state.risk == 4:
            return "the bid has been redoubled already"
        return "only a double by the opponents can be redoubled"
    if choice >= PACK:
        return "the auction is over"
    turn = state.hand_to_play()
    if not state.held(turn) & BITS[choice]:
        if turn != state.to_move:
            return "dummy is to play and does not hold it"
        return "it is not among the cards of the seat to play"
    suit = state.trick()[0] // 13
    return f"a seat must follow suit while it can, and {SUIT_NAMES[suit]} were led"


def _rebuilt(seen: BridgeObservation, start: BridgeState) -> tuple[BridgeState, Unseen]:
    """Return the position of an observation without hands, and the cards not seen."""
    state = start
    state.last = _last(seen)
    state.count = seen.dealt
    if seen.dealt == PACK:
        state.to_move = state.dealer()
    known: list[int] = list(NO_HANDS)
    if seen.seat is not None:
        known[seen.seat] = hand_bits(seen.cards)
    voids = [0, 0, 0, 0]
    for text in seen.calls:
        state = state.after(call_number(text))
    for name in seen.plays:
        card = card_number(name)
        seat = state.hand_to_play()
        known[seat] |= BITS[card]
        trick = state.trick()
        if trick and trick[0] // 13 != card // 13:
            voids[seat] |= 1 << (trick[0] // 13)
        state = state.after(card)
    if seen.declarer is not None:
        known[(seen.declarer + 2) % 4] |= hand_bits(seen.dummy)
    sizes = [(seen.dealt - (seat - seen.dealer - 1) % 4 + 3) // 4 for seat in range(4)]
    room = [sizes[seat] - known[seat].bit_count() for seat in range(4)]
    return state, Unseen(tuple(known), tuple(room), tuple(voids))


def _last(seen: BridgeObservation) -> tuple[int, ...]:
    """Return the result of the last board as a state keeps it."""
    if seen.last_board is None:
        return ()
    contract = seen.last_contract
    bid = call_number(contract.rstrip("X")) - FIRST_BID if contract else -1
    risk = 2 ** (len(contract) - len(contract.rstrip("X")))
    declarer = -1 if seen.last_declarer is None else seen.last_declarer
    return (seen.last_board, bid, risk, declarer, seen.last_tricks, seen.last_points)
