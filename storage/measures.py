"""Measured costs of matches and finals on this server; the SQL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, select

from plyhouse.protocol.api.competitions import Measure, PastFinal
from plyhouse.storage.models import competition_games, competitions, matches, pairings, tournaments

LATEST: Final = 500
"""The number of latest matches to measure."""
PLAYED: Final = (
    matches.c.started_ms.is_not(None),
    matches.c.finished_ms.is_not(None),
    matches.c.void_reason.is_(None),
)
"""Conditions of the matches that count."""
HOSTED: Final = '"hosting_required":true'
"""In the stored values of a competition file whose final only submitted bots play.  No text in
them contains it, because a quotation mark within a JSON string has a backslash before it."""
PAUSE_MS: Final = 60_000
"""The longest wait between matches of a final that counts as part of its duration.  A longer one
is a pause, or a stopped server."""


def measure(connection: Connection, game: str, time_control: str, *, hosted: bool) -> Measure:
    """Return the mean plies of the latest matches of a game, and its latest final of a kind.

    A final is of the same kind if it had this time control, and only hosted bots if ``hosted``.
    """
    latest = (
        select(matches.c.ply)
        .where(
            matches.c.game == game,
            *PLAYED,
        )
        .order_by(matches.c.created_ms.desc(), matches.c.id.desc())
        .limit(LATEST)
    )
    plies = connection.scalars(latest).all()
    final = _latest_final(connection, game, time_control, hosted)
    return Measure(game, len(plies), sum(plies) / max(1, len(plies)), final)


def _latest_final(
    connection: Connection, game: str, time_control: str, hosted: bool
) -> PastFinal | None:
    required = competitions.c.parsed.contains(HOSTED, autoescape=True)
    played = select(matches.c.id).join(pairings, pairings.c.id == matches.c.pairing_id)
    query = (
        select(competitions.c.name, tournaments.c.id, tournaments.c.started_ms)
        .join(competition_games, competition_games.c.competition_id == competitions.c.id)
        .join(tournaments, tournaments.c.id == competition_games.c.tournament_id)
        .where(
            tournaments.c.game == game,
            tournaments.c.time_control == time_control,
            tournaments.c.format != "ladder",
            competitions.c.status != "deleted",
            tournaments.c.finished_ms.is_not(None),
            required if hosted else ~required,
            played.where(pairings.c.tournament_id == tournaments.c.id, *PLAYED).exists(),
        )
        .order_by(tournaments.c.finished_ms.desc(), tournaments.c.id.desc())
        .limit(1)
    )
    final = connection.execute(query).one_or_none()
    if final is None:
        return None
    spans = _spans(connection, final.id)
    busy, count = sum(end - begin for begin, end in spans), len(spans)
    if count < LATEST and final.started_ms is not None:
        spans.append((final.started_ms, final.started_ms))
    elapsed = max(1, elapsed_ms(spans))
    return PastFinal(final.name, count, elapsed / 1000, busy / elapsed)


def _spans(connection: Connection, tournament_id: str) -> list[tuple[int, int]]:
    """Return when the latest matches were made and ended."""
    query = (
        select(matches.c.created_ms, matches.c.finished_ms)
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .where(
            pairings.c.tournament_id == tournament_id,
            *PLAYED,
        )
        .order_by(matches.c.created_ms.desc(), matches.c.id.desc())
        .limit(LATEST)
    )
    return [(begin, end) for begin, end in connection.execute(query)]


def elapsed_ms(spans: Iterable[tuple[int, int]]) -> int:
    """Return the time from the first begin to the last end, without pauses.

    >>> elapsed_ms([(0, 1000), (1200, 2000)])
    2000
    """
    total, last = 0, None
    for begin, end in sorted(spans):
        if last is None or begin - last > PAUSE_MS:
            last = begin
        total += max(0, end - last)
        last = max(last, end)
    return total
