"""A model of leases, explored exhaustively: every order of steps of three servers loses no ply.

The model has the locks of PostgreSQL at READ COMMITTED.  It checks the rule of
`plyhouse.storage.leases` by breaking it, too: with a condition on the epoch instead of the lock,
a server stores a ply that the next owner of the match does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

SERVERS = 3
MOST_PLIES = 2
MOST_EPOCHS = 4


class Server(NamedTuple):
    """What one server knows, which may be out of date."""

    epoch: int = 0
    """Its lease; 0 before it has one."""
    plies: int = 0
    """How many plies of the match it has in memory."""
    writing: bool = False
    """True from the check of its lease until its transaction ends."""
    ends: int = 0
    """The expired lease that its transaction has locked and is going to end; 0 if there is none."""


class World(NamedTuple):
    """The database and three servers on it, with one match."""

    servers: tuple[Server, ...]
    running: int
    """The lease that nobody has ended."""
    expired: bool
    """True if that lease was not renewed in time."""
    stored: int
    """How many plies are in the database."""
    epochs: int

    def with_server(self, number: int, server: Server) -> World:
        servers = tuple(server if i == number else each for i, each in enumerate(self.servers))
        return self._replace(servers=servers)


START = World(
    (Server(epoch=1), *[Server()] * (SERVERS - 1)), running=1, expired=False, stored=0, epochs=1
)


def steps(world: World, *, locks: bool) -> Iterator[tuple[str, World]]:
    """Every step that may come next, with the world after it."""
    ending = any(each.ends for each in world.servers)
    yield "the lease expires", world._replace(expired=True)
    for number, server in enumerate(world.servers):
        if server.epoch == world.running and not ending:
            yield f"{number} renews its lease", world._replace(expired=False)
        if server.epoch == world.running and not server.writing and not (locks and ending):
            # With a lock, a transaction that begins while the lease is being ended waits.
            yield (
                f"{number} checks its lease",
                world.with_server(number, server._replace(writing=True)),
            )
        if server.writing and world.stored < MOST_PLIES:
            stored = server.plies + 1
            done = server._replace(plies=stored, writing=False)
            after = world.with_server(number, done)._replace(stored=max(stored, world.stored))
            yield f"{number} commits ply {stored}", after
        if server.writing:
            yield (
                f"{number} gives its transaction up",
                world.with_server(number, server._replace(writing=False)),
            )
        others_write = any(each.writing and each.epoch == world.running for each in world.servers)
        if (
            world.expired
            and not ending
            and not server.writing
            and world.epochs < MOST_EPOCHS
            and not (locks and others_write)
        ):
            yield (
                f"{number} locks the expired lease",
                world.with_server(number, server._replace(ends=world.running)),
            )
        if server.ends:
            epoch = world.epochs + 1
            owner = Server(epoch=epoch, plies=world.stored)
            after = world.with_server(number, owner)
            yield (
                f"{number} ends it and reads {world.stored} plies",
                after._replace(running=epoch, expired=False, epochs=epoch),
            )


def explore(*, locks: bool) -> tuple[int, list[str]]:
    """Visit every world; return how many there are, and the steps to one that is wrong."""
    came_from: dict[World, tuple[World, str]] = {}
    seen = {START}
    waiting = [START]
    for world in waiting:
        for name, after in steps(world, locks=locks):
            if after in seen:
                continue
            seen.add(after)
            came_from[after] = world, name
            waiting.append(after)
            owner = next(each for each in after.servers if each.epoch == after.running)
            if owner.plies != after.stored:
                path: list[str] = []
                while after != START:
                    after, name = came_from[after]
                    path.insert(0, name)
                return len(seen), path
    return len(seen), []


def test_lease_that_transactions_lock_loses_no_ply() -> None:
    worlds, path = explore(locks=True)
    assert path == []
    assert worlds > 500, "the model explores something"


def test_lease_that_transactions_only_check_loses_a_ply() -> None:
    assert explore(locks=False)[1] == [
        "the lease expires",
        "0 checks its lease",
        "1 locks the expired lease",
        "1 ends it and reads 0 plies",
        "0 commits ply 1",
    ]
