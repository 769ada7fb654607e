"""Bots of Texas hold'em: starting hands, draws, legal bets, and the policy of limit hold'em."""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots import Bot
from plyhouse.bots.reference import holdem_cfr_bot, holdem_rule_bot
from plyhouse.bots.reference.best_bot import bot_for
from plyhouse.bots.reference.equity_bot import EquityBot, equity_shares
from plyhouse.bots.reference.holdem_actions import FOLD, PASSIVE, RAISE, kind_of, sized
from plyhouse.bots.reference.holdem_cfr_bot import CfrHoldemBot, suits
from plyhouse.bots.reference.holdem_rule_bot import HoldemRuleBot, rule_shares
from plyhouse.bots.reference.no_limit_postflop import no_limit_shares, range_left
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.hidden.texas_holdem.expected_strength import pair_strength
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.games.playing_cards import card_number

LIMIT = TexasHoldem(betting="fixed", hands=3)
KNOWN_STRENGTH = functools.cache(pair_strength)
"""Interpreted, the strength on a flop takes a second; all games of two are dealt the same cards."""


def seen_after(game: TexasHoldem, text: str) -> Any:
    state = game.initial_state()
    for part in text.split(", "):
        if state.to_move == CHANCE:
            for card in part.split():
                state = state.after(game.parse_chance(state, card))
        else:
            state = state.after(game.parse(state, part))
    return game.observe(state, state.to_move)


def chosen(seen: Any) -> dict[int, float]:
    own = tuple([card_number(card) for card in seen.cards])
    board = tuple([card_number(card) for card in seen.board])
    return rule_shares(seen, own, board, pair_strength(own, board)[0] if board else 0.0)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("As 2c Ah 7d, raise 4", RAISE),  # aces against a raise
        ("7s Ac 2h Ad, raise 4, raise 6", RAISE),  # aces of the button against a second raise
        ("7s Kc 2h Kd, raise 4", FOLD),
    ],
)
def test_rules_look_at_the_cards_before_the_flop(text: str, kind: int) -> None:
    assert max(chosen(seen_after(LIMIT, text)).items(), key=lambda item: item[1])[0] == kind


def test_rules_raise_a_set_call_with_a_draw_and_fold_nothing() -> None:
    bet = "call, check, Kh 9s 4s, check, bet 2"
    assert max(chosen(seen_after(LIMIT, f"9h 2c 9d 7d, {bet}")).items())[0] == RAISE
    draw = chosen(seen_after(LIMIT, f"As 2c 2s 7d, {bet}"))
    assert draw[PASSIVE] > 0.5
    assert chosen(seen_after(LIMIT, f"7h 2c 2d 8d, {bet}")) == {FOLD: 1.0}


NO_LIMIT = TexasHoldem(hands=1)
ACES_AND_THREES = "Kd Qc 3d 9h, raise 6, call, 8s Ah 3c"
"""The seat that does not deal has a king and a three, which is two pairs once the board has one."""


def chosen_without_limit(text: str) -> dict[int, float]:
    seen = seen_after(NO_LIMIT, text)
    own = tuple([card_number(card) for card in seen.cards])
    board = tuple([card_number(card) for card in seen.board])
    return no_limit_shares(seen, pair_strength(own, board)[0], False, len(board) - 2)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("check, bet 8", PASSIVE),  # a pair on the flop is among the best three of five hands
        ("check, bet 8, call, As, check, bet 20, call, Jd, check, bet 50", FOLD),
        ("check, bet 8, call, As, check, bet 20, call, Jd, check, bet 166", FOLD),
        ("check, bet 8, call, As, check, check, Jd, check, bet 176", FOLD),
        ("check, bet 8, call, As, check, check, Jd, check, bet 8", PASSIVE),
    ],
)
def test_two_pairs_of_the_board_do_not_call_large_bets(line: str, kind: int) -> None:
    assert chosen_without_limit(f"{ACES_AND_THREES}, {line}") == {kind: 1.0}


def test_two_pairs_of_the_board_are_not_bet_for_value_three_times() -> None:
    line = f"{ACES_AND_THREES}, bet 8, call, As, bet 20, call, Jd"
    assert chosen_without_limit(line).get(RAISE, 0.0) < 0.5


def test_a_full_house_puts_all_chips_in() -> None:
    deal = "8d Qc 8h 9h, raise 6, call, 8s Ah 3c"
    line = f"{deal}, check, bet 8, call, As, check, bet 20, call, Jd, check, bet 50"
    assert chosen_without_limit(line)[RAISE] > 0.5


def test_each_bet_leaves_the_share_that_makes_bluffs_worth_nothing() -> None:
    # 12 chips before the flop, a bet of 8, 28 after its call, and a bet of 20.
    seen = seen_after(NO_LIMIT, f"{ACES_AND_THREES}, check, bet 8, call, As, check, bet 20")
    assert range_left(seen, seen.seat) == pytest.approx(12 / 20 * 28 / 48)
    assert range_left(seen, 1 - seen.seat) == 1.0


def seen_after_short_calls(stacks: str, calls: str) -> Any:
    """Return what the last seat to act sees after a bet of 100, which short seats call all-in."""
    game = TexasHoldem(seats=4, hands=1, stacks=stacks)
    deal = "2c 3c 4c Ad 2d 3d 5d Ah"
    limps = "call, call, call, check"
    return seen_after(game, f"{deal}, {limps}, Ac As 9h, bet 100, {calls}")


@pytest.mark.parametrize(
    ("stacks", "calls"),
    [
        ("200,200,10,200", "call, fold"),
        ("200,200,10,12", "call, call"),
        ("200,200,5,6", "call, call"),
    ],
)
def test_all_in_calls_for_less_do_not_change_what_a_bet_leaves(stacks: str, calls: str) -> None:
    # A pot of 8 chips and a bet of 100 leave the same share whether others can pay the call.
    seen = seen_after_short_calls(stacks, calls)
    assert range_left(seen, seen.seat) == pytest.approx(8 / 108)
    assert range_left(seen, 1) == 1.0


def test_four_aces_are_not_folded_after_an_all_in_call_for_less() -> None:
    seen = seen_after_short_calls("200,200,10,200", "call, fold")
    assert FOLD not in no_limit_shares(seen, 1.0, False, 1)


def test_fewer_hands_are_played_in_early_seats_of_a_ring() -> None:
    ring = TexasHoldem(seats=6)
    deal = "2c 3c 4c Kd 5c 6c 2d 3d 4d 8d 5d 7d"  # seat 4 has a king and an eight, and acts second
    assert chosen(seen_after(ring, f"{deal}, fold")) == {FOLD: 1.0}
    assert chosen(seen_after(TexasHoldem(), "2c Kd 4c 8d")) == {RAISE: 1.0}


def test_equity_bets_more_of_its_hands_before_a_bet_than_after_one() -> None:
    before = seen_after(LIMIT, "As 2c Ah 7d, call, check, Kh 9s 4s")
    after = seen_after(LIMIT, "As 2c Ah 7d, call, check, Kh 9s 4s, check, bet 2")
    assert equity_shares(before, 0.7) == {RAISE: 1.0}
    assert equity_shares(after, 0.7)[PASSIVE] == 1.0
    assert equity_shares(after, 0.9)[RAISE] == 1.0
    assert equity_shares(after, 0.2)[FOLD] == 1.0


def test_actions_that_are_not_legal_become_calls_and_checks() -> None:
    assert sized(("fold", "call"), RAISE, 12.0) == "call"
    assert sized(("check", "bet 2"), FOLD, 0.0) == "check"
    assert kind_of("bet 2") == RAISE


@pytest.mark.parametrize("kind", [EquityBot, HoldemRuleBot, CfrHoldemBot])
@pytest.mark.parametrize(
    "game",
    [
        TexasHoldem(betting="fixed", hands=2),
        TexasHoldem(hands=1),
        TexasHoldem(hands=1, seats=4, stacks="20,200,7,90", ante=1),
        TexasHoldem(betting="fixed", hands=1, stack=10),
    ],
    ids=lambda game: game.spec,
)
def test_bots_play_legal_actions_to_the_end(
    monkeypatch: pytest.MonkeyPatch, kind: type[Bot], game: TexasHoldem
) -> None:
    for module in (holdem_cfr_bot, holdem_rule_bot):
        monkeypatch.setattr(module, "pair_strength", KNOWN_STRENGTH)
    rng, cards = random.Random(11), random.Random(11)
    bots = [kind() for _ in range(game.seats)]
    state: Any = game.initial_state()
    streets = set()
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            state = state.after(cards.choice(state.chance_outcomes())[0])
            streets.add(len(state.board()))
            continue
        turn = turn_at(game, state, rng=rng)
        text = bots[state.to_move].choose(turn)
        assert text in turn.legal_text
        state = state.after(game.parse(state, text))
    assert max(streets) == 5, "all rounds are played"


def test_policy_is_played_where_it_was_made_for() -> None:
    assert suits(LIMIT)
    assert suits(TexasHoldem(betting="fixed", big_blind=4, small_blind=2))
    assert not suits(TexasHoldem(betting="fixed", stack=40))
    assert not suits(TexasHoldem(betting="fixed", seats=3))
    assert not suits(TexasHoldem())


def test_policy_that_is_loaded_late_leaves_an_action_to_play(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = LIMIT.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    turn = turn_at(LIMIT, state, rng=random.Random(1))
    reported: list[Any] = []
    monkeypatch.setattr(turn, "report", reported.append)
    CfrHoldemBot().choose(turn)
    assert [text in turn.legal_text for text in reported] == [True]


def test_policy_raises_with_aces() -> None:
    rng = random.Random(1)
    game = LIMIT
    state = game.initial_state()
    for card in ("2c", "As", "7d", "Ah"):
        state = state.after(game.parse_chance(state, card))
    bot = CfrHoldemBot()
    texts = [bot.choose(turn_at(game, state, rng=rng)) for _ in range(20)]
    assert texts.count("fold") == 0
    assert texts.count("raise 4") > 10


def test_best_plays_the_policy_only_in_the_games_that_it_is_for() -> None:
    assert bot_for(LIMIT) is CfrHoldemBot
    assert bot_for(NO_LIMIT) is HoldemRuleBot
    assert bot_for(TexasHoldem(betting="fixed", seats=3)) is HoldemRuleBot
