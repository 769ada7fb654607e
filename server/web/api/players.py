"""Players and their bots, as far as the viewer may see them; accounts."""

from __future__ import annotations

from typing import Any, Final, cast

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery, JSONBody

from plyhouse.protocol.api import administration_calls, calls
from plyhouse.protocol.api.bodies import Erasing, NewPlayer, PlayerChange
from plyhouse.protocol.api.bots import BotMatch, BotPage
from plyhouse.protocol.api.people import Account, ErasedPlayer, Player
from plyhouse.protocol.api.positions import BotReview
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.privacy import Privacy, Sight
from plyhouse.server.accounts.registration import Registration
from plyhouse.server.administration.erasure import Eraser
from plyhouse.server.competitions.bot_profiles import BotProfiles
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.jobs.helper_jobs import Reviews
from plyhouse.server.results.record import record_json
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import address_of, authorise, sight_of, viewer_of
from plyhouse.server.web.api.matches import with_live_ply
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.forwarding import FROM_DATABASE
from plyhouse.server.web.parameters import Limit, service
from plyhouse.storage import people, people_changes
from plyhouse.storage import personal_data as stored_personal_data
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

REVIEWED: Final = 20
"""Matches of a bot that are reviewed together."""


@serve(calls.player)
async def player(state: State, request: Request[Any, Any, Any], name: FromPath[str]) -> Player:
    """Show a player, its bots and its latest matches, as far as you may see them."""
    return await _view(
        service(state, Store),
        service(state, Privacy),
        service(state, Directory),
        name,
        await sight_of(request),
    )


async def _view(
    store: Store, privacy: Privacy, directory: Directory, name: str, sight: Sight
) -> Player:
    row = await store.read(people.player, name)
    bots = await privacy.bots(sight, await store.read(people.list_bots, row.id))
    wanted = MatchFilter(
        bots=(tuple([each.id for each in bots]),), unnamed=privacy.unnamed(sight, bots)
    )
    found = await privacy.matches(sight, wanted, limit=20)
    prefix = row.name.lower()
    online = [
        each
        for each in directory.online()
        if each.lower().partition("/")[0] == prefix and not sight.secret(row.id, each)
    ]
    return Player(
        player=row.name,
        display=row.display,
        disabled=row.disabled_ms is not None,
        created_ms=row.created_ms,
        bots=bots,
        online=online,
        matches=[with_live_ply(directory, each) for each in found],
    )


@serve(calls.register)
async def register(
    state: State, request: Request[Any, Any, Any], data: JSONBody[NewPlayer]
) -> Account:
    """Make an account, where registration is open; keep the token, it is shown only here."""
    registration = service(state, Registration)
    return Account(*await registration.register(data.player, address_of(request), data.display))


@serve(calls.change_player)
async def change(
    state: State, request: Request[Any, Any, Any], name: FromPath[str], data: JSONBody[PlayerChange]
) -> Player:
    """Change a player's display name, with a token of the player or an organiser."""
    store = service(state, Store)
    privacy = service(state, Privacy)
    identity = await authorise(request, "play")
    if "admin" not in identity.scopes:
        if key_of(name) != key_of(identity.player):
            raise ProtocolError("auth/scope", f"This token is not one of {name}.")
        service(state, Registration).may_change(identity)
    by = By(identity.player)
    row = await store.write(people_changes.set_display, name, data.display, by, store.now())
    return await _view(
        store, privacy, service(state, Directory), row.name, await privacy.sight(identity)
    )


Call = Request[Any, Any, Any]


@serve(administration_calls.erase_player, "administration")
async def erase_player(
    state: State, request: Call, name: FromPath[str], data: JSONBody[Erasing]
) -> ErasedPlayer:
    """Erase a person for good: replace the names by a pseudonym, delete the person's texts.

    Results stay.  Administrators may do this, and so may an owner of every competition in which
    the account is a student.  The server refuses while the account plays.
    """
    erasure = service(state, Eraser)
    identity = await authorise(request, "organise")
    await erasure.admit(name, identity)
    return await erasure.erase(name, By(identity.player, data.why))


@serve(administration_calls.stored_data, "administration")
async def personal_data(state: State, request: Call, name: FromPath[str]) -> dict[str, Any]:
    """Return everything stored about an account.

    The account itself may ask, and anyone who may erase it.
    """
    identity = await authorise(request, "play", "organise")
    own = key_of(identity.player) == key_of(name)
    if not own:
        await service(state, Eraser).admit(name, identity)
    return await service(state, Store).read(
        stored_personal_data.personal_data, name, reasons=not own
    )


@serve(calls.bot)
async def one_bot(
    state: State, request: Call, player: FromPath[str], bot: FromPath[str]
) -> BotPage:
    """Show a bot: versions, standings, ratings over time, results by opponent and seat, forfeits.

    The counts are of its latest 1,000 finished matches that you may see.
    """
    found = await service(state, BotProfiles).profile(player, bot, await viewer_of(request))
    return found.page


@serve(calls.page_of_bot_matches, opt=FROM_DATABASE)
async def bot_matches(
    state: State,
    request: Call,
    player: FromPath[str],
    bot: FromPath[str],
    before: FromQuery[str | None] = None,
    limit: Limit = 50,
) -> list[BotMatch]:
    """List a bot's finished matches, newest first; ``before`` is the last of the page before."""
    sight = await sight_of(request)
    row = await service(state, Privacy).bot(sight, player, bot)
    return await service(state, BotProfiles).matches(row, sight, limit, before)


@serve(calls.bot_review)
async def bot_review(
    state: State, request: Call, player: FromPath[str], bot: FromPath[str]
) -> BotReview:
    """Say what a bot loses per ply, from its latest 20 matches that you may see, game by game.

    A separate process computes it as the review of a match (``review/off``, ``review/busy``).
    Matches whose pairing goes on are left out.
    """
    sight, privacy = await sight_of(request), service(state, Privacy)
    row = await privacy.bot(sight, player, bot)
    seen = await privacy.matches_of(sight, row, limit=REVIEWED)
    # A mirrored match that is being played would profit from the other one's review.
    matches = [each.shown.match for each in seen if each.over]

    async def records() -> str:
        found = []
        for match in matches:
            stored = await privacy.match(sight, match)
            found.append(await computed(record_json, stored))
        return b"\n".join(found).decode()

    name = f"{row.player}/{row.name}"
    if not matches:
        return BotReview(name, 0.0, [])
    return cast("BotReview", await service(state, Reviews).of_bot(name, matches, records))


HANDLERS: Final[tuple[Any, ...]] = (
    player,
    register,
    change,
    erase_player,
    personal_data,
    one_bot,
    bot_matches,
    bot_review,
)
