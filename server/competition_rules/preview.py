"""A preview of the cost of a competition: matches, core-hours, duration.

The number of matches follows from the file alone.  How long one takes is a range:

* *At most*: every bot uses all the time that the time control gives it.
* *Typically*: as long as the latest matches of the game took on the server.  Without any, `sample`
  plays the game at random, and assumes bots that play `PLAYOUTS` random games for each ply.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from plyhouse.games.base import Game
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.competition_rules.ladder import Ladder
from plyhouse.server.match.time_control import TimeControl

SAMPLE_MATCHES: Final = 8
SAMPLE_NS: Final = 500_000_000
"""A sample of a game ends after this number of matches, or after this time."""
PLAYOUTS: Final = 200
"""Random games per ply of the bot assumed as typical, as in `mcts(simulations=200)`."""
MAX_PLIES: Final = 5_000
"""The number of plies after which a match of a sample is cut off."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The duration of a match of a game, and its source."""

    typical: float
    """Expected seconds of a match."""
    most: float
    """Seconds of a match if every bot uses all its time."""
    matches: int
    """The number of matches measured."""
    plies: float
    """The mean number of plies of a match."""
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
    """The number of matches that can run at the same time."""
    begin: datetime | None
    """The start of the final; None if the file has no date for it."""

    @property
    def matches(self) -> int:
        """The number of matches of all games."""
        return sum(each.matches for each in self.games)

    @property
    def typical(self) -> float:
        """Expected core-hours, as one bot of a match thinks at a time."""
        return sum(each.typical for each in self.games) / 3600

    @property
    def most(self) -> float:
        """Core-hours if every bot uses all its time."""
        return sum(each.most for each in self.games) / 3600

    def hours(self, core_hours: float) -> float:
        """Return the hours from start to end if no bot is absent."""
        return core_hours / max(1, self.at_a_time)

    def end(self, core_hours: float) -> datetime | None:
        """Return the time of the end if it begins on time and no bot is absent."""
        if self.begin is None:
            return None
        try:
            return self.begin + timedelta(hours=self.hours(core_hours))
        except OverflowError:
            return datetime.max.replace(tzinfo=self.begin.tzinfo)


def planned_matches(file: CompetitionFile, game: str, entries: int) -> int | None:
    """Return the largest number of matches of a game; None for a ladder.

    ``entries`` counts the baselines, too.  Raises `FormatError` if the format is impossible with
    this number.

    >>> from plyhouse.server.competition_rules.file_reader import read_competition
    >>> text = 'name = "Cup"; games = ["pig"]; time_control = "move:1"; rounds = 3'
    >>> planned_matches(read_competition(text.replace("; ", chr(10))), "pig", 10)
    270
    """
    way = file.play(game)
    size = file.side_size
    if isinstance(way, Ladder):
        return None
    if size > 1 and entries < 2 * size:
        raise FormatError(f"at least 2 sides must play, so take {2 * size} bots or more")
    return way.count(entries // size, len(file.baselines) // size)


def counted_entries(file: CompetitionFile, entries: int) -> str:
    """Return a number of entries in words: with teams, bots and sides.

    ``entries`` counts the bots, with baselines.
    """
    if file.side_size == 1:
        return f"{entries} entries"
    sides = entries // file.side_size
    return f"{entries} bots ({sides} {'side' if sides == 1 else 'sides'})"


def full_time(control: TimeControl, plies: float, seats: int) -> float:
    """Return the thinking time of all seats in a match, in seconds.

    >>> full_time(TimeControl.parse("move:2"), 30, 2), full_time(TimeControl.parse("total:60"), 30, 2)
    (60.0, 120.0)
    """  # noqa: E501
    each = plies / seats
    own = control.main_ns + each * (control.free_ns + control.increment_ns)
    return seats * own / 1e9


def played(spec: str, control: TimeControl, seconds: float, plies: float, matches: int) -> Measured:
    """Return a measurement from matches played on a server.

    They may have had another time control.  ``seconds`` and ``plies`` are means over these matches.
    """
    most = full_time(control, plies, get_game(spec).seats)
    return Measured(min(seconds, most), most, matches, plies, "server")


def sample(spec: str, control: TimeControl, clock_ns: Callable[[], int]) -> Measured:
    """Measure a game by random matches; ``clock_ns`` is a monotonic clock.

    A random game from the middle of a match takes half as long as a whole one.
    """
    game = get_game(spec)
    rng = random.Random(1)
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
    """Return the plies of one match of random moves."""
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
    """Return the cost with this number of entries; None for a ladder.

    ``entries`` counts the baselines, too.  ``measured`` has every game.  With ``cores``, bots share
    a machine and cannot think at the same time on fewer; None means that they bring their own.
    Raises `FormatError` as `planned_matches` does.
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
