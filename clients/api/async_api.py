"""`AsyncApi`: a server's HTTP API with the methods of `Api`, to be awaited."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Literal, Self, TypeVar

import httpx

from plyhouse.clients.api.bot_package import packed
from plyhouse.clients.api.retries import Patience
from plyhouse.clients.api.session import Session, Wait
from plyhouse.protocol.api import calls, competition_calls
from plyhouse.protocol.api.boards import Board, BoardLine, NextPairing, Results
from plyhouse.protocol.api.bots import Bot, BotMatch, BotPage
from plyhouse.protocol.api.calls import Call, Pages
from plyhouse.protocol.api.competitions import (
    Announcement,
    Change,
    Code,
    Competition,
    CompetitionDetail,
    CompetitionText,
    Copied,
    Entry,
    Extended,
    Joining,
    Losses,
    Measure,
    Regrade,
    Staff,
    Student,
)
from plyhouse.protocol.api.leaderboards import Leaderboard, Standing
from plyhouse.protocol.api.matches import Ending, KeptOutput, Match, Output, Position, Record
from plyhouse.protocol.api.people import Account, Player
from plyhouse.protocol.api.positions import Chances, Review, Tree
from plyhouse.protocol.api.rows import Rows
from plyhouse.protocol.api.server import ClusterState, Health, ListedGame
from plyhouse.protocol.api.submissions import Submission, Version
from plyhouse.protocol.api.tournaments import Tournament, TournamentDetail

__all__ = ["AsyncApi"]

T = TypeVar("T")


class AsyncApi:
    """A server; use it in an ``async with`` block, or `close` it.

    ``server`` and ``token`` default to ``PLYHOUSE_SERVER`` and ``PLYHOUSE_TOKEN`` of the
    environment.  ``patience`` says how often what failed for the moment is tried again, ``timeout``
    how many seconds an answer may take.  Raises `ApiError` and `Unreachable` (see
    `plyhouse.protocol.api.answers`), and `ValueError` for an address that is none.  Several calls
    may be awaited at once.
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
        self._http = httpx.AsyncClient(**self._session.transport())

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
        """Make a call of `plyhouse.protocol.api.calls`; retry it as ``patience`` allows."""
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

    async def health(self) -> Health:
        """How the server is doing."""
        return await self.do(calls.health())

    async def cluster(self) -> ClusterState:
        """The servers that share the database, and what they run; takes a token of an admin."""
        return await self.do(calls.cluster())

    async def games(self) -> Rows[ListedGame]:
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
    ) -> AsyncIterator[Match]:
        """Matches, newest first, at most ``limit``; pages are fetched as you go on.

        ``game`` without parameters selects matches with any parameters.  ``status`` is ``waiting``,
        ``running`` or ``finished``, and ``bot`` is ``PLAYER/BOT``.  With ``sort="ended"`` you get
        finished matches only, the last to end first.
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

    async def match(self, match: str) -> Match:
        """One match, without what happened in it."""
        return await self.do(calls.match(match))

    async def record(self, match: str) -> Record:
        """The record of a match, which `plyhouse verify` can check.

        In games with hidden information it is closed (``match/not_over``) until the whole pairing
        is over.
        """
        return await self.do(calls.record(match))

    def positions(
        self, match: str, *, seat: int | None = None, first: int = 0
    ) -> AsyncIterator[Position]:
        """The positions of a match from a ply on, as spectators see them or as a seat saw them."""
        return self._pages(calls.positions(match, seat, first))

    async def position(self, match: str, ply: int, *, seat: int | None = None) -> Position:
        """One position of a match; it draws itself in a notebook.

        Raises `LookupError` if nobody was to move at that ply.
        """
        frames = (await self.do(calls.replay(match, seat, ply, 1))).frames
        if not frames or frames[0].ply != ply:
            raise LookupError(f"there is no position before ply {ply} in match {match}")
        return frames[0]

    async def review(self, match: str, *, seat: int | None = None) -> Review:
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
    ) -> Tree:
        """Return the search tree of the position before a ply, after the actions in ``then``.

        By default, the server chooses a search that fits the game, and the depth. Matches that
        count have trees once their pairing is over (``match/not_over``). The game must have no
        hidden information (``tree/hidden``). A server may offer no trees (``tree/off``), or be
        busy (``tree/busy``, asked again).
        """
        return await self.do(calls.tree(match, ply, depth, search, then))

    async def chances(self, match: str) -> Chances:
        """Return the possible outcomes of each roll and deal in a finished match.

        With the seed in its record, what came can be worked out again without the rules.
        """
        return await self.do(calls.chances(match))

    async def detail(self, match: str) -> Ending:
        """Return the failure that ended a match (a traceback), for its bot's author."""
        return await self.do(calls.detail(match))

    async def output(self, match: str) -> Rows[Output]:
        """Return the output and failures of your hosted bots in a finished match."""
        return await self.do(calls.output(match))

    async def outputs(self, bot: str = "", limit: int = 50) -> Rows[KeptOutput]:
        """The latest matches of one's own hosted bots of which their output is kept."""
        return await self.do(calls.outputs(bot, limit))

    async def leaderboards(self) -> list[str]:
        """The games that have results."""
        return await self.do(calls.leaderboards())

    async def leaderboard(
        self, game: str, *, versions: str = "latest", limit: int = 100, offset: int = 0
    ) -> Leaderboard:
        """A page of the standings of a game, best first.

        ``versions`` is ``latest`` (of each bot) or ``all``.
        """
        return await self.do(calls.leaderboard(game, versions=versions, limit=limit, offset=offset))

    def standings(
        self, game: str, *, versions: str = "latest", limit: int | None = None
    ) -> AsyncIterator[Standing]:
        """All lines of a leaderboard, at most ``limit``; pages are fetched as you go on."""
        return self._pages(calls.standings(game, versions, limit))

    async def player(self, name: str) -> Player:
        """A player with its bots and latest matches."""
        return await self.do(calls.player(name))

    async def bots(self, player: str) -> Rows[Bot]:
        """The bots of a player."""
        return await self.do(calls.bots(player))

    async def bot(self, player: str, bot: str) -> BotPage:
        """A bot: versions, standings, ratings over time, and what came of its latest matches.

        ``bot`` is as `Bot.name` has it.
        """
        return await self.do(calls.bot(player, bot))

    def bot_matches(
        self, player: str, bot: str, *, limit: int | None = None
    ) -> AsyncIterator[BotMatch]:
        """A bot's finished matches, newest first, at most ``limit``; fetched as you go on."""
        return self._pages(calls.bot_matches(player, bot, limit))

    async def register(self, name: str, *, display: str = "") -> Account:
        """Create an account, if registration is open. Keep the token: only this answer has it."""
        return await self.do(calls.register(name, display))

    async def tournaments(self) -> Rows[Tournament]:
        """Return all competitions without students, newest first."""
        return await self.do(calls.tournaments())

    async def tournament(self, tournament: str) -> TournamentDetail:
        """Return a competition without students, with its table and progress."""
        return await self.do(calls.tournament(tournament))

    async def open_tournament(
        self,
        name: str,
        game: str,
        time_control: str,
        *,
        rounds: int = 1,
        mirrored: bool = True,
        rated: bool = True,
        entries: Sequence[str] | None = None,
    ) -> TournamentDetail:
        """Start a round robin without students; needs the scope ``organise``.

        ``entries`` are bots (``player/bot``); None for all connected bots that accept the game.
        """
        return await self.do(
            calls.open_tournament(
                name=name,
                game=game,
                time_control=time_control,
                rounds=rounds,
                mirrored=mirrored,
                rated=rated,
                entries=None if entries is None else list(entries),
            )
        )

    async def pause_tournament(self, tournament: str, why: str) -> None:
        """Start no more matches until the tournament is resumed."""
        await self.do(calls.steer_tournament(tournament, "pause", why=why))

    async def resume_tournament(self, tournament: str, why: str) -> None:
        """Resume a paused tournament."""
        await self.do(calls.steer_tournament(tournament, "resume", why=why))

    async def withdraw(self, tournament: str, entry: str, why: str = "") -> None:
        """Withdraw a bot from matches still to start: your own, or any bot as an organiser."""
        await self.do(calls.steer_tournament(tournament, "withdraw", entry=entry, why=why))

    async def delete_tournament(self, tournament: str, why: str = "") -> None:
        """Stop a tournament and remove it from all lists; its matches stay."""
        await self.do(calls.drop_tournament(tournament, why))

    async def competitions(self) -> Rows[Competition]:
        """The competitions, newest first."""
        return await self.do(competition_calls.competitions())

    async def competition(self, name: str) -> CompetitionDetail:
        """A competition with its students, entries and progress, for its organiser."""
        return await self.do(competition_calls.status(name))

    async def check_competition(self, file: str) -> Rows[Measure]:
        """Say whether a competition file (its text) could be opened; `ApiError` with its mistakes.

        Answers how long matches of its games took on the server.
        """
        return await self.do(competition_calls.check(file))

    async def open_competition(self, file: str, *, why: str = "") -> Competition:
        """Open a competition by the text of its file: at once, or at its date of opening."""
        return await self.do(competition_calls.open_file(file, why))

    async def step_competition(
        self,
        name: str,
        step: Literal["open", "freeze", "run", "pause", "resume"],
        *,
        why: str = "",
        anyway: bool = False,
    ) -> Competition:
        """Take a step of a competition: open it, freeze what plays, run, pause or resume its final.

        ``anyway`` begins the final although somebody may still submit.
        """
        return await self.do(competition_calls.step(name, step, why, anyway))

    async def competition_file(self, name: str) -> CompetitionText:
        """The competition file of a competition, as it is now."""
        return await self.do(competition_calls.text(name))

    async def change_competition(
        self, name: str, file: str, *, apply: bool = False, digest: str = "", why: str = ""
    ) -> Change:
        """Say what an edited file (its text) changes; with ``apply``, change it.

        ``digest`` of `competition_file` refuses the change if somebody else was quicker.
        """
        return await self.do(competition_calls.change(name, file, apply, digest, why))

    async def unfreeze_competition(
        self, name: str, *, until: str = "", why: str = ""
    ) -> Competition:
        """Open a frozen competition again, with a new date of the freeze if one is given."""
        return await self.do(competition_calls.unfreeze(name, until, why))

    async def competition_losses(self, name: str) -> Losses:
        """Return what deleting a competition would lose."""
        return await self.do(competition_calls.losses(name))

    async def copy_competition(
        self,
        name: str,
        file: str,
        *,
        codes: bool = False,
        submissions: bool = False,
        why: str = "",
    ) -> Copied:
        """Open a competition by the text of its file, with the students of another one."""
        return await self.do(competition_calls.copy(name, file, codes, submissions, why))

    async def delete_competition(self, name: str, why: str = "") -> None:
        """Begin nothing more of a competition and list it nowhere; its matches stay."""
        await self.do(competition_calls.drop(name, why))

    async def board(self, name: str) -> Rows[BoardLine]:
        """Return the standings of a competition that you may see."""
        return await self.do(competition_calls.board(name))

    async def table(self, name: str) -> Board:
        """The board with ratings, mean returns and their intervals, as far as one may see it."""
        return await self.do(competition_calls.table(name))

    async def next_pairings(self, name: str, *, limit: int = 10) -> Rows[NextPairing]:
        """The pairings of each game of a final that come next, one's own first."""
        return await self.do(competition_calls.next_pairings(name, limit))

    async def export(self, name: str) -> Results:
        """Return standings and grades, computed from the stored results."""
        return await self.do(competition_calls.export(name))

    async def students(self, name: str) -> Rows[Student]:
        """The students of a competition, with the members of groups."""
        return await self.do(competition_calls.students(name))

    async def take_in(
        self, name: str, csv: str, *, late_until: str = "", why: str = ""
    ) -> Rows[Joining]:
        """Take a list of students in, all or none; new ones get a token, told only here."""
        return await self.do(
            competition_calls.take_in(name, csv=csv, late_until=late_until, why=why)
        )

    async def extend(self, name: str, student: str, until: str, *, why: str = "") -> Extended:
        """Let one student submit until a later time than the freeze; say what that delays."""
        return await self.do(competition_calls.extend(name, student, until, why))

    async def disqualify(self, name: str, who: str, why: str) -> Rows[Entry]:
        """Disqualify a student or an entry; return the entries that leave."""
        return await self.do(competition_calls.disqualify(name, who, why))

    async def revoke(self, name: str, student: str, *, why: str = "") -> Rows[Entry]:
        """Take a student out of a competition; answers the entries that leave."""
        return await self.do(competition_calls.revoke(name, student, why))

    async def restore(self, name: str, student: str, *, why: str = "") -> None:
        """Let a student back in that was taken out."""
        await self.do(competition_calls.restore(name, student, why))

    async def announcements(self, name: str) -> Rows[Announcement]:
        """The announcements of a competition, newest first."""
        return await self.do(competition_calls.announcements(name))

    async def announce(self, name: str, text: str) -> Announcement:
        """Publish a text on the page of a competition."""
        return await self.do(competition_calls.announce(name, text))

    async def staff(self, name: str) -> Rows[Staff]:
        """The staff of a competition, owners first; empty if every organiser is an owner."""
        return await self.do(competition_calls.staff(name))

    async def add_staff(
        self,
        name: str,
        player: str,
        role: Literal["owner", "assistant", "reader"],
        *,
        why: str = "",
    ) -> Staff:
        """Give a player a role in a competition; it replaces an earlier role."""
        return await self.do(competition_calls.add_staff(name, player, role, why))

    async def remove_staff(self, name: str, player: str, *, why: str = "") -> None:
        """Take a player's role in a competition away."""
        await self.do(competition_calls.remove_staff(name, player, why))

    async def reissue_token(
        self, name: str, student: str, *, member: str = "", why: str = ""
    ) -> Joining:
        """Revoke a student's lost token; the answer has a new one, shown only here."""
        return await self.do(competition_calls.reissue_token(name, student, member, why))

    async def regrades(self, name: str) -> Rows[Regrade]:
        """The requests for a regrade that one may see, open ones first."""
        return await self.do(competition_calls.regrades(name))

    async def ask_regrade(self, name: str, text: str, *, match: str = "") -> Regrade:
        """Ask the staff to look at a match of one's own, or at one's grade, again."""
        return await self.do(competition_calls.ask_regrade(name, text, match))

    async def answer_regrade(
        self, name: str, number: int, text: str = "", *, close: bool = False
    ) -> Regrade:
        """Answer a request for a regrade, close it, or both."""
        return await self.do(competition_calls.answer_regrade(name, number, text, close))

    async def codes(self, name: str) -> Rows[Code]:
        """The codes of a competition."""
        return await self.do(competition_calls.codes(name))

    async def new_code(
        self,
        name: str,
        uses: int,
        *,
        expires: str = "",
        group: str = "",
        late_until: str = "",
        why: str = "",
    ) -> Code:
        """Make a code by which so many students join."""
        return await self.do(
            competition_calls.new_code(
                name, uses=uses, expires=expires, group=group, late_until=late_until, why=why
            )
        )

    async def revoke_code(self, code: str) -> None:
        """Let nobody in by a code any more."""
        await self.do(competition_calls.revoke_code(code))

    async def join(self, code: str, *, player: str = "") -> Joining:
        """Join a competition by a code; with a token, the account of that token joins."""
        return await self.do(competition_calls.join(code, player))

    async def versions(self, bot: str = "") -> Rows[Version]:
        """The versions of one's own bots, newest first, and where each is entered."""
        return await self.do(competition_calls.versions(bot))

    async def enter(self, name: str, bot: str, *, version: str = "", replace: str = "") -> Entry:
        """Choose which bot and version of one's own plays, until the freeze."""
        return await self.do(competition_calls.enter(name, bot, version, replace))

    async def submit(
        self,
        path: str | os.PathLike[str],
        *,
        bot: str = "",
        competition: str = "",
        version: str = "",
    ) -> Submission:
        """Submit a bot for the server to run: a Python file, a folder or a zip.

        It waits for its check then; `submission` says what came of it.  It plays in
        ``competition``, or without one wherever a bot that connects is entered.
        """
        file, data = await asyncio.to_thread(packed, path)
        return await self.do(calls.submit(file, data, bot, competition, version))

    async def submissions(self, bot: str = "") -> Rows[Submission]:
        """Return your submissions, newest first, without the reports of the checks."""
        return await self.do(calls.submissions(bot))

    async def submission(self, number: int) -> Submission:
        """A submission, with what its check said."""
        return await self.do(calls.submission(number))

    async def remove_submission(self, number: int) -> None:
        """Remove a submission of one's own that plays in no competition."""
        await self.do(calls.drop_submission(number))
