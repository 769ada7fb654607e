"""How many can play a game, and what to ask for then: for people, who choose players first."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator, Mapping
from typing import Final

from plyhouse.games.errors import GameError
from plyhouse.games.info import Parameter, ParameterValue, spec_value
from plyhouse.games.registry import get_game

__all__ = ["tables_of"]

log = logging.getLogger("plyhouse.server.lobby.table_sizes")

TRIED: Final = 64
"""Values of one parameter that are tried: seats are counted in it, or it is no such parameter."""


@functools.cache  # bounded: by the games that there are
def tables_of(name: str) -> Mapping[int, str]:
    """The spec with which so many play a game, by the number of seats, the fewest first.

    The game as it comes is among them; the others differ from it in one parameter.  Numbers of
    seats for which several would have to be changed are missing.

    >>> dict(tables_of("pacman"))
    {1: 'pacman(ghosts=random)', 3: 'pacman'}
    """
    game = get_game(name)
    found = {game.seats: game.spec}
    if game.info.min_seats < game.info.max_seats:
        for parameter in game.info.parameters:
            for value in _values(parameter):
                try:
                    other = get_game(f"{name}({parameter.name}={spec_value(value)})")
                except GameError:  # it does not fit the other values as they come
                    continue
                except Exception:  # whatever the rules of somebody's game raise, others are found
                    log.exception("%s with %s=%s", name, parameter.name, value)
                    continue
                found.setdefault(other.seats, other.spec)
    return dict(sorted(found.items()))


def _values(parameter: Parameter) -> Iterator[ParameterValue]:
    if parameter.choices is not None:
        yield from parameter.choices[:TRIED]
    elif isinstance(parameter.default, bool):
        yield not parameter.default
    elif isinstance(parameter.default, int):
        low, high = parameter.minimum, parameter.maximum
        if low is not None and high is not None and high - low < TRIED:
            yield from range(int(low), int(high) + 1)
