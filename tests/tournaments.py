"""Tournaments written straight into the database, alone or with their competition."""

from __future__ import annotations

from collections.abc import Sequence

from plyhouse.storage import competition_sql, tournaments
from plyhouse.storage.competition_rows import CompetitionGame, CompetitionRow
from plyhouse.storage.rows import By, TournamentRow
from plyhouse.storage.store import Store


async def add_tournament(store: Store, row: TournamentRow, bots: Sequence[int]) -> None:
    """Store a tournament in which any version of these bots plays."""
    await store.write(tournaments.create, [row], [(bot, None) for bot in bots])


async def add_competition(store: Store, row: TournamentRow, bots: Sequence[int]) -> None:
    """Store a competition without students, whose only game is this tournament."""
    by, entered = By("olga"), [(bot, None) for bot in bots]
    game = CompetitionGame(0, row.game, None)
    made = CompetitionRow(row.id, row.name, "", row.format, "frozen", 1, 0, row.created_ms,
                          games=(game,))  # fmt: skip
    await store.write(competition_sql.create, made, (), by, (), bots)
    await store.write(competition_sql.begin, row.id, [row], entered, by, row.created_ms)
