"""Requests of the HTTP API as data: path, body, and a reader for the answer.

Clients only differ in how they send a call.  The calls of competitions are in
`plyhouse.protocol.api.competition_calls`.

>>> match("m1").path
'/api/v1/matches/m1'
>>> leaderboard("pig(target=50)", limit=10).path
'/api/v1/leaderboards/pig%28target%3D50%29'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from plyhouse.protocol.api.bots import Bot, BotMatch, BotPage, Suspension
from plyhouse.protocol.api.leaderboards import Leaderboard, Standing
from plyhouse.protocol.api.matches import (
    Ending,
    KeptOutput,
    Match,
    Output,
    Position,
    Record,
    Replay,
)
from plyhouse.protocol.api.people import (
    Account,
    ErasedPlayer,
    Opponent,
    Person,
    Player,
    Seek,
)
from plyhouse.protocol.api.positions import Chances, Review, Tree
from plyhouse.protocol.api.rows import Rows
from plyhouse.protocol.api.server import ClusterState, Health, ListedGame, RunnerCapacity
from plyhouse.protocol.api.submissions import OpenBot, OpenToPlay, Submission, SubmissionRules
from plyhouse.protocol.api.tournaments import Tournament, TournamentDetail

__all__ = [
    "LONGEST_ANSWER",
    "PAGE",
    "Call",
    "Pages",
    "api_path",
    "delete",
    "get",
    "get_rows",
    "post",
    "post_rows",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
RowT = TypeVar("RowT")

PAGE: Final = 200
"""Rows per page of long lists."""
LONGEST_ANSWER: Final = 180.0
"""Seconds to wait for the slowest answer, a review; proxies have to wait as long."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T_co]):
    """One request with a reader for its answer."""

    method: str
    path: str
    read: Callable[[Any], T_co]
    """Reads the JSON of the answer; raises `msgspec.ValidationError` if it does not fit."""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    timeout: float | None = None
    """Seconds to wait for the answer; None for the default."""

    @property
    def changes(self) -> bool:
        """True if the request may change data on the server."""
        return self.method != "GET"

    @property
    def parameters(self) -> dict[str, str | list[str]]:
        """The query as text; lists keep one text per item, and None is left out."""
        return {
            name: [_text(each) for each in value] if isinstance(value, list) else _text(value)
            for name, value in self.query.items()
            if value is not None
        }

    @property
    def target(self) -> str:
        """The path with the query.

        >>> outputs("my bot", 5).target
        '/api/v1/outputs?bot=my+bot&limit=5'
        """
        query = urlencode(self.parameters, doseq=True)
        return f"{self.path}?{query}" if query else self.path


@dataclass(frozen=True, slots=True)
class Pages(Generic[RowT]):
    """A long list, page by page."""

    first: Call[Rows[RowT]]
    following: Callable[[Rows[RowT], int], Mapping[str, Any]]
    """Returns the extra query of the next page, from the last page and the rows so far."""
    most: int | None = None
    """Most rows in total; None for all."""

    def size(self, had: int) -> int:
        """Return the number of rows to request next; 0 for no further page."""
        return PAGE if self.most is None else min(PAGE, self.most - had)

    def call(self, size: int) -> Call[Rows[RowT]]:
        """Return the first request."""
        return replace(self.first, query={**self.first.query, "limit": size})

    def after(self, page: Rows[RowT], had: int, asked: int, size: int) -> Call[Rows[RowT]] | None:
        """Return the request after a page of ``asked`` rows; None after the last page."""
        if len(page) < asked or size <= 0:
            return None
        query = {**self.first.query, **self.following(page, had), "limit": size}
        return replace(self.first, query=query)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def api_path(*parts: str) -> str:
    """Return a path of the API with each part escaped."""
    return "/api/v1/" + "/".join(quote(part, safe="") for part in parts)


def _one(kind: type[T]) -> Callable[[Any], T]:
    return lambda answer: msgspec.convert(answer, kind)


def _list(kind: type[T]) -> Callable[[Any], Rows[T]]:
    return lambda answer: Rows(msgspec.convert(answer, list[kind]))  # type: ignore[valid-type]


def _nothing(answer: Any) -> None:
    """Read an empty answer."""


def get(kind: type[T], *parts: str, **query: Any) -> Call[T]:
    """Return a request for one object of a kind."""
    return Call("GET", api_path(*parts), _one(kind), query)


def get_rows(kind: type[T], *parts: str, **query: Any) -> Call[Rows[T]]:
    """Return a request for a list."""
    return Call("GET", api_path(*parts), _list(kind), query)


def post(kind: type[T] | None, *parts: str, **body: Any) -> Call[T]:
    """Return a request that changes data; without a kind, the answer is empty."""
    return Call("POST", api_path(*parts), _one(kind) if kind else _nothing, body=body)  # type: ignore[arg-type]


def post_rows(kind: type[T], *parts: str, **body: Any) -> Call[Rows[T]]:
    """Return a request that changes data and whose answer is a list."""
    return Call("POST", api_path(*parts), _list(kind), body=body)


def delete(*parts: str, **query: Any) -> Call[None]:
    """Return a request that deletes data."""
    return Call("DELETE", api_path(*parts), _nothing, query)


# ----------------------------------------------------------------------------- the server


def health() -> Call[Health]:
    return get(Health, "health")


def cluster() -> Call[ClusterState]:
    return get(ClusterState, "cluster")


def games() -> Call[Rows[ListedGame]]:
    return get_rows(ListedGame, "games")


def runner_capacity() -> Call[RunnerCapacity]:
    return get(RunnerCapacity, "runner", "capacity")


# -------------------------------------------------------------------------------- matches


def matches(most: int | None, **filters: Any) -> Pages[Match]:
    first = get_rows(Match, "matches", **filters)
    return Pages(first, lambda page, had: {"before": page[-1].match}, most)


def running_matches(limit: int, game: str | None = None) -> Call[Rows[Match]]:
    return get_rows(Match, "matches", status="running", limit=limit, game=game)


def match(name: str) -> Call[Match]:
    return get(Match, "matches", name)


def record(name: str) -> Call[Record]:
    def read(answer: Any) -> Record:
        found: Record = msgspec.convert(answer, Record)
        return msgspec.structs.replace(found, text=json.dumps(answer, indent=1) + "\n")

    return Call("GET", api_path("matches", name, "record"), read)


def replay(name: str, seat: int | None, first: int, limit: int) -> Call[Replay]:
    return get(Replay, "matches", name, "replay", seat=seat, first=first, limit=limit)


def positions(name: str, seat: int | None, first: int) -> Pages[Position]:
    def read(answer: Any) -> Rows[Position]:
        return Rows(msgspec.convert(answer, Replay).frames)

    query = {"seat": seat, "first": first}
    return Pages(
        Call("GET", api_path("matches", name, "replay"), read, query),
        lambda page, had: {"first": page[-1].ply + 1},
    )


def output(name: str) -> Call[Rows[Output]]:
    return get_rows(Output, "matches", name, "output")


def outputs(bot: str, limit: int) -> Call[Rows[KeptOutput]]:
    return get_rows(KeptOutput, "outputs", bot=bot, limit=limit)


def detail(name: str) -> Call[Ending]:
    return get(Ending, "matches", name, "detail")


def review(name: str, seat: int | None) -> Call[Review]:
    return replace(get(Review, "matches", name, "review", seat=seat), timeout=LONGEST_ANSWER)


def tree(name: str, ply: int, depth: int | None, search: str, then: Sequence[str]) -> Call[Tree]:
    query = {"ply": ply, "depth": depth, "search": search, "then": list(then)}
    return replace(get(Tree, "matches", name, "tree", **query), timeout=60.0)


def chances(name: str) -> Call[Chances]:
    return get(Chances, "matches", name, "chances")


# ------------------------------------------------------------------ standings and people


def leaderboards() -> Call[list[str]]:
    return Call("GET", api_path("leaderboards"), list)


def leaderboard(
    game: str, *, versions: str = "latest", limit: int = 100, offset: int = 0
) -> Call[Leaderboard]:
    query = {"versions": versions, "limit": limit, "offset": offset}
    return get(Leaderboard, "leaderboards", game, **query)


def standings(game: str, versions: str, most: int | None) -> Pages[Standing]:
    def read(answer: Any) -> Rows[Standing]:
        return Rows(msgspec.convert(answer, Leaderboard).standings)

    first = Call("GET", api_path("leaderboards", game), read, {"versions": versions})
    return Pages(first, lambda page, had: {"offset": had}, most)


def player(name: str) -> Call[Player]:
    return get(Player, "players", name)


def bots(name: str) -> Call[Rows[Bot]]:
    def read(answer: Any) -> Rows[Bot]:
        return Rows(msgspec.convert(answer, Player).bots)

    return Call("GET", api_path("players", name), read)


def bot(player: str, name: str) -> Call[BotPage]:
    return get(BotPage, "bots", player, name)


def bot_matches(player: str, name: str, most: int | None) -> Pages[BotMatch]:
    first = get_rows(BotMatch, "bots", player, name, "matches")
    return Pages(first, lambda page, had: {"before": page[-1].match}, most)


def suspensions() -> Call[Rows[Suspension]]:
    return get_rows(Suspension, "suspensions")


def reinstate(player: str, bot: str, version: str, why: str) -> Call[Rows[Suspension]]:
    where = ("players", player, "bots", bot, "reinstate")
    return post_rows(Suspension, *where, version=version, why=why)


def session() -> Call[Person]:
    return get(Person, "session")


def seeks() -> Call[Rows[Seek]]:
    return get_rows(Seek, "seeks")


def hosted_bots() -> Call[Rows[OpenBot]]:
    return get_rows(OpenBot, "hosted-bots")


def start_hosted_bot(opponent: str, game: str) -> Call[None]:
    return post(None, "hosted-bots", opponent=opponent, game=game)


def start_builtin_bots(level: str, count: int) -> Call[Opponent]:
    return post(Opponent, "house-bots", level=level, count=count)


def register(name: str, display: str) -> Call[Account]:
    return post(Account, "players", player=name, display=display)


def erase_player(name: str, why: str) -> Call[ErasedPlayer]:
    return post(ErasedPlayer, "players", name, "erase", why=why)


# ---------------------------------------------------------------------------- tournaments


def tournaments() -> Call[Rows[Tournament]]:
    return get_rows(Tournament, "competitions")


def tournament(name: str) -> Call[TournamentDetail]:
    return get(TournamentDetail, "competitions", name)


def open_tournament(**terms: Any) -> Call[TournamentDetail]:
    return post(TournamentDetail, "competitions", **terms)


def steer_tournament(name: str, step: str, **body: Any) -> Call[None]:
    return post(None, "competitions", name, step, **body)


def drop_tournament(name: str, why: str) -> Call[None]:
    return delete("competitions", name, why=why)


# ---------------------------------------------------------------------------- submissions


def submission_rules() -> Call[SubmissionRules]:
    return get(SubmissionRules, "submissions", "rules")


def submit(file: str, data: bytes, bot: str, competition: str, version: str) -> Call[Submission]:
    query = {"file": file, "bot": bot, "competition": competition, "version": version}
    made = post(Submission, "submissions")
    return replace(made, query=query, body=data, timeout=600.0)


def open_bot(player: str, bot: str, play: bool) -> Call[OpenToPlay]:
    where = api_path("bots", player, bot, "open")
    return Call("PUT", where, _one(OpenToPlay), body={"open": play})


def submissions(bot: str) -> Call[Rows[Submission]]:
    return get_rows(Submission, "submissions", bot=bot)


def submission(number: int) -> Call[Submission]:
    return get(Submission, "submissions", str(number))


def drop_submission(number: int) -> Call[None]:
    return delete("submissions", str(number))
