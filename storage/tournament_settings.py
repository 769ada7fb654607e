"""Settings of a tournament in addition to its columns, as JSON in `TournamentRow.data`."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from plyhouse.games.base import Scoring
from plyhouse.storage.partners import Side
from plyhouse.storage.rows import TournamentRow

__all__ = ["GradingRules", "TournamentSettings", "decoded", "encoded", "settings"]


class GradingRules(Struct, frozen=True):
    """The rules that turn results into grades."""

    order: tuple[int, ...]
    """The bots of the graded baselines, from the easiest to the hardest."""
    every_lower: bool = False
    """True if a grade needs every lower threshold, too."""
    missing_lowest: bool = False
    """True if a game that an entry left out counts as the lowest result."""


class TournamentSettings(Struct, frozen=True, omit_defaults=True):
    """The settings of a tournament, and what has happened to it."""

    competition: str = field(name="class", default="")
    """The id of its competition; tournaments of one competition share `at_a_time`."""
    at_a_time: int = 0
    """Matches of the competition that may run at a time; 0 for no limit."""
    only_hosted: bool = False
    """True if runner machines run the bots, even if their authors are connected."""
    rehearsal: bool = False
    """True for a rehearsal: it yields to other competitions and causes no suspensions."""
    practice: bool = False
    """True for a practice ladder: its bots must stay free for other matches as well."""
    teams: bool = False
    """True if the bots of a player are partners, and pairings are between sides."""
    sides: tuple[Side, ...] = ()
    """The sides, if ``teams``."""
    parameters: dict[str, Any] = {}
    """The parameters of its format."""
    baselines: frozenset[int] = frozenset()
    """The baselines by bot id, duplicates included."""
    twins: frozenset[int] = frozenset()
    """The duplicate baselines: bots entered a second time to measure the noise."""
    thresholds: dict[int, float] = {}
    """The mean scores that grades need, by baseline."""
    scoring: Scoring | None = None
    """None if it began before the scoring was stored."""
    grading: GradingRules | None = None
    """None if it began before the rules were stored."""
    seeds: tuple[int, ...] = ()
    """The bots in seed order, as far as they have seeds."""
    lot: str = ""
    """The seed of the lot that ordered entries without a rating; empty without a lot."""
    run: int = 1
    """The number of this run of the final."""
    left: dict[int, int] = {}
    """The first round without each bot that has left."""
    gone: dict[int, str] = {}
    """Why bots were withdrawn in this run, as far as that may be told."""
    suspended: str = ""
    """Why it cannot go on, while its status is ``suspended``."""
    suspended_from: str = "running"
    """The status to which it then returns."""

    @property
    def needed_baselines(self) -> frozenset[int]:
        """The baselines that grades need: all except duplicates."""
        return self.baselines - self.twins


def settings(row: TournamentRow) -> TournamentSettings:
    """Return the settings of a tournament; the defaults if they are damaged."""
    return decoded(row.data)


def decoded(data: str | None) -> TournamentSettings:
    """Return settings from `TournamentRow.data`; the defaults if they are damaged."""
    try:
        return msgspec.json.decode(data or "{}", type=TournamentSettings)
    except msgspec.DecodeError:
        return TournamentSettings()


def encoded(settings: TournamentSettings) -> str:
    """Return settings as they are stored."""
    return msgspec.json.encode(settings).decode()
