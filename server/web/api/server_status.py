"""How the server or its cluster is doing, and which games can be played here.

Every server answers what operators ask itself (`plyhouse.server.web.forwarding`): they ask most
urgently while there is no leader.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import logging
from typing import Any, Final

import msgspec
from litestar import MediaType, Request, Response, get
from litestar.datastructures import State

from plyhouse.games.base import Game
from plyhouse.games.observation_fields import observation_fields, observation_schema
from plyhouse.games.registry import game_class, game_names
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.server import (
    ClusterMember,
    ClusterState,
    GameParameter,
    GameTable,
    Health,
    ListedGame,
    ObservationField,
    ObservationFields,
    Readiness,
)
from plyhouse.protocol.messages import PROTOCOL_VERSION
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub, server_version
from plyhouse.server.lobby.table_sizes import tables_of
from plyhouse.server.match.example_turns import example_turn
from plyhouse.server.match.time_control import MS, SECOND
from plyhouse.server.web.api.access import authorise
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.forwarding import BY_ANY
from plyhouse.server.web.metrics import CONTENT_TYPE, WorkerMetrics
from plyhouse.server.web.parameters import service
from plyhouse.storage.members import LEADER, cluster_overview
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.web")


@serve(calls.health, also="/api/v1/status")
async def health(state: State) -> Response[Health]:
    """Say how the server is doing: 503 while it cannot store anything, or stops."""
    hub = service(state, Hub)
    watchdog = hub.watchdog
    why = await _trouble(hub)
    status = "stopping" if hub.stopping else "degraded" if why else "ok"
    shown = Health(
        status=status,
        version=server_version().removeprefix("plyhouse "),
        protocol=PROTOCOL_VERSION,
        registration=hub.config.registration,
        uptime_s=round((hub.now() - hub.started) / SECOND, 3),
        connections=len(hub.sessions),
        bots=len(hub.directory.online()),
        matches=len(hub.directory.live),
        seeks=len(hub.lobby),
        plies=hub.live_matches.plies,
        stalled_ms=watchdog.total_ns // MS,
        longest_stall_ms=watchdog.longest_ns // MS,
        why=why,
    )
    return Response(shown, status_code=200 if status == "ok" else 503)


@get("/healthz", tags=["server"], media_type=MediaType.TEXT, sync_to_thread=False, opt=BY_ANY)
def healthz() -> str:
    """Say that the server lives: who gets no answer within seconds should restart it."""
    return "ok\n"


@get("/readyz", tags=["server"], opt=BY_ANY)
async def readyz(state: State) -> Response[Readiness]:
    """Say whether bots can play: 200, or 503 while they cannot.

    They cannot while the server stops or cannot store anything.  In a cluster, they cannot while
    it has no leader, or while this server could not renew its lease.
    """
    hub = service(state, Hub)
    why = await _trouble(hub)
    return Response(Readiness(not why, why), status_code=503 if why else 200)


async def _trouble(hub: Hub) -> str:
    if hub.stopping:
        return "The server stops."
    why = await hub.health.trouble()
    left = hub.store.lease_left_s
    if not why and left is not None and left <= 0:
        why = "The server could not renew its lease on the database."
    if not why:
        why = hub.member.trouble
    return why


@get("/metrics", tags=["server"], media_type=CONTENT_TYPE, opt=BY_ANY)
async def metrics(state: State, request: Request[Any, Any, Any]) -> bytes:
    """Give numbers for Prometheus, in its text format, to this machine and to named addresses."""
    hub = service(state, Hub)
    address = request.client.host if request.client is not None else "unknown"
    if not _may_monitor(address, hub.config):
        raise Problem(
            "http/metrics",
            f"{address} may not read /metrics. The operator can name it: "
            f"--metrics-addresses {address}.",
            403,
        )
    return await service(state, WorkerMetrics).text()


def _may_monitor(address: str, config: ServerConfig) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a transport without addresses
        return False
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return parsed.is_loopback or any(parsed in network for network in config.monitors)


@serve(calls.games, opt=BY_ANY)
async def games() -> list[ListedGame]:
    """List the games that can be played here, with what a bot is shown of each."""
    # In a thread, as clocks are running here while sources are read and examples played.
    return await asyncio.to_thread(lambda: [_game_view(name) for name in game_names()])


@functools.cache  # bounded: by the games that there are
def _game_view(name: str) -> ListedGame:
    game = game_class(name)()
    info = game.info
    parameters = [
        GameParameter(
            each.name,
            each.default,
            each.description,
            each.minimum,
            each.maximum,
            None if each.choices is None else list(each.choices),
        )
        for each in info.parameters
    ]
    return ListedGame(
        name=name,
        title=info.title,
        summary=info.summary,
        min_seats=info.min_seats,
        max_seats=info.max_seats,
        tables=[GameTable(seats, spec) for seats, spec in tables_of(name).items()],
        chance=info.chance.value,
        information=info.information.value,
        utility=info.utility.value,
        draw_offers=info.draw_offers,
        parameters=parameters,
        observation=ObservationFields(
            [
                ObservationField(each.name, each.type, each.meaning)
                for each in observation_fields(game)
            ],
            observation_schema(game),
        ),
        example=_example(game),
    )


def _example(game: Game) -> dict[str, Any] | None:
    """The example frame; None if the rules of somebody's game fail in it."""
    try:
        frame: dict[str, Any] | None = msgspec.to_builtins(example_turn(game))
    except Exception:  # If one raises, the other games are listed.
        log.exception("game failed", extra={"game": game.info.name})
        return None
    return frame


async def cluster_state(state: State) -> ClusterState:
    """Return the servers that share the database of this one."""
    if not service(state, ServerConfig).cluster:
        return ClusterState(True, [], 0)
    store = service(state, Store)
    found = await store.read(cluster_overview)
    members = [
        ClusterMember(
            epoch=each.member.epoch,
            process=each.member.holder,
            address=each.member.address,
            version=each.member.version.removeprefix("plyhouse "),
            state=each.member.state,
            leads=LEADER in each.roles,
            started_ms=store.now() - each.age_ms,
            lease_ms=each.member.expires_in_ms,
            matches=each.matches,
            plies=each.plies,
            waiting=each.waiting,
        )
        for each in found.members
    ]
    return ClusterState(False, members, found.orphans)


@serve(calls.cluster, opt=BY_ANY)
async def cluster(state: State, request: Request[Any, Any, Any]) -> ClusterState:
    """Show the servers that share the database, what each runs, and which one leads."""
    await authorise(request, "admin")
    return await cluster_state(state)


HANDLERS: Final[tuple[Any, ...]] = (
    health,
    healthz,
    readyz,
    metrics,
    games,
    cluster,
)
