from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest

from plyhouse.games import CHANCE, TERMINAL, IllegalAction, InvalidAction
from plyhouse.games.hidden.bridge.bidding import best_call, shown_by
from plyhouse.games.hidden.bridge.card_play import (
    finished_tricks,
    highest_card,
    lowest_card,
    trick_winner,
)
from plyhouse.games.hidden.bridge.cards import (
    BITS,
    PACK,
    bit_count,
    call_number,
    card_number,
    hand_bits,
    names,
)
from plyhouse.games.hidden.bridge.double_dummy import DoubleDummy
from plyhouse.games.hidden.bridge.rules import Bridge, OneBoard
from plyhouse.games.hidden.bridge.sampling import Unseen
from plyhouse.games.hidden.bridge.scoring import contract_points, dealer_of, is_vulnerable
from plyhouse.games.hidden.bridge.state import BridgeState

HANDS = (
    "SA SK SQ SJ ST S9 S8 S7 S6 S5 S4 S3 S2",
    "HA HK HQ HJ HT H9 H8 H7 H6 H5 H4 H3 H2",
    "DA DK DQ DJ DT D9 D8 D7 D6 D5 D4 D3 D2",
    "CA CK CQ CJ CT C9 C8 C7 C6 C5 C4 C3 C2",
)
"""A deal in which every seat has one suit."""
MIXED = (
    "SA SK S7 HA H9 H4 DK D8 D3 CA C9 C6 C2",
    "SQ S9 S3 HK H8 H2 DA DJ D7 D2 CK C8 C5",
    "SJ ST S5 HQ HJ H7 DQ D9 D5 CQ CJ C7 C3",
    "S8 S6 S4 S2 HT H6 H5 H3 DT D6 D4 CT C4",
)


def bits(text: str) -> int:
    return hand_bits(tuple(text.split()))


def board(hands: tuple[str, ...], calls: str = "", plays: str = "", number: int = 1) -> Any:
    """The state of a board after calls and plays, and its game."""
    game = Bridge(boards=1, first=number)
    state = game.initial_state()
    left = [hand.split() for hand in hands]
    while state.to_move == CHANCE:
        seat = (state.dealer() + 1 + state.count) % 4
        state = state.after(game.parse_chance(state, left[seat].pop()))
    for text in calls.split() + plays.split():
        state = state.after(game.parse(state, text))
    return game, state


def legal(game: Bridge, state: BridgeState) -> list[str]:
    return [game.format(state, action) for action in state.actions()]


def random_state(rng: random.Random, game: Bridge, most: int) -> BridgeState:
    """A state after the deal and up to ``most`` calls and plays; bids are rare."""
    state = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(rng.choice(state.chance_outcomes())[0])
    for _ in range(rng.randrange(most)):
        if state.to_move < 0:
            break
        actions = state.actions()
        low = state.declarer < 0 and rng.random() < 0.8
        state = state.after(actions[0] if low and state.bid >= 0 else rng.choice(actions[:8]))
    return state


# Points


@pytest.mark.parametrize(
    ("contract", "risk", "vulnerable", "tricks", "points"),
    [
        ("1C", 1, False, 7, 70),
        ("1C", 1, False, 8, 90),
        ("1NT", 1, True, 7, 90),
        ("2S", 1, False, 9, 140),
        ("2S", 2, False, 8, 470),
        ("2H", 2, True, 9, 870),
        ("1D", 4, False, 7, 230),
        ("1NT", 4, False, 8, 760),
        ("3NT", 1, False, 9, 400),
        ("3NT", 1, True, 10, 630),
        ("4S", 1, True, 10, 620),
        ("5D", 1, False, 11, 400),
        ("5C", 2, True, 11, 750),
        ("6H", 1, False, 12, 980),
        ("6NT", 1, True, 12, 1440),
        ("7NT", 1, False, 13, 1520),
        ("7NT", 4, True, 13, 2980),
        ("4S", 1, False, 9, -50),
        ("4S", 1, True, 7, -300),
        ("4S", 2, False, 9, -100),
        ("4S", 2, False, 8, -300),
        ("4S", 2, False, 7, -500),
        ("4S", 2, False, 6, -800),
        ("4S", 2, True, 9, -200),
        ("4S", 2, True, 7, -800),
        ("4S", 4, True, 8, -1000),
        ("7NT", 4, True, 0, -7600),
        ("7NT", 2, False, 0, -3500),
    ],
)
def test_points_are_those_of_law_77(
    contract: str, risk: int, vulnerable: bool, tricks: int, points: int
) -> None:
    bid = call_number(contract) - call_number("1C")
    assert contract_points(bid, risk, vulnerable, tricks) == points


def test_dealer_and_vulnerability_are_those_of_law_2() -> None:
    told = []
    for number in range(1, 17):
        sides = is_vulnerable(number, 0), is_vulnerable(number, 3)
        told.append("NESW"[dealer_of(number)] + "-NEB"[sides[0] + 2 * sides[1]])
    assert " ".join(told) == "N- EN SE WB NN EE SB W- NE EB S- WN NB E- SN WE"
    assert all(is_vulnerable(number, 1) == is_vulnerable(number + 16, 3) for number in range(1, 17))


# Auction


def test_four_passes_end_the_board_without_points() -> None:
    _, state = board(MIXED, "Pass Pass Pass Pass")
    assert state.to_move == TERMINAL
    assert state.returns() == (0.0, 0.0, 0.0, 0.0)


def test_three_passes_and_a_bid_go_on() -> None:
    _, state = board(MIXED, "Pass Pass Pass 1H Pass Pass")
    assert (state.to_move, state.declarer) == (2, -1)
    _, state = board(MIXED, "Pass Pass Pass 1H Pass Pass Pass")
    assert (state.to_move, state.declarer) == (0, 3)


def test_declarer_is_the_first_of_the_side_to_name_the_strain() -> None:
    _, state = board(MIXED, "1H 1S 2H 2S 3D Pass 4H Pass Pass Pass", number=1)
    assert (state.declarer, state.dummy(), state.leader, state.to_move) == (0, 2, 1, 1)
    _, state = board(MIXED, "1S Pass 1NT Pass 4S Pass Pass Pass", number=3)
    assert (state.declarer, state.to_move) == (2, 3)


def test_doubles_and_redoubles_are_legal_where_the_laws_say() -> None:
    extra = {"X", "XX"}
    expected = {
        "": set(),
        "1C": {"X"},
        "1C X": {"XX"},
        "1C X XX": set(),
        "1C X Pass": set(),
        "1C X Pass Pass": {"XX"},
        "1C Pass": set(),
        "1C Pass Pass": {"X"},
        "1C X 1D": {"X"},
        "Pass 1C X Pass": set(),
        "Pass 1C X Pass Pass": {"XX"},
    }
    for calls, found in expected.items():
        game, state = board(MIXED, calls)
        assert set(legal(game, state)) & extra == found, calls


@pytest.mark.parametrize(
    ("calls", "text", "rule"),
    [
        ("2H", "2D", "a bid must be higher than 2H"),
        ("2H", "2h", "a bid must be higher than 2H"),
        ("", "X", "there is no bid to double"),
        ("1C Pass", "X", "only a bid of the opponents can be doubled"),
        ("1C X Pass", "X", "the bid has been doubled already"),
        ("1C X 1D X Pass", "X", "the bid has been doubled already"),
        ("1C", "XX", "only a double by the opponents can be redoubled"),
        ("1C X XX", "XX", "the bid has been redoubled already"),
        ("1C", "SA", "the auction is not over"),
        ("1C Pass Pass Pass", "2C", "the auction is over"),
    ],
)
def test_illegal_call_names_its_rule(calls: str, text: str, rule: str) -> None:
    game, state = board(MIXED, calls)
    with pytest.raises(IllegalAction) as caught:
        game.parse(state, text)
    assert caught.value.rule == rule
    assert caught.value.legal == tuple(legal(game, state))
    assert repr(text) in str(caught.value)


# Play


def test_illegal_card_names_its_rule() -> None:
    game, state = board(MIXED, "1NT Pass Pass Pass", "HK HQ")
    assert state.to_move == 3
    for text, rule in (
        ("S8", "a seat must follow suit while it can, and hearts were led"),
        ("SA", "it is not among the cards of the seat to play"),
        ("1NT", "the auction is over"),
    ):
        with pytest.raises(IllegalAction) as caught:
            game.parse(state, text)
        assert caught.value.rule == rule
        assert caught.value.legal == ("H3", "H5", "H6", "HT")
    _, state = board(MIXED, "1NT Pass Pass Pass", "HK")
    with pytest.raises(IllegalAction) as caught:
        game.parse(state, "SA")
    assert caught.value.rule == "dummy is to play and does not hold it"


@pytest.mark.parametrize("text", ["", "8C", "QS", "pass!", "1N", "C1", "XXX"])
def test_text_that_is_no_action_is_invalid(text: str) -> None:
    game, state = board(MIXED, "1NT Pass Pass Pass")
    with pytest.raises(InvalidAction, match="expected a call such as Pass"):
        game.parse(state, text)


def test_declarer_plays_the_cards_of_dummy() -> None:
    game, state = board(MIXED, "1NT Pass Pass Pass", "HK")
    assert (state.hand_to_play(), state.to_move) == (2, 0)
    assert legal(game, state) == ["H7", "HJ", "HQ"]
    seen = game.observe(state, 0)
    assert (seen.turn, seen.dummy[:2], seen.legal) == (2, ("SJ", "ST"), ("H7", "HJ", "HQ"))
    assert game.observe(state, 2).legal == ()


def test_dummy_is_seen_only_after_the_opening_lead() -> None:
    game, state = board(MIXED, "1NT Pass Pass Pass")
    assert game.observe(state, 1).dummy == () == game.observe(state, None).dummy
    state = state.after(card_number("HK"))
    assert game.observe(state, 1).dummy == game.observe(state, None).dummy == names(bits(MIXED[2]))


def test_one_suit_each_is_a_grand_slam_or_nothing() -> None:
    for calls, score in (("7S", 1510.0), ("7NT", -650.0), ("7NT X XX", -7000.0)):
        _, state = board(HANDS, calls + " Pass" * 3)
        while state.to_move >= 0:
            state = state.after(state.actions()[0])
        assert state.returns() == (score, -score, score, -score)


def test_every_trick_is_won_by_the_highest_trump_or_card_led() -> None:
    for cards, strain, place in (
        ("H5 HK S2 HA", "S", 2),
        ("H5 HK S2 HA", "NT", 3),
        ("H5 S3 S2 HA", "S", 1),
        ("H5 CA DA SA", "NT", 0),
        ("H5 C2", "C", 1),
    ):
        numbers = tuple([card_number(card) for card in cards.split()])
        assert trick_winner(numbers, "CDHS".find(strain) % 5) == place


def test_boards_follow_each_other_and_returns_are_means() -> None:
    game = Bridge(boards=2, first=4)
    rng = random.Random(3)
    state = game.initial_state()
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
            continue
        before = state
        state = state.after(state.actions()[0] if state.bid >= 0 else rng.choice(state.actions()))
        if state.board == 1 and before.board == 0:
            seen = game.observe(state, 2)
            assert (seen.board, seen.dealer, seen.points) == (5, 0, state.last[5])
            assert (seen.last_board, seen.last_points) == (4, seen.points)
            first = seen.points
    assert state.last[0] == 5
    assert state.returns()[0] == (first + state.last[5]) / 2


# Sampled deals


def test_sampled_deals_keep_voids_and_known_cards() -> None:
    rng = random.Random(8)
    game = Bridge(boards=1)
    checked = 0
    for _ in range(60):
        state = random_state(rng, game, 50)
        if state.declarer < 0 or state.to_move < 0:
            continue
        seen = game.observe(state, state.to_move)
        known = {state.to_move, state.dummy()} if state.plays else {state.to_move}
        voids = set()
        leader = (state.declarer + 1) % 4
        for start in range(0, len(state.plays), 4):
            trick = state.plays[start : start + 4]
            for at, card in enumerate(trick):
                if card // 13 != trick[0] // 13:
                    voids.add(((leader + at) % 4, trick[0] // 13))
            leader = (leader + trick_winner(trick, state.bid % 5)) % 4
        for _ in range(5):
            drawn = game.sample_state(seen, rng)
            held = [drawn.held(seat) for seat in range(4)]
            assert [hand.bit_count() for hand in drawn.hands] == [13] * 4
            assert sum(drawn.hands) == (1 << PACK) - 1
            assert all(drawn.hands[seat] == state.hands[seat] for seat in known)
            for seat, suit in voids:
                assert all(card // 13 != suit for card in range(PACK) if held[seat] & BITS[card])
            checked += bool(voids)
    assert checked > 50


def test_deals_with_a_void_are_equally_likely() -> None:
    # Three hearts and two spades for East (no hearts, one card), South and West (two cards each).
    cards = [card_number(name) for name in ("H2", "H3", "H4", "S2", "S3")]
    rest = sum(BITS) - sum(BITS[card] for card in cards)
    unseen = Unseen((rest, 0, 0, 0), (0, 1, 2, 2), (0, 1 << 2, 0, 0))
    possible = set()
    for order in itertools.permutations(cards):
        if order[0] // 13 != 2:
            possible.add((order[0], frozenset(order[1:3]), frozenset(order[3:])))
    rng = random.Random(4)
    found: Counter[tuple[int, ...]] = Counter(unseen.deal(rng) for _ in range(6000))
    assert len(found) == len(possible) == 12
    expected = 6000 / 12
    chi_squared = sum((count - expected) ** 2 / expected for count in found.values())
    # The quantile 0.9999 with eleven degrees of freedom; the seed is fixed.
    assert chi_squared < 38


def test_searched_board_counts_only_itself() -> None:
    game = Bridge(boards=3)
    rng = random.Random(6)
    state = game.initial_state()
    while state.board < 2 or state.to_move == CHANCE:
        choices = state.actions() or [card for card, _ in state.chance_outcomes()]
        state = state.after(rng.choice(choices[:6]) if state.to_move >= 0 else rng.choice(choices))
    search = game.abstraction()
    assert isinstance(search, OneBoard)
    drawn: Any = search.sample_state(game.observe(state, state.to_move), rng)
    assert (drawn.points, drawn.number(), drawn.to_move) == (0, 3, state.to_move)
    assert drawn.actions() == state.actions()


# Double dummy, calls and playouts


def minimax(held: tuple[int, ...], trick: tuple[int, ...], leader: int, strain: int) -> int:
    """Tricks of North and South by trying everything."""
    seat = (leader + len(trick)) % 4
    cards = [card for card in range(PACK) if held[seat] & BITS[card]]
    if not cards:
        return 0
    if trick:
        cards = [card for card in cards if card // 13 == trick[0] // 13] or cards
    values = []
    for card in cards:
        left = tuple([hand & ~BITS[card] for hand in held])
        table = (*trick, card)
        if len(table) == 4:
            winner = (leader + trick_winner(table, strain)) % 4
            values.append((winner % 2 == 0) + minimax(left, (), winner, strain))
        else:
            values.append(minimax(left, table, leader, strain))
    return max(values) if seat % 2 == 0 else min(values)


@pytest.mark.parametrize("seed", range(3))
def test_double_dummy_tricks_are_those_of_minimax(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        size = rng.choice((2, 3, 3))
        cards = rng.sample(range(PACK), 4 * size)
        held = tuple([sum(BITS[card] for card in cards[at::4]) for at in range(4)])
        strain, leader = rng.randrange(5), rng.randrange(4)
        value = minimax(held, (), leader, strain)
        assert DoubleDummy(held, strain).tricks(leader) == value
        values = DoubleDummy(held, strain).card_values((), leader)
        assert (max if leader % 2 == 0 else min)(values.values()) == value
        led = next(card for card in values if held[leader] & BITS[card])
        after = tuple([hand & ~BITS[led] for hand in held])
        found = DoubleDummy(after, strain).card_values((led,), leader)
        for card in found:
            left = tuple([hand & ~BITS[card] for hand in after])
            assert found[card] == minimax(left, (led, card), leader, strain)
        assert values[led] == minimax(after, (led,), leader, strain)


def test_solver_gives_up_after_its_nodes() -> None:
    held = tuple([bits(text) for text in MIXED])
    solver = DoubleDummy(held, 4, 50)
    solver.tricks(0)
    assert solver.stopped()
    assert solver.nodes == 50
    whole = DoubleDummy(tuple([bits(text) for text in ("SA", "SK", "SQ", "SJ")]), 4, 50)
    assert (whole.tricks(0), whole.stopped()) == (1, False)


def test_lowest_highest_and_number_of_cards() -> None:
    rng = random.Random(2)
    for _ in range(300):
        cards = rng.sample(range(PACK), rng.randrange(1, 14))
        hand = sum(BITS[card] for card in cards)
        found = lowest_card(hand), highest_card(hand), bit_count(hand)
        assert found == (min(cards), max(cards), len(cards))


@pytest.mark.parametrize(
    ("hand", "calls", "call"),
    [
        ("SA SK S8 S5 S2 HK H7 DQ D9 D4 C8 C6 C3", "", "1S"),
        ("SA SK S8 S5 HK H7 H2 DQ D9 D4 CQ C6 C3", "", "1C"),
        ("SA SK S8 HK HQ H7 H2 DQ D9 D4 CQ C6 C3", "", "1NT"),
        ("SA SJ ST S8 S5 S2 HK H7 D9 D4 C8 C6 C3", "", "2S"),
        ("S8 S5 S2 HK H7 DQ D9 D4 C9 C8 C6 C3 C2", "", "Pass"),
        ("SK SQ S8 S5 HA H7 H2 DQ D9 D4 CQ C6 C3", "1S Pass", "2NT"),
        ("SA SQ S8 HK H9 H7 DJ D9 D8 D4 CQ C6 C3", "1NT Pass", "3NT"),
        ("SA SQ S8 S6 HA HK H7 H2 DK D9 D4 D2 C6", "1C", "X"),
        ("S8 S5 S2 H9 H7 DQ D9 D4 C9 C8 C6 C3 C2", "1NT Pass", "Pass"),
        ("SA SK S8 S5 S2 HK H7 DA DQ D4 CA CK C3", "", "2C"),
    ],
)
def test_calls_follow_the_system(hand: str, calls: str, call: str) -> None:
    made = tuple([call_number(text) for text in calls.split()])
    assert best_call(bits(hand), made) == call_number(call)


def test_calls_of_the_system_are_legal_after_any_auction() -> None:
    rng = random.Random(11)
    game = Bridge(boards=1)
    for _ in range(150):
        state = random_state(rng, game, 14)
        if state.declarer < 0 and state.to_move >= 0:
            assert best_call(state.hands[state.to_move], state.calls) in state.actions()


def test_bids_show_points_and_suits() -> None:
    calls = tuple([call_number(text) for text in ("1H", "Pass", "1S", "Pass", "4S")])
    opener, _, partner, _ = shown_by(calls)
    assert (opener.points, opener.cards) == (19, [0, 0, 5, 4])
    assert (partner.points, partner.cards[3]) == (6, 4)


def test_rules_of_thumb_take_certain_tricks_and_leave_partners() -> None:
    held = tuple([bits(text) for text in ("SA SK", "S3 S4", "SQ SJ", "S5 S6")])
    assert all(finished_tricks(held, (), 0, 0, 4, seed) == 2 for seed in range(20))
    # West leads, and all tricks are North's: the declarer is East.
    assert all(finished_tricks(held, (), 3, 1, 4, seed) == 0 for seed in range(20))


def test_playouts_of_good_hands_are_better() -> None:
    _, strong = board(MIXED)
    rng = random.Random(1)
    points = [strong.playout(rng) for _ in range(50)]
    assert sum(each[0] for each in points) > 0
    assert all(each[0] == each[2] == -each[1] == -each[3] for each in points)


def test_scene_of_an_auction_offers_all_bids_in_a_grid_of_one_size() -> None:
    game: Any = Bridge()
    state: Any = game.initial_state()
    rng = random.Random(5)
    while state.to_move == CHANCE:
        state = state.after(rng.choice([card for card, _ in state.chance_outcomes()]))
    for call in ("1H", "X", "2NT"):
        state = state.after(game.parse(state, call))
        seat = state.to_move
        grids = [
            each for each in game.scene(game.observe(state, seat)).elements if each.kind == "grid"
        ]
        auction, bids = grids
        assert len(auction.column_labels) == 4
        assert [len(row) for row in bids.rows] == [7] * 5
        legal = {cell.action for row in bids.rows for cell in row if cell.action}
        assert legal == {each for each in game.observe(state, seat).legal if each[0].isdigit()}
