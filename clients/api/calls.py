"""Every call of the API as data: what is sent, and how the answer is read.

`Api` and `AsyncApi` only differ in how they wait; what they ask for stands here once.

>>> match("m1").path
'/api/v1/matches/m1'
>>> leaderboard("pig(target=50)", limit=10).path
'/api/v1/leaderboards/pig%28target%3D50%29'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

from plyhouse.clients.api import competition_rows, position_rows, rows
from plyhouse.clients.api.reading import nothing, one, record_of, rows_of
from plyhouse.clients.api.rows import Rows

__all__ = ["PAGE", "Call", "Pages"]

T = TypeVar("T")
RowT = TypeVar("RowT")

PAGE: Final = 200
"""Rows that are asked for at a time, where there may be many."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Any], T]
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


@dataclass(frozen=True, slots=True)
class Pages(Generic[RowT]):
    """A long list, page by page."""

    first: Call[Sequence[RowT]]
    following: Callable[[Sequence[RowT], int], Mapping[str, Any]]
    """What the query of the next page has besides, from the last page and the rows so far."""
    most: int | None = None
    """Rows in all; None for every one."""

    def size(self, had: int) -> int:
        """Rows to ask for next; 0 if that is enough."""
        return PAGE if self.most is None else min(PAGE, self.most - had)

    def call(self, size: int) -> Call[Sequence[RowT]]:
        """The first request."""
        return replace(self.first, query={**self.first.query, "limit": size})

    def after(
        self, page: Sequence[RowT], had: int, asked: int, size: int
    ) -> Call[Sequence[RowT]] | None:
        """The request after a page, of which ``asked`` rows were wanted; None after the last."""
        if len(page) < asked or size <= 0:
            return None
        query = {**self.first.query, **self.following(page, had), "limit": size}
        return replace(self.first, query=query)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _path(*parts: str) -> str:
    return "/api/v1/" + "/".join(quote(part, safe="") for part in parts)


def _get(*parts: str, read: Callable[[Any], T], **query: Any) -> Call[T]:
    return Call("GET", _path(*parts), read, query)


def _post(*parts: str, read: Callable[[Any], T], **body: Any) -> Call[T]:
    return Call("POST", _path(*parts), read, body=body)


# ------------------------------------------------------------------------------ the house


def health() -> Call[rows.Health]:
    return _get("health", read=one(rows.Health))


def games() -> Call[Rows[rows.Game]]:
    return _get("games", read=rows_of(rows.Game))


# -------------------------------------------------------------------------------- matches


def matches(most: int | None, **filters: Any) -> Pages[rows.Match]:
    return Pages(
        _get("matches", read=rows_of(rows.Match), **filters),
        lambda page, had: {"before": page[-1].match},
        most,
    )


def match(name: str) -> Call[rows.Match]:
    return _get("matches", name, read=one(rows.Match))


def record(name: str) -> Call[rows.Record]:
    return _get("matches", name, "record", read=record_of)


def replay(name: str, seat: int | None, first: int, limit: int) -> Call[rows.Replay]:
    return _get(
        "matches", name, "replay", read=one(rows.Replay), seat=seat, first=first, limit=limit
    )


def positions(name: str, seat: int | None, first: int) -> Pages[rows.Position]:
    return Pages(
        _get("matches", name, "replay", read=_frames, seat=seat, first=first),
        lambda page, had: {"first": page[-1].ply + 1},
    )


def _frames(answer: Any) -> Sequence[rows.Position]:
    return one(rows.Replay)(answer).frames


def output(name: str) -> Call[Rows[rows.Output]]:
    return _get("matches", name, "output", read=rows_of(rows.Output))


def outputs(bot: str, limit: int) -> Call[Rows[rows.KeptOutput]]:
    return _get("outputs", read=rows_of(rows.KeptOutput), bot=bot, limit=limit)


def detail(name: str) -> Call[rows.Ending]:
    return _get("matches", name, "detail", read=one(rows.Ending))


def review(name: str, seat: int | None) -> Call[rows.Review]:
    return replace(_get("matches", name, "review", read=one(rows.Review), seat=seat), timeout=180.0)


def tree(
    name: str, ply: int, depth: int | None, search: str, then: Sequence[str]
) -> Call[position_rows.Tree]:
    call = _get(
        *("matches", name, "tree"),
        read=one(position_rows.Tree),
        ply=ply,
        depth=depth,
        search=search,
        then=list(then),
    )
    return replace(call, timeout=60.0)


def chances(name: str) -> Call[position_rows.Chances]:
    return _get("matches", name, "chances", read=one(position_rows.Chances))


# ------------------------------------------------------------------ standings and people


def leaderboards() -> Call[list[str]]:
    return _get("leaderboards", read=list)


def leaderboard(
    game: str, *, versions: str = "latest", limit: int = 100, offset: int = 0
) -> Call[rows.Leaderboard]:
    return _get(
        *("leaderboards", game),
        read=one(rows.Leaderboard),
        versions=versions,
        limit=limit,
        offset=offset,
    )


def standings(game: str, versions: str, most: int | None) -> Pages[rows.Standing]:
    return Pages(
        _get("leaderboards", game, read=_standings, versions=versions),
        lambda page, had: {"offset": had},
        most,
    )


def _standings(answer: Any) -> Sequence[rows.Standing]:
    return one(rows.Leaderboard)(answer).standings


def player(name: str) -> Call[rows.Player]:
    return _get("players", name, read=one(rows.Player))


def bots(name: str) -> Call[Rows[rows.Bot]]:
    return _get("players", name, read=lambda answer: Rows(one(rows.Player)(answer).bots))


def bot(player: str, name: str) -> Call[rows.BotPage]:
    return _get("bots", player, name, read=one(rows.BotPage))


def bot_matches(player: str, name: str, most: int | None) -> Pages[rows.BotMatch]:
    return Pages(
        _get("bots", player, name, "matches", read=rows_of(rows.BotMatch)),
        lambda page, had: {"before": page[-1].match},
        most,
    )


def register(name: str, display: str) -> Call[rows.Account]:
    return _post("players", read=one(rows.Account), player=name, display=display)


# --------------------------------------------------------------------------- competitions


def competitions() -> Call[Rows[competition_rows.Competition]]:
    return _get("competitions", read=rows_of(competition_rows.Competition))


def competition(name: str) -> Call[competition_rows.CompetitionDetail]:
    return _get("competitions", name, read=one(competition_rows.CompetitionDetail))


def organise(**terms: Any) -> Call[competition_rows.CompetitionDetail]:
    return _post("competitions", read=one(competition_rows.CompetitionDetail), **terms)


def steer(name: str, step: str, **body: Any) -> Call[None]:
    return _post("competitions", name, step, read=nothing, **body)


def drop(name: str, why: str) -> Call[None]:
    return Call("DELETE", _path("competitions", name), nothing, {"why": why})


# -------------------------------------------------------------- competitions with a class

_CLASS: Final = ("class", "competitions")


def classes() -> Call[Rows[competition_rows.ClassCompetition]]:
    return _get(*_CLASS, read=rows_of(competition_rows.ClassCompetition))


def class_status(name: str) -> Call[competition_rows.ClassDetail]:
    return _get(*_CLASS, name, read=one(competition_rows.ClassDetail))


def class_check(file: str) -> Call[Rows[competition_rows.Measure]]:
    return _post("class", "check", read=rows_of(competition_rows.Measure), file=file)


def class_open(file: str, why: str) -> Call[competition_rows.ClassCompetition]:
    return _post(*_CLASS, read=one(competition_rows.ClassCompetition), file=file, why=why)


def class_step(
    name: str, step: str, why: str, anyway: bool
) -> Call[competition_rows.ClassCompetition]:
    read = one(competition_rows.ClassCompetition)
    return _post(*_CLASS, name, step, read=read, why=why, anyway=anyway)


def class_file(name: str) -> Call[competition_rows.FileOf]:
    return _get(*_CLASS, name, "file", read=one(competition_rows.FileOf))


def class_change(
    name: str, file: str, apply: bool, digest: str, why: str
) -> Call[competition_rows.Change]:
    body = {"file": file, "apply": apply, "digest": digest, "why": why}
    return _post(*_CLASS, name, "change", read=one(competition_rows.Change), **body)


def class_unfreeze(name: str, until: str, why: str) -> Call[competition_rows.ClassCompetition]:
    read = one(competition_rows.ClassCompetition)
    return _post(*_CLASS, name, "unfreeze", read=read, until=until, why=why)


def class_losses(name: str) -> Call[competition_rows.Losses]:
    return _get(*_CLASS, name, "losses", read=one(competition_rows.Losses))


def class_copy(
    name: str, file: str, codes: bool, submissions: bool, why: str
) -> Call[competition_rows.Copied]:
    body = {"file": file, "codes": codes, "submissions": submissions, "why": why}
    return _post(*_CLASS, name, "copy", read=one(competition_rows.Copied), **body)


def class_drop(name: str, why: str) -> Call[None]:
    return Call("DELETE", _path(*_CLASS, name), nothing, {"why": why})


def board(name: str) -> Call[Rows[competition_rows.BoardLine]]:
    return _get(*_CLASS, name, "board", read=rows_of(competition_rows.BoardLine))


def table(name: str) -> Call[competition_rows.Board]:
    return _get(*_CLASS, name, "table", read=one(competition_rows.Board))


def next_pairings(name: str, limit: int) -> Call[Rows[competition_rows.NextPairing]]:
    return _get(*_CLASS, name, "next", read=rows_of(competition_rows.NextPairing), limit=limit)


def export(name: str) -> Call[competition_rows.Results]:
    return _get(*_CLASS, name, "export", read=one(competition_rows.Results))


def students(name: str) -> Call[Rows[competition_rows.Student]]:
    return _get(*_CLASS, name, "students", read=rows_of(competition_rows.Student))


def take_in(name: str, csv: str, late_until: str, why: str) -> Call[Rows[competition_rows.Joining]]:
    read = rows_of(competition_rows.Joining)
    return _post(*_CLASS, name, "students", read=read, csv=csv, late_until=late_until, why=why)


def extend(name: str, student: str, until: str, why: str) -> Call[None]:
    return _post(*_CLASS, name, "extend", read=nothing, student=student, until=until, why=why)


def disqualify(name: str, who: str, why: str) -> Call[Rows[competition_rows.Entry]]:
    read = rows_of(competition_rows.Entry)
    return _post(*_CLASS, name, "disqualify", read=read, who=who, why=why)


def revoke(name: str, student: str, why: str) -> Call[Rows[competition_rows.Entry]]:
    read = rows_of(competition_rows.Entry)
    return _post(*_CLASS, name, "revoke", read=read, student=student, why=why)


def restore(name: str, student: str, why: str) -> Call[None]:
    return _post(*_CLASS, name, "restore", read=nothing, student=student, why=why)


def announcements(name: str) -> Call[Rows[competition_rows.Announcement]]:
    return _get(*_CLASS, name, "announcements", read=rows_of(competition_rows.Announcement))


def announce(name: str, text: str) -> Call[competition_rows.Announcement]:
    read = one(competition_rows.Announcement)
    return _post(*_CLASS, name, "announcements", read=read, text=text)


def staff(name: str) -> Call[Rows[competition_rows.Staff]]:
    return _get(*_CLASS, name, "staff", read=rows_of(competition_rows.Staff))


def add_staff(name: str, player: str, role: str, why: str) -> Call[competition_rows.Staff]:
    read = one(competition_rows.Staff)
    return _post(*_CLASS, name, "staff", read=read, player=player, role=role, why=why)


def remove_staff(name: str, player: str, why: str) -> Call[None]:
    return Call("DELETE", _path(*_CLASS, name, "staff", player), nothing, {"why": why})


def reissue_token(name: str, student: str, member: str, why: str) -> Call[competition_rows.Joining]:
    read = one(competition_rows.Joining)
    body = {"student": student, "member": member, "why": why}
    return _post(*_CLASS, name, "reissue-token", read=read, **body)


def regrades(name: str) -> Call[Rows[competition_rows.Regrade]]:
    return _get(*_CLASS, name, "regrades", read=rows_of(competition_rows.Regrade))


def ask_regrade(name: str, text: str, match: str) -> Call[competition_rows.Regrade]:
    read = one(competition_rows.Regrade)
    return _post(*_CLASS, name, "regrades", read=read, text=text, match=match)


def answer_regrade(
    name: str, number: int, text: str, close: bool
) -> Call[competition_rows.Regrade]:
    read = one(competition_rows.Regrade)
    where = (*_CLASS, name, "regrades", str(number), "answer")
    return _post(*where, read=read, text=text, close=close)


def codes(name: str) -> Call[Rows[competition_rows.Code]]:
    return _get(*_CLASS, name, "codes", read=rows_of(competition_rows.Code))


def new_code(name: str, **body: Any) -> Call[competition_rows.Code]:
    return _post(*_CLASS, name, "codes", read=one(competition_rows.Code), **body)


def revoke_code(code: str) -> Call[None]:
    return Call("DELETE", _path("class", "codes", code), nothing)


def join(code: str, player: str) -> Call[competition_rows.Joining]:
    return _post("class", "join", read=one(competition_rows.Joining), code=code, player=player)


def versions(bot: str) -> Call[Rows[competition_rows.Version]]:
    return _get("class", "versions", read=rows_of(competition_rows.Version), bot=bot)


def submit(
    file: str, data: bytes, bot: str, competition: str, version: str
) -> Call[competition_rows.HandedIn]:
    query = {"file": file, "bot": bot, "competition": competition, "version": version}
    read = one(competition_rows.HandedIn)
    return Call("POST", _path("submissions"), read, query, data, timeout=600.0)


def submissions(bot: str) -> Call[Rows[competition_rows.HandedIn]]:
    return _get("submissions", read=rows_of(competition_rows.HandedIn), bot=bot)


def submission(number: int) -> Call[competition_rows.HandedIn]:
    return _get("submissions", str(number), read=one(competition_rows.HandedIn))


def drop_submission(number: int) -> Call[None]:
    return Call("DELETE", _path("submissions", str(number)), nothing)


def enter(name: str, bot: str, version: str, replace: str) -> Call[competition_rows.Entry]:
    read = one(competition_rows.Entry)
    return _post(*_CLASS, name, "enter", read=read, bot=bot, version=version, replace=replace)
