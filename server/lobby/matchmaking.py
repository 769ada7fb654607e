"""Pairing bots that look for opponents: pure pools of seeks.

A pool contains the seeks for the same game, time control, kind (rated or casual), form (mirrored or
not), invitation and level of help.  A seek for a game of one seat needs nobody else.
`Matchmaker.pair` makes pairings until none is possible, by these rules:

1. The seek that has waited longest is served first, and those that waited longest are its
   opponents; a seek that was served goes to the end of the queue.
2. The opponents of the last pairing are avoided as long as anybody else waits.
3. A bot never meets itself; in rated play it never meets another bot of its player either,
   unless the server allows it.
4. No bot gets more matches at once than it has room for.
5. Seats alternate.  Among all rotations of the group, the matchmaker takes the one whose seats the
   members have had least often, first in this group, then over all groups.

For rules 2 and 5 it remembers the bots and groups that were paired last, `REMEMBERED` of them.

Rule 3 divides the seekers into classes, and one member of each class may take part.  So taking them
in order of waiting finds a group whenever there is one, and no seek starves.

After a call no pairing is possible until a seek is added or a bot has room again.  A caller that
names those bots spares the matchmaker the question about the room of all others, most of which are
playing.  A pairing then costs the same with ten bots as with a thousand.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, TypeAlias, TypeVar

from plyhouse.protocol.parts import HelpDemand

REMEMBERED: Final = 2000
"""Bots, and groups of bots, whose last opponents and seats count for the next pairing."""


class PoolKey(NamedTuple):
    """The terms that two seeks must share to be paired."""

    game: str
    time_control: str
    rated: bool
    mirrored: bool
    invitation: str = ""
    help: HelpDemand = ""


@dataclass(frozen=True, slots=True)
class Seek:
    """A bot's wish for matches."""

    id: str
    player: str
    bot: str
    """The bot's name, without the player's; both together are its identity."""
    game: str
    """Canonical spec of the game."""
    time_control: str
    """Canonical text of the time control."""
    seats: int = 2
    rated: bool = False
    count: int = 1
    """Number of matches wanted; 0 means until withdrawn."""
    mirrored: bool = False
    invitation: str = ""
    """The secret that its opponents must know; empty if anybody may be one."""
    help: HelpDemand = ""
    """The level of help that all seats have; empty for any."""

    @property
    def name(self) -> str:
        """The bot's identity, ``player/bot``."""
        return f"{self.player}/{self.bot}"

    @property
    def at_once(self) -> int:
        """Matches of the bot that a pairing begins."""
        return self.seats if self.mirrored else 1

    @property
    def pool(self) -> PoolKey:
        """The pool to which it belongs."""
        return PoolKey(
            self.game, self.time_control, self.rated, self.mirrored, self.invitation, self.help
        )


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed pairing: its seeks in the seat order of the first match."""

    pool: PoolKey
    seeks: tuple[Seek, ...]

    @property
    def orders(self) -> tuple[tuple[Seek, ...], ...]:
        """The seeks in seat order, once per match.

        They are one match, or all rotations if mirrored.
        """
        if not self.pool.mirrored:
            return (self.seeks,)
        return tuple(self.seeks[-r:] + self.seeks[:-r] for r in range(len(self.seeks)))


class SeekError(Exception):
    """A refused seek; ``code`` is the protocol's."""

    code: ClassVar[str] = "seek/unknown"


class SeekDuplicate(SeekError):  # noqa: N818 (a condition, named like its code)
    """A second seek of a bot in one pool."""

    code = "seek/duplicate"


class SeekLimit(SeekError):  # noqa: N818 (a condition, named like its code)
    """A seek beyond the limit of open seeks of a bot."""

    code = "seek/limit"


class _Waiting:
    """A seek in its pool, with the number of matches still wanted."""

    __slots__ = ("kind", "left", "name", "pool", "seek", "since")

    def __init__(self, seek: Seek, pool: _Pool, kind: str, since: int) -> None:
        self.seek = seek
        self.name = seek.name
        self.pool = pool
        self.kind = kind
        """A pairing contains at most one seek of each kind."""
        self.since = since
        self.left = seek.count


class _Pool:
    """Seeks that could meet."""

    __slots__ = ("key", "ready", "seats", "waiting")

    def __init__(self, key: PoolKey, seats: int) -> None:
        self.key = key
        self.seats = seats
        self.waiting: OrderedDict[str, _Waiting] = OrderedDict()
        """All seeks by their ids, the longest waiting first."""
        self.ready: dict[str, _Waiting] = {}
        """The seeks whose bots may have room."""


_Queue: TypeAlias = OrderedDict[str, _Waiting]


def _since(waiting: _Waiting) -> int:
    return waiting.since


def _oldest(queue: _Queue) -> int:
    return next(iter(queue.values())).since


Key = TypeVar("Key")
Value = TypeVar("Value")


class _Recent(OrderedDict[Key, Value]):
    """The values that were used last, at most `REMEMBERED` of them."""

    def recalled(self, key: Key, new: Callable[[], Value]) -> Value:
        """Return a value, a new one if there is none, and note that it was used."""
        return self.note(key, self[key] if key in self else new())

    def note(self, key: Key, value: Value) -> Value:
        """Keep a value as the one that was used last."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > REMEMBERED:
            self.popitem(last=False)
        return value


class Matchmaker:
    """All pools of a server.

    ``own_bots_rated`` allows rated pairings between bots of one player; ``max_seeks`` bounds the
    open seeks of one bot.
    """

    def __init__(self, *, own_bots_rated: bool = False, max_seeks: int = 64) -> None:
        self.own_bots_rated = own_bots_rated
        self.max_seeks = max_seeks
        self._order = itertools.count()
        self._pools: dict[PoolKey, _Pool] = {}
        self._touched: dict[PoolKey, _Pool] = {}
        """Pools that have changed since the last pairing; no other pool can pair."""
        self._open: dict[str, _Waiting] = {}
        """Open seeks by id."""
        self._of: dict[str, dict[str, _Waiting]] = {}
        """Open seeks of each bot, by id."""
        # Guests come once: the matchmaker forgets those that have not been paired for longest.
        self._last: _Recent[tuple[PoolKey, str], frozenset[str]] = _Recent()
        """The opponents of a bot in its last pairing in a pool."""
        self._sat_among: _Recent[tuple[str, frozenset[str]], dict[str, list[int]]] = _Recent()
        """How often each bot has had each seat of a game, for every group that has met."""
        self._sat: _Recent[tuple[str, str], list[int]] = _Recent()
        """The same counts over all groups."""

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, seek: str) -> bool:
        return seek in self._open

    def left(self, seek: str) -> int:
        """Return the number of matches that an open seek still wants; 0 without a limit."""
        return self._open[seek].left

    def seeks(self) -> list[Seek]:
        """Return all open seeks, pool by pool, the longest waiting first."""
        return [each.seek for pool in self._pools.values() for each in pool.waiting.values()]

    def at_once(self, name: str) -> int:
        """Return the most matches that a pairing of a bot's seeks begins.

        At least 1.
        """
        return max([each.seek.at_once for each in self._of.get(name, {}).values()], default=1)

    def add(self, seek: Seek) -> None:
        """Open a seek; raises `SeekDuplicate` or `SeekLimit`."""
        if seek.id in self._open:
            raise SeekDuplicate(f"A seek with id {seek.id} is open already.")
        name, key = seek.name, seek.pool
        mine = self._of.get(name, {})
        if any(each.pool.key == key for each in mine.values()):
            raise SeekDuplicate(
                f"{name} seeks {seek.game} at {seek.time_control} already: "
                "withdraw that seek, or ask for more matches with count."
            )
        if len(mine) >= self.max_seeks:
            raise SeekLimit(f"{name} has {self.max_seeks} open seeks, more are not allowed.")
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = _Pool(key, seek.seats)
        kind = seek.player if seek.rated and not self.own_bots_rated else name
        waiting = _Waiting(seek, pool, kind, next(self._order))
        pool.waiting[seek.id] = pool.ready[seek.id] = waiting
        self._touched[key] = pool
        self._open[seek.id] = self._of.setdefault(name, {})[seek.id] = waiting

    def withdraw(self, seek: str) -> Seek:
        """Close a seek by its id; raises `SeekError` if it is not open."""
        found = self._open.pop(seek, None)
        if found is None:
            raise SeekError(f"Seek {seek!r} is not open: it may have been matched or withdrawn.")
        pool, mine = found.pool, self._of[found.name]
        del pool.waiting[seek], mine[seek]
        pool.ready.pop(seek, None)
        if not pool.waiting:
            del self._pools[pool.key]
            self._touched.pop(pool.key, None)
        if not mine:
            del self._of[found.name]
        return found.seek

    def withdraw_bot(self, player: str, bot: str) -> list[Seek]:
        """Close all seeks of a bot (it left, or was suspended)."""
        return [self.withdraw(seek) for seek in tuple(self._of.get(f"{player}/{bot}", ()))]

    def pair(
        self,
        room: Callable[[str], int],
        freed: Iterable[str] | None = None,
        limit: int | None = None,
    ) -> list[Proposal]:
        """Return all pairings that are possible now, or the first ``limit`` of them.

        After ``limit`` pairings, call it again for more.  ``room`` returns how many more matches a
        bot (``player/bot``) can take.  A mirrored pairing takes one place: without room for more,
        its matches are played in turn.  Seeks that have got all their matches are closed.

        ``freed`` names the bots that may have got room since the last call; None stands for any.
        """
        if freed is None:
            for pool in self._pools.values():
                pool.ready.update(pool.waiting)
            self._touched = dict(self._pools)
        else:
            for name in freed:
                for seek, waiting in self._of.get(name, {}).items():
                    waiting.pool.ready[seek] = waiting
                    self._touched[waiting.pool.key] = waiting.pool
        left: dict[str, int] = {}
        touched, self._touched = self._touched, {}
        queues = [
            (pool, queue)
            for pool in touched.values()
            if len(pool.waiting) >= pool.seats and (queue := self._queue(pool, room, left))
        ]
        made: list[Proposal] = []
        while queues and (limit is None or len(made) < limit):
            # Pools take turns, so that a busy one does not use up everybody's room.
            queues.sort(key=lambda each: _oldest(each[1]))
            # Room only shrinks, so a pool without a group now will not get one in this call.
            queues = [
                (pool, queue)
                for pool, queue in queues
                if len(made) == limit or (self._serve(pool, queue, left, made) and queue)
            ]
        self._touched.update({pool.key: pool for pool, _ in queues})
        return made

    def _queue(self, pool: _Pool, room: Callable[[str], int], left: dict[str, int]) -> _Queue:
        """Return the seeks of a pool whose bots have room, the longest waiting first."""
        queue: _Queue = OrderedDict()
        for waiting in sorted(pool.ready.values(), key=_since):
            name = waiting.name
            if name not in left:
                left[name] = room(name)
            if left[name] > 0:
                queue[waiting.seek.id] = waiting
            else:
                del pool.ready[waiting.seek.id]
        return queue

    def _serve(
        self, pool: _Pool, queue: _Queue, left: dict[str, int], made: list[Proposal]
    ) -> bool:
        """Make one pairing of a pool; False if there is none."""
        group = self._group(pool, queue, left)
        if not group:
            return False
        made.append(self._propose(pool, group))
        for waiting in group:
            left[waiting.name] -= 1
            seek = waiting.seek.id
            if seek in self._open:
                queue.move_to_end(seek)
            else:
                del queue[seek]
        return True

    def _group(self, pool: _Pool, queue: _Queue, left: dict[str, int]) -> list[_Waiting]:
        """Return the next group of a pool's seeks, from a queue in waiting order.

        Empty if there is none.
        """
        full = []  # seeks of the queue whose bots have no room left
        first: _Waiting | None = None
        group: list[_Waiting] = []
        met: list[_Waiting] = []  # opponents of the last pairing come after all others
        for seek, waiting in queue.items():
            if left[waiting.name] <= 0:
                full.append(seek)
            elif first is None:
                first = waiting
                last = self._last.get((pool.key, waiting.name), frozenset())
                seats = waiting.seek.seats
                group, kinds = [waiting], {waiting.kind}
            elif waiting.name in last:
                met.append(waiting)
            elif waiting.kind not in kinds:
                kinds.add(waiting.kind)
                group.append(waiting)
            if first is not None and len(group) == seats:
                break
        for seek in full:
            del queue[seek]
        if first is None:
            return []
        for waiting in met:
            if len(group) == seats:
                break
            if waiting.kind not in kinds:
                kinds.add(waiting.kind)
                group.append(waiting)
        return group if len(group) == seats else []

    def _propose(self, pool: _Pool, group: list[_Waiting]) -> Proposal:
        """Seat a group and note that it met."""
        size = len(group)
        game = pool.key.game
        names = [waiting.name for waiting in group]
        among = frozenset(names)
        here = self._sat_among.recalled((game, among), dict)
        counts = []
        for name in names:
            sat_here = here.get(name)
            if sat_here is None:
                sat_here = here[name] = [0] * size
            counts.append((sat_here, self._sat.recalled((game, name), lambda: [0] * size)))

        def cost(shift: int) -> tuple[int, int, int]:
            # The member at ``shift`` sits on seat 0.
            in_group = overall = 0
            for seat in range(size):
                sat_here, sat = counts[(shift + seat) % size]
                in_group += sat_here[seat]
                overall += sat[seat]
            return in_group, overall, shift

        shift = min(map(cost, range(size)))[2]
        seated = group[shift:] + group[:shift]
        counts = counts[shift:] + counts[:shift]
        proposal = Proposal(pool.key, tuple([waiting.seek for waiting in seated]))
        played = size if pool.key.mirrored else 1
        for turn in range(played):
            for place, (sat_here, sat) in enumerate(counts):
                seat = (place + turn) % size
                sat_here[seat] += 1
                sat[seat] += 1
        for waiting in group:
            seek = waiting.seek.id
            self._last.note((pool.key, waiting.name), among - {waiting.name})
            waiting.since = next(self._order)
            pool.waiting.move_to_end(seek)
            if waiting.left:
                waiting.left = max(0, waiting.left - played)
                if not waiting.left:
                    self.withdraw(seek)
        return proposal
