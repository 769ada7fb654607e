"""A preview of the cost of a competition: matches, core-hours, duration.

The number of matches follows from the file alone.  The durations have two sources:

* *At most*: the thinking time if every bot uses all that the time control gives it.  The number of
  plies comes from matches on the server, or from a `sample` of random ones.
* *Typically*: the pace of the latest final of the game on the server, with the same time control
  and hosting.  It includes starts of bots, the network and pairings.  Without such a final nobody
  has measured the duration, so none is predicted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from plyhouse.games.base import Game
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.competitions import Measure, PastFinal
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.competition_rules.ladder import Ladder
from plyhouse.server.match.time_control import TimeControl

SAMPLE_MATCHES: Final = 8
SAMPLE_NS: Final = 500_000_000
"""A sample of a game ends after this number of matches, or after this time."""
MAX_PLIES: Final = 5_000
"""The number of plies after which a match of a sample is cut off."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of a game, and their source."""

    most: float
    """Seconds of thinking in a match if every bot uses all its time."""
    matches: int
    """The number of matches measured."""
    plies: float
    """The mean number of plies of a match."""
    source: str
    """``sample`` (played here at random) or ``server`` (matches that the server has played)."""
    final: PastFinal | None = None
    """The latest final of the same kind; None if the server has not played one."""

    @property
    def pace(self) -> float | None:
        """Seconds of the past final for each of its matches."""
        return None if self.final is None else self.final.seconds / self.final.matches


@dataclass(frozen=True, slots=True)
class GameCost:
    """The cost of one game of the competition."""

    game: str
    matches: int
    measured: Measured

    @property
    def most(self) -> float:
        """Seconds of thinking in all matches, if every bot uses all its time."""
        return self.matches * self.measured.most

    def typical(self, at_a_time: int) -> float | None:
        """Return the seconds of all matches at the pace of the past final.

        Fewer matches at a time are slower in proportion.  More are not faster: the final shows
        nothing about that.
        """
        pace, final = self.measured.pace, self.measured.final
        if pace is None or final is None:
            return None
        return self.matches * pace * max(1.0, final.at_a_time / max(1, at_a_time))


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
    def most(self) -> float:
        """Core-hours of thinking if every bot uses all its time."""
        return sum(each.most for each in self.games) / 3600

    @property
    def hours(self) -> float:
        """Hours of thinking from start to end if every bot uses all its time."""
        return self.most / max(1, self.at_a_time)

    @property
    def typical_hours(self) -> float | None:
        """Hours from start to end at the pace of past finals; None if a game had none."""
        seconds = [each.typical(self.at_a_time) for each in self.games]
        known = [each for each in seconds if each is not None]
        return sum(known) / 3600 if len(known) == len(seconds) else None

    def end(self, hours: float | None) -> datetime | None:
        """Return the time after these hours if it begins on time and no bot is absent."""
        if self.begin is None or hours is None:
            return None
        try:
            return self.begin + timedelta(hours=hours)
        except OverflowError:
            return datetime.max.replace(tzinfo=self.begin.tzinfo)


def basis(file: CompetitionFile, cost: Preview) -> list[str]:
    """Return sentences that say what the typical duration rests on, or why there is none."""
    bots = "that requires hosted bots" if file.hosting_required else "that lets bots connect"
    missing = [
        f"No final of {each.game} at {file.time_control} {bots} is known, so nobody has measured "
        "how long one takes."
        for each in cost.games
        if each.measured.final is None
    ]
    return missing or [
        f"Typically: the final of {final.competition} played {final.matches:,} matches of "
        f"{each.game} in {final.seconds:,.1f} s, {final.at_a_time:.1f} at a time on average. This "
        "includes starts of bots, the network and pairings."
        for each in cost.games
        if (final := each.measured.final) is not None
    ]


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


def measured_game(
    spec: str, control: TimeControl, known: Measure | None, clock_ns: Callable[[], int]
) -> Measured:
    """Return the measurements of a server; of a `sample` if it played no match of the game."""
    if known is None or not known.matches:
        return sample(spec, control, clock_ns)
    most = full_time(control, known.plies, get_game(spec).seats)
    return Measured(most, known.matches, known.plies, "server", known.final)


def sample(spec: str, control: TimeControl, clock_ns: Callable[[], int]) -> Measured:
    """Count the plies of random matches; ``clock_ns`` is a monotonic clock."""
    game = get_game(spec)
    rng = random.Random(1)
    begin = clock_ns()
    plies = played = 0
    while played < SAMPLE_MATCHES and (not played or clock_ns() - begin < SAMPLE_NS):
        plies += _random_match(game, rng)
        played += 1
    mean = plies / played
    return Measured(full_time(control, mean, game.seats), played, mean, "sample")


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
