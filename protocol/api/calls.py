"""Requests of the HTTP API as data: what is sent, and how the answer is read.

Clients only differ in how they send a call.  The calls of competitions with a class are in
`plyhouse.protocol.api.class_calls`.

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
from plyhouse.protocol.api.competitions import Competition, CompetitionDetail
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
from plyhouse.protocol.api.people import Account, ErasedPlayer, Player
from plyhouse.protocol.api.positions import Chances, Review, Tree
from plyhouse.protocol.api.rows import Rows
from plyhouse.protocol.api.server import Health, ListedGame, RunnerCapacity
from plyhouse.protocol.api.submissions import OpenToPlay, Submission, SubmissionRules

__all__ = ["PAGE", "Call", "Pages", "api_path", "delete", "get", "get_rows", "post", "post_rows"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
RowT = TypeVar("RowT")

PAGE: Final = 200
"""Rows that are asked for at a time, where there may be many."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T_co]):
    """One request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Any], T_co]
    """Reads the JSON of the answer; raises `msgspec.ValidationError` if it does not fit."""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    timeout: float | None = None
    """Seconds to wait for an answer, where that takes longer than usual."""

    @property
    def changes(self) -> bool:
        """Whether it may change something on the server."""
        return self.method != "GET"

    @property
    def parameters(self) -> dict[str, str | list[str]]:
        """The query as text, of lists each; what is None is left out."""
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
    """What the query of the next page has besides, from the last page and the rows so far."""
    most: int | None = None
    """Rows in all; None for every one."""

    def size(self, had: int) -> int:
        """Rows to ask for next; 0 if that is enough."""
        return PAGE if self.most is None else min(PAGE, self.most - had)

    def call(self, size: int) -> Call[Rows[RowT]]:
        """The first request."""
        return replace(self.first, query={**self.first.query, "limit": size})

    def after(self, page: Rows[RowT], had: int, asked: int, size: int) -> Call[Rows[RowT]] | None:
        """The request after a page, of which ``asked`` rows were wanted; None after the last."""
        if len(page) < asked or size <= 0:
            return None
        query = {**self.first.query, **self.following(page, had), "limit": size}
        return replace(self.first, query=query)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def api_path(*parts: str) -> str:
    """A path of the API with each part escaped."""
    return "/api/v1/" + "/".join(quote(part, safe="") for part in parts)


def _one(kind: type[T]) -> Callable[[Any], T]:
    return lambda answer: msgspec.convert(answer, kind)


def _list(kind: type[T]) -> Callable[[Any], Rows[T]]:
    return lambda answer: Rows(msgspec.convert(answer, list[kind]))  # type: ignore[valid-type]


def _nothing(answer: Any) -> None:
    """Reads an answer without anything in it."""


def get(kind: type[T], *parts: str, **query: Any) -> Call[T]:
    """A request for one answer of a kind."""
    return Call("GET", api_path(*parts), _one(kind), query)


def get_rows(kind: type[T], *parts: str, **query: Any) -> Call[Rows[T]]:
    """A request for a list."""
    return Call("GET", api_path(*parts), _list(kind), query)


def post(kind: type[T] | None, *parts: str, **body: Any) -> Call[T]:
    """A request that changes something; without a kind, nothing is answered."""
    return Call("POST", api_path(*parts), _one(kind) if kind else _nothing, body=body)  # type: ignore[arg-type]


def post_rows(kind: type[T], *parts: str, **body: Any) -> Call[Rows[T]]:
    """A request that changes something and is answered with a list."""
    return Call("POST", api_path(*parts), _list(kind), body=body)


def delete(*parts: str, **query: Any) -> Call[None]:
    """A request to remove something."""
    return Call("DELETE", api_path(*parts), _nothing, query)


# ----------------------------------------------------------------------------- the server


def health() -> Call[Health]:
    return get(Health, "health")


def games() -> Call[Rows[ListedGame]]:
    return get_rows(ListedGame, "games")


def runner_capacity() -> Call[RunnerCapacity]:
    return get(RunnerCapacity, "runner", "capacity")


# -------------------------------------------------------------------------------- matches


def matches(most: int | None, **filters: Any) -> Pages[Match]:
    first = get_rows(Match, "matches", **filters)
    return Pages(first, lambda page, had: {"before": page[-1].match}, most)


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
    return replace(get(Review, "matches", name, "review", seat=seat), timeout=180.0)


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


def register(name: str, display: str) -> Call[Account]:
    return post(Account, "players", player=name, display=display)


def erase_player(name: str, why: str) -> Call[ErasedPlayer]:
    return post(ErasedPlayer, "players", name, "erase", why=why)


# --------------------------------------------------------------------------- competitions


def competitions() -> Call[Rows[Competition]]:
    return get_rows(Competition, "competitions")


def competition(name: str) -> Call[CompetitionDetail]:
    return get(CompetitionDetail, "competitions", name)


def organise(**terms: Any) -> Call[CompetitionDetail]:
    return post(CompetitionDetail, "competitions", **terms)


def steer(name: str, step: str, **body: Any) -> Call[None]:
    return post(None, "competitions", name, step, **body)


def drop(name: str, why: str) -> Call[None]:
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
