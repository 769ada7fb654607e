"""Fresh databases of every kind, and people and matches to put into them."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.harness.clocks import WallClock
from tests.harness.postgres import POSTGRES, demand, execute, reason, schema
from tests.storage.cluster import Cluster

from plyhouse.protocol.api.bots import Bot
from plyhouse.server.results.scoring import match_scores
from plyhouse.storage import engines, models, people
from plyhouse.storage.database import Database
from plyhouse.storage.errors import StorageError
from plyhouse.storage.rows import (
    FinishMatch,
    MatchRow,
    NewMatch,
    NewPairing,
    Op,
    PairingRow,
    SeatRow,
    StartMatch,
    new_id,
)
from plyhouse.storage.store import Store
from plyhouse.storage.writer import Writer


@pytest.fixture(scope="session")
def postgres_reason() -> str:
    """Why there is no PostgreSQL to test with; empty if there is one."""
    return reason()


@pytest.fixture
def postgres_url(postgres_reason: str) -> Iterator[str]:
    """A PostgreSQL URL with its own empty schema."""
    demand(postgres_reason)
    with schema() as name:
        yield f"{POSTGRES}?schema={name}"


@pytest.fixture(scope="session")
def postgres_schema(postgres_reason: str) -> Iterator[str]:
    """A schema with our tables, for one test after the other."""
    demand(postgres_reason)

    async def make_tables(url: str) -> None:
        async with await Store.open(url):
            pass

    with schema() as name:
        asyncio.run(make_tables(f"{POSTGRES}?schema={name}"))
        yield name


@pytest.fixture
def postgres_tables(postgres_schema: str) -> Iterator[str]:
    """A PostgreSQL URL with our tables as they are at first.

    Making and dropping them keeps the disk busier than most tests do; emptying them is nothing.
    """
    yield f"{POSTGRES}?schema={postgres_schema}"
    emptied = [
        f"DELETE FROM {table.name}"
        + (" WHERE name NOT IN ('plyhouse_version', 'opened_ms')" if table is models.meta else "")
        for table in reversed(models.metadata.sorted_tables)
    ]
    restarted = (
        "PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) "
        f"FROM pg_sequences WHERE schemaname = '{postgres_schema}'"
    )
    work = "; ".join((f"SET LOCAL search_path TO {postgres_schema}", *emptied, restarted))
    asyncio.run(execute(f"DO $$ BEGIN {work}; END $$"))


KINDS = ["sqlite", "memory", pytest.param("postgresql", marks=pytest.mark.postgresql)]


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database that does not exist yet, of each kind."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return _lite(request.param, tmp_path)


@pytest.fixture(params=KINDS)
def ready_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without anything in it, of each kind; opened, it has our tables."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_tables"))
    return _lite(request.param, tmp_path)


def _lite(kind: str, folder: Path) -> str:
    return "sqlite:///:memory:" if kind == "memory" else f"sqlite:///{folder / 'a.db'}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def lasting_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Like `url`, without the kind that is gone when it is closed."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'a.db'}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def racing_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Like `ready_url`, without the kind that only one store can open."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_tables"))
    return _lite("sqlite", tmp_path)


@pytest.fixture
async def cluster(postgres_tables: str) -> AsyncIterator[Cluster]:
    """A cluster of members without servers."""
    database = await Database.open(postgres_tables)
    engine = engines.tool_engine(database.target, write=True)
    yield Cluster(engine)
    await engine.dispose()
    await database.close()


@pytest.fixture
def clock() -> WallClock:
    return WallClock()


@pytest.fixture
async def store(ready_url: str, clock: WallClock) -> AsyncIterator[Store]:
    async with await Store.open(ready_url, clock=clock) as opened:
        yield opened


@dataclass
class World:
    """A store with bots named as they are asked for, and matches between them."""

    store: Store
    bots: dict[str, tuple[Bot, int]] = field(default_factory=dict)
    pairings: dict[str, PairingRow] = field(default_factory=dict)

    async def bot(self, name: str) -> Bot:
        """Return the bot of a player of that name."""
        if name not in self.bots:
            player = await self.store.write(
                lambda c: people.add_player(c, name, self.store.now(), own=True)
            )
            row = await self.store.ensure_bot(player.id, "")
            self.bots[name] = row, await self.store.ensure_version(row.id, "1")
        return self.bots[name][0]

    async def version(self, name: str) -> int:
        """Return the id of the version that the bot of that name plays with now."""
        await self.bot(name)
        return self.bots[name][1]

    async def upgrade(self, name: str, label: str) -> int:
        """Let a bot play with another version from now on; return its id."""
        row = await self.bot(name)
        self.bots[name] = row, await self.store.ensure_version(row.id, label)
        return self.bots[name][1]

    async def new(
        self,
        *names: str,
        game: str = "pig",
        rated: bool = True,
        created_ms: int = 10,
        tournament_id: str | None = None,
    ) -> tuple[str, list[Op]]:
        """Return the id of a match of a new pairing, and the operations that store both."""
        seats = []
        for seat, name in enumerate(names):
            bot = await self.bot(name)
            version = self.bots[name][1]
            seats.append(SeatRow(seat, bot.player, bot.name, "1", bot.player_id, bot.id, version))
        seed = secrets.token_bytes(32)
        commitment = hashlib.sha256(seed).hexdigest()
        pairing = PairingRow(
            new_id(), game, "move:1", rated, seed, commitment, 1, created_ms, tournament_id
        )
        match = MatchRow(
            id=new_id(),
            pairing_id=pairing.id,
            game=game,
            time_control="move:1",
            rated=rated,
            illegal_rule="forfeit",
            stream="0",
            commitment=commitment,
            seed=seed,
            seats=tuple(seats),
            created_ms=created_ms,
        )
        self.pairings[match.id] = pairing
        return match.id, [NewPairing(pairing), NewMatch(match)]

    async def play(
        self,
        *names: str,
        returns: tuple[float, ...],
        game: str = "pig",
        rated: bool = True,
        termination: str = "normal",
        tournament_id: str | None = None,
        span: float = 0.0,
        void: bool = False,
        culprit: int | None = None,
        created_ms: int = 10,
        teams: tuple[int, ...] = (),
    ) -> str:
        """Store a whole match in one transaction."""
        match_id, ops = await self.new(
            *names, game=game, rated=rated, created_ms=created_ms, tournament_id=tournament_id
        )
        nonces = ("",) * len(names)
        ops += [
            StartMatch(match_id, nonces, 11),
            FinishMatch(
                *(match_id, termination, returns, 7, created_ms + 89),
                culprit=culprit,
                scores=None if void else match_scores(returns, span, teams),
            ),
        ]
        await self.store.apply(ops)
        return match_id


Submit = Callable[[Writer, Sequence[Op]], "asyncio.Future[None]"]


@pytest.fixture
def submit() -> Submit:
    """Submit operations to a writer; the future is done when they are durable."""

    def submitted(writer: Writer, ops: Sequence[Op]) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(error: StorageError | None) -> None:
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

        writer.submit_then(ops, done)
        return future

    return submitted


@pytest.fixture
def world(store: Store) -> World:
    return World(store)


@pytest.fixture
def world_at() -> Callable[[str], AbstractAsyncContextManager[World]]:
    """Open a world at a URL."""

    @asynccontextmanager
    async def opened(url: str) -> AsyncIterator[World]:
        async with await Store.open(url) as store:
            yield World(store)

    return opened


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can enter and write to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
