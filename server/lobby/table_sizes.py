"""Numbers of players for each game, for people who choose their players first."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator, Mapping
from typing import Final

from plyhouse.games.errors import GameError
from plyhouse.games.info import Parameter, ParameterValue, spec_value
from plyhouse.games.registry import get_game

log = logging.getLogger("plyhouse.server.lobby.table_sizes")

TRIED: Final = 64
"""Most values of one parameter that are tried; a parameter with more values does not count seats.
"""


@functools.cache  # bounded by the number of games
def tables_of(name: str) -> Mapping[int, str]:
    """Return specs of a game by their number of seats, the fewest first.

    The game with its default parameters is among them; the others change one parameter.  Numbers of
    seats that need several changes are missing.

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
                except GameError:  # it does not fit the other default values
                    continue
                except Exception:  # a faulty game must not hide the others
                    log.exception(
                        "game failed", extra={"game": f"{name}({parameter.name}={value})"}
                    )
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
