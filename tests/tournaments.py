"""Tournaments: written straight into the database, played by a server, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plyhouse.server.competition_rules.file_template import round_robin_text
from plyhouse.server.competitions.lifecycle import CONNECTED, Competitions
from plyhouse.server.match.terms import Terms
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


def round_robin_of(terms: Terms, name: str, rounds: int = 1) -> str:
    """Return the competition file of a round robin without students."""
    return round_robin_text(
        name,
        terms.game.spec,
        str(terms.time_control),
        rounds=rounds,
        mirrored=terms.mirrored,
        rated=terms.rated,
    )


async def begin_round_robin(
    competitions: Competitions,
    name: str,
    terms: Terms,
    by: By,
    *,
    rounds: int = 1,
    entries: Sequence[str] = (CONNECTED,),
) -> CompetitionRow:
    """Begin a round robin without students; its tournament has the id of the competition."""
    return await competitions.open(round_robin_of(terms, name, rounds), by, entries=entries)


class Line(NamedTuple):
    """What an entry of a tournament has achieved."""

    player: str
    bot: str
    score: float
    games: int
    wins: int
    draws: int
    losses: int


async def results(store: Store, tournament_id: str) -> list[Line]:
    """Return what the entries of a tournament have achieved, by score, then age of the bot."""
    entries = await store.read(tournaments.list_entries, tournament_id)
    seats = await store.read(tournaments.played_seats, tournament_id)
    lines = []
    for entry in sorted(entries, key=lambda each: each.bot_id):
        mine = [each for each in seats if each.bot_id == entry.bot_id and each.result]
        counts = ("".join(each.result or "" for each in mine).count(word) for word in "WDL")
        score = sum(each.score or 0.0 for each in mine)
        lines.append(Line(entry.player, entry.bot, score, len(mine), *counts))
    return sorted(lines, key=lambda each: -each.score)
