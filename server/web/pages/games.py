"""The rules of each game, how to enter an action, and what was played of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Final

from litestar import MediaType, Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath

from plyhouse.games.base import Parameter, spec_value
from plyhouse.games.registry import game_class
from plyhouse.games.rules import Block, input_hints, rules_blocks, rules_without_summary
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.lobby.lobby import read_game
from plyhouse.server.results.leaderboards import board as read_board
from plyhouse.server.web.api.access import sight_of
from plyhouse.server.web.forwarding import BY_ANY, FROM_DATABASE
from plyhouse.server.web.pages.client_pages import Tile, tiles
from plyhouse.server.web.pages.example_matches import EXAMPLES, PLAYERS, example
from plyhouse.server.web.pages.rendering import missing, page
from plyhouse.server.web.parameters import service
from plyhouse.storage import leaderboards
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.store import Store

SHOWN: Final = 10
"""Lines of each leaderboard, and matches."""


@dataclass(frozen=True, slots=True)
class Rules:
    """A game in words."""

    name: str
    title: str
    summary: str
    blocks: tuple[Block, ...]
    hints: tuple[str, ...]
    """How people enter actions."""
    notation: str
    """How an action is written."""
    seats: str
    kind: str
    parameters: tuple[tuple[Parameter, str], ...]
    """Each with its default."""


@functools.cache  # bounded: by the installed games
def _rules(name: str) -> Rules:
    game = game_class(name)()
    info = game.info
    low, high = info.min_seats, info.max_seats
    return Rules(
        name,
        info.title or name,
        info.summary,
        tuple(rules_blocks(rules_without_summary(game))),
        tuple(input_hints(game)),
        game.action_notation,
        str(low) if low == high else f"{low} to {high}",
        f"{game.chance_kind.value}, {info.information.value} information",
        tuple((each, spec_value(each.default)) for each in info.parameters),
    )


async def rules_of(name: str) -> Rules:
    """Return a game in words; in a thread, as games of others may take their time.

    Raises `ProtocolError` if no game has the name.
    """
    family = read_game(name).info.name
    return await computed(_rules, family)


@get("/games", include_in_schema=False, opt=BY_ANY)
async def all_games() -> Response[str]:
    """Show all games, each with a link to its rules."""
    return page("games.html", tiles=await tiles())


@get("/games/{name:str}", include_in_schema=False, opt=FROM_DATABASE)
async def one_game(
    state: State, request: Request[Any, Any, Any], name: FromPath[str]
) -> Response[str]:
    """Show the rules of a game, its leaderboards and its latest matches."""
    try:
        rules = await rules_of(name)
    except ProtocolError as error:
        return missing(str(error))
    store = service(state, Store)
    bots = service(state, Hub).builtin_bots
    tile: Tile | None = next((each for each in await tiles() if each.name == rules.name), None)
    specs = [
        spec
        for spec in await store.read(leaderboards.games_with_results)
        if spec.partition("(")[0] == rules.name
    ]
    recent = await service(state, Privacy).matches(
        await sight_of(request), MatchFilter(family=rules.name, by_end=True), limit=SHOWN
    )
    return page(
        "game.html",
        rules=rules,
        picture="" if tile is None else tile.picture,
        example=rules.name in EXAMPLES,
        players=PLAYERS.get(rules.name, ""),
        levels=() if bots is None else bots.levels,
        boards=[(spec, await read_board(store, spec, SHOWN)) for spec in specs],
        recent=recent,
    )


@get("/games/{name:str}/example", include_in_schema=False, opt=BY_ANY)
async def example_of_game(name: FromPath[str]) -> Response[Any]:
    """Answer with the positions of an example match, in the form of a replay."""
    if name not in EXAMPLES:
        return missing(f"There is no example of {name}.")
    return Response(await computed(example, name), media_type=MediaType.JSON)


HANDLERS: Final[tuple[Any, ...]] = (all_games, one_game, example_of_game)
