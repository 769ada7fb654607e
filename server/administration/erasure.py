"""Erase a person on a running server, so that no data in memory names this person.

`plyhouse.storage.erasure` changes the database.  Both of its steps are in the audit log.  After
the first one, every server closes the connections of the account as if it were disabled.  After the
second one, it forgets cached names.
"""

from __future__ import annotations

import logging

from plyhouse.protocol.api.people import ErasedPlayer
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.roles import OWNER, require
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.table.directory import Directory
from plyhouse.storage import competition_sql, competition_staff, erasure
from plyhouse.storage.rows import By, Identity
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.administration.erasure")


class Eraser:
    """Erases accounts, and decides who may do so."""

    def __init__(
        self,
        store: Store,
        audit_follower: AuditFollower,
        directory: Directory,
    ) -> None:
        self._store = store
        self._audit_follower = audit_follower
        self._directory = directory

    async def admit(self, account: str, identity: Identity) -> None:
        """Check that an identity may erase an account or read everything stored about it.

        Administrators may.  An organiser may if they own every competition of this student, and one
        of these competitions created the account.  The second condition matters because anybody can
        add an existing account to a competition.  Raises `ProtocolError` for everyone else.
        """
        if "admin" in identity.scopes:
            return
        joined = await self._store.read(erasure.competitions_of, account)
        if "organise" not in identity.scopes or not joined:
            raise ProtocolError(
                "auth/scope", f"{account} is no student of yours: ask an administrator."
            )
        makers = await self._store.read(erasure.makers, account)
        if not makers:
            raise ProtocolError(
                "auth/scope",
                f"{account} had its account before it joined a competition: ask an administrator.",
            )
        roles = [
            await self._store.read(competition_staff.role, each, identity.player_id)
            for each in makers
        ]
        if OWNER not in roles:
            raise ProtocolError(
                "auth/scope",
                f"a competition that you do not own made the account {account}: "
                "ask an administrator.",
            )
        for each in joined:
            await require(
                self._store, await self._store.read(competition_sql.find, each), identity, "change"
            )

    async def erase(self, account: str, by: By) -> ErasedPlayer:
        """Erase an account with its memberships, bots and everything it wrote.

        Raises `Unknown` and `CompetitionRefusal`; see `plyhouse.storage.erasure.begin`.
        """
        row = await self._store.write(erasure.begin, account, by, self._store.now())
        await self._audit_follower.look()  # closes its connections, so that no match begins
        erased = await self._store.erase(row.id, by)
        self._directory.drop_recent(row.id)
        await self._audit_follower.look()
        log.info("account erased", extra={"player": erased.pseudonym, "by": by.who})
        return erased
