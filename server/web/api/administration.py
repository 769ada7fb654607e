"""What organisers do: players, bots and tokens shut out, matches void, competitions steered.

Everything is noted in the audit log with the player whose token was used.  People are the
business of the scope ``admin``, matches and competitions that of ``organise``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from litestar import Request, delete, get, post
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import Meta, Struct, convert

from plyhouse.protocol.api.bots import Suspension
from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.roles import admit_to_bot, admit_to_part, bots_seen
from plyhouse.server.competition.staff import Action
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.results.voiding import void_match
from plyhouse.server.web.api.access import authorise, first, stored_for
from plyhouse.server.web.api.matches import match_view
from plyhouse.server.web.parameters import MAX_OFFSET, Limit, hub_of
from plyhouse.storage.probation import SuspensionRow
from plyhouse.storage.rows import AuditRow, BotRow, By, PlayerRow, TokenRow

__all__ = ["HANDLERS"]

Why = Annotated[str, Meta(min_length=1, max_length=1000)]
Call = Request[Any, Any, Any]


class Exclusion(Struct, forbid_unknown_fields=True):
    """Why somebody is shut out."""

    why: Why
    keep_matches: bool = False
    """Play running matches on (without a connection they end by the clock), or forfeit them."""


class Reason(Struct, forbid_unknown_fields=True):
    """Why something is done."""

    why: Why


class Renaming(Struct, forbid_unknown_fields=True):
    """A player's new name."""

    name: Annotated[str, Meta(min_length=1, max_length=32)]
    why: Why


class Revocation(Struct, forbid_unknown_fields=True):
    """A token to revoke."""

    token: Annotated[str, Meta(min_length=5, max_length=128)]
    """The token, or the beginning of it that is shown."""
    why: Why
    keep_matches: bool = True


class Reinstatement(Struct, forbid_unknown_fields=True):
    """Which version is let in again, and why."""

    why: Why
    version: Annotated[str, Meta(max_length=100)] = ""
    """Its label, or the beginning of its digest; empty: all of the bot."""


class Withdrawal(Struct, forbid_unknown_fields=True):
    """Who leaves a competition."""

    entry: Annotated[str, Meta(min_length=1, max_length=65)]
    """``player/bot``."""
    why: Annotated[str, Meta(max_length=1000)] = ""


async def _by(request: Call, hub: Hub, scope: str, why: str) -> By:
    return By((await authorise(request, hub, scope)).player, why)


async def _steering(
    request: Call, hub: Hub, competition: str, why: str, action: Action = "run"
) -> By:
    """Return who steers a competition; raises `NotStaff` for a game of a final of others."""
    identity = await authorise(request, hub, "organise")
    await admit_to_part(hub.store, competition, identity, action)
    return By(identity.player, why)


@asynccontextmanager
async def _measure(
    state: State, request: Call, scope: str, why: str
) -> AsyncIterator[tuple[Hub, By]]:
    """What changes who may be here, or what counts: when it is done, connections and matches
    that it concerns are seen to before the answer goes out.
    """
    hub = hub_of(state)
    yield hub, await _by(request, hub, scope, why)
    await hub.audit_follower.look()


def _post(path: str, *scopes: str) -> Callable[[Callable[..., Any]], HTTPRouteHandler]:
    """A handler for those whose token has one of ``scopes``."""
    return post(
        path,
        tags=["administration"],
        security=[{"token": []}],
        status_code=200,
        guards=[first(*scopes)],
    )


@_post("/api/v1/players/{name:str}/disable", "admin")
async def disable_player(
    state: State, request: Call, name: FromPath[str], data: JSONBody[Exclusion]
) -> PlayerRow:
    """Keep a player from logging in, and close its connections at once."""
    async with _measure(state, request, "admin", data.why) as (hub, by):
        return await hub.store.administration.disable_player(
            name, by, keep_matches=data.keep_matches
        )


@_post("/api/v1/players/{name:str}/enable", "admin")
async def enable_player(
    state: State, request: Call, name: FromPath[str], data: JSONBody[Reason]
) -> PlayerRow:
    """Let a player log in again."""
    async with _measure(state, request, "admin", data.why) as (hub, by):
        return await hub.store.administration.enable_player(name, by)


@_post("/api/v1/players/{name:str}/rename", "admin")
async def rename_player(
    state: State, request: Call, name: FromPath[str], data: JSONBody[Renaming]
) -> PlayerRow:
    """Give a player another name; its bots have to connect again and play on."""
    async with _measure(state, request, "admin", data.why) as (hub, by):
        return await hub.store.administration.rename_player(name, data.name, by)


@_post("/api/v1/players/{name:str}/bots/{bot:str}/disable", "admin")
async def disable_bot(
    state: State, request: Call, name: FromPath[str], bot: FromPath[str], data: JSONBody[Exclusion]
) -> BotRow:
    """Keep a bot from logging in, and close its connection at once."""
    async with _measure(state, request, "admin", data.why) as (hub, by):
        return await hub.store.administration.disable_bot(
            name, bot, by, keep_matches=data.keep_matches
        )


@_post("/api/v1/players/{name:str}/bots/{bot:str}/enable", "admin")
async def enable_bot(
    state: State, request: Call, name: FromPath[str], bot: FromPath[str], data: JSONBody[Reason]
) -> BotRow:
    """Let a bot log in again."""
    async with _measure(state, request, "admin", data.why) as (hub, by):
        return await hub.store.administration.enable_bot(name, bot, by)


@get("/api/v1/suspensions", tags=["administration"], security=[{"token": []}])
async def suspensions(state: State, request: Call) -> list[Suspension]:
    """List suspended versions and why, latest first: players their own.

    Organisers see all but those that play only in competitions of others.
    """
    hub = hub_of(state)
    identity = await authorise(request, hub, "play", "organise")
    if identity.scopes.isdisjoint(("organise", "admin")):
        return _suspensions(await hub.store.probation.all(identity.player_id))
    found = await hub.store.probation.all()
    seen = await bots_seen(hub.store, {each.bot_id for each in found}, identity, "see")
    return _suspensions(
        each for each in found if each.bot_id in seen or each.player == identity.player
    )


@_post("/api/v1/players/{name:str}/bots/{bot:str}/reinstate", "organise")
async def reinstate(
    state: State,
    request: Call,
    name: FromPath[str],
    bot: FromPath[str],
    data: JSONBody[Reinstatement],
) -> list[Suspension]:
    """Let suspended versions of a bot be paired again; what they forfeited counts no more."""
    identity = await authorise(request, hub_of(state), "organise")
    async with _measure(state, request, "organise", data.why) as (hub, by):
        row = await hub.store.bot_named(name, bot)
        await admit_to_bot(hub.store, row.id, f"{row.player}/{row.name}", identity)
        return _suspensions(await hub.store.probation.reinstate(name, bot, by, data.version))


def _suspensions(rows: Iterable[SuspensionRow]) -> list[Suspension]:
    return convert(list(rows), list[Suspension], from_attributes=True)


@_post("/api/v1/tokens/revoke", "admin")
async def revoke_token(state: State, request: Call, data: JSONBody[Revocation]) -> TokenRow:
    """Revoke a token, and close the connections that were opened with it at once."""
    async with _measure(state, request, "admin", data.why) as (hub, by):
        return await hub.store.administration.revoke_token(
            data.token, by, keep_matches=data.keep_matches
        )


@_post("/api/v1/matches/{match:str}/void", "organise")
async def void(state: State, request: Call, match: FromPath[str], data: JSONBody[Reason]) -> Match:
    """Let a match count nowhere, and end it if it is being played; it stays in the record."""
    identity = await authorise(request, hub_of(state), "organise")
    async with _measure(state, request, "organise", data.why) as (hub, by):
        stored = await stored_for(request, hub, match)
        await admit_to_part(hub.store, stored.pairing.competition_id, identity, "run")
        await void_match(hub.store, match, by)
    return match_view(hub, (await hub.store.match(match)).header)


@_post("/api/v1/competitions/{competition:str}/pause", "organise")
async def pause(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Reason]
) -> None:
    """Begin nothing more of a competition until it is resumed."""
    hub = hub_of(state)
    by = await _steering(request, hub, competition, data.why)
    await hub.competitions.pause(competition, by)


@_post("/api/v1/competitions/{competition:str}/resume", "organise")
async def resume(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Reason]
) -> None:
    """Let a paused competition go on."""
    hub = hub_of(state)
    by = await _steering(request, hub, competition, data.why)
    await hub.competitions.resume(competition, by)


@_post("/api/v1/competitions/{competition:str}/withdraw", "play", "organise")
async def withdraw(
    state: State, request: Call, competition: FromPath[str], data: JSONBody[Withdrawal]
) -> None:
    """Take a bot out of what is still to begin; organisers any bot, players their own."""
    hub = hub_of(state)
    identity = await authorise(request, hub, "play", "organise")
    player, _, bot = data.entry.partition("/")
    row = await hub.store.bot_named(player, bot)
    own = row.player_id == identity.player_id
    if not own and identity.scopes.isdisjoint(("organise", "admin")):
        raise ProtocolError("auth/scope", f"This token is not one of {row.player}.")
    if not own:
        await admit_to_part(hub.store, competition, identity, "run")
    await hub.competitions.withdraw(competition, row.id, By(identity.player, data.why))


@delete(
    "/api/v1/competitions/{competition:str}",
    tags=["administration"],
    security=[{"token": []}],
)
async def delete_competition(
    state: State,
    request: Call,
    competition: FromPath[str],
    why: Annotated[str, QueryParameter(max_length=1000)] = "",
) -> None:
    """Begin nothing more of a competition and list it nowhere; its matches stay."""
    hub = hub_of(state)
    by = await _steering(request, hub, competition, why, "change")
    await hub.competitions.delete(competition, by)


@get("/api/v1/audit", tags=["administration"], security=[{"token": []}])
async def audit(
    state: State,
    request: Call,
    limit: Limit = 100,
    before: Annotated[int | None, QueryParameter(ge=1, le=MAX_OFFSET)] = None,
) -> list[AuditRow]:
    """Show what organisers did, newest first; ``before`` is the last id of the page before."""
    hub = hub_of(state)
    await authorise(request, hub, "admin")
    return await hub.store.administration.log(limit, before)


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
    pause,
    resume,
    withdraw,
    delete_competition,
    audit,
)
