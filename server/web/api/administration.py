"""Actions of organisers: suspend players, bots and tokens, void matches, steer competitions.

Everything is noted in the audit log with the player whose token was used.  People are the
business of the scope ``admin``, matches and competitions that of ``organise``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody, QueryParameter

from plyhouse.protocol.api import administration_calls, calls
from plyhouse.protocol.api.bodies import (
    Exclusion,
    Reason,
    Reinstatement,
    Renaming,
    Revocation,
)
from plyhouse.protocol.api.bots import Bot, Suspension
from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.api.people import AuditEntry, PlayerAccount, Token
from plyhouse.server.accounts.roles import admit_to_bot, admit_to_part, bots_seen
from plyhouse.server.administration.audit_follower import AuditFollower
from plyhouse.server.results.voiding import void_match
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import authorise, stored_for
from plyhouse.server.web.api.matches import with_live_ply
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import MAX_OFFSET, Limit, service
from plyhouse.storage import audit as stored_audit
from plyhouse.storage import match_reads, people, people_changes
from plyhouse.storage import suspensions as stored_suspensions
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

Call = Request[Any, Any, Any]


async def _by(request: Call, scope: str, why: str) -> By:
    return By((await authorise(request, scope)).player, why)


@asynccontextmanager
async def _measure(
    state: State, request: Call, scope: str, why: str
) -> AsyncIterator[tuple[Store, By]]:
    """Changes of permissions or results: affected connections and matches are updated before the
    answer is sent.
    """
    yield service(state, Store), await _by(request, scope, why)
    await service(state, AuditFollower).look()


@serve(administration_calls.disable_player, "administration")
async def disable_player(
    state: State, request: Call, name: FromPath[str], data: JSONBody[Exclusion]
) -> PlayerAccount:
    """Keep a player from logging in, and close its connections at once."""
    async with _measure(state, request, "admin", data.why) as (store, by):
        return await store.write(
            people_changes.disable_player, name, by, store.now(), keep_matches=data.keep_matches
        )


@serve(administration_calls.enable_player, "administration")
async def enable_player(
    state: State, request: Call, name: FromPath[str], data: JSONBody[Reason]
) -> PlayerAccount:
    """Let a player log in again."""
    async with _measure(state, request, "admin", data.why) as (store, by):
        return await store.write(people_changes.enable_player, name, by, store.now())


@serve(administration_calls.rename_player, "administration")
async def rename_player(
    state: State, request: Call, name: FromPath[str], data: JSONBody[Renaming]
) -> PlayerAccount:
    """Give a player another name; its bots have to connect again and play on."""
    async with _measure(state, request, "admin", data.why) as (store, by):
        return await store.write(people_changes.rename_player, name, data.name, by, store.now())


@serve(administration_calls.disable_bot, "administration")
async def disable_bot(
    state: State, request: Call, name: FromPath[str], bot: FromPath[str], data: JSONBody[Exclusion]
) -> Bot:
    """Keep a bot from logging in, and close its connection at once."""
    async with _measure(state, request, "admin", data.why) as (store, by):
        return await store.write(
            people_changes.disable_bot, name, bot, by, store.now(), keep_matches=data.keep_matches
        )


@serve(administration_calls.enable_bot, "administration")
async def enable_bot(
    state: State, request: Call, name: FromPath[str], bot: FromPath[str], data: JSONBody[Reason]
) -> Bot:
    """Let a bot log in again."""
    async with _measure(state, request, "admin", data.why) as (store, by):
        return await store.write(people_changes.enable_bot, name, bot, by, store.now())


@serve(administration_calls.suspensions)
async def suspensions(state: State, request: Call) -> list[Suspension]:
    """List suspended versions and why, latest first: players their own.

    Organisers see all but those that play only in competitions of others.
    """
    store = service(state, Store)
    identity = await authorise(request, "play", "organise")
    if identity.scopes.isdisjoint(("organise", "admin")):
        return await store.read(stored_suspensions.suspended, identity.player_id)
    found = await store.read(stored_suspensions.suspended)
    seen = await bots_seen(store, {each.bot_id for each in found}, identity, "see")
    return [each for each in found if each.bot_id in seen or each.player == identity.player]


@serve(administration_calls.reinstate, "administration")
async def reinstate(
    state: State,
    request: Call,
    name: FromPath[str],
    bot: FromPath[str],
    data: JSONBody[Reinstatement],
) -> list[Suspension]:
    """Let suspended versions of a bot be paired again; what they forfeited counts no more."""
    identity = await authorise(request, "organise")
    async with _measure(state, request, "organise", data.why) as (store, by):
        row = await store.read(people.bot_named, name, bot)
        await admit_to_bot(store, row.id, f"{row.player}/{row.name}", identity)
        return await store.write(
            stored_suspensions.reinstate, name, bot, by, store.now(), data.version
        )


@serve(administration_calls.revoke_token)
async def revoke_token(state: State, request: Call, data: JSONBody[Revocation]) -> Token:
    """Revoke a token, and close the connections that were opened with it at once."""
    async with _measure(state, request, "admin", data.why) as (store, by):
        return await store.write(
            people_changes.revoke_token, data.token, by, store.now(), keep_matches=data.keep_matches
        )


@serve(calls.void_match, "administration")
async def void(state: State, request: Call, match: FromPath[str], data: JSONBody[Reason]) -> Match:
    """Let a match count nowhere, and end it if it is being played; it stays in the record."""
    identity = await authorise(request, "organise")
    async with _measure(state, request, "organise", data.why) as (store, by):
        stored = await stored_for(request, match)
        await admit_to_part(store, stored.pairing.tournament_id, identity)
        await void_match(store, match, by)
    found = match_reads.shown((await store.read(match_reads.stored_match, match)).header)
    return with_live_ply(service(state, Directory), found)


@serve(administration_calls.audit)
async def audit(
    state: State,
    limit: Limit = 100,
    before: Annotated[int | None, QueryParameter(ge=1, le=MAX_OFFSET)] = None,
) -> list[AuditEntry]:
    """Show what organisers did, newest first; ``before`` is the last id of the page before."""
    return await service(state, Store).read(stored_audit.latest, limit, before)


HANDLERS: Final[tuple[Any, ...]] = (
    disable_player,
    enable_player,
    rename_player,
    disable_bot,
    enable_bot,
    suspensions,
    reinstate,
    revoke_token,
    void,
    audit,
)
