"""`isinstance` tells games apart, also compiled ones, which share what `ABCMeta` remembers."""

from __future__ import annotations

import pytest

from plyhouse.games.base import Game
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
