"""Hearts for four seats: avoid hearts and the queen of spades, or take them all.

The rules are those of "Hearts" by J. McLeod (pagat.com).  Each seat is dealt 13 cards.  Then every
seat passes three cards: to the left in the first deal, to the right in the second, across in the
third, none in the fourth, and so on.  Nobody sees what it is passed before it has chosen its own
cards.

The seat with the two of clubs leads it.  Seats must follow suit if they can.  The highest card of
the suit led takes the trick, and its seat leads the next one.  Nobody may throw a heart or the
queen of spades into the first trick unless it has nothing else.  Hearts may be led once a heart has
been played, or by a seat that has only hearts.

Each heart taken counts one point, and the queen of spades 13.  A seat that takes all 26 has shot
the moon: it gets none, and the others get 26 each.  A match is a number of deals.  The return of a
seat is by how many points a deal it stays below the mean of all seats.

Cards are rank and suit: ``Qs``, ``Th``, ``2c``.  Cards to pass are chosen one after the other.  All
cards are dealt one at a time at chance nodes, beginning with seat 0.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

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
from plyhouse.games.hidden.hearts.state import (
    HEARTS,
    PASSED,
    QUEEN,
    SEATS,
    TWO_OF_CLUBS,
    HeartsState,
    direction_of,
)
from plyhouse.games.hidden.hearts.views import HeartsObservation, hearts_scene, observed
from plyhouse.games.playing_cards import (
    CARDS,
    PACK,
    SUIT_BITS,
    SUIT_NAMES,
    card_number,
    cards_by_suit,
    deal_at_random,
)
from plyhouse.games.scene import Scene

__all__ = ["Hearts", "OneDeal", "broken_rule", "sampled_state"]


def sampled_state(
    seen: HeartsObservation, deals: int, rng: random.Random, *, alone: bool = False
) -> HeartsState:
    """Return a state that fits the observation, with the unknown cards at random.

    A seat that did not follow suit has no card of the suit.  A seat that led a heart before hearts
    were broken had hearts only.  One that threw a heart or the queen of spades into the first trick
    had nothing else.  Passed cards are where they were passed to until they are played.

    With ``alone`` the deal of the observation is the only one that counts.
    """
    played: list[int] = []
    counts = [(seen.dealt - seat + SEATS - 1) // SEATS for seat in range(SEATS)]
    barred: list[set[int]] = [set() for _ in range(SEATS)]
    for number, (lead, cards) in enumerate(seen.tricks):
        trick = [card_number(card) for card in cards]
        for place, card in enumerate(trick):
            seat = (lead + place) % SEATS
            _learn(barred[seat], card, trick[0], place == 0, number == 0, played)
            played.append(64 * seat + card)
            counts[seat] -= 1
    hands: list[set[int]] = [set() for _ in range(SEATS)]
    own = [card_number(card) for card in seen.hand]
    gone = {code & 63 for code in played}
    by = direction_of(seen.deal)
    if seen.seat is not None:
        hands[seen.seat].update(own)
        if seen.chosen == SEATS * PASSED:
            taker = (seen.seat + by) % SEATS
            hands[taker].update({card_number(card) for card in seen.passed} - gone)
    known = set().union(*hands)
    unknown = [card for card in range(PACK) if card not in gone and card not in known]
    deal_at_random(unknown, counts, barred, hands, rng)
    words = tuple([sum([1 << card for card in hand]) for hand in hands])
    return HeartsState(
        seen.to_move,
        seen.deal + 1 if alone else deals,
        seen.deal,
        words,
        seen.dealt,
        _passed(seen, hands, played, rng),
        tuple(played),
        seen.points,
        (0, 0, 0, 0) if alone and seen.to_move != TERMINAL else seen.won,
        seen.deal if alone else 0,
    )


def _learn(
    barred: set[int], card: int, lead: int, leads: bool, first: bool, before: list[int]
) -> None:
    """Add the cards that a seat cannot hold, because it played ``card``."""
    suit = card % 4
    out: list[int] = []
    if leads:
        if suit == HEARTS and all(code % 4 != HEARTS for code in before):
            out = [one for one in range(PACK) if one % 4 != HEARTS]
    elif suit != lead % 4:
        out = [one for one in range(PACK) if one % 4 == lead % 4]
        if first and (suit == HEARTS or card == QUEEN):
            out = [one for one in range(PACK) if one % 4 != HEARTS and one != QUEEN]
    barred.update(out)


def _passed(
    seen: HeartsObservation, hands: list[set[int]], played: list[int], rng: random.Random
) -> tuple[int, ...]:
    """Return cards that the seats may have chosen to pass."""
    by = direction_of(seen.deal)
    found: list[int] = []
    for seat in range(SEATS):
        count = min(max(seen.chosen - PASSED * seat, 0), PASSED)
        if seat == seen.seat:
            found += [card_number(card) for card in seen.passed]
            continue
        if seen.chosen < SEATS * PASSED:
            found += rng.sample(sorted(hands[seat]), count)
            continue
        taker = (seat + by) % SEATS
        if taker == seen.seat:
            found += [card_number(card) for card in seen.received]
        else:
            after = hands[taker].union([code & 63 for code in played if code >> 6 == taker])
            # The cards that this seat could not have had itself were dealt to the taker.
            own: set[int] = set()
            if seen.seat is not None and (taker - by) % SEATS == seen.seat:
                own = {card_number(card) for card in seen.passed}
            found += rng.sample(sorted(after - own), count)
    return tuple(found)


_MOST_DEALS = 100


@mypyc_attr(allow_interpreted_subclasses=True)
class Hearts(Game[HeartsState, int, HeartsObservation]):
    """Hearts.

    >>> game = Hearts(deals=1)
    >>> state = game.initial_state()
    >>> for number in range(52):  # deal the pack as it lies
    ...     state = state.after(number)
    >>> for card in "2c 3c 4c 2d 3d 4d 2h 3h 4h 2s 3s 4s".split():
    ...     state = state.after(game.parse(state, card))
    >>> game.observe(state, 1).received
    ('2c', '3c', '4c')
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="hearts",
        title="Hearts",
        summary="Avoid hearts and the queen of spades in tricks, or take them all.",
        min_seats=SEATS,
        max_seats=SEATS,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-19.5,
        max_return=19.5,
        max_plies=(2 * PACK + SEATS * PASSED) * _MOST_DEALS,
        parameters=(Parameter("deals", 4, "deals of a match", 1, _MOST_DEALS),),
        scoring=Scoring.RETURNS,
    )
    observation_type: ClassVar[type[Observation]] = HeartsObservation
    action_pattern: ClassVar[str] = "[2-9tjqka][cdhs]"
    action_notation: str = "a card like Qs or Th"

    def initial_state(self) -> HeartsState:
        """Return the state before the first card."""
        return HeartsState(deals=self.int_parameter("deals"))

    # Notation

    def format(self, state: HeartsState, action: int) -> str:
        """Return the card that is chosen or played."""
        return CARDS[action]

    def format_chance(self, state: HeartsState, outcome: int) -> str:
        """Return the card that is dealt."""
        return CARDS[outcome]

    def broken_rule(self, state: HeartsState, text: str) -> str:
        """Return the rule that an illegal action breaks."""
        return broken_rule(state, text)

    def observe(self, state: HeartsState, seat: int | None) -> HeartsObservation:
        """Return the seat's own cards, the tricks of this deal, and all points."""
        return observed(state, seat, self.legal_text(state, seat))

    def information_state(self, state: HeartsState, seat: int) -> Hashable:
        """Return own cards, passed and received ones, the play of this deal, and results before it.

        Earlier deals count by their points: the next deals do not depend on their cards.
        """
        return (
            seat,
            state.deal,
            state.won,
            state.dealt,
            state.hands[seat],
            len(state.passed),
            state.own_passed(seat),
            state.received(seat),
            state.played,
        )

    def visible(self, state: HeartsState, action: Any, viewer: int | None) -> str | None:
        """Return played cards to all, and a dealt or passed card to the seat that has it."""
        if state.to_move == CHANCE:
            if viewer != state.dealt % SEATS:
                return None
            return self.format_chance(state, action)
        if state.passing() and viewer != state.to_move:
            return None
        return self.format(state, action)

    def sample_state(self, observation: HeartsObservation, rng: random.Random) -> HeartsState:
        """Return a state that fits the observation, with the unknown cards at random."""
        return sampled_state(observation, self.int_parameter("deals"), rng)

    def scene(self, observation: HeartsObservation) -> Scene:
        """Return the trick, the hand with its legal cards, and the points of all seats."""
        return hearts_scene(observation, self.int_parameter("deals"), self.seat_name)

    def describe(self, state: HeartsState) -> str:
        """Return all hands, also hidden ones, the trick, and points."""
        hands = [
            " ".join([CARDS[card] for card in cards_by_suit(hand)]) or "-" for hand in state.hands
        ]
        trick = " ".join([CARDS[card] for card in state.trick()]) or "-"
        return (
            f"deal {state.deal}, hands: {' / '.join(hands)}, passed: {len(state.passed)}, "
            f"trick: {trick}, points: {state.points}, before: {state.won}"
        )

    def abstraction(self) -> Game:
        """Return the game of one deal, for searches: the other deals do not depend on it."""
        return OneDeal(deals=1)

    def likely(self, state: HeartsState, text: str, actions: tuple[Any, ...]) -> Sequence[int]:
        """Return the card that a text names, if it is legal."""
        return [card for card in actions if CARDS[card] == text]


@mypyc_attr(allow_interpreted_subclasses=True)
class OneDeal(Hearts):
    """Hearts in which the deal of an observation is the only one.

    Searches look for actions in this game (`Game.abstraction`).
    """

    exploration_scale: ClassVar[float] = 0.5

    def sample_state(self, observation: HeartsObservation, rng: random.Random) -> HeartsState:
        """Return a state of the observed deal, with the unknown cards at random."""
        return sampled_state(observation, 1, rng, alone=True)


def broken_rule(state: HeartsState, text: str) -> str:
    """Return the rule that an illegal card breaks; it tells facts that the mover knows."""
    card = card_number(text[0].upper() + text[1].lower())
    mover = state.to_move
    if not state.hands[mover] >> card & 1:
        return "the seat does not hold this card"
    if state.passing():
        return "the card is chosen already"
    trick = state.trick()
    if not trick:
        if not state.played:
            return f"the first trick begins with the {CARDS[TWO_OF_CLUBS]}"
        return "hearts are not broken: no heart has been played, and the seat has other suits"
    suit = trick[0] % 4
    if state.hands[mover] & SUIT_BITS[suit]:
        return f"the seat must follow suit: it has {SUIT_NAMES[suit]}"
    if card % 4 == HEARTS or card == QUEEN:
        return "no points go into the first trick while the seat has other cards"
    return ""
