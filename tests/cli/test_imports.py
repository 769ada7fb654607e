"""Commands and the processes that they start load only the modules that they use."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from tests.harness.loaded import Loaded, loaded
from tests.harness.zygote import clean_environment

MATCH = ("match", "random", "random", "--game", "tic_tac_toe", "--games", "2", "--jobs", "1")
SERVE = ("serve", "--port", "0", "--database", "sqlite:///new.db")
SUBMIT = ("submit", "bot.py", "--server", "http://127.0.0.1:9", "--token", "ply_none")
ARENA = "plyhouse.clients.arena.process"
BOT = "plyhouse.bots.process"

STORES = ("sqlalchemy", "sqlite3", "alembic")
PAGES = ("litestar", "uvicorn", "jinja2", "rich", "textual")
DIRECTORS = tuple(
    f"plyhouse.server.{each}"
    for each in (
        *("competition_rules", "grades", "lobby", "competitions", "hosting", "administration"),
        *("cluster", "web"),
    )
)
SLOW = ("numpy", "email", "importlib.metadata")


def at_most(process: Loaded, ours: int, without: Collection[str]) -> None:
    """Check that a process has loaded at most ``ours`` modules of Plyhouse, and none of these."""
    assert not process.of(*without)
    assert len(process.ours) <= ours, sorted(process.ours)


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Loaded]:
    """The processes of ``plyhouse match``, by a part of their command."""
    found = loaded(MATCH, tmp_path_factory.mktemp("match"), environment=clean_environment())
    return lambda part: next(each for each in found if part in each.command)


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_answer_of_the_command_line_loads_no_command(option: str, tmp_path: Path) -> None:
    (process,) = loaded([option], tmp_path, environment=clean_environment())
    packages = ("games", "server", "search", "storage", "bots")
    ours = [f"plyhouse.{each}" for each in packages]
    at_most(process, 12, (*SLOW, *STORES, *PAGES, *ours, "asyncio", "msgspec"))


def test_match_loads_no_referee(match: Callable[[str], Loaded]) -> None:
    without = (*SLOW, *STORES, *PAGES, "httpx", "plyhouse.server.gateway", "plyhouse.server.table")
    at_most(match("plyhouse match"), 60, without)


def test_arena_loads_no_database_and_nothing_that_decides_who_plays(
    match: Callable[[str], Loaded],
) -> None:
    without = (*SLOW, *STORES, *PAGES, *DIRECTORS, "click", "httpx", "websockets")
    at_most(match(ARENA), 133, without)
    assert "plyhouse.server.gateway.hub" not in match(ARENA).modules


def test_process_of_a_bot_loads_no_server_and_no_client(match: Callable[[str], Loaded]) -> None:
    without = ("asyncio", "hashlib", "click", "plyhouse.server", "plyhouse.clients")
    at_most(match(BOT), 44, (*SLOW, *STORES, *PAGES, *without))


@pytest.mark.parametrize(("arguments", "ours"), [(("submit", "--help"), 32), (SUBMIT, 67)])
def test_submit_loads_no_server(arguments: tuple[str, ...], ours: int, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("from plyhouse.bots import Bot\n")
    (process,) = loaded(arguments, tmp_path, environment=clean_environment())
    without = ("numpy", *STORES, *PAGES, "plyhouse.server", "plyhouse.search.trees", "asyncio")
    at_most(process, ours, without)


def test_serve_loads_no_bot_no_search_and_no_cluster(tmp_path: Path) -> None:
    ready = "Plyhouse is listening on "
    process, *_ = loaded(SERVE, tmp_path, ready=ready, environment=clean_environment())
    without = ("sqlalchemy.orm", "sqlalchemy.dialects.postgresql", "asyncpg", "rich", "textual")
    ours = (
        "plyhouse.bots",
        "plyhouse.search",
        "plyhouse.server.cluster",
        "plyhouse.server.supervisor",
    )
    at_most(process, 330, ("numpy", "nats", *without, *ours))
