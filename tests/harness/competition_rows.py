"""Competitions as rows of the database."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.storage.competition_rows import CompetitionGame, CompetitionRow
from plyhouse.storage.errors import (
    CompetitionRefusal,
)
from plyhouse.storage.rows import By, TournamentRow

OLGA = By("olga", "because")


START = 1_000_000


def cup(name: str = "Cup", **more: Any) -> CompetitionRow:
    values: dict[str, Any] = {
        "id": f"id-{name.lower()}",
        "name": name,
        "file": f'name = "{name}"',
        "format": "round_robin",
        "status": "open",
        "entries_each": 1,
        "most_students": 50,
        "created_ms": START,
        "parsed": "{}",
        "games": (CompetitionGame(0, "pig", None), CompetitionGame(1, "kuhn_poker", None)),
    }
    return CompetitionRow(**{**values, **more})


def game(competition: str, name: str) -> TournamentRow:
    return TournamentRow(
        *(competition, name, name, "move:1", "round_robin", 1, True, False, START, "running")
    )


async def refused(code: str, work: Any) -> str:
    with pytest.raises(CompetitionRefusal) as caught:
        await work
    assert caught.value.code == f"competition/{code}"
    return str(caught.value)
