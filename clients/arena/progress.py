"""The progress of a series on the terminal: a bar with the score so far, and the bots' output.

Bots' lines go above the bar and never through it, so they have to come this way.  A terminal
without control characters shows a line after every tenth of the matches instead of a bar.  If
standard error is no terminal, only the lines of bots appear.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from plyhouse.clients.arena.tally import MatchResult, beaten
from plyhouse.clients.shared.output import has_controls, note, signed
from plyhouse.protocol.messages import VOID


class Score:
    """The score of a series while it goes on.

    >>> score = Score(("mcts", "random"))
    >>> score.add([MatchResult(0, (1, 0), (-1.0, 1.0), "normal", None, 9, ())])
    >>> score.add([MatchResult(0, (0, 1), (0.0, 0.0), "normal", None, 9, ())])
    >>> str(score)
    'mcts 1.5 : 0.5 random'
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._points = [0.0] * len(names)
        self._games = 0

    def add(self, results: Iterable[MatchResult]) -> None:
        """Count these; with two bots points are games won, else the sums of returns."""
        for result in results:
            if result.termination in VOID or not result.returns:
                continue
            self._games += 1
            for seat, bot in enumerate(result.bots):
                two = len(result.bots) == 2
                self._points[bot] += beaten(result.returns, seat) if two else result.returns[seat]

    def __str__(self) -> str:
        if len(self._names) == 2:
            (one, other), (mine, its) = self._names, self._points
            return f"{one} {mine:g} : {its:g} {other}"
        games = max(1, self._games)
        means = (signed(points / games, 2) for points in self._points)
        return ", ".join(f"{name} {mean}" for name, mean in zip(self._names, means, strict=True))


@dataclass(frozen=True)
class Progress:
    """Reports a series while it is played."""

    advance: Callable[[Iterable[MatchResult]], None]
    """One more pairing is over."""
    say: Callable[[str], None]
    """A bot, or what runs it, has printed a line."""


class Standing(Protocol):
    """How a series stands, in a few words: `str` of it."""

    def add(self, results: Iterable[MatchResult], /) -> None:
        """Count these."""


@contextmanager
def watched(
    pairings: int,
    standing: Standing,
    done: int = 0,
    every: int | None = None,
    what: str = "pairings",
) -> Iterator[Progress]:
    """Show the progress of so many pairings, or ``what`` else, on standard error.

    ``done`` of them had been played before.  Where there is no bar there is a line ``every`` so
    many pairings, by default at every tenth of the way.
    """
    if not has_controls(sys.stderr):
        lines = _in_lines(pairings, standing, done, every or max(1, -(-pairings // 10)), what)
        yield Progress(lines if sys.stderr.isatty() else standing.add, note)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.progress import TimeRemainingColumn as Remaining
    from rich.table import Column
    from rich.text import Text

    console = Console(stderr=True)
    columns = (
        TextColumn(what),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        Remaining(),
        TextColumn(
            "{task.fields[score]}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis"),
        ),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=pairings, completed=done, score=str(standing) if done else "")

        def advance(results: Iterable[MatchResult]) -> None:
            standing.add(results)
            bar.update(task, advance=1, score=str(standing))

        def say(line: str) -> None:
            console.print(Text(line), soft_wrap=True)

        yield Progress(advance, say)


def _in_lines(
    pairings: int, standing: Standing, done: int, every: int, what: str
) -> Callable[[Iterable[MatchResult]], None]:
    """Say now and then how it stands."""

    def advance(results: Iterable[MatchResult]) -> None:
        nonlocal done
        standing.add(results)
        done += 1
        if done % every == 0 and done < pairings:
            note(f"{done} of {pairings} {what}: {standing}")

    return advance
