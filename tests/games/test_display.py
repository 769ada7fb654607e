"""Actions and chance outcomes as people write them."""

from __future__ import annotations

import pytest

from plyhouse.games import get_game
from plyhouse.games.base import CHANCE
from plyhouse.games.position import Position


def displayed(spec: str, events: str) -> list[str]:
    """The texts of events that are given in the notation of programs."""
    position = Position(get_game(spec))
    found = []
    for text in events.split(", "):
        before = position.state
        action = position.apply(before.to_move, text)
        found.append(position.game.display(before, action))
    return found


@pytest.mark.parametrize(
    ("spec", "events", "expected"),
    [
        ("chess", "e2e4, e7e5, g1f3, b8c6, f1b5", ["e4", "e5", "Nf3", "Nc6", "Bb5"]),
        ("chess", "f2f3, e7e5, g2g4, d8h4", ["f3", "e5", "g4", "Qh4#"]),
        ("backgammon", "31, 8/5 6/5, 64", ["\u2682\u2680", "8/5 6/5", "\u2685\u2683"]),
        ("pig", "roll, 5, hold", ["roll", "\u2684", "hold"]),
        ("pig(sides=8)", "roll, 8", ["roll", "8"]),
        ("einstein", "3", ["\u2682"]),
        ("hexapawn", "b1b2, a3b2", ["b1-b2", "a3xb2"]),
        ("nim", "2:1", ["1 from heap 2"]),
        ("go(size=5)", "C3, pass", ["C3", "pass"]),
        ("kuhn_poker", "K, Q, bet", ["K", "Q", "bet"]),
    ],
)
def test_action_is_displayed_as_people_write_it(
    spec: str, events: str, expected: list[str]
) -> None:
    assert displayed(spec, events) == expected


def test_random_ghost_is_named_with_its_direction() -> None:
    position = Position(get_game('pacman(ghosts="random")'))
    start = position.state
    position.play(start.actions()[0])
    state = position.state
    assert state.to_move == CHANCE
    outcome, _ = state.chance_outcomes()[0]
    direction = position.game.format_chance(state, outcome)
    assert position.game.display(state, outcome) == f"ghost 1 {direction}"
