"""Matches that an organiser makes void: they stay in the record and count nowhere; the SQL."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, exists, or_, select

from plyhouse.storage import audit
from plyhouse.storage.causes import Cause, written
from plyhouse.storage.errors import AlreadyExists, NotNow, Unknown
from plyhouse.storage.models import UNRATED, match_seats, matches, pair_results, standings
from plyhouse.storage.rows import By, MatchScores


def void_match(
    connection: Connection,
    match_id: str,
    by: By,
    scores: MatchScores | None,
    now_ms: int,
    cause: Cause | None = None,
) -> None:
    """Take a match out of leaderboard, tables and what ratings are fitted to.

    One that is not over counts nowhere when it ends.  Without ``cause``, it shows the reason of
    ``by``.
    """
    query = (
        select(matches.c.game, matches.c.rated, matches.c.finished_ms, matches.c.void_reason)
        .where(matches.c.id == match_id)
        .with_for_update()
    )
    found = connection.execute(query).first()
    if found is None:
        raise Unknown(f"there is no match {match_id!r}; take an id from the list of matches")
    if found.void_reason is not None:
        raise AlreadyExists(f"match {match_id!r} is void already; it stays so")
    seats = connection.execute(
        select(match_seats).where(match_seats.c.match_id == match_id).order_by(match_seats.c.seat)
    ).all()
    counted = found.finished_ms is not None and all(seat.result is not None for seat in seats)
    if counted and scores is None:
        raise NotNow(f"match {match_id!r} has just ended; try again")
    if counted and found.rated and scores is not None:
        _take_from_standings(connection, found.game, seats, scores)
        versions = [seat.version_id for seat in seats]
        for (a, b), score in zip(combinations(versions, 2), scores.pairs, strict=True):
            if score is not None:
                _take_from_pair(connection, found.game, a, b, score)
        _forget_ratings(connection, found.game, versions)
    connection.execute(
        match_seats.update()
        .where(match_seats.c.match_id == match_id)
        .values(score=None, result=None)
    )
    void = matches.update().where(matches.c.id == match_id)
    connection.execute(void.values(void_reason=(cause or written(by.why)).encoded()))
    audit.add(connection, now_ms, by, "match.void", found.game, match_id)


def void_running(connection: Connection) -> list[str]:
    """Return the ids of matches that were made void and are not over."""
    query = select(matches.c.id).where(
        matches.c.finished_ms.is_(None), matches.c.void_reason.is_not(None)
    )
    return list(connection.execute(query).scalars())


def _take_from_standings(
    connection: Connection, game: str, seats: Sequence[Any], scores: MatchScores
) -> None:
    """Take a match out of the sums of a leaderboard, which ``scores`` says what it added to."""
    columns = standings.c
    for seat, (score, _) in zip(seats, scores.seats, strict=True):
        here = columns.game == game, columns.version_id == seat.version_id
        won, drawn, lost = (int(seat.result == each) for each in "WDL")
        connection.execute(
            standings.update()
            .where(*here)
            .values(
                score=columns.score - score,
                games=columns.games - 1,
                wins=columns.wins - won,
                draws=columns.draws - drawn,
                losses=columns.losses - lost,
                returned=columns.returned - seat.returned,
                returned_squares=columns.returned_squares - seat.returned * seat.returned,
            )
        )
        gone = connection.execute(
            select(columns.latest, columns.bot_id).where(*here, columns.games <= 0)
        ).first()
        if gone is not None:
            connection.execute(standings.delete().where(*here))
            if gone.latest:
                _show_another(connection, game, gone.bot_id)


def _show_another(connection: Connection, game: str, bot_id: int) -> None:
    """Show the one of a bot's remaining versions that played last."""
    played = (
        select(match_seats.c.version_id)
        .join(matches, matches.c.id == match_seats.c.match_id)
        .where(
            match_seats.c.bot_id == bot_id,
            match_seats.c.result.is_not(None),
            matches.c.game == game,
            matches.c.rated.is_(True),
            exists().where(
                standings.c.game == game, standings.c.version_id == match_seats.c.version_id
            ),
        )
        .order_by(matches.c.finished_ms.desc(), match_seats.c.version_id.desc())
        .limit(1)
    )
    version = connection.execute(played).scalar_one_or_none()
    if version is not None:
        connection.execute(
            standings.update()
            .where(standings.c.game == game, standings.c.version_id == version)
            .values(latest=True)
        )


def _take_from_pair(connection: Connection, game: str, a: int, b: int, score: float) -> None:
    if a == b:
        return
    if a > b:
        a, b, score = b, a, 1.0 - score
    columns = pair_results.c
    here = columns.game == game, columns.version_a == a, columns.version_b == b
    connection.execute(
        pair_results.update()
        .where(*here)
        .values(
            wins_a=columns.wins_a - int(score > 0.5),
            draws=columns.draws - int(score == 0.5),
            wins_b=columns.wins_b - int(score < 0.5),
            score_a=columns.score_a - score,
            squares_a=columns.squares_a - score * score,
        )
    )
    met = columns.wins_a + columns.draws + columns.wins_b
    connection.execute(pair_results.delete().where(*here, met <= 0))


def _forget_ratings(connection: Connection, game: str, versions: list[int]) -> None:
    """A version without opponents has no rating; the next fit would skip it."""
    columns = pair_results.c
    met = exists().where(
        columns.game == game,
        or_(
            columns.version_a == standings.c.version_id,
            columns.version_b == standings.c.version_id,
        ),
    )
    connection.execute(
        standings.update()
        .where(standings.c.game == game, standings.c.version_id.in_(versions), ~met)
        .values(rating=UNRATED, low=None, high=None)
    )
