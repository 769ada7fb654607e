"""A server as a member of a cluster.

The parts of a member do the work.  This module makes them and joins them with the hub.
"""

from __future__ import annotations

from collections.abc import Mapping

from plyhouse.server.cluster.carriers import DatabaseCarrier, NatsCarrier
from plyhouse.server.cluster.leadership import Leadership
from plyhouse.server.cluster.lease_follower import LeaseFollower, Parts
from plyhouse.server.cluster.link import Carrier, Link
from plyhouse.server.cluster.owned_matches import OwnedMatches
from plyhouse.server.cluster.remote_matches import RemoteMatch
from plyhouse.server.cluster.remote_play import RemotePlay
from plyhouse.server.cluster.switchboard import Switchboard
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.gateway.membership import Membership
from plyhouse.server.match.presence import MatchSummary
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.storage import members


class Member(Membership):
    """The place of a hub in the cluster of its database."""

    sockets: RemotePlay

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.board = Switchboard(hub.store.epoch, hub.directory)
        super().__init__(
            RemotePlay(
                self.board,
                directory=hub.directory,
                bot_connections=hub.bot_connections,
                watchdog=hub.watchdog,
                sessions=hub.sessions,
                now=hub.now,
            )
        )
        self.matches = OwnedMatches(
            self.board,
            directory=hub.directory,
            live_matches=hub.live_matches,
            grace=hub.config.disconnect_grace,
            redeliver=self.sockets.redeliver,
            now=hub.now,
        )
        self.sockets.on_returned = self.matches.returned
        self.leadership = Leadership(
            self.board,
            directory=hub.directory,
            live_matches=hub.live_matches,
            bot_connections=hub.bot_connections,
            sockets=self.sockets,
            lobby=hub.lobby,
            on_over=hub.count_over,
            on_entered=hub.entered,
        )
        hub.live_matches.elsewhere = self.leadership.elsewhere
        hub.live_matches.send_elsewhere = self.matches.send_elsewhere
        hub.live_matches.on_made = self.matches.announce_owner
        hub.lobby.on_seek = self.leadership.seek_changed
        self.cluster: LeaseFollower | None = None
        """The servers of the cluster; None until this one joins."""

    async def join(self) -> bool:
        """Join the cluster of the database; return True when a leader is known.

        Raises `plyhouse.server.gateway.membership.ClusterError`.
        """
        hub = self._hub
        hub.directory.lead(False)
        name = await hub.store.read(members.cluster_name)
        carriers: list[Carrier] = [
            NatsCarrier(hub.config.cluster, name),
            DatabaseCarrier(hub.store),
        ]
        link = Link(
            self.board.epoch,
            carriers,
            hub.now,
            self.board.received,
            on_stranger=self.board.met_stranger,
        )
        self.board.link = link
        self.cluster = LeaseFollower(
            store=hub.store,
            link=link,
            parts=Parts(self.board, self.sockets, self.matches, self.leadership),
            directory=hub.directory,
            live_matches=hub.live_matches,
            begin_leading=self._begin_leading,
            on_over=hub.count_over,
            now=hub.now,
        )
        await self.cluster.start()
        return True

    async def _begin_leading(self) -> None:
        await self._hub.ratings.start()
        await self._hub.begin_leading()

    def stop(self) -> None:
        """Begin no more work for other servers, because this one stops."""
        self.board.stopping = True

    async def leave(self) -> None:
        """Stop taking part; then the lease may end, and `farewell` follows."""
        if self.cluster is not None:
            await self.cluster.leave()

    async def farewell(self) -> None:
        """Tell the others that the lease has ended, so that they need not wait for a look."""
        if self.cluster is not None:
            await self.cluster.farewell()

    @property
    def leads(self) -> bool:
        """True while this server decides who plays."""
        return self.board.ready

    @property
    def trouble(self) -> str:
        """Why bots cannot log in here, as a sentence; empty if they can."""
        return "" if self.cluster is None else self.cluster.trouble

    @property
    def leader_address(self) -> str:
        """The base URL of the leader's HTTP interface; empty if there is none."""
        return "" if self.cluster is None else self.cluster.leader_address

    @property
    def size(self) -> int:
        """The number of known servers, with this one."""
        return len(self.board.peers)

    def link_counts(self) -> Mapping[str, int]:
        """Return counts of messages to other servers, see `Link.counts`."""
        return {} if self.cluster is None else self.cluster.link_counts()

    def reaches(self, match: RunningMatch) -> bool:
        """Return whether the server of another's match lives."""
        if not isinstance(match, RemoteMatch):
            return True
        return match.owner in self.board.peers and not match.over

    def match_over(self, match: MatchSummary) -> bool:
        """Tell other servers that a match here has ended; return whether it counts here."""
        self.matches.match_over(match)
        return self.board.leading
