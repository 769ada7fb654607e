"""`isinstance` tells games apart, also compiled ones, which share what `ABCMeta` remembers."""

from __future__ import annotations

from typing import Any, assert_type

import pytest

from plyhouse.games.base import Game, Observation, State
from plyhouse.games.deterministic.connect_four.rules import (
    ConnectFour,
    ConnectFourObservation,
    ConnectFourState,
)
from plyhouse.games.registry import game_names, get_game


@pytest.mark.parametrize("name", game_names())
def test_a_game_is_of_its_own_class_and_its_bases_only(name: str) -> None:
    game = get_game(name)
    for other in game_names():
        kind = type(get_game(other))
        assert isinstance(game, kind) == (kind in type(game).__mro__), other
        assert issubclass(type(game), kind) == (kind in type(game).__mro__), other
    assert isinstance(game, Game)


def test_a_game_that_lacks_a_method_cannot_be_made() -> None:
    class Unfinished(Game):
        info = type(get_game("pig")).info

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()  # type: ignore[abstract]


def first_observation(game: Game) -> Observation:
    return game.observe(game.initial_state(), 0)


def test_a_game_tells_its_types_and_is_a_game() -> None:
    game = ConnectFour()
    state = assert_type(game.initial_state(), ConnectFourState)
    assert_type(game.parse(state, "4"), int)
    seen = assert_type(
        game.decode_observation(game.observe(state, 0).fields()), ConnectFourObservation
    )
    assert seen == first_observation(game)


def test_of_a_game_found_by_its_name_only_what_all_have_is_known() -> None:
    game = get_game("connect_four")
    state = assert_type(game.initial_state(), State)
    assert_type(game.observe(state, 0), Observation)
    assert_type(game.parse(state, "4"), Any)


def test_a_game_may_be_derived_with_or_without_its_types() -> None:
    class Plain(ConnectFour):
        def format(self, state: Any, action: Any) -> str:
            return f"column {action + 1}"

    class Typed(Game[ConnectFourState, int, ConnectFourObservation]):
        info = ConnectFour.info

    game = Plain()
    assert game.parse(game.initial_state(), "column 3") == 2
    assert isinstance(game, Game)
    assert Typed.info.name == "connect_four"
