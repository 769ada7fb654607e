"""``plyhouse learn``: a network for backgammon, trained by self-play."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plyhouse.clients.shared.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.output import note

if TYPE_CHECKING:
    from plyhouse.search.evaluation.backgammon_training import BackgammonTraining, Settings

__all__ = ["learn"]

EVERY = 30.0
"""Seconds between two checkpoints."""


@click.command()
@click.argument("game", type=click.Choice(["backgammon"]))
@click.option(
    "--matches",
    default=100_000,
    show_default=True,
    type=click.IntRange(1),
    help="Matches to play in all, with those of earlier runs.",
)
@click.option(
    "--time",
    "seconds",
    type=click.FloatRange(0),
    help="Seconds after which to stop; the same command continues.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("network.toml"),
    show_default=True,
    help="File to write the network to.",
)
@click.option("--seed", default=0, show_default=True, help="Dice and first weights.")
@click.option(
    "--hidden", default=64, show_default=True, type=click.IntRange(1, 256), help="Hidden units."
)
@click.option(
    "--trace", default=0.5, show_default=True, type=click.FloatRange(0, 1), help="Lambda."
)
@click.option(
    "--rate", default=0.004, show_default=True, type=click.FloatRange(0, 1), help="Learning rate."
)
@click.option(
    "--halving",
    default=10_000,
    show_default=True,
    type=click.IntRange(1),
    help="Matches after which the rate is halved.",
)
@click.option(
    "--pairs",
    default=200,
    show_default=True,
    type=click.IntRange(0),
    help="Pairs of matches that measure a point of the curve.",
)
def learn(
    game: str,
    matches: int,
    seconds: float | None,
    output: Path,
    seed: int,
    hidden: int,
    trace: float,
    rate: float,
    halving: int,
    pairs: int,
) -> int:
    """Train a network by self-play (backgammon).

    The network learns by temporal differences: TD(lambda). Beside the output, a file
    with the suffix .training keeps the state of the training. The same command continues
    from it after an interruption, or after you raise --matches.

    Each printed point of the learning curve is the mean of matches against the network that
    comes with the game. The bot `td_gammon(file="network.toml")` plays by the network.
    """
    from plyhouse.search.evaluation.backgammon_training import Settings
    from plyhouse.search.files import write_atomically

    if not output.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {output.parent}", param_hint="-o")
    settings = Settings(
        seed=seed, hidden=hidden, trace=trace, rate=rate, halving=halving, pairs=pairs
    )
    kept = output.with_name(output.name + ".training")
    training = begin(kept, settings)
    first = training.played
    shown = 0

    def show_curve() -> None:
        nonlocal shown
        for played, mean, margin in training.curve[shown:]:
            click.echo(f"{played:>11,} matches  {mean:+.3f} ± {margin:.3f} points a match")
        shown = len(training.curve)

    start = saved = time.monotonic()
    interrupted = False
    try:
        while training.played < matches:
            show_curve()
            training.run(training.played + 1)
            now = time.monotonic()
            if now - saved >= EVERY:
                training.save(kept)
                saved = now
            if seconds is not None and now - start >= seconds:
                break
    except KeyboardInterrupt:
        note("Interrupted: the last checkpoint is kept.")
        if not kept.is_file():
            return EXIT_INTERRUPTED
        training = type(training).load(kept)  # a step may have been cut in half
        interrupted = True
    show_curve()
    training.save(kept)
    write_atomically(output, training.text().encode())
    spent = time.monotonic() - start
    done = training.played - first
    if done > 0:
        note(f"{done:,} matches in {spent:,.0f} s: {done / spent * 3600:,.0f} an hour.")
    note(f"Wrote {output}: {training.played:,} matches of self-play.")
    return EXIT_INTERRUPTED if interrupted else EXIT_OK


def begin(kept: Path, settings: Settings) -> BackgammonTraining:
    """Return the training of a checkpoint, or a new one if there is none."""
    from plyhouse.search.evaluation.backgammon_training import BackgammonTraining

    if not kept.is_file():
        return BackgammonTraining(settings)
    training = BackgammonTraining.load(kept)
    if training.settings != settings:
        raise CommandError(
            f"{kept} is of a training with other settings: {training.settings}. "
            "Repeat its options, or choose another file with -o.",
            EXIT_USAGE,
        )
    note(f"Continuing {kept} after {training.played:,} matches.")
    return training
