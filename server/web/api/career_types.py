"""What the web API says of a bot; its reference page is made from this module."""

from __future__ import annotations

from plyhouse.protocol.api.bots import BotMatch, BotPage, BotRating, BotResult, BotVersion, Holder
from plyhouse.server.contests.bot_profiles import BotCareer
from plyhouse.server.results.careers import forfeited
from plyhouse.storage.careers import CareerMatch

__all__ = [
    "bot_match",
    "bot_view",
]


def bot_view(found: BotCareer) -> BotPage:
    """Show a bot."""
    row = found.row
    return BotPage(
        *(row.player, found.display, row.name, row.kind, row.created_ms),
        row.disabled_ms is not None,
        found.online,
        [BotVersion(each.version, each.created_ms) for each in found.versions],
        [
            BotResult(
                *(each.game, each.version, each.latest, each.score, each.games),
                *(each.wins, each.draws, each.losses),
                *(each.rating, each.low, each.high),
            )
            for each in found.standings
        ],
        [BotRating(*each) for each in found.ratings],
        found.career,
        found.paces,
    )


def bot_match(match: CareerMatch) -> BotMatch:
    """Show a match of a bot."""
    return BotMatch(
        *(match.match, match.game, match.seat, match.version, match.result or ""),
        *(match.returned, match.termination, forfeited(match), match.reason, match.rated),
        *(match.ply, match.created_ms, match.void_reason),
        [Holder(*each) for each in match.others],
    )
