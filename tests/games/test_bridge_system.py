"""The calls of the bidding system are those that the "ACBL SAYC System Booklet" (SP 3) describes.

Hands are written as in PBN: spades, hearts, diamonds, clubs.
"""

from __future__ import annotations

import random

import pytest

from plyhouse.games.hidden.bridge.bidding import auction_of, best_call, shortfall, shown_by
from plyhouse.games.hidden.bridge.cards import CALL_NAMES, PACK, PASS, call_number, hand_bits
from plyhouse.games.hidden.bridge.hand_value import Hand
from plyhouse.games.hidden.bridge.scoring import dealer_of
from plyhouse.games.hidden.bridge.state import BridgeState


def cards(hand: str) -> int:
    suits = zip("SHDC", hand.split("."), strict=True)
    return hand_bits(tuple([suit + rank for suit, ranks in suits for rank in ranks]))


def numbers(calls: str) -> tuple[int, ...]:
    return tuple([call_number(text) for text in calls.split()])


def called(hand: str, calls: str) -> str:
    return CALL_NAMES[best_call(cards(hand), numbers(calls)) - PASS]


OPENINGS = [
    ("AK852.K7.Q94.863", "1S"),
    ("AK85.K742.Q94.86", "1D"),  # majors of four cards are not opened
    ("AQ85.KJ42.Q94.86", "1D"),
    ("AK8.K742.Q94.865", "1C"),  # the better of two minors of three cards is clubs
    ("A8.K7.KQ94.Q8654", "1C"),
    ("K86.A7.KQJ4.Q865", "1NT"),
    ("AK852.A9543.K4.6", "1S"),  # the higher of two suits of five cards
    ("AK852.7.4.KJ8643", "1C"),  # the longer suit first
    ("AQ2.KJ3.AQ94.KJ5", "2NT"),
    ("AKQ2.AKJ3.AQ94.5", "2C"),
    ("KQT852.K7.964.86", "2S"),
    ("6.KQJ9853.T64.86", "3H"),
    ("K852.K7.Q942.Q83", "Pass"),
    ("AK852.Q9643.94.8", "Pass"),  # length counts only with a fit
]


@pytest.mark.parametrize(("hand", "call"), OPENINGS)
def test_openings_follow_the_booklet(hand: str, call: str) -> None:
    assert called(hand, "") == call


RESPONSES = [
    # To a major: limit raises, Jacoby 2NT, a weak jump to game, new suits.
    ("1H Pass", "K85.Q742.K94.863", "2H"),
    ("1H Pass", "K8.Q742.KJ94.Q63", "3H"),
    ("1H Pass", "KQ85.AQ74.K94.86", "2NT"),
    ("1H Pass", "5.QJ742.K9643.86", "4H"),
    ("1H Pass", "KQ85.A4.K94.8653", "1S"),
    ("1S Pass", "85.AQ742.KQ4.863", "2H"),
    ("1S Pass", "85.A74.Q984.K863", "1NT"),
    ("1S Pass", "85.974.Q984.J863", "Pass"),
    # To a minor: the longer suit first, suits of four cards from the lowest.
    ("1C Pass", "K852.Q742.K94.86", "1H"),
    ("1C Pass", "KQ852.AQ742.94.8", "1S"),
    ("1C Pass", "K852.74.AQJ94.86", "1D"),
    ("1D Pass", "AQ85.74.94.AQJ86", "2C"),
    ("1D Pass", "AQ85.74.94.QJ863", "1S"),
    ("1D Pass", "Q85.K74.Q94.Q863", "1NT"),
    ("1D Pass", "KQ5.KJ4.Q94.K863", "2NT"),
    ("1C Pass", "AK4.K86.K54.AK53", "4NT"),
    ("1D Pass", "5.AQ742.94.AQJ86", "1H"),  # the higher of two suits of five cards
    # To 1NT: transfers, Stayman, points only.
    ("1NT Pass", "AQ8.K97.984.Q63", "3NT"),
    ("1NT Pass", "A85.K742.94.8632", "Pass"),
    ("1NT Pass", "Q85.KJ42.94.Q632", "2C"),
    ("1NT Pass", "985.KJ742.94.632", "2D"),
    ("1NT Pass", "KQ852.742.94.632", "2H"),
    ("1NT Pass", "AQ8.K97.KJ4.A863", "4NT"),
    ("1NT Pass", "852.97.984.98632", "Pass"),
    # To two: weak twos are raised, 2C is answered 2D.
    ("2S Pass", "985.AKQ.AKQ4.863", "4S"),
    ("2S Pass", "KQ8.K974.84.9863", "3S"),
    ("2C Pass", "9852.974.984.863", "2D"),
    ("2C Pass", "AQJ52.974.94.863", "2D"),
    ("2C Pass", "AQJ52.K74.94.863", "2S"),
]


@pytest.mark.parametrize(("calls", "hand", "call"), RESPONSES)
def test_responses_follow_the_booklet(calls: str, hand: str, call: str) -> None:
    assert called(hand, calls) == call


LATER = [
    ("1NT Pass 2C Pass", "KQ85.A74.AQ4.K86", "2S"),
    ("1NT Pass 2C Pass", "KQ5.A74.AQ84.K86", "2D"),
    ("1NT Pass 2D Pass", "KQ85.A7.AQ84.K86", "2H"),
    ("1NT Pass 2D Pass 2H Pass 3NT Pass", "KQ5.A74.AQ84.K86", "4H"),
    ("1NT Pass 2D Pass 2H Pass", "AQ5.KQ742.94.863", "3NT"),
    ("1NT Pass 2D Pass 2H Pass", "95.KJ7632.94.863", "Pass"),
    ("1NT Pass 2NT Pass", "KQ85.AK4.Q84.K86", "3NT"),
    ("1NT Pass 2NT Pass", "KQ85.A74.Q84.K86", "Pass"),
    ("1D Pass 1S Pass", "K852.A7.AQ984.86", "2S"),
    ("1D Pass 1S Pass", "K852.A7.AKQ84.K6", "4S"),
    ("1D Pass 1S Pass", "85.A74.AQ984.K86", "1NT"),
    ("1D Pass 1S Pass", "85.AQ7.AKJ4.KQ86", "2NT"),
    ("1D Pass 1S Pass", "8.AK74.AKQ84.K86", "2H"),  # a reverse
    ("1D Pass 1S Pass", "82.A7.AQJ984.K86", "2D"),
    ("1D Pass 1S Pass", "82.A7.AKQ984.KQ6", "3D"),
    ("1D Pass 1NT Pass", "K7.QT6.AKQJT8.A4", "3NT"),  # game with 19 points and one suit
    ("1C Pass 1D Pass 2NT Pass", "732.KT3.QT7542.A", "3NT"),  # 9 opposite 18
    ("1D Pass 1S Pass 1NT Pass", "AQ65.T7.KQ43.KJ2", "3NT"),  # 15 opposite 11
    ("1D Pass 1S Pass 1NT Pass 2NT Pass", "T9.AJ5.AJ32.KJ97", "3NT"),  # an invitation
    ("1D Pass 1S Pass 1NT Pass 2NT Pass", "T9.AJ5.AJ32.J976", "Pass"),
    ("1S Pass 2H Pass 2S Pass 2NT Pass", "AKT542.KT.A52.96", "3NT"),
    ("1H Pass 2H Pass", "85.AQJ74.AQ84.86", "Pass"),
    ("1H Pass 2H Pass", "8.AKJ742.KQ84.86", "3H"),
    ("1H Pass 2H Pass", "8.AKQ742.AQ84.A6", "4H"),
    ("1H Pass 3H Pass", "85.AKJ74.AQ84.86", "4H"),
    ("1H Pass 3H Pass", "Q5.AKJ74.J984.86", "Pass"),
    ("1S Pass 2S Pass 3S Pass", "K85.A742.94.8632", "4S"),
    # Jacoby 2NT is answered by strength, and slam follows from it.
    ("1H Pass 2NT Pass", "85.AQJ74.AQ84.86", "4H"),
    ("1H Pass 2NT Pass", "85.AQJ74.AQ84.K6", "3NT"),
    ("1H Pass 2NT Pass", "8.AQJ74.AKQ4.K86", "3H"),
    ("1H Pass 2NT Pass 3H Pass", "KQ85.K974.A84.K6", "6H"),
    ("1H Pass 2NT Pass 3NT Pass", "KQ85.K974.K84.86", "4H"),
    # Who has answered at the two level bids again, unless it has passed before.
    ("1S Pass 2D Pass 2NT Pass", "8.QJ7.AQJT98.962", "3D"),
    ("1S Pass 2D Pass 2S Pass", "82.QJ7.AJT98.Q62", "3S"),
    ("Pass Pass 1S Pass 2D Pass 2S Pass", "82.QJ7.AJT98.Q62", "Pass"),
    # Five of a major asks for slam with the better half.
    ("1C Pass 1H Pass 2H Pass", "AKQ4.KQ32.AJ.853", "5H"),
    ("1C Pass 1H Pass 2H Pass 5H Pass", "86.AJT5.K6.AK742", "6H"),
    ("1C Pass 1H Pass 2H Pass 5H Pass", "86.AJT5.Q6.KQ842", "Pass"),
    ("1S Pass 2S Pass 3S Pass", "Q85.K742.943.J63", "Pass"),
]


@pytest.mark.parametrize(("calls", "hand", "call"), LATER)
def test_later_calls_follow_the_booklet(calls: str, hand: str, call: str) -> None:
    assert called(hand, calls) == call


COMPETITIVE = [
    ("1D", "AQJ52.K74.94.863", "1S"),
    ("1D", "AQ52.KJ74.4.Q863", "X"),
    ("1D", "AQ5.KJ4.AJ4.Q863", "1NT"),
    ("1D", "KQT852.74.94.863", "2S"),
    ("1D", "K852.J74.94.K863", "Pass"),
    ("1NT", "95.AQJ742.KJ4.63", "2H"),
    ("3H", "AQ52.4.KQ94.A863", "X"),
    ("1NT Pass 3NT", "AQ5.K8.K983.K874", "Pass"),
    ("1S", "AJ8.AT832.8.AQJ6", "2H"),
    ("2H Pass 3H", "KQ52.A.A432.AK84", "X"),
    ("2H Pass 3H", "AKQT5.52.A32.AJ4", "3S"),
    ("1H Pass 3H", "K852.52.A32.AJ84", "Pass"),
    # Answers to a takeout double, by points.
    ("1D X Pass", "9852.974.984.863", "1S"),
    ("1D X Pass", "K852.A74.98.Q863", "2S"),
    ("1D X Pass", "KQ852.A7.98.K863", "4S"),
    # A double in the last seat may be three points weaker, so that its answers need more.
    ("1D Pass Pass X Pass", "KQ852.A7.98.K863", "2S"),
    ("1D Pass Pass X Pass", "K852.A74.98.Q863", "1S"),
    ("Pass 1D 1S 1NT 2S", "J7.A9.KQT542.AK2", "2NT"),
    # A double and a suit of one's own: too much for an overcall.
    ("1D X Pass 2C Pass", "AKQT5.KQ932.A.Q6", "2S"),
    ("2H X Pass 3C Pass", "AKQ97.A53.A6.K83", "3S"),
    ("1D X Pass 2C Pass", "AQT5.KQ93.A.Q654", "Pass"),
    # Partner's bids without trumps have shown a stopper, and partner may have one otherwise.
    ("1D 1S 2NT Pass", "74.AQ6.AKT963.A7", "3NT"),
    ("2S 2NT Pass", "43.A94.AJ62.AT52", "3NT"),
    ("1D 1S X Pass 2C Pass", "T74.KT87.AQJ.A72", "3NT"),
    # After an overcall: a negative double, raises, a cue bid with a limit raise.
    ("1D 1S", "85.KQ74.K94.8632", "X"),
    ("1H 1S", "85.K742.Q943.K63", "2H"),
    ("1H 1S", "85.KQ42.A943.J63", "2S"),
    ("1C 1S", "KJ5.A74.QT94.863", "1NT"),
    # The law of total tricks: nine trumps are bid to the three level, eight to the two level.
    ("1H Pass 2H 2S", "85.AKJ742.K4.Q86", "3H"),
    ("1H Pass 2H 2S", "K85.AQJ74.J4.J86", "Pass"),
]


@pytest.mark.parametrize(("calls", "hand", "call"), COMPETITIVE)
def test_calls_in_competition_follow_the_booklet(calls: str, hand: str, call: str) -> None:
    assert called(hand, calls) == call


def test_shape_counts_only_with_a_fit() -> None:
    hand = Hand(cards("5.QJ742.KQ964.86"))
    assert (hand.high, hand.with_fit(2, False), hand.with_fit(3, False)) == (8, 12, 8)
    supported = Hand(cards("5.QJ7432.KQ96.86"))
    assert supported.with_fit(2, True) == 8 + 2 + 2


def test_transfer_shows_the_suit_above() -> None:
    opener, _, partner, _ = shown_by(numbers("1NT Pass 2D Pass"))
    assert (opener.points, opener.most, opener.cards) == (15, 17, [2, 2, 2, 2])
    assert (partner.cards[2], partner.cards[1], partner.asks) == (5, 0, True)


def test_hands_fit_what_their_own_calls_show() -> None:
    # A call shows what its rules promise, so that the hand which made it misses nothing.
    rng = random.Random(4)
    missed = calls_made = 0
    for number in range(1, 81):
        pack = rng.sample(range(PACK), PACK)
        hands = tuple([sum(1 << card for card in pack[at::4]) for at in range(4)])
        state = BridgeState(dealer_of(number), number, count=PACK, hands=hands)
        auction = auction_of(())
        while state.to_move >= 0 and state.declarer < 0:
            seat = state.to_move
            call = auction.call_of(hands[seat])
            assert call in state.actions()
            auction.add(call)
            missed += shortfall(hands[seat], auction.shown[auction.count % 4 - 1])
            calls_made += 1
            state = state.called(call)
    assert calls_made > 500
    assert missed < 0.4 * calls_made


SHOWN = [
    ("1D Pass 1S Pass 1NT", (11, 14)),
    ("1D Pass 1S Pass 2NT", (18, 19)),
    ("1C Pass 1D Pass 2NT", (18, 19)),
    ("1H Pass 1S Pass 3S", (16, 18)),
    ("1H Pass 1S Pass 2S", (11, 15)),
]


@pytest.mark.parametrize(("calls", "points"), SHOWN)
def test_rebids_of_the_opener_show_the_points_of_the_booklet(
    calls: str, points: tuple[int, int]
) -> None:
    opener = shown_by(numbers(calls))[0]
    assert (opener.points, opener.most) == points


def test_a_stopper_is_shown_only_where_the_opponents_have_bid() -> None:
    assert shown_by(numbers("1D 1S 2NT"))[2].stops
    assert not shown_by(numbers("1D Pass 1S Pass 1NT Pass 2NT"))[2].stops
    assert not shown_by(numbers("1D 1S 2C"))[2].stops
