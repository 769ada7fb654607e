"""`AsyncApi`: a server's HTTP API with the methods of `Api`, to be awaited."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Literal, Self, TypeVar

import httpx

from plyhouse.clients.api import calls, competition_rows, position_rows, rows
from plyhouse.clients.api.calls import Call, Pages
from plyhouse.clients.api.packing import packed
from plyhouse.clients.api.patience import Patience
from plyhouse.clients.api.rows import Rows
from plyhouse.clients.api.session import Session, Wait

__all__ = ["AsyncApi"]

T = TypeVar("T")


class AsyncApi:
    """A server; use it in an ``async with`` block, or `close` it.

    ``server`` and ``token`` default to ``PLYHOUSE_SERVER`` and ``PLYHOUSE_TOKEN`` of the
    environment.  ``patience`` says how often what failed for the moment is tried again, ``timeout``
    how many seconds an answer may take.  Raises `ApiError` and `Unreachable` (see
    `plyhouse.clients.api.errors`), and `ValueError` for an address that is none.  Several calls may
    be awaited at once.
    """

    def __init__(
        self,
        server: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: Patience | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._session = Session(server, token, timeout, patience)
        self._sleep = sleep
        self._http = httpx.AsyncClient(headers=self._session.headers, timeout=timeout)

    def __repr__(self) -> str:
        return f"<AsyncApi {self.server}>"

    @property
    def server(self) -> str:
        """The address of the server."""
        return self._session.base

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def do(self, call: Call[T]) -> T:
        """Make a call of `plyhouse.clients.api.calls`, again and again as patience allows."""
        made = 0
        while True:
            made += 1
            try:
                try:
                    response = await self._http.request(**self._session.request(call))
                except httpx.TransportError as error:
                    raise self._session.failed(call, error, made) from error
                return self._session.read(call, response, made)
            except Wait as again:
                await self._sleep(again.seconds)

    async def _pages(self, pages: Pages[T]) -> AsyncIterator[T]:
        had, size = 0, pages.size(0)
        call = pages.call(size) if size > 0 else None
        while call is not None:
            page = await self.do(call)
            for row in page:
                yield row
            had += len(page)
            asked, size = size, pages.size(had)
            call = pages.after(page, had, asked, size)

    async def health(self) -> rows.Health:
        """How the server is doing."""
        return await self.do(calls.health())

    async def games(self) -> Rows[rows.Game]:
        """The games that can be played on the server."""
        return await self.do(calls.games())

    def matches(
        self,
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
    ) -> AsyncIterator[rows.Match]:
        """Matches, newest first, at most ``limit``; pages are fetched as you go on.

        ``game`` is a name, for all its parameters, or a name with parameters for those alone;
        ``status`` is ``waiting``, ``running`` or ``finished``, ``bot`` is ``PLAYER/BOT``; with
        ``sort`` = ``ended`` there are finished matches only, the last to end first.
        """
        return self._pages(
            calls.matches(
                limit,
                game=game,
                player=player,
                bot=bot,
                competition=competition,
                termination=termination,
                status=status,
                rated=rated,
                sort=sort,
            )
        )

    async def match(self, match: str) -> rows.Match:
        """One match, without what happened in it."""
        return await self.do(calls.match(match))

    async def record(self, match: str) -> rows.Record:
        """The record of a match, which `plyhouse verify` can check.

        In games with hidden information it is closed (``match/not_over``) until the whole pairing
        is over.
        """
        return await self.do(calls.record(match))

    def positions(
        self, match: str, *, seat: int | None = None, first: int = 0
    ) -> AsyncIterator[rows.Position]:
        """The positions of a match from a ply on, as spectators see them or as a seat saw them."""
        return self._pages(calls.positions(match, seat, first))

    async def position(self, match: str, ply: int, *, seat: int | None = None) -> rows.Position:
        """One position of a match; it draws itself in a notebook.

        Raises `LookupError` if nobody was to move at that ply.
        """
        frames = (await self.do(calls.replay(match, seat, ply, 1))).frames
        if not frames or frames[0].ply != ply:
            raise LookupError(f"there is no position before ply {ply} in match {match}")
        return frames[0]

    async def review(self, match: str, *, seat: int | None = None) -> rows.Review:
        """Where a match was lost, worked out on the server, which may take half a minute.

        Without a seat it is looked at from the one that lost. The server may offer no reviews
        (``review/off``) or be at others (``review/busy``, asked again).
        """
        return await self.do(calls.review(match, seat))

    async def tree(
        self,
        match: str,
        ply: int = 0,
        *,
        depth: int | None = None,
        search: str = "",
        then: Sequence[str] = (),
    ) -> position_rows.Tree:
        """The search tree of the position before a ply, and after the actions in ``then``.

        Without ``search`` by what fits the game, and without ``depth`` as deep as the server
        likes best. Of matches that count once their pairing is over (``match/not_over``), and of
        games in which nothing is hidden (``tree/hidden``); a server may offer none (``tree/off``)
        or be at others (``tree/busy``, asked again).
        """
        return await self.do(calls.tree(match, ply, depth, search, then))

    async def chances(self, match: str) -> position_rows.Chances:
        """What chance could have done in a match that is over, at each roll and deal.

        With the seed in its record, what came can be worked out again without the rules.
        """
        return await self.do(calls.chances(match))

    async def detail(self, match: str) -> rows.Ending:
        """What is kept of a match's end for the author of the bot that caused it: a traceback."""
        return await self.do(calls.detail(match))

    async def output(self, match: str) -> Rows[rows.Output]:
        """What one's own hosted bots printed in a match that is over, and how they failed."""
        return await self.do(calls.output(match))

    async def outputs(self, bot: str = "", limit: int = 50) -> Rows[rows.KeptOutput]:
        """The latest matches of one's own hosted bots of which their output is kept."""
        return await self.do(calls.outputs(bot, limit))

    async def leaderboards(self) -> list[str]:
        """The games that have results."""
        return await self.do(calls.leaderboards())

    async def leaderboard(
        self, game: str, *, versions: str = "latest", limit: int = 100, offset: int = 0
    ) -> rows.Leaderboard:
        """A page of the standings of a game, best first.

        ``versions`` is ``latest`` (of each bot) or ``all``.
        """
        return await self.do(calls.leaderboard(game, versions=versions, limit=limit, offset=offset))

    def standings(
        self, game: str, *, versions: str = "latest", limit: int | None = None
    ) -> AsyncIterator[rows.Standing]:
        """All lines of a leaderboard, at most ``limit``; pages are fetched as you go on."""
        return self._pages(calls.standings(game, versions, limit))

    async def player(self, name: str) -> rows.Player:
        """A player with its bots and latest matches."""
        return await self.do(calls.player(name))

    async def bots(self, player: str) -> Rows[rows.Bot]:
        """The bots of a player."""
        return await self.do(calls.bots(player))

    async def bot(self, player: str, bot: str) -> rows.BotPage:
        """A bot: versions, standings, ratings over time, and what came of its latest matches.

        ``bot`` is as `rows.Bot.name` has it.
        """
        return await self.do(calls.bot(player, bot))

    def bot_matches(
        self, player: str, bot: str, *, limit: int | None = None
    ) -> AsyncIterator[rows.BotMatch]:
        """A bot's finished matches, newest first, at most ``limit``; fetched as you go on."""
        return self._pages(calls.bot_matches(player, bot, limit))

    async def register(self, name: str, *, display: str = "") -> rows.Account:
        """Make an account, where registration is open; keep the token, it is told only here."""
        return await self.do(calls.register(name, display))

    async def competitions(self) -> Rows[competition_rows.Competition]:
        """All competitions, newest first."""
        return await self.do(calls.competitions())

    async def competition(self, competition: str) -> competition_rows.CompetitionDetail:
        """A competition with its table and progress."""
        return await self.do(calls.competition(competition))

    async def organise(
        self,
        name: str,
        game: str,
        time_control: str,
        *,
        rounds: int = 1,
        mirrored: bool = True,
        rated: bool = True,
        entries: Sequence[str] | None = None,
    ) -> competition_rows.CompetitionDetail:
        """Start a round robin of ``entries`` (``player/bot``), or of all connected bots that accept
        the game; needs the scope ``organise``.
        """
        return await self.do(
            calls.organise(
                name=name,
                game=game,
                time_control=time_control,
                rounds=rounds,
                mirrored=mirrored,
                rated=rated,
                entries=None if entries is None else list(entries),
            )
        )

    async def pause(self, competition: str, why: str) -> None:
        """Begin nothing more of a competition until it is resumed."""
        await self.do(calls.steer(competition, "pause", why=why))

    async def resume(self, competition: str, why: str) -> None:
        """Let a paused competition go on."""
        await self.do(calls.steer(competition, "resume", why=why))

    async def withdraw(self, competition: str, entry: str, why: str = "") -> None:
        """Take a bot out of what is still to begin; organisers any bot, players their own."""
        await self.do(calls.steer(competition, "withdraw", entry=entry, why=why))

    async def delete_competition(self, competition: str, why: str = "") -> None:
        """Begin nothing more of a competition and list it nowhere; its matches stay."""
        await self.do(calls.drop(competition, why))

    async def classes(self) -> Rows[competition_rows.ClassCompetition]:
        """The competitions with a class, newest first."""
        return await self.do(calls.classes())

    async def class_status(self, name: str) -> competition_rows.ClassDetail:
        """A competition with its students, entries and progress, for its organiser."""
        return await self.do(calls.class_status(name))

    async def class_check(self, file: str) -> Rows[competition_rows.Measure]:
        """Say whether a competition file (its text) could be opened; `ApiError` with its mistakes.

        Answers how long matches of its games took on the server.
        """
        return await self.do(calls.class_check(file))

    async def class_open(self, file: str, *, why: str = "") -> competition_rows.ClassCompetition:
        """Open a competition by the text of its file: at once, or at its date of opening."""
        return await self.do(calls.class_open(file, why))

    async def class_step(
        self,
        name: str,
        step: Literal["open", "freeze", "run", "pause", "resume"],
        *,
        why: str = "",
        anyway: bool = False,
    ) -> competition_rows.ClassCompetition:
        """Take a step of a competition: open it, freeze what plays, run, pause or resume its final.

        ``anyway`` begins the final although somebody may still submit.
        """
        return await self.do(calls.class_step(name, step, why, anyway))

    async def class_file(self, name: str) -> competition_rows.FileOf:
        """The competition file of a competition, as it is now."""
        return await self.do(calls.class_file(name))

    async def class_change(
        self, name: str, file: str, *, apply: bool = False, digest: str = "", why: str = ""
    ) -> competition_rows.Change:
        """Say what an edited file (its text) changes; with ``apply``, change it.

        ``digest`` of `class_file` refuses the change if somebody else was quicker.
        """
        return await self.do(calls.class_change(name, file, apply, digest, why))

    async def class_unfreeze(
        self, name: str, *, until: str = "", why: str = ""
    ) -> competition_rows.ClassCompetition:
        """Open a frozen competition again, with a new date of the freeze if one is given."""
        return await self.do(calls.class_unfreeze(name, until, why))

    async def class_losses(self, name: str) -> competition_rows.Losses:
        """What would be lost if a competition were deleted."""
        return await self.do(calls.class_losses(name))

    async def class_copy(
        self,
        name: str,
        file: str,
        *,
        codes: bool = False,
        submissions: bool = False,
        why: str = "",
    ) -> competition_rows.Copied:
        """Open a competition by the text of its file, with the students of another one."""
        return await self.do(calls.class_copy(name, file, codes, submissions, why))

    async def class_delete(self, name: str, why: str = "") -> None:
        """Begin nothing more of a competition and list it nowhere; its matches stay."""
        await self.do(calls.class_drop(name, why))

    async def board(self, name: str) -> Rows[competition_rows.BoardLine]:
        """The standings of a competition with a class, as far as whoever asks may see them."""
        return await self.do(calls.board(name))

    async def table(self, name: str) -> competition_rows.Board:
        """The board with ratings, mean returns and their intervals, as far as one may see it."""
        return await self.do(calls.table(name))

    async def next_pairings(
        self, name: str, *, limit: int = 10
    ) -> Rows[competition_rows.NextPairing]:
        """The pairings of each game of a final that come next, one's own first."""
        return await self.do(calls.next_pairings(name, limit))

    async def export(self, name: str) -> competition_rows.Results:
        """Standings and grades, worked out anew from what is stored."""
        return await self.do(calls.export(name))

    async def students(self, name: str) -> Rows[competition_rows.Student]:
        """The students of a competition, with the members of groups."""
        return await self.do(calls.students(name))

    async def take_in(
        self, name: str, csv: str, *, late_until: str = "", why: str = ""
    ) -> Rows[competition_rows.Joining]:
        """Take a list of students in, all or none; new ones get a token, told only here."""
        return await self.do(calls.take_in(name, csv, late_until, why))

    async def extend(self, name: str, student: str, until: str, *, why: str = "") -> None:
        """Let one student submit until a later time than the freeze."""
        await self.do(calls.extend(name, student, until, why))

    async def disqualify(self, name: str, who: str, why: str) -> Rows[competition_rows.Entry]:
        """Disqualify a student or an entry; answers the entries that leave."""
        return await self.do(calls.disqualify(name, who, why))

    async def revoke(
        self, name: str, student: str, *, why: str = ""
    ) -> Rows[competition_rows.Entry]:
        """Take a student out of a competition; answers the entries that leave."""
        return await self.do(calls.revoke(name, student, why))

    async def restore(self, name: str, student: str, *, why: str = "") -> None:
        """Let a student back in that was taken out."""
        await self.do(calls.restore(name, student, why))

    async def announcements(self, name: str) -> Rows[competition_rows.Announcement]:
        """The announcements of a competition, newest first."""
        return await self.do(calls.announcements(name))

    async def announce(self, name: str, text: str) -> competition_rows.Announcement:
        """Publish a text on the page of a competition."""
        return await self.do(calls.announce(name, text))

    async def staff(self, name: str) -> Rows[competition_rows.Staff]:
        """The staff of a competition, owners first; empty if every organiser is an owner."""
        return await self.do(calls.staff(name))

    async def add_staff(
        self,
        name: str,
        player: str,
        role: Literal["owner", "assistant", "reader"],
        *,
        why: str = "",
    ) -> competition_rows.Staff:
        """Give a player a role in a competition, in the place of an earlier one."""
        return await self.do(calls.add_staff(name, player, role, why))

    async def remove_staff(self, name: str, player: str, *, why: str = "") -> None:
        """Take a player's role in a competition away."""
        await self.do(calls.remove_staff(name, player, why))

    async def reissue_token(
        self, name: str, student: str, *, member: str = "", why: str = ""
    ) -> competition_rows.Joining:
        """Revoke a student's lost token; the answer has a new one, shown only here."""
        return await self.do(calls.reissue_token(name, student, member, why))

    async def regrades(self, name: str) -> Rows[competition_rows.Regrade]:
        """The requests for a regrade that one may see, open ones first."""
        return await self.do(calls.regrades(name))

    async def ask_regrade(
        self, name: str, text: str, *, match: str = ""
    ) -> competition_rows.Regrade:
        """Ask the staff to look at a match of one's own, or at one's grade, again."""
        return await self.do(calls.ask_regrade(name, text, match))

    async def answer_regrade(
        self, name: str, number: int, text: str = "", *, close: bool = False
    ) -> competition_rows.Regrade:
        """Answer a request for a regrade, close it, or both."""
        return await self.do(calls.answer_regrade(name, number, text, close))

    async def codes(self, name: str) -> Rows[competition_rows.Code]:
        """The codes of a competition."""
        return await self.do(calls.codes(name))

    async def new_code(
        self,
        name: str,
        uses: int,
        *,
        expires: str = "",
        group: str = "",
        late_until: str = "",
        why: str = "",
    ) -> competition_rows.Code:
        """Make a code by which so many students join."""
        return await self.do(
            calls.new_code(
                name, uses=uses, expires=expires, group=group, late_until=late_until, why=why
            )
        )

    async def revoke_code(self, code: str) -> None:
        """Let nobody in by a code any more."""
        await self.do(calls.revoke_code(code))

    async def join(self, code: str, *, player: str = "") -> competition_rows.Joining:
        """Join a competition by a code; with a token, the account of that token joins."""
        return await self.do(calls.join(code, player))

    async def versions(self, bot: str = "") -> Rows[competition_rows.Version]:
        """The versions of one's own bots, newest first, and where each is entered."""
        return await self.do(calls.versions(bot))

    async def enter(
        self, name: str, bot: str, *, version: str = "", replace: str = ""
    ) -> competition_rows.Entry:
        """Choose which bot and version of one's own plays, until the freeze."""
        return await self.do(calls.enter(name, bot, version, replace))

    async def submit(
        self,
        path: str | os.PathLike[str],
        *,
        bot: str = "",
        competition: str = "",
        version: str = "",
    ) -> competition_rows.HandedIn:
        """Hand in a bot for the server to run: a Python file, a folder or a zip.

        It waits for its check then; `submission` says what came of it.  It plays in
        ``competition``, or without one wherever a bot that connects is entered.
        """
        file, data = await asyncio.to_thread(packed, path)
        return await self.do(calls.submit(file, data, bot, competition, version))

    async def submissions(self, bot: str = "") -> Rows[competition_rows.HandedIn]:
        """What one has handed in, newest first, without the reports of the checks."""
        return await self.do(calls.submissions(bot))

    async def submission(self, number: int) -> competition_rows.HandedIn:
        """A submission, with what its check said."""
        return await self.do(calls.submission(number))

    async def remove_submission(self, number: int) -> None:
        """Remove a submission of one's own that plays in no competition."""
        await self.do(calls.drop_submission(number))
