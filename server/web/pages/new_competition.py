"""The page of a new competition: a form, and the file that it makes.

The form is sent by GET and answered with the page again, so it works without a script; with one,
the file changes with every field.  Experts write the file by hand below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromQuery

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.parts import LONGEST_COMPETITION, LONGEST_GAME
from plyhouse.server.competition_rules.file_template import template
from plyhouse.server.competition_rules.format_registry import FORMATS
from plyhouse.server.config import ServerConfig
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.match.time_control import InvalidTimeControl, TimeControl
from plyhouse.server.web.api.access import viewer_of
from plyhouse.server.web.pages.client_pages import Choice, Tile, choices_of, tiles
from plyhouse.server.web.pages.competition_forms import organises
from plyhouse.server.web.pages.rendering import page
from plyhouse.server.web.parameters import service
from plyhouse.server.web.security_headers import policy

NAME: Final = "My competition"
GAME: Final = "connect_four"
TIMES: Final = ("move:1", "move:5", "total:60", "total:60+0.5", "total:300+2", "bank:1+30")
"""Time controls that the form suggests."""
MOST_GAMES: Final = 20


def _dates(given: Mapping[str, str], zone: str, wrong: dict[str, str]) -> dict[str, datetime]:
    """Return the dates that can be read; notes in ``wrong`` what cannot."""
    try:
        place = ZoneInfo(zone) if zone else UTC
    except (ZoneInfoNotFoundError, ValueError):
        wrong["zone"] = f"There is no time zone {zone!r}; an example is Europe/Berlin."
        place = UTC
    found = {}
    for key, text in given.items():
        if not text:
            continue
        try:
            found[key] = datetime.fromisoformat(text).replace(tzinfo=place)
        except ValueError:
            wrong[key] = f"{text!r} is no date with a time, such as 2027-01-31T18:00."
    return found


def _games(given: Sequence[str], wrong: dict[str, str]) -> list[str]:
    """Return the games that can be played; notes in ``wrong`` why one cannot."""
    found = []
    for text in given:
        try:
            found.append(get_game(text).spec)
        except GameError as error:
            wrong["game"] = str(error)
    return list(dict.fromkeys(found)) or [GAME]


@get("/competitions/new", include_in_schema=False)
async def new_competition(
    state: State,
    request: Request[Any, Any, Any],
    name: FromQuery[str] = "",
    game: FromQuery[list[str] | None] = None,
    time: FromQuery[str] = TIMES[0],
    form: FromQuery[str] = "",
    opening: FromQuery[str] = "",
    freeze: FromQuery[str] = "",
    final: FromQuery[str] = "",
    zone: FromQuery[str] = "",
) -> Response[str]:
    """Show a form of a competition, and the file that it makes, to check and to open."""
    try:
        viewer = await viewer_of(request)
    except ProtocolError as error:
        return page("missing.html", status=401, title="Sign in", text=str(error))
    wrong: dict[str, str] = {}
    asked = [text.strip()[:LONGEST_GAME] for text in (game or [])[:MOST_GAMES] if text.strip()]
    games = await computed(_games, asked, wrong)
    given = {"opening": opening[:32], "freeze": freeze[:32], "final": final[:32]}
    dates = _dates(given, zone[:64], wrong)
    try:
        TimeControl.parse(time)
    except InvalidTimeControl as error:
        wrong["time"], time = str(error), TIMES[0]
    if form not in FORMATS:
        form = ""
    text = await computed(
        template,
        name[:LONGEST_COMPETITION] or NAME,
        games,
        time,
        datetime.now(UTC),
        hosted=service(state, ServerConfig).hosted,
        form=form,
        dates=dates,
        zone="" if "zone" in wrong else zone[:64],
    )
    offered = await computed(_offered, await tiles())
    answer = page(
        "new_competition.html",
        file=text,
        allowed=organises(viewer),
        values={
            "name": name[:LONGEST_COMPETITION] or NAME,
            "time": time,
            "form": form,
            "zone": zone,
            **given,
        },
        games=games,
        offered=offered,
        formats=tuple(FORMATS),
        times=TIMES,
        wrong=wrong,
    )
    answer.headers["content-security-policy"] = policy(form=True)
    return answer


def _offered(found: Sequence[Tile]) -> list[tuple[str, str, tuple[Choice, ...]]]:
    """Return name, title and parameters of each game."""
    return [
        (each.name, each.title, choices_of(get_game(each.name).info.parameters)) for each in found
    ]


HANDLERS: Final[tuple[Any, ...]] = (new_competition,)
