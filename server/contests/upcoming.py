"""Which pairings of a final come next, for whoever may see them.

What is known is what may begin as soon as its bots are there and have room: all that is left of a
round robin or a gauntlet, the round that is played of a Swiss, what of a bracket has both of its
entries.  Later rounds follow from results.  A ladder knows nothing beforehand: it draws when two
have room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from plyhouse.server.competition.facts import Pairing
from plyhouse.server.competition.file import read_competition
from plyhouse.server.contests.board_visibility import eyes_of
from plyhouse.server.contests.boards import Boards, entrants_of
from plyhouse.server.contests.competitions import Competitions
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

__all__ = ["SHOWN", "Upcoming", "some_of", "unplayed", "upcoming"]

NAMED: Final = 10
"""Entries that a sentence lists."""
SHOWN: Final = 10
"""Pairings of a game that are shown unless somebody asks for more."""


def some_of(names: Sequence[str]) -> str:
    """As many as a sentence lists, and how many more there are.

    >>> some_of(["ada/x", "bob/y"])
    'ada/x, bob/y'
    """
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def unplayed(game: str, pairings: int, entries: Sequence[str]) -> str:
    """Whose pairings a final would leave unplayed if it ended now; empty if there are none.

    >>> unplayed("pig", 2, ["ada/x", "bob/y", "cy/z"])
    'pig: 2 pairings have not begun, of ada/x, bob/y, cy/z'
    """
    if not pairings:
        return ""
    count = "1 pairing has" if pairings == 1 else f"{pairings:,} pairings have"
    return f"{game}: {count} not begun, of {some_of(entries)}"


class Upcoming(NamedTuple):
    """A pairing that has not begun."""

    game: str
    key: str
    """As in the rounds of the final."""
    round: int
    entries: tuple[str, ...]
    """Who meets, in the seat order of the first match."""
    matches: int
    own: bool
    """Whether an entry of whoever asks is in it."""


async def upcoming(
    store: Store,
    boards: Boards,
    competitions: Competitions,
    reference: str,
    identity: Identity | None,
    limit: int = SHOWN,
) -> list[Upcoming]:
    """The next pairings of each game, at most ``limit`` of each, one's own first.

    Hidden baselines have no names for students; on an anonymous board students see their own
    pairings only, with opponents that are no baselines unnamed.  Raises `ProtocolError` for who may
    see nothing of the board, and `Unknown`.
    """
    row = await store.classes.find(reference)
    file = read_competition(row.file)
    viewer = await boards.viewer(row, identity)
    boards.admit(row, file, viewer, identity)
    entrants = entrants_of(await store.classes.played_entries(row.id, replaced=True), file)
    eyes = eyes_of(file, viewer, entrants)
    names = {each.bot_id: eyes.name(each.bot_id, each.name) for each in entrants}
    found = []
    for game in row.games:
        place = game.competition_id or ""
        near = competitions.upcoming(place, limit, eyes.own) if eyes.own else []
        if not eyes.anonymous:
            near += competitions.upcoming(place, limit)
        pairings: dict[str, Pairing[int]] = {}
        for each in near:
            pairings.setdefault(each.key, each)
        found += [
            Upcoming(
                *(game.game, each.key, each.round),
                tuple(names.get(bot, eyes.name(bot, "")) for bot in each.entries),
                len(each.matches),
                not eyes.own.isdisjoint(each.entries),
            )
            for each in list(pairings.values())[:limit]
        ]
    return found
