"""The page on which a person gets into a match; the client does what is not reading."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from litestar import Response, get
from litestar.datastructures import State

from plyhouse.games.registry import game_names, get_game
from plyhouse.protocol.api.bodies import MOST_OF_A_LEVEL
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.hosting.hosted_play import HostedPlay
from plyhouse.server.lobby.table_sizes import tables_of
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.client import FOLDER
from plyhouse.server.web.pages.rendering import page
from plyhouse.server.web.parameters import service

__all__ = ["HANDLERS", "Tile", "tiles"]

log = logging.getLogger("plyhouse.server.web")

SUGGESTED: Final = 200
"""Connected bots that are suggested as opponents."""

PRESETS: Final = (
    ("total:300+5", "5 min + 5 s", "five minutes each, and five seconds more after every action"),
    ("total:60+1", "1 min + 1 s", "one minute each, and a second more after every action"),
    ("total:900+10", "15 min + 10 s", "a quarter of an hour each, and ten seconds more"),
    ("move:30", "30 s a move", "thirty seconds for every action"),
)
"""Time controls to choose from: what is sent, what it is called, what it means."""


GROUPS: Final = ("Classics", "Dice", "Cards and secrets", "From the course")
"""The groups in which games are shown."""
COURSE: Final = frozenset(
    ["coin_guess", "coins", "hexapawn", "matrix", "nim", "prisoners_dilemma", "rock_paper_scissors"]
)
"""Small games for lessons."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A game as one chooses it."""

    name: str
    title: str
    summary: str
    group: int
    """Its group on the page, from 0: see `GROUPS`."""
    picture: str
    """The address of a small picture; empty if there is none."""
    tables: Mapping[int, str]
    """The open seeks, by the number of players, the fewest first."""

    @property
    def group_title(self) -> str:
        """The heading of the group."""
        return GROUPS[self.group]


@functools.cache  # bounded: by the games that there are
def _tile(name: str) -> Tile | None:
    """A game that people can play; None where somebody's rules fail."""
    try:
        game, tables = get_game(name), tables_of(name)
    except Exception:  # If the rules of one game raise, the others are shown.
        log.exception("the game %s cannot be shown", name)
        return None
    info = game.info
    if name in COURSE:
        group = 3
    elif info.information.value != "perfect":
        group = 2
    else:
        group = 0 if info.chance.value == "deterministic" else 1
    picture = f"/web/boards/{name}.webp" if (FOLDER / "boards" / f"{name}.webp").is_file() else ""
    return Tile(name, info.title or name, info.summary, group, picture, tables)


async def tiles() -> list[Tile]:
    """All games to choose from, by title; in a thread, as games of others may take their time."""

    def work() -> list[Tile]:
        found = [tile for name in game_names() if (tile := _tile(name)) is not None]
        return sorted(found, key=lambda tile: tile.title.lower())

    return await asyncio.to_thread(work)


@get("/play", include_in_schema=False)
async def play(state: State) -> Response[str]:
    """Show games to play, whom to play against, and who seeks what."""
    bots = service(state, Hub).builtin_bots
    return page(
        "play.html",
        tiles=await tiles(),
        games=game_names(),
        others=sorted(
            each
            for each in service(state, Directory).online()
            if not service(state, Privacy).may_be_secret(each)
        )[:SUGGESTED],
        levels=() if bots is None else bots.levels,
        most=MOST_OF_A_LEVEL + 1,
        hosted=await service(state, HostedPlay).listed(),
        guests=service(state, ServerConfig).takes_guests,
        presets=PRESETS,
    )


HANDLERS: Final[tuple[Any, ...]] = (play,)
