"""The next pairings of a final, for one viewer.

A pairing is known once it may begin as soon as its bots are connected and have room.  In a round
robin or a gauntlet these are all pairings left; in a Swiss, those of the current round.  In a
bracket they are the pairings whose entries are both decided.  Later rounds follow from results.  A
ladder knows no pairings in advance: it draws one when two bots have room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from plyhouse.protocol.api.standings import NextPairing
from plyhouse.server.competition_rules.formats import Pairing
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.competitions.visible_boards import Boards
from plyhouse.storage.rows import Identity

NAMED: Final = 10
"""The largest number of entries that a sentence lists."""
SHOWN: Final = 10
"""The default number of pairings shown per game."""


def some_of(names: Sequence[str]) -> str:
    """Return the first `NAMED` names, and how many more there are.

    >>> some_of(["ada/x", "bob/y"])
    'ada/x, bob/y'
    """
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def unplayed(game: str, pairings: int, entries: Sequence[str]) -> str:
    """Return the pairings a final would skip if it ended now; empty if none.

    >>> unplayed("pig", 2, ["ada/x", "bob/y", "cy/z"])
    'pig: 2 pairings have not begun, of ada/x, bob/y, cy/z'
    """
    if not pairings:
        return ""
    count = "1 pairing has" if pairings == 1 else f"{pairings:,} pairings have"
    return f"{game}: {count} not begun, of {some_of(entries)}"


async def upcoming(
    boards: Boards,
    tournaments: Tournaments,
    reference: str,
    identity: Identity | None,
    limit: int = SHOWN,
) -> list[NextPairing]:
    """Return the next pairings of each game, the viewer's own first.

    Each game has at most ``limit`` pairings.  Hidden baselines have no names for students.  On an
    anonymous board students see their own pairings only, and opponents have no names unless they
    are baselines.  Raises `ProtocolError` if the identity may see nothing of the board, and
    `Unknown`.
    """
    row, entrants, eyes = await boards.eyes(reference, identity)
    names = {each.bot_id: eyes.name(each.bot_id, each.name) for each in entrants}
    found = []
    for game in row.games:
        place = game.tournament_id or ""
        near = tournaments.upcoming(place, limit, eyes.own) if eyes.own else []
        if not eyes.anonymous:
            near += tournaments.upcoming(place, limit)
        pairings: dict[str, Pairing[int]] = {}
        for each in near:
            pairings.setdefault(each.key, each)
        found += [
            NextPairing(
                game=game.game,
                key=each.key,
                round=each.round,
                entries=[names.get(bot, eyes.name(bot, "")) for bot in each.entries],
                matches=len(each.matches),
                own=not eyes.own.isdisjoint(each.entries),
            )
            for each in list(pairings.values())[:limit]
        ]
    return found
