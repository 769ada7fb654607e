"""Candidates against a base until it is clear who is better: `plyhouse match --sprt`.

Each candidate plays mirrored pairs against the base under the same seed, so with the same dice
and openings.  In games of more than two seats the base has all seats but one.  The test is about
the value of a pair, the mean of its games:

* ``elo``: the share of opponents beaten, 0 to 1, a tie counting half; hypotheses are differences
  on the Elo scale;
* ``utility``: half of the difference between the candidate's return and an opponent's, which in a
  zero-sum game is the candidate's return.  Hypotheses are in the units of the returns, such as
  chips per game.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, Literal, TypeAlias

from plyhouse.clients.arena.series import PlayedPairing, Series, play_series
from plyhouse.clients.arena.tally import MatchResult, beaten
from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.output import interval, signed
from plyhouse.games.base import ChanceKind, Game, Information, Scoring
from plyhouse.protocol.messages import VOID
from plyhouse.server.results.sequential import ConfidenceSequence
from plyhouse.server.results.sprt import Hypotheses, Sprt, elo_score

Unit: TypeAlias = Literal["elo", "utility"]

ALIKE: Final = 20
"""Pairs in a row that repeat earlier ones, after which a trial gives a candidate up."""

OPENING_PLIES: Final = 4
"""Random plies at the start of each pair in games without chance and hidden information."""


def unit_of(game: Game) -> Unit:
    """Return the unit of hypotheses that fits the game: returns or Elo."""
    return "utility" if game.info.scoring is Scoring.RETURNS else "elo"


def random_plies(game: Game) -> int:
    """Return how many random plies open the pairs of a game by default, alike in both games.

    Bots without chance of their own would otherwise repeat one game.  A short game has fewer.
    """
    return min(OPENING_PLIES, game.info.max_plies // 4) if is_determined(game) else 0


def is_determined(game: Game) -> bool:
    """Return whether nothing but the bots makes two games of the same opening differ."""
    seen = game.info.information is Information.PERFECT
    return seen and game.chance_kind is ChanceKind.DETERMINISTIC


def pair_value(results: Sequence[MatchResult], unit: Unit) -> float | None:
    """Return the value of a pair for the candidate, bot 0; None if a game of it does not count.

    >>> first = MatchResult(0, (0, 1), (3.0, -3.0), "normal", None, 9, ())
    >>> second = MatchResult(0, (1, 0), (1.0, -1.0), "normal", None, 9, ())
    >>> pair_value([first, second], "elo"), pair_value([first, second], "utility")
    (0.5, 1.0)
    """
    values = []
    for result in results:
        if result.termination in VOID or not result.returns:
            return None
        seat = result.bots.index(0)
        values.append(
            beaten(result.returns, seat) if unit == "elo" else _ahead(result.returns, seat)
        )
    return math.fsum(values) / len(values) if values else None


def _ahead(returns: Sequence[float], seat: int) -> float:
    """Half of by how much ``seat`` got more than the others on average."""
    others = math.fsum(returns) - returns[seat]
    return (returns[seat] - others / (len(returns) - 1)) / 2


class Trial:
    """A sequential test of candidates while it is played, with the results of each."""

    def __init__(
        self,
        contest: Sequence[Series],
        game: Game,
        limits: tuple[float, float],
        *,
        unit: Unit,
        alpha: float,
        beta: float,
        max_pairs: int,
    ) -> None:
        """``limits`` are the hypotheses in ``unit``.

        Raises `CommandError` for what cannot be tested.
        """
        self.contest = contest
        self.game = game
        self.unit = unit
        self.limits = limits
        least, greatest = 0.0, 1.0
        means = (elo_score(limits[0]), elo_score(limits[1]))
        if unit == "utility":
            low, high = game.return_bounds
            greatest = (high - low) / 2
            least, means = -greatest, limits
        if not limits[0] < limits[1]:
            raise CommandError(
                "--sprt: H1 has to be more than H0, as in --sprt 0,10; "
                f"{limits[1]:g} is not more than {limits[0]:g}.",
                EXIT_USAGE,
            )
        if not (least < means[0] < means[1] < greatest):
            raise CommandError(
                f"--sprt: in {game.spec} a hypothesis is "
                + (
                    f"a mean return per game between {least:g} and {greatest:g}"
                    if unit == "utility"
                    else "a difference in Elo that leaves some doubt who wins"
                )
                + f", not {limits[0]:g},{limits[1]:g}.",
                EXIT_USAGE,
            )
        self.hypotheses = Hypotheses(means[0], means[1], alpha, beta, least, greatest)
        self.sprt = Sprt(self.hypotheses, len(contest), max_pairs=max_pairs)
        self.determined = is_determined(game)
        self._results: list[dict[int, list[MatchResult]]] = [{} for _ in contest]
        self._courses: list[set[Hashable]] = [set() for _ in contest]
        self._ordered = [0] * len(contest)
        """Pairs of each candidate that were looked at in the order of their indices."""
        self._repeated = [0] * len(contest)
        """Pairs in a row that repeat earlier ones."""

    def conditions(self) -> dict[str, float | str]:
        """The conditions of the test, as the file of an interrupted series has them."""
        return {
            "H0": self.limits[0],
            "H1": self.limits[1],
            "unit": self.unit,
            "alpha": self.hypotheses.alpha,
            "beta": self.hypotheses.beta,
        }

    def hear(self, candidate: int, index: int, results: list[MatchResult]) -> None:
        """Take a pair that has ended.

        A pair that repeats an earlier one is no further evidence, and does not count.  With dice or
        hidden information different games may look alike, so that only pairs of which all before
        were the same do not count.
        """
        heard = self._results[candidate]
        heard[index] = results
        while (at := self._ordered[candidate]) in heard:
            self._ordered[candidate] += 1
            value = pair_value(heard[at], self.unit)
            self.sprt.add(candidate, at, None if self._repeats(candidate, heard[at]) else value)
            if self._repeated[candidate] >= ALIKE:
                self.sprt.stop(candidate)

    def _repeats(self, candidate: int, results: Sequence[MatchResult]) -> bool:
        """Return whether a pair repeats an earlier one, and remember it."""
        seen = self._courses[candidate]
        course = tuple([(each.bots, each.returns, each.plies, each.course) for each in results])
        repeats = course in seen and (self.determined or len(seen) == 1)
        self._repeated[candidate] = self._repeated[candidate] + 1 if repeats else 0
        seen.add(course)
        return repeats

    def has(self, candidate: int, index: int) -> bool:
        """Return whether a pair has been played."""
        return index in self._results[candidate]

    def results(self, candidate: int) -> list[MatchResult]:
        """The games of all pairs on which the verdict rests, in order."""
        heard = self._results[candidate]
        return [result for index in range(self.sprt.taken(candidate)) for result in heard[index]]

    def bounds(self, candidate: int) -> ConfidenceSequence:
        """95 % bounds of the candidate's mean value, valid whenever the test was stopped."""
        found = ConfidenceSequence(0.05, self.hypotheses.least, self.hypotheses.greatest)
        found.extend(self.sprt.values(candidate))
        return found

    def repeats(self, candidate: int) -> bool:
        """Return whether the candidate was given up, as its pairs repeat earlier ones."""
        return self._repeated[candidate] >= ALIKE

    def add(self, results: Iterable[MatchResult]) -> None:
        """Nothing: a pair is counted by `hear`, when its turn has come."""

    def __str__(self) -> str:
        """How all tests stand, in a line: ``LLR +1.20 [−2.94, +2.94]``."""
        parts = []
        for candidate, series in enumerate(self.contest):
            state = self.sprt.state(candidate)
            told = (
                state.verdict.value
                if state.verdict is not None
                else f"{signed(state.llr, 2)} {interval(state.lower, state.upper, 2)}"
            )
            parts.append(told if len(self.contest) == 1 else f"{series.names[0]} {told}")
        return "LLR " + ", ".join(parts)


async def play_trial(
    trial: Trial,
    jobs: int,
    on_played: Callable[[int, int, PlayedPairing], None],
    on_line: Callable[[str], None],
) -> None:
    """Play on until no more pairs are wanted; ``on_played(candidate, index, played)`` gets each.

    It is called after the pair was taken into account.  Games that are under way when nobody
    wants them any more are abandoned.  Raises `ArenaError`.
    """
    gate = asyncio.Semaphore(jobs)
    playing: dict[int, asyncio.Task[None]] = {}

    def heard(candidate: int, index: int, played: PlayedPairing) -> None:
        trial.hear(candidate, index, played.results)
        on_played(candidate, index, played)
        for other, task in playing.items():
            if not trial.sprt.is_open(other):
                task.cancel()

    each = max(1, jobs // len(trial.contest))
    async with asyncio.TaskGroup() as group:
        for candidate, series in enumerate(trial.contest):
            if trial.sprt.is_open(candidate):
                work = play_series(
                    series,
                    _wanted(trial, candidate),
                    min(each, trial.sprt.max_pairs),
                    partial(heard, candidate),
                    on_line,
                    gate,
                )
                playing[candidate] = group.create_task(work)


def _wanted(trial: Trial, candidate: int) -> Iterator[int]:
    """Yield the indices of pairs to play, as long as the test needs more."""
    for index in range(trial.sprt.max_pairs):
        if not trial.sprt.is_open(candidate):
            return
        if not trial.has(candidate, index):
            yield index
