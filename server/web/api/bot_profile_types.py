"""The web API's types for a bot; the reference page is made from this module."""

from __future__ import annotations

from plyhouse.protocol.api.bots import BotMatch, BotPage, BotRating, BotResult, BotVersion, Holder
from plyhouse.server.competitions.bot_profiles import BotCareer
from plyhouse.server.results.bot_statistics import forfeited
from plyhouse.storage.bot_profiles import CareerMatch

__all__ = [
    "bot_match",
    "bot_view",
]


def bot_view(found: BotCareer) -> BotPage:
    """Show a bot."""
    row = found.row
    return BotPage(
        player=row.player,
        display=found.display,
        bot=row.name,
        kind=row.kind,
        created_ms=row.created_ms,
        disabled=row.disabled_ms is not None,
        online=found.online,
        versions=[BotVersion(each.version, each.created_ms) for each in found.versions],
        standings=[
            BotResult(
                game=each.game,
                version=each.version,
                latest=each.latest,
                score=each.score,
                games=each.games,
                wins=each.wins,
                draws=each.draws,
                losses=each.losses,
                rating=each.rating,
                low=each.low,
                high=each.high,
            )
            for each in found.standings
        ],
        ratings=[BotRating(*each) for each in found.ratings],
        career=found.career,
        paces=found.paces,
    )


def bot_match(match: CareerMatch) -> BotMatch:
    """Show a match of a bot."""
    return BotMatch(
        match=match.match,
        game=match.game,
        seat=match.seat,
        version=match.version,
        result=match.result or "",
        returned=match.returned,
        termination=match.termination,
        forfeit=forfeited(match),
        reason=match.reason,
        rated=match.rated,
        ply=match.ply,
        created_ms=match.created_ms,
        void_reason=match.void_reason,
        others=[Holder(*each) for each in match.others],
    )
