"""Random boards of bridge, ours and OpenSpiel's side by side: same legal actions, same points."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pyspiel

from plyhouse.games import CHANCE
from plyhouse.games.hidden.bridge.cards import BITS, PACK, PASS
from plyhouse.games.hidden.bridge.rules import Bridge
from plyhouse.games.hidden.bridge.scoring import contract_points

__all__ = ["Tally", "compare_board", "compare_scores", "double_dummy_points"]

OUTCOMES = tuple([(level, risk) for level in range(1, 8) for risk in (1, 2, 4)])


@dataclasses.dataclass
class Tally:
    """Counts of what was compared."""

    positions: int = 0
    boards: int = 0
    contracts: int = 0
    passed_out: int = 0


def their_action(action: int) -> int:
    """Return our number of a card or call as OpenSpiel counts: its cards go by rank, then suit."""
    return action if action >= PACK else action % 13 * 4 + action // 13


def their_board(number: int, double_dummy: bool = False) -> Any:
    """Return OpenSpiel's game with the dealer and vulnerability of a board."""
    state = Bridge(boards=1, first=number).initial_state()
    dealer = state.dealer()
    return pyspiel.load_game(
        "bridge",
        {
            "dealer": dealer,
            "dealer_vul": state.is_vulnerable(dealer),
            "non_dealer_vul": state.is_vulnerable(dealer + 1),
            "use_double_dummy_result": double_dummy,
        },
    )


def dealt_there(hands: tuple[int, ...], number: int, double_dummy: bool = False) -> Any:
    """Return OpenSpiel's state after the deal of these hands."""
    state = their_board(number, double_dummy).new_initial_state()
    cards = [[card for card in range(PACK) if hand & BITS[card]] for hand in hands]
    for place in range(PACK):
        state.apply_action(their_action(cards[place % 4][place // 4]))
    return state


def compare_board(number: int, rng: random.Random, tally: Tally) -> None:
    """Play one random board on both sides; raises AssertionError where they differ.

    Calls are passes more often than not, so that contracts of all levels are played.
    """
    ours = Bridge(boards=1, first=number).initial_state()
    while ours.to_move == CHANCE:
        ours = ours.after(rng.choice(ours.chance_outcomes())[0])
    theirs = dealt_there(ours.hands, number)
    eagerness = rng.choice([0.1, 0.3, 0.6])
    while ours.to_move >= 0:
        actions = ours.actions()
        assert theirs.current_player() == ours.to_move
        assert theirs.legal_actions() == sorted(their_action(action) for action in actions)
        tally.positions += 1
        action = rng.choice(actions)
        if ours.declarer < 0:
            bids = [each for each in actions if each > PASS]
            action = PASS
            if bids and rng.random() < eagerness:
                action = bids[int(len(bids) * rng.random() ** 3)]
        ours = ours.after(action)
        theirs.apply_action(their_action(action))
    assert theirs.is_terminal()
    assert tuple(theirs.returns()) == ours.returns()
    tally.boards += 1
    tally.contracts += ours.bid >= 0
    tally.passed_out += ours.bid < 0


def double_dummy_points(hands: tuple[int, ...], number: int) -> dict[tuple[int, int], list[int]]:
    """Return OpenSpiel's points of North and South in every contract, with best play of all.

    By strain and declarer, points in the order of `OUTCOMES`.  OpenSpiel finds the tricks by DDS.
    """
    state = dealt_there(hands, number, double_dummy=True)
    game = state.get_game()
    points = state.score_for_contracts(0, list(range(game.num_possible_contracts())))
    found: dict[tuple[int, int], list[int]] = {}
    for index in range(1, game.num_possible_contracts()):
        bid, declarer = game.contract_string(index).split()
        strain = ("C", "D", "H", "S", "N").index(bid.rstrip("X")[1])
        found.setdefault((strain, "NESW".index(declarer)), []).append(round(points[index]))
    return found


def compare_scores(hands: tuple[int, ...], number: int) -> dict[tuple[int, int], int]:
    """Find the number of tricks that explains OpenSpiel's points in all contracts of a strain.

    Returns tricks by strain and declarer; raises AssertionError if not exactly one number does.
    """
    start = Bridge(boards=1, first=number).initial_state()
    tricks: dict[tuple[int, int], int] = {}
    for (strain, declarer), points in double_dummy_points(hands, number).items():
        sign = -1 if declarer % 2 else 1
        vulnerable = start.is_vulnerable(declarer)
        fits = [
            count
            for count in range(14)
            if points
            == [
                sign * contract_points(5 * (level - 1) + strain, risk, vulnerable, count)
                for level, risk in OUTCOMES
            ]
        ]
        assert len(fits) == 1, (number, strain, declarer, points)
        tricks[strain, declarer] = fits[0]
    return tricks
