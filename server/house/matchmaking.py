"""Pairing bots that look for opponents: pure pools of seeks.

Seeks for the same game, time control, kind (rated or casual) and form (mirrored or not) stand in
one pool.  `Matchmaker.pair` empties the pools as far as possible, by these rules:

1. The seek that has waited longest is served first, and those that waited longest are its
   opponents; a seek that was served stands at the end of the queue again.
2. The opponents of the last pairing are avoided as long as anybody else waits.
3. A bot never meets itself; in rated play it never meets another bot of its player either,
   unless the server allows it.
4. Nobody gets more matches at once than it has room for.
5. Seats alternate: among the rotations of the group the one is taken in which its members have
   sat least often where they would sit now, first among themselves, then over all.

As rule 3 divides the seekers into classes of which one member each may take part, taking them in
order of waiting finds a group whenever there is one: nobody starves.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

__all__ = ["Matchmaker", "PoolKey", "Proposal", "Seek", "SeekDuplicate", "SeekError", "SeekLimit"]


class PoolKey(NamedTuple):
    """What two seeks must have in common to be paired."""

    game: str
    time_control: str
    rated: bool
    mirrored: bool


@dataclass(frozen=True, slots=True)
class Seek:
    """A bot's wish for matches."""

    id: str
    player: str
    bot: str
    """Name of the bot under its player; both together are its identity."""
    game: str
    """Canonical spec of the game."""
    time_control: str
    """Canonical text of the time control."""
    seats: int = 2
    rated: bool = False
    count: int = 1
    """Matches wanted; 0 until withdrawn."""
    mirrored: bool = False

    @property
    def name(self) -> str:
        """The bot's identity, ``player/bot``."""
        return f"{self.player}/{self.bot}"

    @property
    def pool(self) -> PoolKey:
        """The pool in which it stands."""
        return PoolKey(self.game, self.time_control, self.rated, self.mirrored)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pairing to be made: its seeks in the seat order of the first match."""

    pool: PoolKey
    seeks: tuple[Seek, ...]

    @property
    def orders(self) -> tuple[tuple[Seek, ...], ...]:
        """The seeks in seat order, once per match: one match, or all rotations if mirrored."""
        if not self.pool.mirrored:
            return (self.seeks,)
        return tuple(self.seeks[-r:] + self.seeks[:-r] for r in range(len(self.seeks)))


class SeekError(Exception):
    """A seek was refused; ``code`` is the protocol's."""

    code: ClassVar[str] = "seek/unknown"


class SeekDuplicate(SeekError):  # noqa: N818 (a condition, named like its code)
    """The bot stands in this pool already."""

    code = "seek/duplicate"


class SeekLimit(SeekError):  # noqa: N818 (a condition, named like its code)
    """The bot has as many open seeks as it may."""

    code = "seek/limit"


class _Waiting:
    """A seek in its pool, with what is left of its wish."""

    __slots__ = ("left", "name", "seek", "since")

    def __init__(self, seek: Seek, since: int) -> None:
        self.seek = seek
        self.name = seek.name
        self.since = since
        self.left = seek.count


class Matchmaker:
    """All pools of a server.

    ``own_bots_rated`` allows rated pairings between bots of one player; ``max_seeks`` bounds the
    open seeks of one bot.
    """

    def __init__(self, *, own_bots_rated: bool = False, max_seeks: int = 64) -> None:
        self.own_bots_rated = own_bots_rated
        self.max_seeks = max_seeks
        self._order = itertools.count()
        self._pools: dict[PoolKey, dict[str, _Waiting]] = {}
        """The seeks of each pool by their ids, the longest waiting first."""
        self._where: dict[str, PoolKey] = {}
        self._last: dict[tuple[PoolKey, str], frozenset[str]] = {}
        self._sat_among: Counter[tuple[str, frozenset[str], str, int]] = Counter()
        self._sat: Counter[tuple[str, str, int]] = Counter()

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, seek: str) -> bool:
        return seek in self._where

    def seeks(self) -> list[Seek]:
        """All open seeks, pool by pool, the longest waiting first."""
        return [waiting.seek for pool in self._pools.values() for waiting in pool.values()]

    def add(self, seek: Seek) -> None:
        """Open a seek; raises `SeekDuplicate` or `SeekLimit`."""
        if seek.id in self._where:
            raise SeekDuplicate(f"A seek with id {seek.id} is open already.")
        mine = [each for each in self.seeks() if each.name == seek.name]
        if any(each.pool == seek.pool for each in mine):
            raise SeekDuplicate(
                f"{seek.name} seeks {seek.game} at {seek.time_control} already: "
                "withdraw that seek, or ask for more matches with count."
            )
        if len(mine) >= self.max_seeks:
            raise SeekLimit(f"{seek.name} has {self.max_seeks} open seeks, more are not allowed.")
        pool = self._pools.setdefault(seek.pool, {})
        pool[seek.id] = _Waiting(seek, next(self._order))
        self._where[seek.id] = seek.pool

    def withdraw(self, seek: str) -> Seek:
        """Close a seek by its id; raises `SeekError` if it is not open."""
        key = self._where.pop(seek, None)
        if key is None:
            raise SeekError(f"No seek {seek} is open.")
        pool = self._pools[key]
        found = pool.pop(seek).seek
        if not pool:
            del self._pools[key]
        return found

    def withdraw_bot(self, player: str, bot: str) -> list[Seek]:
        """Close all seeks of a bot (it left, or was suspended)."""
        mine = [seek for seek in self.seeks() if (seek.player, seek.bot) == (player, bot)]
        return [self.withdraw(seek.id) for seek in mine]

    def pair(self, room: Callable[[str], int]) -> list[Proposal]:
        """Make all pairings that are possible now.

        ``room`` tells how many more matches a bot (``player/bot``) can take.  A mirrored pairing
        takes one place: where there is no room for more, its matches are played in turn.  Seeks
        whose wish is fulfilled are closed.
        """
        left: dict[str, int] = {}
        free: dict[PoolKey, list[_Waiting]] = {}
        for key, pool in self._pools.items():
            free[key] = able = []
            for waiting in pool.values():
                name = waiting.name
                if name not in left:
                    left[name] = room(name)
                if left[name] > 0:
                    able.append(waiting)
        made: list[Proposal] = []
        found = True
        while found:
            # Pools take turns, so that a busy one does not use up everybody's room.
            found = False
            for key in sorted(self._pools, key=self._oldest):
                queue = free[key] = [each for each in free[key] if left[each.name] > 0]
                group = self._group(key, queue)
                if not group:
                    continue
                found = True
                made.append(self._propose(key, group))
                for waiting in group:
                    left[waiting.name] -= 1
                    queue.remove(waiting)
                    if waiting.seek.id in self._where:
                        queue.append(waiting)
        return made

    def _oldest(self, key: PoolKey) -> int:
        return next(iter(self._pools[key].values())).since

    def _class(self, key: PoolKey, seek: Seek) -> str:
        """Of each class one seek may take part in a pairing."""
        return seek.player if key.rated and not self.own_bots_rated else seek.name

    def _group(self, key: PoolKey, queue: list[_Waiting]) -> list[_Waiting]:
        """The next group of a pool's seeks that have room, which come the longest waiting first;
        empty if there is none.
        """
        if not queue:
            return []
        first = queue[0]
        seats = first.seek.seats
        last = self._last.get((key, first.name), frozenset())
        group, classes = [first], {self._class(key, first.seek)}
        for met in (False, True):  # those of the last pairing come after all others
            for waiting in queue:
                if len(group) == seats:
                    return group
                if waiting is first or (waiting.name in last) is not met:
                    continue
                kind = self._class(key, waiting.seek)
                if kind not in classes:
                    classes.add(kind)
                    group.append(waiting)
        return group if len(group) == seats else []

    def _propose(self, key: PoolKey, group: list[_Waiting]) -> Proposal:
        """Seat a group and note that it met."""
        seeks = [waiting.seek for waiting in group]
        among = frozenset(seek.name for seek in seeks)

        def cost(shift: int) -> tuple[int, int, int]:
            seated = list(enumerate(seeks[shift:] + seeks[:shift]))
            return (
                sum(self._sat_among[key.game, among, seek.name, seat] for seat, seek in seated),
                sum(self._sat[key.game, seek.name, seat] for seat, seek in seated),
                shift,
            )

        shift = min(range(len(seeks)), key=cost)
        proposal = Proposal(key, tuple(seeks[shift:] + seeks[:shift]))
        for order in proposal.orders:
            for seat, seek in enumerate(order):
                self._sat_among[key.game, among, seek.name, seat] += 1
                self._sat[key.game, seek.name, seat] += 1
        for waiting in group:
            self._last[key, waiting.seek.name] = among - {waiting.seek.name}
            waiting.since = next(self._order)
            pool = self._pools[key]
            pool[waiting.seek.id] = pool.pop(waiting.seek.id)  # to the end
            if waiting.left:
                waiting.left = max(0, waiting.left - len(proposal.orders))
                if not waiting.left:
                    self.withdraw(waiting.seek.id)
        return proposal
