"""The store: queries and changes of a database, awaited by the server.

Queries are functions of a connection in the modules of this package.  `Store.read` and
`Store.write` run one in a transaction: ``await store.read(class_sql.find, name)``.  Pass
`Store.now` to functions that take the time.

Methods raise `plyhouse.storage.errors.StorageError`, whose subclasses say what is wrong. What is
written has reached the disk when a method returns. For the stream of actions during matches use
`plyhouse.storage.writer.Writer`, which shares transactions between matches.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Concatenate, Final, ParamSpec, Self, TypeVar, cast

from sqlalchemy import Connection

from plyhouse.storage import (
    class_bots,
    commit_check,
    competitions,
    leaderboards,
    match_lists,
    people,
    probation,
    schema,
)
from plyhouse.storage import match_reads as records
from plyhouse.storage.administration import Administration
from plyhouse.storage.careers import Careers
from plyhouse.storage.database import Database
from plyhouse.storage.erasure import Erasure
from plyhouse.storage.errors import ClaimLost, DatabaseFull, InDoubt
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.match_writes import operations
from plyhouse.storage.outputs import Outputs
from plyhouse.storage.privacy import private
from plyhouse.storage.probation import Probation
from plyhouse.storage.regrades import Regrades
from plyhouse.storage.rows import (
    BotRow,
    CompetitionOverview,
    CompetitionRow,
    EntryRow,
    EventRow,
    Identity,
    MatchRow,
    Op,
    PairResult,
    PlayedSeat,
    PlayerRow,
    RatingLike,
    Snapshot,
    Standing,
    StoredMatch,
    TokenRow,
    wall_ms,
)
from plyhouse.storage.sessions import Sessions
from plyhouse.storage.statements import ROWS_AT_ONCE
from plyhouse.storage.submissions import Submissions

__all__ = ["Store"]

P = ParamSpec("P")
T = TypeVar("T")

_TOUCH_EVERY_MS = 60_000
LEAST_FREE: Final = 8 * 1024 * 1024
"""Bytes left on the disk of a database file below which it counts as full."""
_EVENTS = {EventRow}


class Store:
    """An open Plyhouse database; made by `Store.open`, also usable with ``async with``."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock
        self._operations = operations(database.dialect)
        self.administration = Administration(database, clock)
        """What organisers do, noted in the audit log."""
        self.careers = Careers(database)
        """What single bots have done."""
        self.probation = Probation(database, clock)
        """Versions that are suspended after repeated forfeits."""
        self.erasure = Erasure(database, clock)
        """People who are erased."""
        self.regrades = Regrades(database, clock)
        """Requests of students to look at a result again."""
        self.sessions = Sessions(database, clock)
        """People at browsers: sessions, passwords, guests."""
        self.submissions = Submissions(database)
        """Bots that were handed in for the server to run."""
        self.outputs = Outputs(database)
        """What these printed in their matches."""

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        migrate: bool = True,
        create: bool = True,
        clock: Callable[[], int] = wall_ms,
    ) -> Store:
        """Open the database at a URL (see `plyhouse.storage.urls`), made or migrated if need be.

        Without ``create`` a file that does not exist raises `CannotOpen` and is not made.
        Without ``migrate`` a database of an older schema raises `OlderSchema`. ``clock`` gives
        the wall-clock time in ms.
        """
        private(url, create=create)
        return cls(await Database.open(url, migrate=migrate, create=create), clock)

    async def claim(self) -> None:
        """Be the one server of this database until it is closed; raises `ServedAlready`.

        Stores that are open for a moment, to add a player or read a record, need no claim.
        """
        await self._database.claim()

    async def claim_lost(self) -> ClaimLost:
        """Wait until this is not the one server of the database any more; return why.

        From then on everything that writes raises it.  Happens with PostgreSQL only, when the
        connection is lost for long or another server was quicker to claim the database.
        """
        return await self._database.claim_lost()

    async def close(self) -> None:
        """Close the connections; close a `Writer` of this store before."""
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def probe(self) -> None:
        """Write something and see it reach the disk; raises what keeps that from happening.

        Also raises `DatabaseFull` while a file's disk has next to no room left: writing within
        what the log has already taken up would still work then, and not for long.
        """
        target = self._database.target
        now = self._clock()
        await self._database.write(lambda c: schema.put_meta(c, "probed_ms", str(now)))
        if target.path is not None:
            free = shutil.disk_usage(target.path.absolute().parent).free
            if free < LEAST_FREE:
                raise DatabaseFull(
                    f"the disk that holds {target.place} has {free:,} bytes left; make room on it"
                )

    def now(self) -> int:
        """Return the wall-clock time by which the database keeps dates, in ms."""
        return self._clock()

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``query(connection, *args, **kwargs)`` on one consistent state of the database.

        The database refuses a query that writes.
        """
        return await self._database.read(lambda c: query(c, *args, **kwargs))

    async def write(
        self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``change(connection, *args, **kwargs)`` in a transaction; return once it is durable.

        ``change`` may run again after its transaction was rolled back.
        """
        return await self._database.write(lambda c: change(c, *args, **kwargs))

    @property
    def place(self) -> str:
        """Name of the database for messages, without a password."""
        return self._database.target.place

    # people

    async def add_player(self, name: str, display: str = "") -> PlayerRow:
        """Make a player; raises `InvalidName` or `AlreadyExists` (names ignore case)."""
        now = self._clock()
        return await self._database.write(lambda c: people.add_player(c, name, now, display))

    async def player(self, name: str) -> PlayerRow:
        """Return the player of that name in any case; raises `Unknown`."""
        return await self._database.read(lambda c: people.player(c, name))

    async def players(self) -> list[PlayerRow]:
        """Return all players by name."""
        return await self._database.read(people.list_players)

    async def add_token(
        self, player: str | int | PlayerRow, scopes: Sequence[str] = ("play",), label: str = ""
    ) -> str:
        """Make a token for a player (name, id or row); this is the only time it can be seen."""
        now = self._clock()
        player_id = await self._player_id(player)
        return await self._database.write(
            lambda c: people.add_token(c, player_id, scopes, label, now)
        )

    async def tokens(self, player: str | int | PlayerRow) -> list[TokenRow]:
        """Return what is known of a player's tokens, the revoked ones too."""
        player_id = await self._player_id(player)
        return await self._database.read(lambda c: people.list_tokens(c, player_id))

    async def revoke_token(self, key: int | str) -> TokenRow:
        """Revoke a token by its id, its first characters or itself; doing so twice is fine."""
        now = self._clock()
        return await self._database.write(lambda c: people.revoke_token(c, key, now))

    async def authenticate(self, token: str) -> Identity | None:
        """Return whose token this is, None for nobody's; raises `TokenRevoked` or `Disabled`."""
        found = await self._database.read(lambda c: people.authenticate(c, token))
        if found is None:
            return None
        identity, last_used = found
        now = self._clock()
        stale = last_used is None or now - last_used >= _TOUCH_EVERY_MS
        if stale and not self._database.target.read_only:
            token_id = identity.token_id
            self._database.write_behind(lambda c: people.touch_token(c, token_id, now))
        return identity

    async def ensure_bot(
        self, player_id: int, name: str, kind: str = "bot", limit: int | None = None
    ) -> BotRow:
        """Return a player's bot by name (empty: the player's own), made now if need be.

        Raises `LimitReached` if the player has ``limit`` others already.
        """
        if name:
            people.check_name(name, "bot")
            found = await self._database.read(lambda c: people.find_bot(c, player_id, name))
            if found is not None:
                return found
        now = self._clock()
        return await self._database.write(
            lambda c: people.ensure_bot(c, player_id, name, kind, now, limit)
        )

    async def ensure_version(
        self, bot_id: int, label: str, limit: int | None = None, *, digest: str = ""
    ) -> int:
        """Return the id of a bot's version by label and digest, made now if need be.

        Raises `LimitReached` if the bot has ``limit`` others already.
        """
        now = self._clock()
        return await self._database.write(
            lambda c: people.ensure_version(c, bot_id, label, now, limit, digest)
        )

    async def log_in(
        self,
        bot: BotRow,
        label: str,
        limit: int | None = None,
        *,
        digest: str = "",
        games: Collection[str] = (),
    ) -> int:
        """Like `ensure_version`, and the bot submits it to the competitions of its student.

        ``games`` are those that it accepts; where it plays none of them it is not entered.
        """
        now = self._clock()

        def work(connection: Connection) -> int:
            version = people.ensure_version(connection, bot.id, label, now, limit, digest)
            class_bots.has_connected(connection, version)
            class_bots.submit(connection, bot.player_id, bot.id, version, now, games)
            return version

        return await self._database.write(work)

    async def known_login(
        self, player_id: int, name: str, label: str, digest: str = ""
    ) -> tuple[BotRow, int, str] | None:
        """Return a bot, its version and why that is suspended, if `log_in` need not write.

        None if the bot or the version is new, or may be submitted to a competition.  A bot that
        comes back in the middle of a match is known: its clock must not wait for commits.  Raises
        `InvalidName` for names and labels that nothing can have.
        """
        now = self._clock()
        people.check_name(name, "bot")

        def work(connection: Connection) -> tuple[BotRow, int, str] | None:
            row = people.find_bot(connection, player_id, name)
            if row is None:
                return None
            version = people.find_version(connection, row.id, label, digest)
            if version is None or class_bots.changes(connection, row, version, now):
                return None
            return row, version, probation.reason_of(connection, version)

        return await self._database.read(work)

    async def bot(self, bot_id: int) -> BotRow:
        """Return a bot by id; raises `Unknown`."""
        return await self._database.read(lambda c: people.bot(c, bot_id))

    async def bot_named(self, player: str, name: str) -> BotRow:
        """Return a player's bot by name (empty: the player's own); raises `Unknown`."""
        return await self._database.read(lambda c: people.bot_named(c, player, name))

    async def bots_of(self, players: Iterable[str]) -> list[BotRow]:
        """Return all bots of the players of these names in any case; unknown ones have none."""
        return await self._database.read(lambda c: people.bots_of(c, players))

    async def bots(self, player_id: int | None = None) -> list[BotRow]:
        """Return a player's bots, or everyone's."""
        return await self._database.read(lambda c: people.list_bots(c, player_id))

    # matches

    async def apply(self, ops: Iterable[Op]) -> None:
        """Store operations in one transaction of their own: all of them or none."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(error: BaseException | None) -> None:
            if future.cancelled():
                return
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

        self.apply_soon(list(ops), done)
        await future

    def apply_soon(self, ops: Sequence[Op], done: Callable[[BaseException | None], None]) -> None:
        """Like `apply`, with a callback, which the event loop calls when they are durable.

        It is told None, or the `StorageError` that `apply` would raise (ValueError for returns
        that do not fit the match).
        """
        if set(map(type, ops)) == _EVENTS:
            rows = cast("Sequence[EventRow]", ops)
            single = len(rows) <= ROWS_AT_ONCE
            add = self._operations.add_events
            self._database.write_soon(lambda link: add(link, rows), done, one_statement=single)
        else:
            apply = self._operations.apply
            self._database.write_soon(lambda link: apply(link, ops), done)

    async def has(self, ops: Sequence[Op]) -> bool:
        """Whether all these operations are stored: asked of a transaction that is in doubt."""
        return await self._database.read(lambda c: commit_check.all_stored(c, ops))

    async def running_matches(self) -> list[StoredMatch]:
        """Return all unfinished matches with seeds and events: what recovery needs."""
        return await self._database.read(records.running_matches)

    async def match(self, match_id: str) -> StoredMatch:
        """Return one match with its secret seed and its events; raises `Unknown`."""
        return await self._database.read(lambda c: records.stored_match(c, match_id))

    async def list_matches(
        self,
        *,
        game: str | None = None,
        player_id: int | None = None,
        bot_id: int | None = None,
        competition_id: str | None = None,
        status: str | None = None,
        rated: bool | None = None,
        limit: int = 50,
        before: str | None = None,
        closed: Collection[str] = (),
        viewer: int | None = None,
    ) -> list[MatchRow]:
        """Return headers, newest first; ``before`` is the last id of the page before.

        ``status`` is waiting, running or finished. Seeds are empty until the pairing is over.
        Of competitions with a class that are ``closed`` to the player ``viewer`` (by their ids)
        only its own matches are there.
        """
        wanted = MatchFilter(
            game=game,
            player_id=player_id,
            bots=() if bot_id is None else ((bot_id,),),
            competition_ids=None if competition_id is None else (competition_id,),
            status=status,
            rated=rated,
            closed=frozenset(closed),
            viewer=viewer,
        )
        return await self.matches_like(wanted, limit=limit, before=before)

    async def matches_like(
        self, wanted: MatchFilter, *, limit: int = 50, before: str | None = None
    ) -> list[MatchRow]:
        """Return headers, newest first; ``before`` is the last id of the page before."""
        return await self._database.read(
            lambda c: match_lists.list_matches(c, wanted, limit=limit, before=before)
        )

    # leaderboards

    async def leaderboard(
        self,
        game: str,
        limit: int = 100,
        offset: int = 0,
        *,
        every_version: bool = False,
        by_mean: bool = False,
    ) -> list[Standing]:
        """Return a page of the leaderboard of a game (canonical spec), best first.

        Of each bot there is the version that it played with last, or ``every_version``;
        ``by_mean`` ranks by the mean return, for games of one seat.
        """
        return await self._database.read(
            lambda c: leaderboards.leaderboard(
                c, game, limit, offset, every_version=every_version, by_mean=by_mean
            )
        )

    async def games_with_results(self) -> list[str]:
        """Return the specs of all games that have a leaderboard."""
        return await self._database.read(leaderboards.games_with_results)

    async def pair_results(self, game: str) -> list[PairResult]:
        """Return the counted results between every two versions that met in a game."""
        return await self._database.read(lambda c: leaderboards.pair_results_of(c, game))

    async def save_ratings(self, game: str, ratings: Mapping[int, RatingLike]) -> None:
        """Put fitted ratings, by version id, on the leaderboard and into the history."""
        now = self._clock()
        await self._database.write(lambda c: leaderboards.save_ratings(c, game, ratings, now))

    async def rating_history(self, game: str, bot_id: int) -> list[Snapshot]:
        """Return the ratings of a bot's versions over time, oldest first."""
        return await self._database.read(lambda c: leaderboards.rating_history(c, game, bot_id))

    # competitions

    async def create_competition(self, row: CompetitionRow, bot_ids: Sequence[int] = ()) -> None:
        """Store a competition and enter bots in one transaction; raises `AlreadyExists`."""

        def create(connection: Connection) -> None:
            competitions.create_competition(connection, row, bot_ids)

        try:
            await self._database.write(create)
        except InDoubt:
            if row not in await self.competitions(of_classes=True):
                await self._database.write(create)

    async def competitions(self, *, of_classes: bool = False) -> list[CompetitionRow]:
        """Return all competitions, newest first; ``of_classes``: also single games of finals."""
        return await self._database.read(
            lambda c: competitions.list_competitions(c, of_classes=of_classes)
        )

    async def competition(self, competition_id: str) -> CompetitionRow:
        """Return a competition; raises `Unknown`."""
        return await self._database.read(lambda c: competitions.competition(c, competition_id))

    async def set_competition_status(self, competition_id: str, status: str) -> None:
        """Move a competition to open, running or finished."""
        now = self._clock()
        await self._database.write(
            lambda c: competitions.set_status(c, competition_id, status, now)
        )

    async def suspend_competition(self, competition_id: str, why: str) -> None:
        """Note that a competition cannot go on for now, and why; `NotNow` if it is finished."""
        await self._database.write(lambda c: competitions.suspend(c, competition_id, why))

    async def resume_competition(self, competition_id: str) -> CompetitionRow:
        """Give a suspended competition back the status that it had, and return it."""
        return await self._database.write(lambda c: competitions.resume(c, competition_id))

    async def entries(self, competition_id: str) -> list[EntryRow]:
        """Return the entries in the order they were made."""
        return await self._database.read(lambda c: competitions.list_entries(c, competition_id))

    async def pairings_of(self, competition_id: str) -> list[str]:
        """Return the ids of a competition's pairings that are stored."""
        return await self._database.read(lambda c: competitions.pairings_of(c, competition_id))

    async def void_matches(self, competition_id: str) -> dict[str, list[tuple[int, ...]]]:
        """Return, by pairing, a competition's finished matches without a result: their bots in
        seat order.
        """
        return await self._database.read(lambda c: competitions.void_matches(c, competition_id))

    async def played_seats(self, competition_id: str) -> list[PlayedSeat]:
        """Return the seats of all matches of a competition, match by match."""
        return await self._database.read(lambda c: competitions.played_seats(c, competition_id))

    async def note_left(self, competition_id: str, left: Mapping[int, int]) -> None:
        """Keep since which round bots are gone."""
        await self._database.write(lambda c: competitions.note_left(c, competition_id, left))

    async def overview(self, competition_id: str) -> CompetitionOverview:
        """Return a competition with entries, progress and table; raises `Unknown`."""
        return await self._database.read(lambda c: competitions.overview(c, competition_id))

    async def _player_id(self, player: str | int | PlayerRow) -> int:
        if isinstance(player, PlayerRow):
            return player.id
        if isinstance(player, int):
            return player
        return (await self.player(player)).id
