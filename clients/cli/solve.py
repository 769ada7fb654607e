"""``plyhouse solve``: work out an equilibrium of a game of imperfect information."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from plyhouse.clients.shared.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import json_option, number_option
from plyhouse.clients.shared.output import note, print_table, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from plyhouse.games.base import Observation
    from plyhouse.games.errors import GameMismatch
    from plyhouse.search.equilibria.solution import Progress, Solution

ALGORITHMS: Final = ("cfr_plus", "discounted_cfr", "cfr", "mccfr")
SHOWN: Final = 40
"""The policy of a game of at most so many information states is printed."""


@click.command()
@click.argument("game", metavar="GAME")
@click.option(
    "--algorithm",
    type=click.Choice(ALGORITHMS),
    default="cfr_plus",
    show_default=True,
    help="How to solve it.",
)
@click.option(
    "--iterations", type=click.IntRange(1), default=None, help="How many; 1000 without any bound."
)
@click.option("--time", "seconds", type=click.FloatRange(0), default=None, help="Seconds to spend.")
@click.option(
    "--target",
    type=click.FloatRange(0, min_open=True),
    default=None,
    help="Stop when the exploitability is not above this.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="For mccfr, which samples.")
@number_option("--max-nodes", 2_000_000, "Largest tree that is worked on as a whole.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True),
    default=None,
    help="Write the policy to this file, which the bot 'policy' plays.",
)
@click.option(
    "--curve",
    type=click.Path(dir_okay=False, writable=True),
    default=None,
    metavar="FILE",
    help="Write the exploitability by iteration to this file, as CSV.",
)
@json_option()
def solve(
    game: str,
    algorithm: str,
    iterations: int | None,
    seconds: float | None,
    target: float | None,
    seed: int,
    max_nodes: int,
    output: str | None,
    curve: str | None,
    as_json: bool,
) -> int:
    """Compute an equilibrium of a hidden-information game.

    No opponent can gain by knowing how an equilibrium plays.

    For games of imperfect information: kuhn_poker, leduc_poker, 'liars_dice(faces=4)',
    mygame.py:MyGame. The exploitability says how far the result is from a Nash equilibrium:
    what the seats could gain, on average, by best responses. Ctrl-C ends the work; what was
    found by then is kept.

    --curve writes 'iteration,seconds,exploitability' for the first iterations, then about ten
    times until their number has doubled, and for the last; seconds are those of the solver
    alone.
    """
    from plyhouse import search
    from plyhouse.games.registry import get_game

    for path, option in ((output, "-o"), (curve, "--curve")):
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise click.BadParameter(f"there is no folder {Path(path).parent}", param_hint=option)
    wanted = get_game(game, files=True)  # The user of a command may run files.
    options: dict[str, Any] = {"seed": seed} if algorithm == "mccfr" else {}
    begin = getattr(search, algorithm)
    # Nothing yet: so that there is a solution to keep whenever Ctrl-C comes.
    with refusals_in_options():
        solution: Solution = begin(wanted, search.Limit(time=0), max_nodes=max_nodes, **options)
    interrupted = False
    # A target is checked as often as progress is printed, which takes as long as some iterations.
    every = 1000 if algorithm == "mccfr" else 10
    with refusals_in_options(), contextlib.ExitStack() as stack:
        tell: Callable[[Progress], None] = Progressing()
        if curve is not None:
            file = stack.enter_context(Path(curve).open("w", encoding="utf-8", newline=""))
            tell = Curve(solution, file, tell)
            every = every if target is not None else 1
        try:
            solution.run(
                search.Limit(time=seconds),
                iterations=iterations,
                target=target,
                progress=tell,
                every=every,
            )
        except KeyboardInterrupt:
            note("Interrupted: this is what was found by then.")
            interrupted = True
        if isinstance(tell, Curve):
            tell.end()
    facts = facts_of(solution)
    if isinstance(tell, Curve):
        note(f"Wrote {tell.points:,} points to {curve}.")
    if output is not None:
        policy = solution.policy
        policy.save(output, exploitability=facts["exploitability"])
        note(f"Wrote {len(policy):,} information states to {output}.")
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        show(solution, facts)
    return EXIT_INTERRUPTED if interrupted else EXIT_OK


@contextlib.contextmanager
def refusals_in_options() -> Iterator[None]:
    """Raise `CommandError` for a game that cannot be solved, with `in_options` as its text."""
    from plyhouse.games.errors import GameMismatch

    try:
        yield
    except GameMismatch as error:
        raise CommandError(in_options(error), EXIT_USAGE) from error


def in_options(error: GameMismatch) -> str:
    """Return the text of a refusal in terms of options and bots instead of arguments."""
    text = str(error)
    for name, option in (
        ("raise max_nodes", "raise --max-nodes"),
        ("use mccfr", "use --algorithm mccfr"),
        ("random_action", "random"),
    ):
        text = text.replace(name, option)
    return text


class Progressing:
    """Tells how far it is, the more seldom the longer it takes."""

    def __init__(self) -> None:
        self.due = 1.0

    def __call__(self, progress: Progress) -> None:
        """Print the progress if it is due."""
        if progress.seconds >= self.due:
            self.due = progress.seconds * 1.5
            note(f"{progress.iteration:,} iterations, {progress.rate:,.0f} per second")


class Curve:
    """Writes the exploitability as it falls, a line at a time: an interrupted run keeps its own.

    A point takes as long as some iterations, so they are the farther apart the longer it takes.
    Raises `GameMismatch` when made for a tree that is too large to say how good a policy is.
    """

    def __init__(
        self, solution: Solution, file: TextIO, further: Callable[[Progress], None]
    ) -> None:
        self.solution = solution
        self.file = file
        self.further = further
        self.points = 0
        self.measuring = 0.0
        self.due = 1
        self.last = (0, 0.0)
        self.written = 0
        _ = solution.form  # a tree too large is refused before the work, not after
        file.write("iteration,seconds,exploitability\n")

    def __call__(self, progress: Progress) -> None:
        """Note a point where one is due, and pass the progress on."""
        self.last = (progress.iteration, progress.seconds)
        if progress.iteration >= self.due:
            self.point()
        self.further(progress)

    def point(self) -> None:
        """Write where the solution stands."""
        iteration, seconds = self.last
        began = time.perf_counter()
        exploitability = self.solution.exploitability()
        self.file.write(f"{iteration},{max(seconds - self.measuring, 0):.6f},{exploitability!r}\n")
        self.file.flush()
        self.measuring += time.perf_counter() - began
        self.points += 1
        self.written = iteration
        self.due = max(iteration + 1, round(iteration * 1.07))

    def end(self) -> None:
        """Write the last iteration, too."""
        if self.solution.iterations > self.written:
            self.last = (self.solution.iterations, self.last[1])
            self.point()


def facts_of(solution: Solution) -> dict[str, Any]:
    """The numbers of a solution; exploitability and values are None for too large a tree."""
    from plyhouse.games.errors import GameMismatch

    game = solution.game
    exploitability = values = None
    try:
        exploitability = solution.exploitability()
        values = [solution.value(seat) for seat in range(game.seats)]
    except GameMismatch as error:
        note(in_options(error))
    return {
        "game": game.spec,
        "algorithm": solution.algorithm,
        "iterations": solution.iterations,
        "seconds": round(solution.seconds, 3),
        "exploitability": exploitability,
        "values": values,
    }


def show(solution: Solution, facts: dict[str, Any]) -> None:
    """Print the numbers, and the policy of a small game."""
    game = solution.game
    click.echo(
        f"{game.spec}: {solution.iterations:,} iterations of {solution.algorithm} "
        f"in {solution.seconds:.2f} s"
    )
    if facts["values"] is None:
        return
    click.echo(f"exploitability  {facts['exploitability']:.6f}")
    for seat, value in enumerate(facts["values"]):
        click.echo(f"value           {signed(value, 6)} for {game.seat_name(seat)}")
    if solution.information_states > SHOWN:
        return
    policy = solution.policy
    rows = []
    for seat, own in enumerate(solution.form.sets):
        for info in own:
            chances = ", ".join(
                f"{game.format(info.state, action)} {share:.3f}"
                for action, share in policy(info.state)
            )
            rows.append([game.seat_name(seat), seen(game.observe(info.state, seat)), chances])
    print_table("Policy", ["seat", "what it sees", "what it does"], rows, "lww")


def seen(observation: Observation) -> str:
    """Return a short form of an observation."""
    parts = []
    for name, value in observation.fields().items():
        if name in ("seat", "to_move", "legal") or value in (None, (), ""):
            continue
        if isinstance(value, tuple):
            if all(item is None for item in value):
                continue
            value = " ".join(str(item) for item in value)
        parts.append(f"{name} {value}")
    return ", ".join(parts)
