"""The servers of a cluster, for operators.

Every server answers these requests itself (`plyhouse.server.web.forwarding`): operators ask
most urgently while there is no leader.
"""

from __future__ import annotations

from typing import Any, Final

from litestar import Request
from litestar.datastructures import State

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.server import ClusterMember, ClusterState
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.cluster import LEADER
from plyhouse.server.web.api.access import authorise
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service
from plyhouse.storage.cluster_overview import cluster_overview
from plyhouse.storage.store import Store

__all__ = ["HANDLERS", "cluster_state"]


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


@serve(calls.cluster)
async def cluster(state: State, request: Request[Any, Any, Any]) -> ClusterState:
    """Show the servers that share the database, what each runs, and which one leads."""
    await authorise(request, "admin")
    return await cluster_state(state)


HANDLERS: Final[tuple[Any, ...]] = (cluster,)
