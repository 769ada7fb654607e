"""Statistics of a bot's matches: opponents, seats, forfeits and pace.

The module is pure and counts only the matches it gets, which are those that the viewer may see.  So
the statistics reveal nothing about a competition that is closed to the viewer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from plyhouse.protocol.api.bots import Against, BotMatch, Career, ForfeitKind, InSeat, Pace
from plyhouse.server.match.terminations import TERMINATIONS
from plyhouse.server.results.intervals import mean_interval
from plyhouse.storage.bot_profiles import PlyCost

SCORES: Final = {"W": 1.0, "D": 0.5, "L": 0.0}


@dataclass(slots=True)
class Tally:
    """Counts of results; void matches are not counted."""

    matches: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    pairs: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Scores by pairing: its matches are not independent."""

    def add(self, match: BotMatch) -> None:
        """Count a match."""
        self.matches += 1
        self.wins += match.result == "W"
        self.draws += match.result == "D"
        self.losses += match.result == "L"
        self.pairs[match.pairing or match.match].append(SCORES[match.result])

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Matches, wins, draws and losses."""
        return self.matches, self.wins, self.draws, self.losses

    @property
    def scored(self) -> tuple[float, float, float]:
        """The mean score and the bounds of its 95 % interval over pairings.

        Raises ValueError if no match is counted.
        """
        found = mean_interval(
            [sum(each) / len(each) for each in self.pairs.values()], bounds=(0.0, 1.0)
        )
        return (self.wins + self.draws / 2) / self.matches, found.low, found.high


def career(matches: Iterable[BotMatch], *, more: bool) -> Career:
    """Return the statistics of a bot's matches."""
    total, void, seen = Tally(), 0, 0
    against: defaultdict[tuple[str, str, str], Tally] = defaultdict(Tally)
    seats: defaultdict[tuple[str, int], Tally] = defaultdict(Tally)
    kinds: Counter[str] = Counter()
    for each in matches:
        seen += 1
        if not each.result:
            void += 1
            continue
        total.add(each)
        kinds[each.termination] += each.forfeit
        seats[each.game, each.seat].add(each)
        for other in dict.fromkeys(each.others):
            against[each.game, other.player, other.bot].add(each)
    score, low, high = total.scored if total.matches else (None, None, None)
    return Career(
        matches=seen,
        more=more,
        void=void,
        wins=total.wins,
        draws=total.draws,
        losses=total.losses,
        score=score,
        low=low,
        high=high,
        against=sorted(
            [Against(*key, *tally.counts, *tally.scored) for key, tally in against.items()],
            key=lambda row: (-row.matches, row.game, row.player, row.bot),
        ),
        seats=[InSeat(*place, *seats[place].counts) for place in sorted(seats)],
        forfeits=[
            ForfeitKind(kind, TERMINATIONS[kind].words, count)
            for kind, count in kinds.most_common()
            if count
        ],
    )


def paces(plies: Iterable[PlyCost], games: dict[str, str]) -> list[Pace]:
    """Return how long plies took, by game; ``games`` has each match's game."""
    found: defaultdict[str, list[PlyCost]] = defaultdict(list)
    for each in plies:
        found[games[each.match]].append(each)
    made = []
    for game in sorted(found):
        charged = sorted(each.charged_ns / 1e6 for each in found[game])
        lags = sorted(each.lag_ns / 1e6 for each in found[game])
        made.append(
            Pace(
                game=game,
                plies=len(charged),
                median_ms=_at(charged, 0.5),
                slow_ms=_at(charged, 0.95),
                longest_ms=charged[-1],
                lag_ms=_at(lags, 0.5),
            )
        )
    return made


def _at(ordered: Sequence[float], share: float) -> float:
    """Return the quantile of sorted values at this share."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
