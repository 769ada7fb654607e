"""Leases of members and pairings that they own, without servers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from plyhouse.storage import leases, members, models

__all__ = ["VALID_MS", "Cluster"]

VALID_MS = 600_000

P = ParamSpec("P")
T = TypeVar("T")


class Cluster:
    """The members of a cluster on an empty PostgreSQL schema."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self.pairings = 0

    async def run(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a function in a transaction."""
        async with self.engine.begin() as connection:
            return await connection.run_sync(lambda c: work(c, *args, **kwargs))

    async def run_as(
        self,
        epoch: int,
        work: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T | None:
        """Run a function in a transaction that fences a lease; None if it has ended."""
        async with self.fenced(epoch) as connection:
            if connection is None:
                return None
            return await connection.run_sync(lambda c: work(c, *args, **kwargs))

    @contextlib.asynccontextmanager
    async def fenced(self, epoch: int) -> AsyncIterator[AsyncConnection | None]:
        """A transaction that begins with the fence of a lease; None if the lease has ended."""
        async with self.engine.begin() as connection:
            held = await connection.run_sync(leases.fence, epoch, VALID_MS)
            yield connection if held else None

    async def join(self, *, shared: bool = True) -> int:
        """Add a member whose lease has been valid for long; return its epoch."""
        epoch = await self.run(leases.acquire, "there:1", VALID_MS, shared=shared)
        assert isinstance(epoch, int)
        await self.change(epoch, steady_ms=1)
        return epoch

    async def change(self, *epochs: int, **values: object) -> None:
        """Change the rows of leases."""
        rows = models.leases.update().where(models.leases.c.epoch.in_(epochs))
        async with self.engine.begin() as connection:
            await connection.execute(rows.values(**values))

    async def expire(self, *epochs: int) -> None:
        await self.change(*epochs, expires_ms=0)

    async def end(self, *epochs: int) -> None:
        await self.change(*epochs, ended_ms=1)

    async def ended(self, epoch: int) -> bool:
        query = select(models.leases.c.ended_ms).where(models.leases.c.epoch == epoch)
        async with self.engine.begin() as connection:
            return (await connection.execute(query)).scalar_one() is not None

    async def pairing(self, owner: int | None, *, finished: bool = False) -> str:
        """Store a pairing; return its id."""
        self.pairings += 1
        name = f"p{self.pairings:04}"
        row = models.pairings.insert().values(
            id=name,
            round=0,
            game="pig",
            time_control="move:1",
            rated=True,
            seed=b"",
            commitment="",
            matches=1,
            created_ms=0,
            finished_ms=1 if finished else None,
            owner=owner,
        )
        async with self.engine.begin() as connection:
            await connection.execute(row)
        return name

    async def owned(self, epoch: int) -> list[str]:
        return await self.run(members.owned, epoch)
