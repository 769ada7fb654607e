"""Erasing a person on a running server: nothing in memory names it afterwards.

What is stored is `plyhouse.storage.erasure`'s part.  Connections of the account end as those of a
disabled one do, as both steps stand in the audit log; here, what this server remembers is dropped.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.roles import require
from plyhouse.server.competition.staff import OWNER
from plyhouse.storage.erasure import Erased
from plyhouse.storage.rows import By, Identity

if TYPE_CHECKING:
    from plyhouse.server.gateway.hub import Hub

__all__ = ["admit", "erase"]

log = logging.getLogger("plyhouse.server.administration.erasure")


async def admit(hub: Hub, account: str, identity: Identity) -> None:
    """Raise for who may not erase an account, nor read all that is stored about it.

    Administrators may, and organisers who own every competition that it is a student of, and one
    that made the account: anybody can take an account of somebody else into a competition.
    """
    if "admin" in identity.scopes:
        return
    courses = await hub.store.erasure.courses(account)
    if "organise" not in identity.scopes or not courses:
        raise ProtocolError(
            "auth/scope", f"{account} is no student of yours: ask an administrator."
        )
    makers = await hub.store.erasure.makers(account)
    if not makers:
        raise ProtocolError(
            "auth/scope",
            f"{account} had its account before it joined a competition: ask an administrator.",
        )
    roles = [await hub.store.classes.role(each, identity.player_id) for each in makers]
    if OWNER not in roles:
        raise ProtocolError(
            "auth/scope",
            f"a competition that you do not own made the account {account}: ask an administrator.",
        )
    for each in courses:
        await require(hub.store, await hub.store.classes.find(each), identity, "change")


async def erase(hub: Hub, account: str, by: By) -> Erased:
    """Erase a person: an account with its members, its bots and all that they wrote.

    Raises `Unknown` and `ClassRefusal`; see `plyhouse.storage.erasure.Erasure.begin`.
    """
    row = await hub.store.erasure.begin(account, by)
    await hub.audit_follower.look()  # its connections end, so that nothing of it begins any more
    erased = await hub.store.erasure.finish(row.id, by)
    hub.directory.drop_recent(row.id)
    hub.boards.forget()
    hub.reports.forget()
    await hub.audit_follower.look()
    log.info("account erased", extra={"player": erased.pseudonym, "by": by.who})
    return erased
