"""People at browsers: signing in and out, guests, open seeks, and built-in bots to play.

Sessions are for pages of this server: every request here that changes something must come from
one (`plyhouse.server.web.api.access.from_own_page`).  The cookie is set by the answers that begin a
session; the secret in it is never in a body, nor readable by a script.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from litestar import Request, Response
from litestar.datastructures import State
from litestar.params import JSONBody

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.bodies import NewPassword, NewToken, SignIn, SignUp, Wanted
from plyhouse.protocol.api.people import MadeToken, Opponent, OwnMatch, Person, Seek
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.browser_sessions import (
    BrowserSessions,
    SignedIn,
    ended_cookie,
    session_cookie,
)
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.lobby.lobby import Lobby
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import (
    address_of,
    authorise,
    from_own_page,
    host_of,
    is_secure,
    secret_in,
    token_of,
)
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.forwarding import ALSO_WITHOUT_LEADER
from plyhouse.server.web.parameters import service
from plyhouse.storage import people
from plyhouse.storage import sessions as stored_sessions
from plyhouse.storage.rows import SCOPES, Identity
from plyhouse.storage.store import Store

MAX_SEEKS: Final = 200
MAX_TOKENS: Final = 20
"""Valid tokens that a person may have to make more of them in the browser."""

Call = Request[Any, Any, Any]


def _person(state: State, identity: Identity | None) -> Person:
    directory = service(state, Directory)
    config = service(state, ServerConfig)
    bots = service(state, Hub).builtin_bots
    matches = []
    if identity is not None:
        for here in tuple(directory.presences.values()):
            if here.player_id != identity.player_id or here.bot:
                continue
            for live, seat in directory.matches_of(here.bot_id):
                match = live.summary()
                matches.append(
                    OwnMatch(
                        match=live.id,
                        game=match.game,
                        time_control=match.time_control,
                        status=match.status,
                        opponents=[
                            f"{each.player}/{each.bot}" if each.bot else each.player
                            for at, each in enumerate(match.players)
                            if at != seat
                        ],
                    )
                )
    return Person(
        player="" if identity is None else identity.player,
        guest=identity is not None and identity.guest,
        scopes=[] if identity is None else sorted(identity.scopes),
        expires_ms=0 if identity is None else identity.expires_ms,
        matches=matches,
        guests=config.takes_guests,
        registration=config.registration,
        levels=[] if bots is None else list(bots.levels),
    )


def _entered(request: Call, state: State, entry: SignedIn, status: int = 200) -> Response[Person]:
    service(state, Hub).signed_out(entry.ended)
    host, secure = host_of(request), is_secure(request)
    cookie = session_cookie(entry.secret, entry.seconds, host, secure=secure)
    return Response(
        _person(state, entry.identity),
        headers={"set-cookie": cookie, "cache-control": "no-store"},
        status_code=status,
    )


async def _leave(request: Call, state: State) -> None:
    """End the session that the browser has so far, if it has one."""
    browser_sessions = service(state, BrowserSessions)
    identity = await browser_sessions.known(secret_in(request))
    if identity is not None:
        await browser_sessions.leave(identity)
        service(state, Hub).signed_out((identity.session_id,))


async def _whose(request: Call, browser_sessions: BrowserSessions, *scopes: str) -> Identity:
    """Return the identity of the session of a request that changes something."""
    from_own_page(request)
    return await browser_sessions.identify(secret_in(request), *scopes)


@serve(calls.session, opt=ALSO_WITHOUT_LEADER)
async def session(state: State, request: Call) -> Response[Person]:
    """Say who is signed in at this browser, or whose token this is, and how people can play."""
    if token_of(request):
        identity: Identity | None = await authorise(request, *SCOPES)
    else:
        identity = await service(state, BrowserSessions).known(secret_in(request))
    return Response(_person(state, identity), headers={"cache-control": "no-store"})


@serve(calls.sign_in)
async def sign_in(state: State, request: Call, data: JSONBody[SignIn]) -> Response[Person]:
    """Sign in with a token, or with a name and a password; an earlier session ends."""
    browser_sessions = service(state, BrowserSessions)
    from_own_page(request)
    address = address_of(request)
    if data.token:
        entry = await browser_sessions.sign_in_by_token(data.token.strip(), address)
    elif data.player and data.password:
        entry = await browser_sessions.sign_in(data.player, data.password, address)
    else:
        raise Problem("auth/required", "Give a token, or a name and a password.", 400)
    await _leave(request, state)
    return _entered(request, state, entry)


@serve(calls.sign_out)
async def sign_out(state: State, request: Call) -> Response[Person]:
    """Sign out: the session ends, and with it the connections that were opened in it.

    A guest who plays no match is forgotten at once.
    """
    from_own_page(request)
    await _leave(request, state)
    cookie = ended_cookie(host_of(request), secure=is_secure(request))
    return Response(
        _person(state, None), headers={"set-cookie": cookie, "cache-control": "no-store"}
    )


@serve(calls.enter_as_guest)
async def play_as_guest(state: State, request: Call) -> Response[Person]:
    """Come in without an account, where the operator allows it.

    A person who is signed in already stays signed in.
    """
    browser_sessions = service(state, BrowserSessions)
    from_own_page(request)
    known = await browser_sessions.known(secret_in(request))
    if known is not None:
        return Response(_person(state, known), headers={"cache-control": "no-store"})
    return _entered(request, state, await browser_sessions.new_guest(address_of(request)))


@serve(calls.sign_up)
async def sign_up(state: State, request: Call, data: JSONBody[SignUp]) -> Response[Person]:
    """Make an account with a password and sign in, where registration is open."""
    from_own_page(request)
    entry = await service(state, BrowserSessions).sign_up(
        data.player, data.password, data.display, address_of(request)
    )
    await _leave(request, state)
    return _entered(request, state, entry, 201)


@serve(calls.change_password)
async def change_password(
    state: State, request: Call, data: JSONBody[NewPassword]
) -> Response[Person]:
    """Set the password of who is signed in; all other sessions of the player end."""
    browser_sessions = service(state, BrowserSessions)
    identity = await _whose(request, browser_sessions, "play", "organise")
    ended = await browser_sessions.set_password(identity, data.old, data.new, address_of(request))
    service(state, Hub).signed_out(frozenset(ended))
    return Response(_person(state, identity), headers={"cache-control": "no-store"})


@serve(calls.make_token)
async def make_token(state: State, request: Call, data: JSONBody[NewToken]) -> Response[MadeToken]:
    """Make a token for a bot of who is signed in; it allows to play and is shown only here."""
    store = service(state, Store)
    identity = await _whose(request, service(state, BrowserSessions), "play")
    valid = [
        each
        for each in await store.read(people.list_tokens, identity.player_id)
        if not each.revoked_ms
    ]
    if len(valid) >= MAX_TOKENS:
        raise ProtocolError(
            "auth/limit",
            f"You have {len(valid)} tokens: the organiser can revoke some.",
            fatal=False,
        )
    token = await store.write(
        stored_sessions.make_token, identity, data.label or "browser", store.now()
    )
    return Response(MadeToken(token), status_code=201, headers={"cache-control": "no-store"})


@serve(calls.seeks)
async def seeks(state: State) -> list[Seek]:
    """List open seeks, the one that has waited longest first: who seeks the same plays."""
    return [
        Seek(
            player=f"{each.player}/{each.bot}" if each.bot else each.player,
            game=each.game,
            time_control=each.time_control,
            rated=each.rated,
            mirrored=each.mirrored,
            seats=each.seats,
        )
        for each in service(state, Lobby).open_seeks(MAX_SEEKS)
    ]


@serve(calls.start_builtin_bots)
async def builtin_bot(state: State, request: Call, data: JSONBody[Wanted]) -> Opponent:
    """See to it that built-in bots are there, and say what to challenge.

    They are started if they are not running, which takes a second or two.
    """
    await authorise(request, "play", "guest")
    bots = service(state, Hub).builtin_bots
    if bots is None or data.level not in bots.levels:
        known = "none here" if bots is None else ", ".join(bots.levels)
        raise Problem("house/no_bot", f"There is no {data.level!r}: levels are {known}.", 404)
    wanted = range(1, data.count + 1)
    first_one, *others = await asyncio.gather(*(bots.ready(data.level, each) for each in wanted))
    return Opponent(first_one, others)


HANDLERS: Final[tuple[Any, ...]] = (
    session,
    sign_in,
    sign_out,
    play_as_guest,
    sign_up,
    change_password,
    make_token,
    seeks,
    builtin_bot,
)
