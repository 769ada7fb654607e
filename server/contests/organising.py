"""A round robin without a class, built from an organiser's request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competition.schedule import count
from plyhouse.server.contests.rosters import bots_named
from plyhouse.server.results.scoring import default_scoring
from plyhouse.server.table.match_runner import Terms
from plyhouse.server.table.participants import Participant
from plyhouse.storage.rows import CompetitionRow, new_id, wall_ms
from plyhouse.storage.store import Store

__all__ = ["MAX_MATCHES", "robin_of"]

MAX_MATCHES: Final = 100_000
"""The largest schedule accepted, in matches."""


async def robin_of(
    store: Store,
    here: Iterable[Participant],
    name: str,
    terms: Terms,
    rounds: int,
    entries: Sequence[str] | None,
) -> tuple[CompetitionRow, list[int], int]:
    """Return a new competition, its bots and its matches; store nothing.

    Without ``entries``, the connected bots of ``here`` that accept the game enter.  Raises
    `ProtocolError` for unknown bots, too few bots, bots listed twice, and too many matches.
    """
    game = terms.game
    if entries is None:
        bots = [
            each.bot_id
            for each in here
            if each.online and each.accepts(game.info.name, game.spec) and not each.casual
        ]
        if len(bots) < game.seats:
            raise ProtocolError(
                "game/unfit",
                f"Only {len(bots)} connected bots accept {game.spec}, which has "
                f"{game.seats} seats: connect more, or name the entries.",
            )
    else:
        bots = await bots_named(store, entries)
    try:
        planned = count(len(bots), rounds, seats=game.seats, mirrored=terms.mirrored)
    except ValueError as error:
        raise ProtocolError("protocol/bad_field", f"No schedule: {error}.") from error
    if len(set(bots)) != len(bots):
        raise ProtocolError("protocol/bad_field", "No schedule: an entry is listed twice.")
    if planned > MAX_MATCHES:
        raise ProtocolError(
            "protocol/bad_field",
            f"{len(bots)} entries and {rounds} rounds of {game.spec} make {planned:,} matches; "
            f"a competition has {MAX_MATCHES:,} at most: take fewer rounds or entries.",
        )
    now = wall_ms()
    row = CompetitionRow(
        id=new_id(),
        name=name,
        game=game.spec,
        time_control=str(terms.time_control),
        format="round_robin",
        rounds=rounds,
        mirrored=terms.mirrored,
        rated=terms.rated,
        created_ms=now,
        status="running",
        started_ms=now,
        data=json.dumps({"scoring": default_scoring(game).value}),
    )
    return row, bots, planned
