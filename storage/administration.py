"""What organisers do to people, matches and competitions, each noted in the audit log.

Every change and its entry in the log are one transaction.  A running server reads the log every
second (`Administration.since`) and acts on what it finds, so that it makes no difference whether
something was done over its API or on the database by the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection

from plyhouse.storage import audit, competitions, people, people_changes, voiding
from plyhouse.storage.database import Database
from plyhouse.storage.rows import (
    AuditRow,
    BotRow,
    By,
    CompetitionRow,
    EntryRow,
    MatchScores,
    PlayerRow,
    TokenRow,
)

__all__ = ["Administration"]

T = TypeVar("T")


class Administration:
    """The organiser's part of a store; `plyhouse.storage.store.Store.administration`."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    # the audit log

    async def mark(self) -> int:
        """Return the id of the last entry of the audit log; 0 while it is empty."""
        return await self._database.read(audit.mark)

    async def since(self, mark: int) -> list[AuditRow]:
        """Return the entries after one, oldest first: none is ever added before another."""
        return await self._database.read(lambda c: audit.since(c, mark))

    async def log(self, limit: int = 100, before: int | None = None) -> list[AuditRow]:
        """Return the latest entries, newest first; ``before`` is the last id of a page before."""
        return await self._database.read(lambda c: audit.latest(c, limit, before))

    # tokens, players and bots

    async def revoke_token(self, key: int | str, by: By, *, keep_matches: bool = True) -> TokenRow:
        """Revoke a token by its id, its first characters or itself; twice is fine."""

        def work(connection: Connection, now: int) -> TokenRow:
            row = people.revoke_token(connection, key, now)
            owner = people.player_by_id(connection, row.player_id)
            subject = f"{row.prefix}... of {owner.name}"
            audit.add(connection, now, by, "token.revoke", subject, row.id, keep_matches)
            return row

        return await self._write(work)

    async def disable_player(self, name: str, by: By, *, keep_matches: bool = False) -> PlayerRow:
        """Keep a player from logging in until `enable_player`; raises `Unknown`."""
        return await self._write(
            lambda c, now: people_changes.disable_player(c, name, by, now, keep_matches)
        )

    async def enable_player(self, name: str, by: By) -> PlayerRow:
        """Let a disabled player in again; raises `Unknown`."""
        return await self._write(lambda c, now: people_changes.enable_player(c, name, by, now))

    async def rename_player(self, name: str, new: str, by: By) -> PlayerRow:
        """Give a player another name, also in what is past; matches are played on.

        Raises `Unknown`, `InvalidName` or `AlreadyExists`.
        """
        return await self._write(lambda c, now: people_changes.rename_player(c, name, new, by, now))

    async def set_display(self, name: str, display: str, by: By) -> PlayerRow:
        """Set the name shown beside a player's own (empty: none); raises `InvalidName`."""
        return await self._write(
            lambda c, now: people_changes.set_display(c, name, display, by, now)
        )

    async def disable_bot(
        self, player: str, bot: str, by: By, *, keep_matches: bool = False
    ) -> BotRow:
        """Keep a bot from logging in until `enable_bot`; raises `Unknown`."""
        return await self._write(
            lambda c, now: people_changes.disable_bot(c, player, bot, by, now, keep_matches)
        )

    async def enable_bot(self, player: str, bot: str, by: By) -> BotRow:
        """Let a disabled bot in again; raises `Unknown`."""
        return await self._write(lambda c, now: people_changes.enable_bot(c, player, bot, by, now))

    # matches

    async def void_match(self, match_id: str, by: By, scores: MatchScores | None) -> None:
        """Let a match count nowhere any more, while it stays in the record.

        ``scores`` is what it counted for, by the rules that storage does not know; None for one
        that is not over or had no result.  Raises `Unknown`, or `AlreadyExists` if it is void.
        """
        await self._write(lambda c, now: voiding.void_match(c, match_id, by, scores, now))

    async def void_running(self) -> list[str]:
        """Return the ids of matches that were made void and are not over."""
        return await self._database.read(voiding.void_running)

    # competitions

    async def set_competition_status(
        self, competition_id: str, status: str, by: By
    ) -> CompetitionRow:
        """Let a competition be ``paused``, ``running`` (again) or ``deleted``.

        A deleted one is listed nowhere; its matches stay in the record and on the leaderboard.
        Raises `Unknown`, or `NotNow` where its present status does not allow it.
        """

        def work(connection: Connection, now: int) -> CompetitionRow:
            row = competitions.change_status(connection, competition_id, status, now)
            what = {"running": "resume", "paused": "pause", "deleted": "delete"}[status]
            audit.add(connection, now, by, f"competition.{what}", row.name, row.id)
            return row

        return await self._write(work)

    async def withdraw(
        self, competition_id: str, bot_id: int, by: By, *, tell: bool = False
    ) -> EntryRow:
        """Take a bot out of what is still to be played of a competition; raises `Unknown`.

        ``tell``: everybody who sees the board may know why.
        """

        def work(connection: Connection, now: int) -> EntryRow:
            row = competitions.competition(connection, competition_id)
            entry = competitions.withdraw(connection, competition_id, bot_id, by.why * tell)
            subject = f"{entry.player}/{entry.bot} from {row.name}"
            audit.add(connection, now, by, "competition.withdraw", subject, row.id)
            return entry

        return await self._write(work)

    async def _write(self, work: Callable[[Connection, int], T]) -> T:
        now = self._clock()
        return await self._database.write(lambda connection: work(connection, now))
