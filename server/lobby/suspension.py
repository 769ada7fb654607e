"""Suspension of versions that forfeit repeatedly.

After each forfeit, the last matches of that version are read from the database, so a restart loses
nothing.  A suspension is an entry of the audit log, on which
`plyhouse.server.administration.audit_follower` acts.

Challenges do not count: the challenger chooses the clock and the parameters, and a rival could
choose those by which a sound bot forfeits.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final

from plyhouse.server.config import ServerConfig
from plyhouse.server.match.presence import Presence
from plyhouse.server.match.terminations import FORFEITS, TERMINATIONS, Fault, fault_of
from plyhouse.server.match.terms import was_challenge
from plyhouse.storage import suspensions
from plyhouse.storage.errors import StorageError
from plyhouse.storage.store import Store
from plyhouse.storage.suspensions import EndedMatch

log = logging.getLogger("plyhouse.server.lobby.suspension")

ABSENCE_MS: Final = 60_000
"""Forfeits by absence that end at most this long after each other count as one."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A match of a version with a result."""

    ended_ms: int
    forfeit: str
    """The termination of this version's forfeit; empty if it did not forfeit."""


def why(matches: Iterable[Ended], after: int, window: int) -> str:
    """Return why a version is suspended, as the rest of a sentence; else "".

    It is suspended if ``after`` of its last ``window`` matches were its own forfeits; if ``after``
    is 0, never.

    Matches that a bot lost by absence count once per absence: a broken network is one mishap,
    however many matches it cost.  `plyhouse.server.match.terminations` says which ends are
    forfeits.

    >>> hour = 3_600_000
    >>> crashed = [Ended(n * hour, "bot_crash") for n in range(3)]
    >>> why(crashed, after=3, window=3)
    'it forfeited its last 3 matches: 3 times it failed'
    >>> why([Ended(0, ""), *crashed], after=3, window=4)
    'it forfeited 3 of its last 4 matches: 3 times it failed'
    >>> why([Ended(n, "disconnect") for n in range(8)], after=3, window=3)
    ''
    """
    if not after:
        return ""
    counted = _by_absence(matches)[-window:]
    kinds = Counter(each.forfeit for each in counted if each.forfeit)
    total = kinds.total()
    if total < after:
        return ""
    parts = [f"{_times(n)} it {TERMINATIONS[kind].words}" for kind, n in kinds.most_common()]
    of = f"its last {total}" if total == len(counted) else f"{total} of its last {len(counted)}"
    return f"it forfeited {of} matches: {', '.join(parts)}"


def _by_absence(matches: Iterable[Ended]) -> list[Ended]:
    """Return the matches in the order of their ends, one for each absence."""
    kept: list[Ended] = []
    for each in sorted(matches, key=lambda ended: ended.ended_ms):
        away = bool(each.forfeit) and fault_of(each.forfeit) is Fault.CONNECTION
        if (
            away
            and kept
            and kept[-1].forfeit
            and fault_of(kept[-1].forfeit) is Fault.CONNECTION
            and each.ended_ms - kept[-1].ended_ms <= ABSENCE_MS
        ):
            kept[-1] = each
        else:
            kept.append(each)
    return kept


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


DEPTH: Final = 4
"""How many windows of matches are read, because matches lost in one absence count once."""


def suspended_text(reason: str) -> str:
    """Return the message to the author of a suspended version."""
    return (
        f"This version is suspended and not paired: {reason}. A fixed bot is a new version and "
        "may play at once; otherwise ask the organiser to reinstate it."
    )


class ForfeitWatch:
    """Suspends versions after too many forfeits; ``look`` makes the server act on it."""

    def __init__(
        self, config: ServerConfig, store: Store, look: Callable[[], Awaitable[None]]
    ) -> None:
        self._config = config
        self._store = store
        self._look = look

    def concerns(self, culprit: Presence) -> bool:
        """Return whether a forfeit may lead to a suspension; people are not suspended."""
        return self._config.suspend_after > 0 and culprit.kind == "bot"

    async def forfeited(self, match_id: str, seat: int, name: str) -> None:
        """Suspend the version that forfeited a match if it has done so too often."""
        window = self._config.suspend_window
        try:
            version, rows = await self._store.read(
                suspensions.ended, match_id, seat, DEPTH * window
            )
            paired = [row for row in rows if not was_challenge(row.data)]
            ended = [Ended(row.ended_ms, _forfeit(row)) for row in paired]
            reason = why(ended, self._config.suspend_after, window)
            if not reason:
                return
            store = self._store
            if await store.write(suspensions.suspend, version, reason, store.now()):
                log.warning("version suspended", extra={"bot": name, "why": reason})
                await self._look()
        except StorageError as error:
            log.error("a suspension could not be stored", extra={"bot": name, "why": str(error)})


def _forfeit(row: EndedMatch) -> str:
    return row.termination if row.guilty and row.termination in FORFEITS else ""
