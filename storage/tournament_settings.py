"""Settings of a tournament in addition to its columns, as JSON in `TournamentRow.data`.

They say how bots are grouped into sides.  A side is a tuple of bot ids, its captain first.  The
*owner* of a bot is a player, once as staff and once as a student, so that a student's bot never
plays with a baseline.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field

from plyhouse.games.base import Scoring
from plyhouse.storage.rows import TournamentRow, TournamentStatus

Side: TypeAlias = tuple[int, ...]


def grouped(bots: Iterable[int], owners: Mapping[int, object], size: int) -> list[Side]:
    """Return the sides of ``size`` bots that each owner's bots make, in their order.

    >>> grouped([1, 2, 3, 4, 5], {1: "a", 2: "b", 3: "a", 4: "a", 5: "b"}, 2)
    [(1, 3), (2, 5)]
    """
    own: dict[object, list[int]] = defaultdict(list)
    for bot in bots:
        own[owners[bot]].append(bot)
    return [
        tuple(mine[start : start + size])
        for mine in own.values()
        for start in range(0, len(mine) - size + 1, size)
    ]


def renewed_sides(
    sides: Sequence[Side], owners: Mapping[int, object], playing: Collection[int]
) -> list[Side]:
    """Return the sides of a rerun.

    ``owners`` has all bots that are entered, and ``playing`` those that can play.  New bots take
    the places of bots that are no longer entered, then of bots that cannot play.  All others keep
    their partners.  Bots without a side then make sides of their own.

    >>> owners = {1: "a", 2: "a", 3: "a", 4: "a", 5: "a"}
    >>> without_2 = {bot: "a" for bot in (1, 3, 4, 5)}
    >>> renewed_sides([(1, 2), (3, 4)], without_2, without_2)
    [(1, 5), (3, 4)]
    >>> renewed_sides([(1, 2), (3, 4)], owners, {1, 2, 3, 5})
    [(1, 2), (3, 5)]
    >>> renewed_sides([(1, 2), (3, 4)], {1: "a", 3: "a"}, {1, 3})
    [(1, 3)]
    """
    known = {bot for side in sides for bot in side}
    new: dict[object, list[int]] = defaultdict(list)
    for bot in sorted(set(playing) - known, reverse=True):
        new[owners[bot]].append(bot)
    made = [list(side) for side in sides]
    for good in (owners, playing):
        for side in made:
            mine = new[next((owners[bot] for bot in side if bot in owners), None)]
            for place, bot in enumerate(side):
                if bot not in good and mine:
                    side[place] = mine.pop()
    found = [tuple(side) for side in made if all(bot in owners for bot in side)]
    left = sorted(set(playing).difference(*found))
    return found + grouped(left, owners, len(sides[0]) if sides else 1)


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
    suspended_from: TournamentStatus = "running"
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
