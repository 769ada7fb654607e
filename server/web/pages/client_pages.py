"""Pages that the web client fills: to play, to watch, and accounts.

Three are for a room that watches: the projector, the wall of boards, and a match in another's
frame.  They hold next to nothing: the web client finds the matches and draws them.  They show the
spectators' view to everybody; nobody plays there.  The projector and the wall show what the
signed-in person may see, so that a lecturer can show the final of a class.  A frame shows only
public matches.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.games.info import Parameter, ParameterValue
from plyhouse.games.registry import game_names, get_game
from plyhouse.protocol.api.bodies import MOST_OF_A_LEVEL
from plyhouse.protocol.api.people import OFFERED_TIMES
from plyhouse.server.accounts.passwords import SHORTEST
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.hosting.hosted_play import HostedPlay
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.lobby.table_sizes import tables_of
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import stored_for
from plyhouse.server.web.client import FILES
from plyhouse.server.web.forwarding import BY_ANY, FROM_DATABASE
from plyhouse.server.web.pages.rendering import missing, page
from plyhouse.server.web.parameters import service
from plyhouse.server.web.security_headers import policy
from plyhouse.storage.errors import Unknown
from plyhouse.storage.match_reads import shown

log = logging.getLogger("plyhouse.server.web")

SUGGESTED: Final = 200
"""Connected bots that are suggested as opponents."""


GROUPS: Final = ("Classics", "Dice", "Cards and secrets", "From the course")
"""The groups in which games are shown."""
POPULAR: Final = (
    "chess",
    "go",
    "checkers",
    "connect_four",
    "othello",
    "tic_tac_toe",
    "backgammon",
    "monopoly",
    "texas_holdem",
    "scrabble",
    "hearts",
    "battleship",
    "bridge",
    "rock_paper_scissors",
)
"""The games that most people know, the best known first; the others follow by their title."""
COURSE: Final = frozenset(
    ["coin_guess", "coins", "hexapawn", "matrix", "nim", "prisoners_dilemma", "rock_paper_scissors"]
)
"""Small games for lessons."""


class Choice(NamedTuple):
    """A parameter of a game as people choose it: among its values, or a number in its bounds."""

    name: str
    label: str
    about: str
    default: ParameterValue
    values: tuple[ParameterValue, ...]
    minimum: int | float | None
    maximum: int | float | None


def choices_of(parameters: Iterable[Parameter]) -> tuple[Choice, ...]:
    """Return parameters as choices; texts, such as positions, are for experts to write."""
    return tuple(
        Choice(
            each.name,
            each.name.replace("_", " ").capitalize(),
            each.description,
            each.default,
            (True, False) if isinstance(each.default, bool) else tuple(each.choices or ()),
            each.minimum,
            each.maximum,
        )
        for each in parameters
        if each.choices or not isinstance(each.default, str)
    )


@dataclass(frozen=True, slots=True)
class Tile:
    """A game as one chooses it."""

    name: str
    title: str
    summary: str
    group: int
    """Its group on the page, from 0: see `GROUPS`."""
    picture: str
    """The file of a small picture; empty if there is none."""
    tables: Mapping[int, str]
    """The specs by the number of players, the fewest first."""
    choices: tuple[Choice, ...]
    """The parameters that people choose before a match."""
    seats: tuple[str, ...]
    """The game's names of the seats if a person may choose one of two, such as black and white."""

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
        log.exception("game failed", extra={"game": name})
        return None
    info = game.info
    if name in COURSE:
        group = 3
    elif info.information.value != "perfect":
        group = 2
    else:
        group = 0 if info.chance.value == "deterministic" else 1
    picture = f"boards/{name}.webp"
    picture = picture if picture in FILES else ""
    specs = "".join(tables.values())
    counted = {each.name for each in info.parameters if f"{each.name}=" in specs}
    choices = choices_of(each for each in info.parameters if each.name not in counted)
    seats = info.seat_names if game.seats == 2 and len(tables) == 1 else ()
    return Tile(name, info.title or name, info.summary, group, picture, tables, choices, seats)


def popularity(name: str) -> int:
    """Return the place of a game in the order in which people are offered games."""
    return POPULAR.index(name) if name in POPULAR else len(POPULAR)


async def tiles() -> list[Tile]:
    """All games to choose from, the popular ones first.

    They are read in a thread, as games of others may take their time.
    """

    def work() -> list[Tile]:
        found = [tile for name in game_names() if (tile := _tile(name)) is not None]
        return sorted(found, key=lambda tile: (popularity(tile.name), tile.title.lower()))

    return await computed(work)


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
        presets=OFFERED_TIMES,
    )


@get("/account", include_in_schema=False, opt=BY_ANY)
async def account(state: State) -> Response[str]:
    """Show the forms to sign in and up, and the account of who is signed in."""
    config = service(state, ServerConfig)
    return page(
        "account.html",
        registration=config.registration == "open",
        guests=config.takes_guests,
        shortest=SHORTEST,
    )


Call = Request[Any, Any, Any]


@get("/projector", include_in_schema=False, opt=FROM_DATABASE)
async def projector(
    state: State,
    request: Call,
    match: FromQuery[str] = "",
    game: FromQuery[str] = "",
    competition: FromQuery[str] = "",
) -> Response[str]:
    """Show a match in the size of the screen, then the next one of its game or competition.

    Without ``match`` it begins with whichever runs, or waits for one.
    """
    if match:
        try:
            await stored_for(request, match, events=False)
        except Unknown:
            return page("private.html", status=404, match=match)
    return page("projector.html", match=match, game=game, competition=competition)


@get("/wall", include_in_schema=False, opt=BY_ANY)
async def wall(game: FromQuery[str] = "", competition: FromQuery[str] = "") -> Response[str]:
    """Show many running matches at once."""
    return page("wall.html", game=game, competition=competition)


@get("/embed/{match:str}", include_in_schema=False, opt=FROM_DATABASE)
async def embed(state: State, match: FromPath[str]) -> Response[str]:
    """Show a match and nothing around it, for the frames of the sites that the operator named."""
    privacy = service(state, Privacy)
    try:
        stored = await privacy.match(await privacy.sight(None), match, events=False)
    except Unknown:
        answer = missing(f"No public match is called {match}.")
    else:
        answer = page("embed.html", row=shown(stored.header))
    answer.headers["content-security-policy"] = policy(service(state, ServerConfig).embedders)
    return answer


HANDLERS: Final[tuple[Any, ...]] = (
    play,
    account,
    projector,
    wall,
    embed,
)
