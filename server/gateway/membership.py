"""The place of a server among those that share its database.

The classes here are those of a single server: the leader of itself, with all matches.
`plyhouse.server.cluster.member.Member` takes part in a cluster; only a server that joins one
imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from plyhouse.protocol.messages import MatchSnapshot
from plyhouse.server.accounts.tickets import Ticket
from plyhouse.server.gateway.bot_connections import BotConnections
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.participants import Participant
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.server.wire.session import Session
from plyhouse.storage.rows import MatchRow


class ClusterError(Exception):
    """A server cannot join a cluster; the message is one sentence that says what to change."""

    code: ClassVar[str] = "cluster/cannot_start"


class Sockets:
    """The other servers, as the connections of this one see them."""

    def __init__(self, bot_connections: BotConnections) -> None:
        self._bot_connections = bot_connections

    async def ticket(self, secret: str) -> Ticket | None:
        """Return the ticket of a hosted bot with this secret; None if it is not valid."""
        return self._bot_connections.ticket(secret)

    async def admit(
        self, wanted: Presence, session: Session, *, key: str, takeover: bool
    ) -> tuple[Participant, bool, int]:
        """Make a session the connection of its bot; see `BotConnections.admit`.

        Returns also how many nanoseconds the login waited because there was no leader.
        """
        return *self._bot_connections.admit(wanted, session, key=key, takeover=takeover), 0

    def returned(self, live: LiveMatch, seat: int, waited_ns: int) -> None:
        """Excuse a bot that is back in a match here for the time that servers kept it away."""

    async def enter(
        self, match: RunningMatch, seat: int, participant: Participant, waited_ns: int
    ) -> MatchSnapshot | None:
        """Let a bot back into a match of another server; None if that has lost it."""
        return None

    def leaving(self, session: Session) -> None:
        """Note that a connection has ended, before its matches hear of it."""

    def left(self, session: Session, bot: int) -> None:
        """Forget a connection that has ended.

        ``bot`` is 0 if it had no bot, or if the bot has another connection.
        """

    def ask_lobby(self, session: Session, presence: Presence, message: Any) -> None:
        """Pass a request about seeks or challenges to the leader, if that is another server."""
        raise AssertionError("this server leads")

    def follow(self, row: MatchRow, tournament: str | None, owner: int) -> RunningMatch | None:
        """Return a match that the database says another server runs; None if none does."""
        return None


class Membership:
    """The other servers, as a hub sees them."""

    def __init__(self, sockets: Sockets) -> None:
        self.sockets = sockets
        """The part for the connections of this server."""

    @property
    def leads(self) -> bool:
        """True while this server decides who plays."""
        return True

    @property
    def trouble(self) -> str:
        """Why bots cannot log in here, as a sentence; empty if they can."""
        return ""

    @property
    def leader_address(self) -> str:
        """The base URL of the leader's HTTP interface; empty if there is none."""
        return ""

    @property
    def size(self) -> int:
        """The number of known servers, with this one."""
        return 1

    def link_counts(self) -> Mapping[str, int]:
        """Return counts of messages to other servers, by name; empty without a cluster."""
        return {}

    async def join(self) -> bool:
        """Take part, and return when a leader is known; return False without a cluster."""
        return False

    def stop(self) -> None:
        """Begin no more work for other servers, because this one stops."""

    async def leave(self) -> None:
        """Stop taking part; then the lease may end, and `farewell` follows."""

    async def farewell(self) -> None:
        """Tell the others that the lease has ended."""

    def reaches(self, match: RunningMatch) -> bool:
        """Return whether a match that is known here has a server."""
        return True

    def match_over(self, match: MatchSummary) -> bool:
        """Tell other servers that a match here has ended; return whether it counts here."""
        return True
