"""The part of a cluster that a single server is: the leader of itself, with all matches."""

from __future__ import annotations

from plyhouse.protocol.messages import MatchSnapshot
from plyhouse.server.accounts.tickets import Ticket
from plyhouse.server.gateway.admission import Admission, TicketOffice
from plyhouse.server.match.presence import Presence
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.table.participants import Participant
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.server.wire.session import Session


class Alone:
    """A `plyhouse.server.gateway.entrance.Membership` without other servers."""

    def __init__(self, admission: Admission, hosting: TicketOffice) -> None:
        self._admission = admission
        self._hosting = hosting

    async def ticket(self, secret: str) -> Ticket | None:
        """Return the ticket of a hosted bot with this secret; None if it is not valid."""
        return self._hosting.ticket(secret)

    async def admit(
        self, wanted: Presence, session: Session, *, key: str, takeover: bool
    ) -> tuple[Participant, bool, int]:
        """Make a session the connection of its bot; see `Admission.admit`."""
        return *self._admission.admit(wanted, session, key=key, takeover=takeover), 0

    def returned(self, live: LiveMatch, seat: int, waited_ns: int) -> None:
        """Do nothing, because no other server kept the bot away."""

    async def enter(
        self, match: RunningMatch, seat: int, participant: Participant, waited_ns: int
    ) -> MatchSnapshot | None:
        """Return None, because no match is elsewhere."""
        return None
