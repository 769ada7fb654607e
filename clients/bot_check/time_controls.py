"""The time controls at which a bot is checked; pure.

A check first plays at a shortened time control, so that it ends soon.  A bot that loses on time
there is checked at the time control itself, and only that decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import structs

from plyhouse.server.match.time_control import MS, SECOND, TimeControl

DEFAULT: Final = TimeControl.parse("total:60+1")
"""The time control of a check without a competition."""
PRESSURE: Final = TimeControl.parse("move:0.25")
"""The time control of one last match; losing it on time is a warning."""

PLIES: Final = 30
"""Plies of one seat in a typical match, by which time controls are compared."""
QUICK_SECONDS: Final = 9.0
"""Seconds that one seat may use in such a match at a shortened time control."""
LONGEST_PLY: Final = 300 * SECOND
"""Most nanoseconds before the flag of a bot falls that never answers."""


@dataclass(frozen=True, slots=True)
class Controls:
    """The time controls at which one game is checked."""

    deciding: TimeControl = DEFAULT
    """A bot that loses on time at this one is refused."""
    shorter: tuple[TimeControl, ...] = ()
    """Others of the same game; losing on time at them is a warning."""

    @classmethod
    def of(cls, controls: Iterable[TimeControl]) -> Controls:
        """Let the most generous of these decide.

        >>> found = Controls.of(map(TimeControl.parse, ("move:0.5", "total:60+1")))
        >>> str(found.deciding), [str(each) for each in found.shorter]
        ('total:60+1', ['move:0.5'])
        """
        ordered = sorted(set(controls), key=seconds_per_ply)
        return cls(ordered[-1], tuple(ordered[:-1])) if ordered else cls()

    @property
    def quick(self) -> TimeControl:
        """The deciding time control, shortened in proportion if a check would take long.

        >>> str(Controls().quick), str(Controls(TimeControl.parse("move:0.1")).quick)
        ('total:6+0.1', 'move:0.1')
        """
        part = QUICK_SECONDS / (PLIES * seconds_per_ply(self.deciding))
        return self.deciding if part >= 1 else _scaled(self.deciding, part)

    @property
    def played(self) -> TimeControl:
        """The deciding time control, with at most five minutes for the first ply.

        >>> str(Controls(TimeControl.parse("total:1800+10")).played)
        'total:300+10'
        """
        control = self.deciding
        if control.initial_ns <= LONGEST_PLY:
            return control
        if control.kind == "total":
            return structs.replace(control, main_ns=LONGEST_PLY)
        return _scaled(control, LONGEST_PLY / control.initial_ns)


@dataclass(frozen=True, slots=True)
class Terms:
    """Games of competitions in which to check a bot."""

    games: Mapping[str, Controls] = field(default_factory=dict)
    """The games of its competitions, by their specs; empty to check all games that it claims."""
    must_play: bool = False
    """True to refuse a bot that does not claim all of these games."""
    flags_count: bool = False
    """True to count flag falls even if the machine was busy."""


def seconds_per_ply(control: TimeControl) -> float:
    """Return how long a seat may think about each ply of a typical match, on average.

    >>> seconds_per_ply(DEFAULT), seconds_per_ply(PRESSURE)
    (3.0, 0.25)
    """
    whole = control.main_ns / PLIES + control.free_ns + control.increment_ns
    return whole / SECOND


def read_terms(
    texts: Iterable[str], *, must_play: bool = False, flags_count: bool = False
) -> Terms:
    """Read ``GAME@TIME_CONTROL`` as often as given; raises `InvalidTimeControl`.

    >>> read_terms(["pig@move:1", "pig@move:2"]).games["pig"].shorter[0].kind
    'move'
    """
    found: dict[str, list[TimeControl]] = {}
    for text in texts:
        game, _, control = text.rpartition("@")
        found.setdefault(game, []).append(TimeControl.parse(control))
    return Terms({game: Controls.of(each) for game, each in found.items()}, must_play, flags_count)


def _scaled(control: TimeControl, part: float) -> TimeControl:
    """Shorten every time of a control, to whole milliseconds and never to nothing."""

    def scaled(time_ns: int) -> int:
        return max(1, round(time_ns * part / MS)) * MS if time_ns else 0

    return structs.replace(
        control,
        main_ns=scaled(control.main_ns),
        free_ns=scaled(control.free_ns),
        increment_ns=scaled(control.increment_ns),
    )
