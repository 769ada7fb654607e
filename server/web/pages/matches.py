"""The list of matches, and one match to watch or to replay.

They show what the signed-in person may see, and to everybody else what is public.  The page of any
other match says that there is no public match.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery
from msgspec.structs import replace

from plyhouse.games.errors import GameError
from plyhouse.games.registry import game_names, get_game
from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.parts import ending_words
from plyhouse.server.accounts.privacy import Privacy, Sight
from plyhouse.server.config import ServerConfig
from plyhouse.server.hosting.runner_reports import Outputs
from plyhouse.server.jobs.helper_jobs import Reviews, Trees
from plyhouse.server.lobby.match_search import TERMINATIONS, Looked, Words, filter_of
from plyhouse.server.match.presence import MatchSummary
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import sight_of, stored_for, viewer_of
from plyhouse.server.web.api.matches import record_is_public
from plyhouse.server.web.api.trees import why_no_trees
from plyhouse.server.web.forwarding import ALSO_WITHOUT_LEADER, FROM_DATABASE
from plyhouse.server.web.pages.games import Rules, rules_of
from plyhouse.server.web.pages.rendering import page, plot_answer
from plyhouse.server.web.pages.template_filters import holders
from plyhouse.server.web.parameters import service
from plyhouse.server.web.plots import Plot, PlyTime, ply_times
from plyhouse.server.web.security_headers import policy
from plyhouse.storage import competition_sql
from plyhouse.storage.errors import Unknown
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.match_reads import shown
from plyhouse.storage.rows import StoredMatch
from plyhouse.storage.store import Store

Call = Request[Any, Any, Any]
FINISHED: Final = 50
"""Finished matches on one page."""
RUNNING: Final = 200
"""Running matches that are listed, the newest."""
FILTERS: Final = ("game", "player", "bot", "competition", "termination", "status")
"""The search fields."""
NAMED: Final = 200
"""Competitions that are suggested."""


@get("/matches", include_in_schema=False, opt=ALSO_WITHOUT_LEADER)
async def matches(
    state: State,
    request: Call,
    game: FromQuery[str] = "",
    player: FromQuery[str] = "",
    bot: FromQuery[str] = "",
    competition: FromQuery[str] = "",
    termination: FromQuery[str] = "",
    status: FromQuery[str] = "",
    before: FromQuery[str] = "",
) -> Response[str]:
    """Show running and finished matches, or those that are looked for; ``before`` is the last one
    of the page before.  An empty word is none: so a form sends it.
    """
    store = service(state, Store)
    privacy = service(state, Privacy)
    sight = await sight_of(request)
    asked = (game, player, bot, competition, termination, status)
    words = Words(**dict(zip(FILTERS, map(str.strip, asked), strict=True)))
    given = {name: value for name in FILTERS if (value := getattr(words, name))}
    looked, wrong = None, ""
    finished: list[Match] = []
    running: list[MatchSummary] = []
    try:
        looked = await filter_of(store, privacy, sight, words)
        if words.status in ("", "finished"):
            wanted = replace(looked.wanted, by_end=True)
            finished = await privacy.matches(sight, wanted, limit=FINISHED, before=before or None)
        if not before and words.status != "finished":
            running = await running_for(
                privacy, service(state, Directory), sight, RUNNING, fits=looked.fits
            )
    except (ProtocolError, Unknown) as error:
        wrong = f"{str(error)[:1].upper()}{str(error)[1:]}".rstrip(".") + "."
    answer = page(
        "matches.html",
        status=404 if wrong else 200,
        newest=not before,
        words=words,
        shown=_shown(words, looked),
        query=urlencode(given),
        wrong=wrong,
        games=game_names(),
        # The existence of a competition is public.
        competitions=await store.read(competition_sql.names, NAMED),
        terminations=TERMINATIONS,
        led=service(state, Directory).leads,
        running=running,
        finished=finished,
        older=finished[-1].match if len(finished) == FINISHED else None,
    )
    answer.headers["content-security-policy"] = policy(form=True)
    return answer


def _shown(words: Words, looked: Looked | None) -> str:
    """Return the search in words, with known names in their own spelling."""
    named = looked or Looked(MatchFilter())
    parts = [words.game]
    for before, word in (
        ("of", words.player and (named.player or words.player)),
        ("of", words.bot and (named.bot or words.bot)),
        ("in", words.competition and (named.competition or words.competition)),
        ("ended by", ending_words(words.termination)),
    ):
        parts.append(f"{before} {word}" if word else "")
    return ", ".join(filter(None, [*parts, words.status]))


@get("/matches/{match:str}", include_in_schema=False, opt=FROM_DATABASE)
async def one_match(
    state: State, request: Call, match: FromPath[str], plot: FromQuery[str] = ""
) -> Response[str]:
    """Show a match: who plays, how it stands, and where the web client draws it.

    With ``plot=time``, this is the file of the plot of the time that each ply took.
    """
    privacy = service(state, Privacy)
    try:
        stored = await stored_for(request, match, events=bool(plot))
    except Unknown:
        return page("private.html", status=404, match=match)
    if plot:
        return plot_answer(_ply_times(stored) if plot == "time" else None, match)
    public = await privacy.sees(await privacy.sight(None), stored)
    viewer = await viewer_of(request)
    competition_id = await privacy.competition_of(stored.pairing.tournament_id)
    return page(
        "match.html",
        row=shown(stored.header),
        rules=await _rules_of(stored.header.game),
        reviews=service(state, Reviews).offered,
        trees=service(state, Trees).offered,
        no_trees=_why_no_trees(stored.header.game),
        competition=stored.pairing.tournament_id,
        competition_id=competition_id,
        # The existence of a competition is public.
        competition_name=competition_id
        and await service(state, Store).read(competition_sql.name_of, competition_id),
        embed=bool(service(state, ServerConfig).embedders) and public,
        output=viewer is not None and service(state, Outputs).may_read(stored, viewer),
    )


def _ply_times(stored: StoredMatch) -> Plot | None:
    """Return the plot of the plies' times; None as long as the record of the match is closed."""
    try:
        if not record_is_public(stored, get_game(stored.header.game)):
            return None
    except GameError:
        return None
    plies = [
        PlyTime(event.ply + 1, event.seat, event.text, event.charged_ns / 1e6)
        for event in stored.events
        if event.kind == "action"
    ]
    names = holders(shown(stored.header))
    return ply_times(f"Time per ply, {' - '.join(names)}", names, plies)


async def _rules_of(spec: str) -> Rules | None:
    """Return the rules of a match's game; None if the game is not installed any more."""
    try:
        return await rules_of(spec)
    except ProtocolError:
        return None


def _why_no_trees(spec: str) -> str:
    """Why positions of a match are not explained; a page is there for games that have gone, too."""
    try:
        return why_no_trees(get_game(spec))
    except GameError:
        return "The game is not known here any more, so that no position can be explained."


async def running_for(
    privacy: Privacy,
    directory: Directory,
    sight: Sight,
    most: int,
    tournaments: frozenset[str] | None = None,
    fits: Callable[[MatchSummary], bool] | None = None,
) -> list[MatchSummary]:
    """The newest matches that run and may be seen: all, of these tournaments, or that fit."""
    found: list[MatchSummary] = []
    running = directory.summaries()
    for match in sorted(running, key=lambda each: each.id, reverse=True):
        if tournaments is not None and match.tournament not in tournaments:
            continue
        if fits is not None and not fits(match):
            continue
        competition_id = await privacy.competition_of(match.tournament)
        if sight.sees(competition_id, {each.player_id for each in match.seats}):
            found.append(match)
            if len(found) == most:
                break
    return found


HANDLERS: Final[tuple[Any, ...]] = (matches, one_match)
