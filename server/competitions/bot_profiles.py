"""The page of a bot as one viewer may see it.

The data comes from the store; a thread counts it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.protocol.api.bots import Bot, BotMatch, BotPage, Career
from plyhouse.protocol.api.reports import Summary
from plyhouse.server.accounts.builtin_bots import BUILTIN_ROLE
from plyhouse.server.accounts.privacy import Privacy, Sight
from plyhouse.server.accounts.roles import bots_seen
from plyhouse.server.competition_rules.reference_baselines import BUILTIN_LEVELS, level_of
from plyhouse.server.config import ServerConfig
from plyhouse.server.grades.summaries import (
    CostlyPly,
    Evidence,
    Loss,
    Reviewed,
    costly,
    match_path,
    reason_of_score,
    summary,
)
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.results.bot_statistics import Tally, career, paces
from plyhouse.server.table.directory import Directory
from plyhouse.storage import bot_profiles, people, sessions, submission_sql
from plyhouse.storage.bot_profiles import CareerMatch
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

COUNTED: Final = 1000
"""Number of finished matches that are counted: the latest ones."""
TIMED: Final = 50
"""Number of those matches whose plies are timed."""
MOST_PLIES: Final = 5000
MOST_VERSIONS: Final = 100
MOST_STANDINGS: Final = 500
MOST_RATINGS: Final = 200
"""Number of points on the rating curve of a game."""


@dataclass(frozen=True, slots=True)
class BotCareer:
    """The facts about a bot that one viewer may see."""

    row: Bot
    page: BotPage
    matches: list[BotMatch]
    """The matches that were counted, newest first."""
    plays: tuple[str, ...] = ()
    """The games in which people can play against a submitted version of the bot."""
    can_open: bool = False
    """True if the viewer may open the bot to other people."""
    level: str = ""
    """The level of a built-in bot for people; empty for other bots."""


class BotProfiles:
    """A reader of the facts about bots that one viewer may see."""

    def __init__(
        self,
        config: ServerConfig,
        store: Store,
        privacy: Privacy,
        directory: Directory,
        reviewed: Reviewed,
    ) -> None:
        self._config = config
        self._store = store
        self._privacy = privacy
        self._directory = directory
        self._reviewed = reviewed

    async def profile(self, player: str, bot: str, viewer: Identity | None) -> BotCareer:
        """Return what ``viewer`` may see of a bot.

        A stranger sees only versions with a result on a leaderboard or in a match that the stranger
        may see.  New submissions of a student show only to the student and the organiser.
        Raises `Unknown` if there is no such bot.
        """
        store = self._store
        sight = await self._privacy.sight(viewer)
        row = await self._privacy.bot(sight, player, bot)
        owner = await store.read(people.player, row.player)
        rows = await self._privacy.matches_of(sight, row, limit=COUNTED + 1)
        more, rows = len(rows) > COUNTED, rows[:COUNTED]
        lines = await store.read(bot_profiles.standings_of, [row.id], MOST_STANDINGS)
        games = list(dict.fromkeys(each.game for *_, each in lines))
        # A record shows its ply times only when the whole pairing is over.
        timed = [each.shown for each in rows if each.over][:TIMED]
        plies = await store.read(
            bot_profiles.plies_of, [(each.match, each.seat) for each in timed], MOST_PLIES
        )
        versions = await store.read(bot_profiles.versions_of, row.id, MOST_VERSIONS)
        own = viewer is not None and viewer.player_id == row.player_id
        if not own and (viewer is None or not await bots_seen(store, [row.id], viewer, "see")):
            known = {version for _, version, _ in lines} | {each.version_id for each in rows}
            versions = {number: each for number, each in versions.items() if number in known}
        matches = [each.shown for each in rows]
        counted = await computed(career, matches, more=more)
        reviewed = await computed(lambda: costly(self._reviewed(_lost_seats(rows))))
        level = level_of(row.name)
        owned = row.player_id == await store.read(sessions.holder, BUILTIN_ROLE)
        if not owned or level not in BUILTIN_LEVELS:
            level = ""
        said = _summary(counted, matches, reviewed)
        page = BotPage(
            player=row.player,
            display=owner.display,
            bot=row.name,
            kind=row.kind,
            created_ms=row.created_ms,
            disabled=row.disabled_ms is not None,
            online=self._directory.is_online(row.id),
            versions=list(versions.values()),
            standings=[each for *_, each in lines],
            ratings=await store.read(bot_profiles.ratings_of, row.id, games, MOST_RATINGS),
            career=counted,
            paces=paces(plies, {each.match: each.game for each in matches}),
            # Nobody trains a built-in bot.
            summary=Summary(said.why, "") if level else said,
        )
        plays, can_open = await self._hosted(row, viewer)
        return BotCareer(row, page, matches, plays, can_open, level)

    async def _hosted(self, row: Bot, viewer: Identity | None) -> tuple[tuple[str, ...], bool]:
        """Return games open to people, and whether the viewer decides on them."""
        if not self._config.hosted or self._config.hosted_play == "nobody":
            return (), False
        own = viewer is not None and viewer.player_id == row.player_id
        if not own and row.open_ms is None:
            return (), False
        found = await self._store.read(submission_sql.ready_version, row.id, None)
        if found is None:
            return (), False
        return (found.games if found.open else ()), own

    async def matches(
        self, bot: Bot, sight: Sight, limit: int, before: str | None = None
    ) -> list[BotMatch]:
        """Return a bot's finished matches that a viewer may see, newest first."""
        found = await self._privacy.matches_of(sight, bot, limit=limit, before=before)
        return [each.shown for each in found]


def _lost_seats(rows: Sequence[CareerMatch]) -> list[tuple[str, str, int]]:
    """Return matches lost in pairings that are over, whose reviews are public: game, id, seat."""
    return [
        (each.shown.game, each.shown.match, each.shown.seat)
        for each in rows
        if each.over and each.shown.result == "L"
    ]


def _summary(found: Career, matches: Sequence[BotMatch], reviewed: CostlyPly | None) -> Summary:
    """Return the first sentences of the page."""
    counted = found.wins + found.draws + found.losses
    bounds = None if found.low is None or found.high is None else (found.low, found.high)
    games: defaultdict[str, Tally] = defaultdict(Tally)
    for each in matches:
        if each.result:
            games[each.game].add(each)
    lost = [each for each in matches if each.result == "L"]
    evidence = Evidence(
        matches=counted,
        forfeits={each.termination: each.matches for each in found.forfeits},
        forfeited={
            each.termination: match_path(each.match, each.ply)
            for each in reversed(lost)
            if each.forfeit
        },
        games={game: tally.scored[0] for game, tally in games.items()},
        losses=[
            Loss(
                each.game,
                tuple([f"{other.player}/{other.bot}" for other in each.others]),
                match_path(each.match),
            )
            for each in lost
        ],
        costly=reviewed,
    )
    return summary(reason_of_score(found.score, counted, bounds) if counted else "", evidence)
