"""The possible outcomes of each chance event, in the game's order.

With them and the record, anybody can recompute what the committed seed gave at each chance node,
without the rules of the game: see ``docs/chance.md``.  Only the rules show that these outcomes
are the right ones; `plyhouse.server.results.verify` replays them.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from plyhouse.games.base import CHANCE, Game
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.positions import Chances, Possible
from plyhouse.storage.rows import EventRow, StoredMatch

__all__ = ["chances_json", "chances_of"]


def chances_of(match: str, game: Game, events: Sequence[EventRow]) -> Chances:
    """Replay a match and return the possible outcomes wherever chance acted.

    Raises `GameError` if the stored events do not fit the game (any more).
    """
    position = Position(game)
    known: dict[tuple[Possible, ...], int] = {}
    nodes: list[int] = []
    counters: list[int] = []
    for row in events:
        if row.kind not in ("action", "chance"):
            continue
        if row.kind == "chance" and position.mover == CHANCE:
            state = position.state
            outcomes = tuple(
                Possible(game.format_chance(state, outcome), float(share))
                for outcome, share in state.chance_outcomes()
            )
            counters.append(game.chance_number(state, len(nodes)))
            nodes.append(known.setdefault(outcomes, len(known)))
        position.apply(row.seat, row.text)
    return Chances(match, game.spec, [list(table) for table in known], nodes, counters)


def chances_json(stored: StoredMatch) -> bytes:
    """Return the chances of a stored match as JSON."""
    header = stored.header
    return msgspec.json.encode(chances_of(header.id, get_game(header.game), stored.events))
