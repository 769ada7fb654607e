"""The calls of the HTTP API.

Those of competitions are in `competition_calls`, those of administrators in `administration_calls`.

Each function is a route (see `plyhouse.protocol.api.routes`), or makes calls of routes.  They are
the methods of the clients in `plyhouse.clients.api`.

>>> match("m1").path
'/api/v1/matches/m1'
>>> leaderboard("pig(target=50)", limit=10).path
'/api/v1/leaderboards/pig%28target%3D50%29'
>>> outputs("my bot", 5).target
'/api/v1/outputs?bot=my+bot&limit=5'
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from plyhouse.protocol.api.bodies import (
    NewPassword,
    NewPlayer,
    NewToken,
    PlayerChange,
    PlayWanted,
    Reason,
    SignIn,
    SignUp,
    Wanted,
)
from plyhouse.protocol.api.bots import Bot, BotMatch, BotPage
from plyhouse.protocol.api.matches import (
    Failure,
    KeptOutput,
    Match,
    Output,
    Position,
    Record,
    Replay,
)
from plyhouse.protocol.api.people import (
    Account,
    MadeToken,
    Opponent,
    Person,
    Player,
    Seek,
)
from plyhouse.protocol.api.positions import BotReview, Chances, Review, Tree
from plyhouse.protocol.api.routes import (
    ADMIN,
    CHEAP,
    DEAR,
    GUEST,
    ORGANISE,
    PLAY,
    RUNNER,
    Call,
    Pages,
    delete,
    get,
    patch,
    post,
    put,
)
from plyhouse.protocol.api.rows import Rows
from plyhouse.protocol.api.server import ClusterState, Health, ListedGame, RunnerCapacity
from plyhouse.protocol.api.standings import Leaderboard, Standing
from plyhouse.protocol.api.submissions import (
    OpenBot,
    OpenToPlay,
    Ready,
    Submission,
    SubmissionRules,
)
from plyhouse.protocol.hosting.runner_messages import MatchOutput, RunnerPlan, RunnerReport

LONGEST_ANSWER: Final = 180.0
"""Seconds to wait for the slowest answer, a review; proxies have to wait as long."""


# ----------------------------------------------------------------------------- the server


@get("health")
def health() -> Health:
    """How the server is doing."""


@get("cluster", scopes=ADMIN)
def cluster() -> ClusterState:
    """The servers that share the database, and what they run; takes a token of an admin."""


@get("games")
def games() -> Rows[ListedGame]:
    """The games that can be played on the server."""


# -------------------------------------------------------------------------------- matches


@get("matches", personal=True)
def page_of_matches(
    *,
    game: str | None = None,
    player: str | None = None,
    bot: str | None = None,
    competition: str | None = None,
    termination: str | None = None,
    status: str | None = None,
    rated: bool | None = None,
    sort: str | None = None,
    before: str | None = None,
    limit: int | None = None,
) -> Rows[Match]:
    """Matches, newest first; ``before`` is the last match of the page before."""


def matches(
    *,
    game: str | None = None,
    player: str | None = None,
    bot: str | None = None,
    competition: str | None = None,
    termination: str | None = None,
    status: str | None = None,
    rated: bool | None = None,
    sort: str | None = None,
    limit: int | None = None,
) -> Pages[Match]:
    """Matches, newest first, at most ``limit``; pages are fetched as you go on.

    ``game`` without parameters selects matches with any parameters.  ``status`` is ``waiting``,
    ``running`` or ``finished``, and ``bot`` is ``PLAYER/BOT``.  With ``sort="ended"`` you get
    finished matches only, the last to end first.
    """
    first = page_of_matches(
        game=game,
        player=player,
        bot=bot,
        competition=competition,
        termination=termination,
        status=status,
        rated=rated,
        sort=sort,
    )
    return Pages(first, lambda page, had: {"before": page[-1].match}, limit)


@get("dataset", timeout=600.0, personal=True, cost=DEAR)
def dataset(
    *,
    rows: str = "plies",
    form: str = "jsonl",
    game: str | None = None,
    player: str | None = None,
    bot: str | None = None,
    competition: str | None = None,
    since_ms: int | None = None,
    until_ms: int | None = None,
    limit: int | None = None,
) -> bytes:
    """A file of finished matches, with a row for each ply or, with ``rows="matches"``, each match.

    ``form`` is ``jsonl`` or ``parquet``.
    """


@get("matches/{match}", personal=True)
def match(match: str) -> Match:
    """One match, without what happened in it."""


@get("matches/{match}/record", personal=True, cost=DEAR)
def record_json(match: str) -> Any:
    """The record of a match as JSON."""


def record(match: str) -> Call[Record]:
    """The record of a match, which `plyhouse verify` can check.

    In games with hidden information it is closed (``match/not_over``) until the whole pairing
    is over.
    """

    def read(answer: Any) -> Record:
        found: Record = msgspec.convert(answer, Record)
        return msgspec.structs.replace(found, text=json.dumps(answer, indent=1) + "\n")

    return record_json(match).then(read)


@get("matches/{match}/notation", personal=True, cost=DEAR)
def notation(match: str, *, form: str = "") -> str:
    """The moves of a match as a file for people and other programs, such as PGN.

    Every game has the format ``txt``; without ``form``, the file has the first format of the game.
    """


@get("matches/{match}/replay", personal=True, cost=DEAR)
def replay(
    match: str, *, seat: int | None = None, first: int = 0, limit: int | None = None
) -> Replay:
    """The positions of a match from ply ``first`` on."""


def positions(match: str, *, seat: int | None = None, first: int = 0) -> Pages[Position]:
    """The positions of a match from a ply on, as spectators see them or as a seat saw them."""
    return Pages(
        replay(match, seat=seat, first=first).then(lambda answer: Rows(answer.frames)),
        lambda page, had: {"first": page[-1].ply + 1},
    )


def position(match: str, ply: int, *, seat: int | None = None) -> Call[Position]:
    """One position of a match; it draws itself in a notebook.

    Raises `LookupError` if nobody was to move at that ply.
    """

    def read(answer: Replay) -> Position:
        if not answer.frames or answer.frames[0].ply != ply:
            raise LookupError(f"there is no position before ply {ply} in match {match}")
        return answer.frames[0]

    return replay(match, seat=seat, first=ply, limit=1).then(read)


@get("matches/{match}/review", timeout=LONGEST_ANSWER, personal=True, cost=DEAR)
def review(match: str, *, seat: int | None = None) -> Review:
    """Where a match was lost, worked out on the server, which may take half a minute.

    Without a seat it is looked at from the one that lost. The server may offer no reviews
    (``review/off``) or be at others (``review/busy``, asked again).
    """


@get("matches/{match}/tree", timeout=60.0, personal=True, cost=DEAR)
def tree(
    match: str,
    ply: int = 0,
    *,
    depth: int | None = None,
    search: str = "",
    then: Sequence[str] = (),
) -> Tree:
    """Return the search tree of the position before a ply, after the actions in ``then``.

    By default, the server chooses a search that fits the game, and the depth. Matches that
    count have trees once their pairing is over (``match/not_over``). The game must have no
    hidden information (``tree/hidden``). A server may offer no trees (``tree/off``), or be
    busy (``tree/busy``, asked again).
    """


@get("matches/{match}/tree.svg", timeout=60.0, personal=True, cost=DEAR)
def tree_picture(
    match: str,
    ply: int = 0,
    *,
    depth: int | None = None,
    search: str = "",
    then: Sequence[str] = (),
) -> str:
    """The tree of `tree` as an SVG drawing in the convention of textbooks."""


@get("matches/{match}/tree/scene", personal=True, cost=DEAR)
def tree_scene(match: str, ply: int = 0, *, then: Sequence[str] = ()) -> Any:
    """The board before a ply, after the actions in ``then``, wherever `tree` is open."""


@get("matches/{match}/chances", personal=True, cost=DEAR)
def chances(match: str) -> Chances:
    """Return the possible outcomes of each roll and deal in a finished match.

    With the seed in its record, what came can be worked out again without the rules.
    """


@get("matches/{match}/detail", scopes=PLAY)
def detail(match: str) -> Failure:
    """Return the failure that ended a match (a traceback), for its bot's author."""


@post("matches/{match}/void", Reason, scopes=ORGANISE)
def void_match(match: str, why: str) -> Match:
    """Let a match count nowhere; end it if it is running."""


@get("matches/{match}/output", scopes=PLAY + ADMIN)
def output(match: str) -> Rows[Output]:
    """Return the output and failures of your hosted bots in a finished match."""


@get("outputs", scopes=PLAY)
def outputs(bot: str = "", limit: int = 50) -> Rows[KeptOutput]:
    """The latest matches of one's own hosted bots of which their output is kept."""


# ------------------------------------------------------------------ standings and people


@get("leaderboards")
def leaderboards() -> list[str]:
    """The games that have results."""


@get("leaderboards/{game}")
def leaderboard(
    game: str, *, versions: str = "latest", limit: int = 100, offset: int = 0
) -> Leaderboard:
    """A page of the standings of a game, best first.

    ``versions`` is ``latest`` (of each bot) or ``all``.
    """


def standings(game: str, *, versions: str = "latest", limit: int | None = None) -> Pages[Standing]:
    """All lines of a leaderboard, at most ``limit``; pages are fetched as you go on."""
    return Pages(
        leaderboard(game, versions=versions).then(lambda answer: Rows(answer.standings)),
        lambda page, had: {"offset": had},
        limit,
    )


@get("players/{name}", personal=True)
def player(name: str) -> Player:
    """A player with its bots and latest matches."""


_player: Final = player


def bots(player: str) -> Call[Rows[Bot]]:
    """The bots of a player."""
    return _player(player).then(lambda answer: Rows(answer.bots))


@get("bots/{player}/{bot}", personal=True)
def bot(player: str, bot: str) -> BotPage:
    """A bot: versions, standings, ratings over time, and what came of its latest matches.

    ``bot`` is as `Bot.name` has it.
    """


@get("bots/{player}/{bot}/review", timeout=LONGEST_ANSWER, personal=True, cost=DEAR)
def bot_review(player: str, bot: str) -> BotReview:
    """The value that a bot lost per ply in its latest 20 matches that you may see.

    The server works it out as `review`, and with its refusals.
    """


@get("bots/{player}/{bot}/matches", personal=True)
def page_of_bot_matches(
    player: str, bot: str, *, before: str | None = None, limit: int | None = None
) -> Rows[BotMatch]:
    """A bot's finished matches, newest first; ``before`` is the last of the page before."""


def bot_matches(player: str, bot: str, *, limit: int | None = None) -> Pages[BotMatch]:
    """A bot's finished matches, newest first, at most ``limit``; fetched as you go on."""
    first = page_of_bot_matches(player, bot)
    return Pages(first, lambda page, had: {"before": page[-1].match}, limit)


@get("session", cost=CHEAP)
def session() -> Person:
    """The person who is signed in, and what the server offers to people."""


@post("session", SignIn, cost=DEAR)
def sign_in(*, token: str = "", player: str = "", password: str = "") -> Person:
    """Sign in with a token, or with a name and a password; the answer sets a cookie."""


@delete("session", status=200)
def sign_out() -> Person:
    """End the session of the cookie."""


@post("session/account", SignUp, status=201, cost=DEAR)
def sign_up(player: str, password: str, *, display: str = "") -> Person:
    """Create an account with a password, if registration is open, and sign in."""


@post("session/password", NewPassword, cost=DEAR)
def change_password(new: str, *, old: str = "") -> Person:
    """Set the password of the person who is signed in; their other sessions end."""


@post("session/token", NewToken, status=201, cost=DEAR)
def make_token(label: str = "browser") -> MadeToken:
    """Make a token for a bot of the person who is signed in; only this answer has it."""


@post("session/guest", cost=DEAR)
def enter_as_guest() -> Person:
    """Come in as a guest; the answer sets the cookie of the session."""


@get("seeks")
def seeks() -> Rows[Seek]:
    """The open seeks, the one that has waited longest first."""


@get("hosted-bots")
def hosted_bots() -> Rows[OpenBot]:
    """The submitted bots that people may play against."""


@post("hosted-bots", PlayWanted, scopes=PLAY + GUEST)
def start_hosted_bot(opponent: str, game: str) -> Ready:
    """Start a submitted bot, so that it can be challenged."""


@post("house-bots", Wanted, scopes=PLAY + GUEST)
def start_builtin_bots(level: str, count: int = 1) -> Opponent:
    """Start built-in bots, and answer which to challenge."""


@post("players", NewPlayer, status=201)
def register(player: str, *, display: str = "") -> Account:
    """Create an account, if registration is open. Keep the token: only this answer has it."""


@patch("players/{name}", PlayerChange, scopes=PLAY)
def change_player(name: str, display: str) -> Player:
    """Change a player's display name."""


# ------------------------------------------------------------------- submissions, runners


@get("submissions/rules")
def submission_rules() -> SubmissionRules:
    """The rules for submissions; ``submission/not_hosted`` if the server accepts none."""


@post("submissions", "data", timeout=600.0, scopes=PLAY, status=201)
def submit(
    file: str, data: bytes, *, bot: str = "", competition: str = "", version: str = ""
) -> Submission:
    """Submit a package: a zip, or the text of a Python file called ``file``."""


@put("bots/{player}/{bot}/open", "wanted", scopes=PLAY)
def open_bot(player: str, bot: str, wanted: OpenToPlay) -> OpenToPlay:
    """Allow people to play against your submitted bot, or stop allowing it."""


@get("submissions", scopes=PLAY)
def submissions(bot: str = "") -> Rows[Submission]:
    """Return your submissions, newest first, without the reports of the checks."""


@get("submissions/{submission}", scopes=PLAY + ORGANISE)
def submission(number: int) -> Submission:
    """A submission, with what its check said."""


@delete("submissions/{submission}", scopes=PLAY)
def remove_submission(number: int) -> None:
    """Remove a submission of one's own that plays in no competition."""


@post("runner/sync", "says", timeout=10.0, scopes=RUNNER, longest=1 << 20)
def runner_sync(says: RunnerReport) -> RunnerPlan:
    """Report a runner machine's state; the answer has everything that it should do."""


@post("runner/output", "output", timeout=10.0, scopes=RUNNER, status=204, longest=256 << 10)
def runner_output(output: MatchOutput) -> None:
    """Tell what a hosted bot printed in a match; told again, it counts once."""


@get("runner/capacity")
def runner_capacity() -> RunnerCapacity:
    """How many runner machines there are, and what they have."""


@get("runner/packages/{digest}", timeout=120.0, scopes=RUNNER)
def package(digest: str) -> bytes:
    """A submitted package, a zip, by its digest; for runners."""
