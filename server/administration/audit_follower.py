"""Actions of organisers, carried out by the running server.

Every action of an organiser is an entry in the audit log of the database.  It comes from the API of
this server or from the command line on the same database.  The server reads new entries every
second, and at once after its own actions.  Then it acts: it closes connections, ends matches,
or changes the course of competitions.  Both sources take this one path, so both have the same
effect.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Container, Hashable, Mapping
from typing import Final, Literal, Protocol, TypeAlias

from plyhouse.protocol.api.people import AuditEntry
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.jobs.periodic import LOOK_SECONDS, Periodic
from plyhouse.server.match.presence import Presence
from plyhouse.server.results.leaderboards import RatingRefits
from plyhouse.server.table.live_matches import LiveMatches
from plyhouse.storage import audit, people, sessions, suspensions, voiding
from plyhouse.storage.causes import Cause
from plyhouse.storage.errors import PERSISTENT_ATTEMPTS, TRANSIENT, Unknown
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.administration.audit_follower")

LoginKind: TypeAlias = Literal["token", "session", "player", "bot"]
"""The reasons to refuse a login: its token, its browser session, its player or its bot."""

LOGIN_KINDS: Final[Mapping[str, LoginKind]] = {"token": "token", "player": "player", "bot": "bot"}
"""The kinds that the audit log names."""


class Connections(Protocol):
    """The actions on connected bots (`plyhouse.server.gateway.hub.Hub`)."""

    def expel(
        self, kind: LoginKind, ids: Container[int], code: str, text: str, *, keep_matches: bool
    ) -> None:
        """Close the connections of the bots whose id of this kind is in ``ids``."""

    def open_sessions(self) -> set[int]:
        """Return the browser sessions whose connections are open."""

    def rename(self, player_id: int, name: str) -> None:
        """Disconnect a player's bots, so that they connect by their new names and play on."""

    def suspend(self, version_id: int, reason: str) -> None:
        """Stop pairing a version; without a reason, pair it again."""


class AuditFollower:
    """Reads new entries of the audit log and carries them out on this server."""

    def __init__(
        self,
        store: Store,
        connections: Connections,
        *,
        live_matches: LiveMatches,
        privacy: Privacy,
        competitions: Competitions,
        ratings: RatingRefits,
        forget_names: Callable[[], None],
    ) -> None:
        """``forget_names`` is called when an account has another name or none any more."""
        self._store = store
        self._connections = connections
        self._live_matches = live_matches
        self._privacy = privacy
        self._competitions = competitions
        self._ratings = ratings
        self._forget_names = forget_names
        self._mark = 0
        """The id of the last entry that was carried out."""
        self._failures = 0
        """How many times carrying out the next entry has failed."""
        self._banned: set[tuple[str, Hashable]] = set()
        """Tokens, players and bots banned since the start, for logins that are under way."""
        self._follower = Periodic(self.look, LOOK_SECONDS, "reading of the audit log", log)
        self._looking = asyncio.Lock()

    async def mark(self) -> None:
        """Note where the log ends; `start` acts on later entries.

        Call this before anything is restored, so that no action in between is missed.
        """
        self._mark = await self._store.read(audit.mark)

    async def start(self) -> None:
        """Void the matches voided while no server ran, then follow the log."""
        for match_id in await self._store.read(voiding.void_running):
            self._live_matches.abort(match_id, Cause("voided"))
        self._follower.start()

    async def close(self) -> None:
        """Stop following the log."""
        await self._follower.close()

    async def look(self) -> None:
        """Act on new entries of the audit log.

        Raises the error that keeps it from acting, such as a `StorageError`.  The next look begins
        with the same entry; acting twice does no harm.  After `PERSISTENT_ATTEMPTS` failures that
        are not `TRANSIENT` it logs the error and skips the entry, so that later ones are carried
        out.
        """
        async with self._looking:
            for entry in await self._store.read(audit.since, self._mark):
                try:
                    await self._act(entry)
                except TRANSIENT:
                    raise
                except Exception:
                    self._failures += 1
                    if self._failures < PERSISTENT_ATTEMPTS:
                        raise
                    log.exception("audit failed", extra={"what": entry.what, "who": entry.who})
                self._mark, self._failures = entry.id, 0
                log.info(
                    "audit",
                    extra={
                        "who": entry.who,
                        "what": entry.what,
                        "subject": entry.subject,
                        "why": entry.why,
                    },
                )

    def check(self, bot: Presence) -> None:
        """Raise `ProtocolError` if an organiser banned a bot while its login was under way."""
        if ("token", bot.token_id) in self._banned:
            raise ProtocolError("auth/revoked")
        who = ("player", bot.player_id), ("bot", bot.bot_id)
        if not self._banned.isdisjoint(who):
            raise ProtocolError("auth/disabled")

    def forget_players(self, gone: Container[int]) -> None:
        """Lift the bans of deleted players, because later players may get their numbers."""
        self._banned = {
            (kind, each)
            for kind, each in self._banned
            if not (kind == "player" and isinstance(each, int) and each in gone)
        }

    async def _act(self, entry: AuditEntry) -> None:
        kind, _, action = entry.what.partition(".")
        if kind in ("competition", "student"):
            if kind == "competition":
                await self._privacy.refresh(entry.subject_id)
            await self._competitions.changed(entry.subject_id)
        elif kind == "version":
            reason = await self._store.read(suspensions.reason_of, int(entry.subject_id))
            self._connections.suspend(int(entry.subject_id), reason)
        elif kind == "match":
            self._live_matches.abort(entry.subject_id, Cause("voided"))
            self._ratings.played(entry.subject)
        elif action in ("revoke", "disable"):
            self._banned.add((kind, int(entry.subject_id)))
            code = "auth/revoked" if kind == "token" else "auth/disabled"
            ids, keep = (int(entry.subject_id),), entry.keep_matches
            self._connections.expel(LOGIN_KINDS[kind], ids, code, "", keep_matches=keep)
            if kind == "token":
                # Sessions of a password that was set with the token ended with it.
                there = self._connections.open_sessions()
                gone = await self._store.read(sessions.ended, there)
                self._connections.expel("session", gone, code, "", keep_matches=keep)
        elif action == "enable":
            self._banned.discard((kind, int(entry.subject_id)))
        elif action == "erase":
            self._forget_names()
        elif action == "rename":
            self._forget_names()
            with contextlib.suppress(Unknown):  # the account was erased
                row = await self._store.read(people.player_by_id, int(entry.subject_id))
                self._connections.rename(row.id, row.name)
