"""What a competition will cost before anything runs: matches, core-hours, duration.

The number of matches follows from the file alone.  How long one takes is a range:

* *At most*: every bot uses all the time that the time control gives it.
* *Typically*: as long as the latest matches of the game took on the server.  Without any, `sample`
  plays the game at random, and takes bots that play `PLAYOUTS` random games for each ply.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from plyhouse.games.base import Game
from plyhouse.games.registry import get_game
from plyhouse.server.competition.file import CompetitionFile
from plyhouse.server.competition.ladder import Ladder
from plyhouse.server.match.time_control import TimeControl

__all__ = [
    "PLAYOUTS",
    "GameCost",
    "Measured",
    "Preview",
    "full_time",
    "planned_matches",
    "played",
    "preview",
    "sample",
]

SAMPLE_MATCHES: Final = 8
SAMPLE_NS: Final = 500_000_000
"""A sample of a game is over after so many matches, or so much time."""
PLAYOUTS: Final = 200
"""Random games for each ply of the bot that is taken for typical, as in `mcts(simulations=200)`."""
MAX_PLIES: Final = 5_000
"""Matches of a sample are cut off here."""


@dataclass(frozen=True, slots=True)
class Measured:
    """How long a match of a game takes, and how that is known."""

    typical: float
    """Seconds that a match is expected to take."""
    most: float
    """Seconds that it takes if every bot uses all its time."""
    matches: int
    """How many were measured."""
    plies: float
    """Mean number of plies of a match."""
    source: str
    """``sample`` (played here at random) or ``server`` (matches that the server has played)."""


@dataclass(frozen=True, slots=True)
class GameCost:
    """The cost of one game of the competition."""

    game: str
    matches: int
    measured: Measured

    @property
    def typical(self) -> float:
        """Expected seconds of all matches, one after the other."""
        return self.matches * self.measured.typical

    @property
    def most(self) -> float:
        """Seconds of all matches, one after the other, if every bot uses all its time."""
        return self.matches * self.measured.most


@dataclass(frozen=True, slots=True)
class Preview:
    """The cost of a competition."""

    entries: int
    games: tuple[GameCost, ...]
    at_a_time: int
    """How many matches can run at the same time."""
    begin: datetime | None
    """When the final begins; None if the file has no date for it."""

    @property
    def matches(self) -> int:
        """Matches of all games."""
        return sum(each.matches for each in self.games)

    @property
    def typical(self) -> float:
        """Expected hours of one core, as one bot of a match thinks at a time."""
        return sum(each.typical for each in self.games) / 3600

    @property
    def most(self) -> float:
        """Hours of one core if every bot uses all its time."""
        return sum(each.most for each in self.games) / 3600

    def hours(self, core_hours: float) -> float:
        """Hours from begin to end, if no bot is absent."""
        return core_hours / max(1, self.at_a_time)

    def end(self, core_hours: float) -> datetime | None:
        """The time of the end, if it begins on time and no bot is absent."""
        if self.begin is None:
            return None
        try:
            return self.begin + timedelta(hours=self.hours(core_hours))
        except OverflowError:
            return datetime.max.replace(tzinfo=self.begin.tzinfo)


def planned_matches(file: CompetitionFile, game: str, entries: int) -> int | None:
    """Matches of one game with so many entries, baselines among them, at most.

    None for a ladder, which has no end.  Raises `FormatError` where the format cannot be held
    with so many.

    >>> from plyhouse.server.competition.file import read_competition
    >>> text = 'name = "Cup"; games = ["pig"]; time_control = "move:1"; rounds = 3'
    >>> planned_matches(read_competition(text.replace("; ", chr(10))), "pig", 10)
    270
    """
    way = file.play(game)
    return None if isinstance(way, Ladder) else way.count(entries, len(file.baselines))


def full_time(control: TimeControl, plies: float, seats: int) -> float:
    """Seconds that all seats can think together in a match of so many plies.

    >>> full_time(TimeControl.parse("move:2"), 30, 2), full_time(TimeControl.parse("total:60"), 30, 2)
    (60.0, 120.0)
    """  # noqa: E501
    each = plies / seats
    own = control.main_ns + each * (control.free_ns + control.increment_ns)
    return seats * own / 1e9


def played(spec: str, control: TimeControl, seconds: float, plies: float, matches: int) -> Measured:
    """Measure by matches that a server has played, perhaps at another time control.

    ``seconds`` and ``plies`` are means over these matches.
    """
    most = full_time(control, plies, get_game(spec).seats)
    return Measured(min(seconds, most), most, matches, plies, "server")


def sample(spec: str, control: TimeControl, clock_ns: Callable[[], int], seed: int = 1) -> Measured:
    """Play a game at random for a moment; ``clock_ns`` is a monotonic clock.

    A random game from the middle of a match takes half as long as a whole one.
    """
    game = get_game(spec)
    rng = random.Random(seed)
    begin = clock_ns()
    plies = played = 0
    while played < SAMPLE_MATCHES and (not played or clock_ns() - begin < SAMPLE_NS):
        plies += _random_match(game, rng)
        played += 1
    rules = (clock_ns() - begin) / 1e9 / played
    mean = plies / played
    most = rules + full_time(control, mean, game.seats)
    typical = rules + mean * PLAYOUTS * rules / 2
    return Measured(min(typical, most), most, played, mean, "sample")


def _random_match(game: Game, rng: random.Random) -> int:
    """Plies of one match in which everybody moves at random."""
    state = game.initial_state()
    plies = 0
    while plies < MAX_PLIES:
        outcomes = state.chance_outcomes()
        if outcomes:
            (outcome,) = rng.choices(
                [each for each, _ in outcomes], [float(share) for _, share in outcomes]
            )
            state = state.after(outcome)
            continue
        actions = state.actions()
        if not actions:
            break
        state = state.after(rng.choice(actions))
        plies += 1
    return plies


def preview(
    file: CompetitionFile,
    entries: int,
    begin: datetime | None,
    measured: Mapping[str, Measured],
    cores: int | None = None,
) -> Preview | None:
    """The cost with so many entries (baselines among them); None for a ladder.

    ``measured`` has every game.  ``cores``: bots that share a machine cannot think at the same
    time on fewer; None where they bring their own.  Raises `FormatError` as `planned_matches`.
    """
    costs = list(_costs(file, entries, measured))
    if any(cost is None for cost in costs):
        return None
    at_a_time = file.limits.matches_at_a_time
    if cores is not None:
        at_a_time = min(at_a_time, cores)
    return Preview(entries, tuple(cost for cost in costs if cost), at_a_time, begin)


def _costs(
    file: CompetitionFile, entries: int, measured: Mapping[str, Measured]
) -> Iterable[GameCost | None]:
    for game in file.games:
        matches = planned_matches(file, game, entries)
        yield None if matches is None else GameCost(game, matches, measured[game])
