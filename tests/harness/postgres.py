"""A PostgreSQL server for tests, and schemas of their own."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.harness.patience import PATIENCE

__all__ = ["POSTGRES", "demand", "execute", "reason", "schema"]

POSTGRES = os.environ.get("PLYHOUSE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
REQUIRED = os.environ.get("PLYHOUSE_REQUIRE_POSTGRES") == "1"


async def execute(statement: str) -> None:
    import asyncpg  # type: ignore[import-untyped]

    connection = await asyncpg.connect(POSTGRES, timeout=PATIENCE)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def reason() -> str:
    """Why there is no PostgreSQL to test with; empty if there is one."""
    try:
        asyncio.run(execute("SELECT 1"))
    except Exception as error:
        return f"no PostgreSQL at PLYHOUSE_TEST_POSTGRES: {error!r}"
    return ""


def demand(why: str) -> None:
    """Skip, or where PostgreSQL is required fail, if there is none."""
    if why:
        if REQUIRED:
            pytest.fail(why)
        pytest.skip(why)


@contextmanager
def schema() -> Iterator[str]:
    """Make an empty schema, which is dropped at the end; yield its name.

    A server that still uses it then fails the test instead of keeping it waiting.
    """
    name = f"plyhouse_test_{secrets.token_hex(6)}"
    asyncio.run(execute(f"CREATE SCHEMA {name}"))
    yield name
    asyncio.run(execute(f"SET lock_timeout = '{PATIENCE:g}s'; DROP SCHEMA {name} CASCADE"))
