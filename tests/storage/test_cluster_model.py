"""Models of a cluster, explored exhaustively: every order of steps of three members.

The models have the locks of PostgreSQL at READ COMMITTED.  A lease may expire at any moment, and a
transaction may take any time or be given up, so they cover every clock and every network.  They
check the rules of `plyhouse.storage.members` by breaking them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Literal, NamedTuple, TypeVar

import pytest

MEMBERS = range(3)
FIRST_PLY, LAST_PLY = 16, 18
NOBODY = -1

Fence = Literal["lock", "check", "none"]
"""How a transaction begins: it locks its lease, only checks it, or does not look."""

WorldT = TypeVar("WorldT", bound=Hashable)
RowT = TypeVar("RowT")


def put(rows: tuple[RowT, ...], at: int, row: RowT) -> tuple[RowT, ...]:
    return (*rows[:at], row, *rows[at + 1 :])


class Explored(NamedTuple):
    """What an exploration has found."""

    worlds: int
    path: list[str]
    """The steps to a world that is wrong; empty if there is none."""
    stuck: int
    """From how many worlds no step leads on to a good one."""


def explore(
    start: WorldT,
    steps: Callable[[WorldT], Iterable[tuple[str, WorldT]]],
    *,
    wrong: Callable[[WorldT], bool],
    good: Callable[[WorldT], bool],
) -> Explored:
    """Visit every world, or stop at the first that is wrong."""
    came_from: dict[WorldT, tuple[WorldT, str]] = {}
    before: dict[WorldT, list[WorldT]] = {start: []}
    waiting = [start]
    for world in waiting:
        for name, after in steps(world):
            if after in before:
                before[after].append(world)
                continue
            before[after] = [world]
            came_from[after] = world, name
            waiting.append(after)
            if wrong(after):
                path: list[str] = []
                while after != start:
                    after, name = came_from[after]
                    path.insert(0, name)
                return Explored(len(before), path, 0)
    reached = [world for world in before if good(world)]
    leads_on = set(reached)
    for world in reached:
        new = [each for each in before[world] if each not in leads_on]
        leads_on.update(new)
        reached += new
    return Explored(len(before), [], len(before) - len(leads_on))


# ------------------------------------------------------------------------------------ owners


class Player(NamedTuple):
    """What one member knows of the match, and its two transactions."""

    plies: int = NOBODY
    """How many plies it has in memory; `NOBODY` if it does not run the match."""
    writing: int = 0
    """The ply that a transaction will store, from the check of its lease to its end; 0: none."""
    job: tuple[str, int] = ("", NOBODY)
    """What its other transaction is about to do: end a lease, adopt the match, or give it away."""


class Match(NamedTuple):
    """The database and the members of a cluster, with one match."""

    players: tuple[Player, ...]
    leases: tuple[str, ...]
    owner: int
    stored: int
    """How many plies are in the database."""

    def having(self, member: int, player: Player) -> Match:
        return self._replace(players=put(self.players, member, player))

    def leased(self, member: int, state: str) -> Match:
        return self._replace(leases=put(self.leases, member, state))

    def doing(self, *job: object) -> bool:
        return any(each.job == job for each in self.players)


MATCH = Match(
    (Player(FIRST_PLY), *[Player()] * (len(MEMBERS) - 1)),
    ("valid",) * len(MEMBERS),
    owner=0,
    stored=FIRST_PLY,
)


def match_steps(world: Match, fence: Fence, *, flush: bool) -> Iterator[tuple[str, Match]]:
    """Every step that may come next, with the world after it.

    ``flush``: an owner gives the match away only while it stores nothing.
    """
    for member in MEMBERS:
        yield from _lease_steps(world, member)
        yield from _ply_steps(world, member, fence, flush=flush)
        yield from _begun_jobs(world, member, fence, flush=flush)
        yield from _finished_jobs(world, member)
        player = world.players[member]
        if world.owner == member and player.plies == NOBODY:
            read = player._replace(plies=world.stored)
            yield f"{member} reads {world.stored} plies", world.having(member, read)


def _lease_steps(world: Match, member: int) -> Iterator[tuple[str, Match]]:
    if world.leases[member] == "valid":
        yield f"the lease of {member} expires", world.leased(member, "expired")
    if world.leases[member] == "expired" and not world.doing("end", member):
        yield f"{member} renews its lease", world.leased(member, "valid")


def _passes(world: Match, member: int, fence: Fence) -> bool:
    """Whether a transaction of the member may begin, and need not wait."""
    if fence == "none":
        return True
    ending = fence == "lock" and world.doing("end", member)
    return world.leases[member] != "ended" and not ending


def _locked(world: Match, member: int) -> bool:
    """Whether a transaction keeps the member's lease from being ended."""
    player = world.players[member]
    return player.writing > 0 or player.job[0] != "" or world.doing("give", member)


def _ply_steps(
    world: Match, member: int, fence: Fence, *, flush: bool
) -> Iterator[tuple[str, Match]]:
    player = world.players[member]
    if player.writing:
        ply = player.writing
        idle = player._replace(writing=0)
        yield f"{member} gives ply {ply} up", world.having(member, idle)
        if ply > world.stored:  # otherwise the primary key of events refuses it
            done = idle if player.plies == NOBODY else idle._replace(plies=ply)
            yield f"{member} commits ply {ply}", world.having(member, done)._replace(stored=ply)
    elif (
        FIRST_PLY <= player.plies < LAST_PLY
        and not (flush and player.job[0] == "give")
        and _passes(world, member, fence)
    ):
        begun = player._replace(writing=player.plies + 1)
        yield f"{member} checks its lease", world.having(member, begun)


def _begun_jobs(
    world: Match, member: int, fence: Fence, *, flush: bool
) -> Iterator[tuple[str, Match]]:
    player = world.players[member]
    if player.job[0] or not _passes(world, member, fence):
        return
    row_free = not any(each.job[0] in ("adopt", "give") for each in world.players)
    if world.leases[world.owner] == "ended" and row_free:
        begun = player._replace(job=("adopt", NOBODY))
        yield f"{member} locks the orphan", world.having(member, begun)
    for other in MEMBERS:
        if other == member:
            continue
        free = not world.doing("end", other) and not (fence == "lock" and _locked(world, other))
        if world.leases[member] == "valid" and world.leases[other] == "expired" and free:
            begun = player._replace(job=("end", other))
            yield f"{member} locks the expired lease of {other}", world.having(member, begun)
        if (
            world.owner == member
            and player.plies != NOBODY
            and not (flush and player.writing)
            and row_free
            and world.leases[other] != "ended"
            and not (fence == "lock" and world.doing("end", other))
        ):
            begun = player._replace(job=("give", other))
            yield f"{member} begins to give the match to {other}", world.having(member, begun)


def _finished_jobs(world: Match, member: int) -> Iterator[tuple[str, Match]]:
    player = world.players[member]
    job, other = player.job
    if not job:
        return
    idle = player._replace(job=("", NOBODY))
    after = world.having(member, idle)
    yield f"{member} gives its transaction up", after
    if job == "end":
        yield f"{member} ends the lease of {other}", after.leased(other, "ended")
    elif job == "adopt":
        adopted = world.having(member, idle._replace(plies=NOBODY))
        yield f"{member} adopts the match", adopted._replace(owner=member)
    else:
        given = world.having(member, idle._replace(plies=NOBODY))
        yield f"{member} gives the match to {other}", given._replace(owner=other)


def explore_match(fence: Fence, *, flush: bool = True) -> Explored:
    return explore(
        MATCH,
        lambda world: match_steps(world, fence, flush=flush),
        wrong=lambda world: world.players[world.owner].plies not in (NOBODY, world.stored),
        # The match goes on, or no member is left.
        good=lambda world: (
            (world.leases[world.owner] == "valid" and world.players[world.owner].plies != NOBODY)
            or set(world.leases) == {"ended"}
        ),
    )


def test_match_of_members_with_fences_loses_no_ply() -> None:
    found = explore_match("lock")
    assert found.path == []
    assert found.stuck == 0
    assert found.worlds > 1_000, "the model explores something"


@pytest.mark.parametrize("fence", ["check", "none"])
def test_match_of_members_that_only_check_their_lease_loses_a_ply(fence: Fence) -> None:
    assert explore_match(fence).path == [
        "the lease of 0 expires",
        "0 checks its lease",
        "1 locks the expired lease of 0",
        "1 ends the lease of 0",
        "1 locks the orphan",
        "1 adopts the match",
        "1 reads 16 plies",
        "0 commits ply 17",
    ]


def test_match_that_is_given_away_while_its_owner_stores_a_ply_loses_it() -> None:
    """The fence protects from others; an owner must wait for its own transactions."""
    assert explore_match("lock", flush=False).path == [
        "0 checks its lease",
        "0 begins to give the match to 1",
        "0 gives the match to 1",
        "1 reads 16 plies",
        "0 commits ply 17",
    ]


# ----------------------------------------------------------------------------------- leaders


class Leader(NamedTuple):
    """What one member knows of the work of a role, and its transaction."""

    known: int = NOBODY
    """How often the work was begun, as it read when it got the role."""
    job: tuple[str, int] = ("", NOBODY)


class Role(NamedTuple):
    """The database and the members of a cluster, with one role and one piece of work."""

    members: tuple[Leader, ...]
    leases: tuple[str, ...]
    leader: int = NOBODY
    begun: int = 0

    def having(self, number: int, member: Leader) -> Role:
        return self._replace(members=put(self.members, number, member))

    def leased(self, member: int, state: str) -> Role:
        return self._replace(leases=put(self.leases, member, state))

    def doing(self, *job: object) -> bool:
        return any(each.job[: len(job)] == job for each in self.members)


ROLE = Role((Leader(),) * len(MEMBERS), ("valid",) * len(MEMBERS))


def role_steps(world: Role, *, lease: bool) -> Iterator[tuple[str, Role]]:
    """Every step that may come next; with ``lease``, transactions of a leader lock its lease."""
    for number, member in enumerate(world.members):
        state = world.leases[number]
        if state == "valid":
            yield f"the lease of {number} expires", world.leased(number, "expired")
        if state == "expired" and not world.doing("end", number):
            yield f"{number} renews its lease", world.leased(number, "valid")
        if world.leader == number and member.known == NOBODY:
            read = member._replace(known=world.begun)
            yield f"{number} reads {world.begun}", world.having(number, read)
        if member.job[0]:
            yield from _ends_of_role_jobs(world, number)
            continue
        if state == "ended" or (lease and world.doing("end", number)):
            continue
        if member.known == 0:
            begun = member._replace(job=("lead", NOBODY))
            yield f"{number} checks its lease", world.having(number, begun)
        holder = world.leader
        free = holder == NOBODY or world.leases[holder] == "ended"
        if free and holder != number and not world.doing("claim"):
            begun = member._replace(job=("claim", NOBODY))
            yield f"{number} locks the role", world.having(number, begun)
        for other in MEMBERS:
            busy = world.doing("end", other) or (lease and world.members[other].job[0] != "")
            if other == number or busy:
                continue
            if world.leases[other] == "expired" and state == "valid":
                begun = member._replace(job=("end", other))
                yield f"{number} locks the lease of {other}", world.having(number, begun)


def _ends_of_role_jobs(world: Role, number: int) -> Iterator[tuple[str, Role]]:
    member = world.members[number]
    job, other = member.job
    idle = member._replace(job=("", NOBODY))
    after = world.having(number, idle)
    yield f"{number} gives its transaction up", after
    if job == "end":
        yield f"{number} ends the lease of {other}", after.leased(other, "ended")
    elif job == "claim":
        leading = world.having(number, idle._replace(known=NOBODY))
        yield f"{number} takes the role", leading._replace(leader=number)
    else:
        done = world.having(number, idle._replace(known=1))
        yield f"{number} begins the work", done._replace(begun=world.begun + 1)


def explore_role(*, lease: bool = True) -> Explored:
    return explore(
        ROLE,
        lambda world: role_steps(world, lease=lease),
        wrong=lambda world: world.begun > 1,
        # The work is begun, or no member is left that may take the role.
        good=lambda world: world.begun == 1 or set(world.leases) == {"ended"},
    )


def test_work_of_a_leader_that_locks_its_lease_begins_once() -> None:
    found = explore_role()
    assert found.path == []
    assert found.stuck == 0
    assert found.worlds > 1_000, "the model explores something"


def test_work_of_a_leader_that_locks_nothing_begins_twice() -> None:
    assert explore_role(lease=False).path
