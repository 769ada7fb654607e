"""Leaderboards, results for the rating fit, and ratings: the SQL.

The sums are kept up by `plyhouse.storage.match_writes` in the transaction that finishes a match,
so a leaderboard reads as many rows as it shows, however many matches were played.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from plyhouse.protocol.api.standings import Standing
from plyhouse.storage.errors import Unknown
from plyhouse.storage.models import (
    UNRATED,
    bots,
    pair_results,
    players,
    rating_snapshots,
    standings,
    versions,
)
from plyhouse.storage.rows import PairResult, RatingLike


def leaderboard(
    connection: Connection,
    game: str,
    limit: int = 100,
    offset: int = 0,
    *,
    every_version: bool = False,
    by_mean: bool = False,
) -> list[Standing]:
    """Return a page of a game's leaderboard: by rating, then score; unrated bots come last.

    Each bot has the version with which it played last, or with ``every_version`` all versions.
    Where one plays alone there are no ratings:  ``by_mean`` ranks by the mean return, which no
    index has, so all lines of the game are read.
    """
    table = standings.c
    chosen = (
        select(standings)
        .where(table.game == game)
        .order_by(*_order(table, by_mean=by_mean))
        .limit(limit)
        .offset(offset)
    )
    if not every_version:
        chosen = chosen.where(table.latest.is_(True))
    page = chosen.subquery()  # names are looked up for the rows of the page only
    query = (
        select(
            players.c.name,
            bots.c.name,
            page.c.bot_id,
            page.c.score,
            page.c.games,
            page.c.wins,
            page.c.draws,
            page.c.losses,
            page.c.rating,
            page.c.low,
            page.c.high,
            page.c.returned,
            page.c.returned_squares,
            page.c.version_id,
            versions.c.label,
            page.c.latest,
            func.coalesce(players.c.display, ""),
        )
        .join(bots, bots.c.id == page.c.bot_id)
        .join(players, players.c.id == bots.c.player_id)
        .join(versions, versions.c.id == page.c.version_id)
        .order_by(*_order(page.c, by_mean=by_mean))
    )
    found: list[Standing] = []
    for rank, row in enumerate(connection.execute(query), start=offset + 1):
        names_and_counts, (rating, *rest) = row[:8], row[8:]
        known = None if rating == UNRATED else rating
        found.append(Standing(rank, *names_and_counts, known, *rest))
    return found


def _order(table: ReadOnlyColumnCollection[str, Any], *, by_mean: bool) -> list[Any]:
    if by_mean:
        mean = table.returned / func.nullif(table.games, 0)
        return [func.coalesce(mean, 0.0).desc(), table.version_id]
    return [table.rating.desc(), table.score.desc(), table.version_id]


def games_with_results(connection: Connection) -> list[str]:
    """Return the specs of games that have a leaderboard, sorted."""
    query = select(standings.c.game).distinct().order_by(standings.c.game)
    return list(connection.execute(query).scalars())


def pair_results_of(connection: Connection, game: str) -> list[PairResult]:
    """Return what is needed to fit ratings: the results between every two versions that met."""
    query = (
        select(pair_results)
        .where(pair_results.c.game == game)
        .order_by(pair_results.c.version_a, pair_results.c.version_b)
    )
    return [PairResult(*row) for row in connection.execute(query)]


def save_ratings(
    connection: Connection, game: str, ratings: Mapping[int, RatingLike], now_ms: int
) -> None:
    """Put fitted ratings (by version id) on the leaderboard, and remember those that changed.

    Raises `Unknown` for a version without a result in the game.
    """
    columns = standings.c
    query = select(standings).where(columns.game == game)
    now = {row.version_id: row for row in connection.execute(query)}
    changes = []
    snapshots = []
    for version_id, rating in ratings.items():
        if version_id not in now:
            raise Unknown(
                f"version {version_id} has no rated result in {game}; rate those that have one"
            )
        fresh = float(rating.elo), float(rating.low), float(rating.high)
        old = now[version_id]
        if (old.rating, old.low, old.high) == fresh:
            continue
        changes.append(
            {
                "b_version_id": version_id,
                "rating": fresh[0],
                "low": fresh[1],
                "high": fresh[2],
                "rated_ms": now_ms,
            }
        )
        snapshots.append(
            {
                "game": game,
                "bot_id": old.bot_id,
                "version_id": version_id,
                "taken_ms": now_ms,
                "rating": fresh[0],
                "low": fresh[1],
                "high": fresh[2],
                "games": old.games,
            }
        )
    if changes:
        update = standings.update().where(
            columns.game == game, columns.version_id == bindparam("b_version_id")
        )
        connection.execute(update, changes)
        connection.execute(rating_snapshots.insert(), snapshots)
