"""A server as a member of a cluster.

At the same time it holds sockets, runs matches, and may be the leader.  Each part has a module;
`plyhouse.server.gateway.cluster` says who leads and who is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

from plyhouse.server.gateway.leadership import Leadership
from plyhouse.server.gateway.owned_matches import OwnedMatches
from plyhouse.server.gateway.remote_play import RemotePlay
from plyhouse.server.gateway.switchboard import Switchboard

__all__ = ["Member"]


@dataclass(frozen=True, slots=True)
class Member:
    """The parts of a server in a cluster."""

    board: Switchboard
    sockets: RemotePlay
    matches: OwnedMatches
    leadership: Leadership
