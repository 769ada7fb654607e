"""States of Scrabble that fit what a seat knows."""

from __future__ import annotations

import random

from plyhouse.games.hidden.scrabble.match_rules import Rules
from plyhouse.games.hidden.scrabble.state import ScrabbleState
from plyhouse.games.hidden.scrabble.tiles import BLANK, COUNTS, square_named, tiles_named
from plyhouse.games.hidden.scrabble.views import ScrabbleObservation, board_of

__all__ = ["sampled_state", "unseen_tiles"]


def unseen_tiles(seen: ScrabbleObservation) -> list[int]:
    """Return the tiles that are neither on the board nor the observer's, in order."""
    left = list(COUNTS)
    for code in board_of(seen.board):
        if code:
            left[0 if code > BLANK else code] -= 1
    for tile in tiles_named(seen.rack + seen.aside):
        left[tile] -= 1
    return [tile for tile, count in enumerate(left) for _ in range(count)]


def sampled_state(seen: ScrabbleObservation, rules: Rules, rng: random.Random) -> ScrabbleState:
    """Return a state with the unseen tiles dealt at random to the others and the bag."""
    unseen = unseen_tiles(seen)
    shown = tuple([tiles_named(tiles) for tiles in seen.shown])
    for seat, tiles in enumerate(shown):
        for tile in tiles if seat != seen.seat else b"":
            unseen.remove(tile)
    for place in range(len(unseen) - 1, 0, -1):
        other = int(rng.random() * (place + 1))
        unseen[place], unseen[other] = unseen[other], unseen[place]
    racks: list[bytes] = []
    for seat, size in enumerate(seen.rack_sizes):
        if seat == seen.seat:
            racks.append(tiles_named(seen.rack))
        else:
            drawn = size - len(shown[seat])
            racks.append(bytes(sorted([*shown[seat], *unseen[:drawn]])))
            del unseen[:drawn]
    aside = tiles_named(seen.aside)
    if len(aside) < seen.aside_size:
        aside = bytes(sorted(unseen[: seen.aside_size]))
        del unseen[: seen.aside_size]
    bag = [0] * len(COUNTS)
    for tile in unseen:
        bag[tile] += 1
    return ScrabbleState(
        seen.to_move,
        rules,
        board_of(seen.board),
        tuple(racks),
        bytes(bag),
        seen.scores,
        seen.scoreless,
        seen.turn,
        aside,
        seen.last,
        bytes([square_named(name) for name in seen.laid]),
        shown,
    )
