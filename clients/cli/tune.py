"""``plyhouse tune``: weights for a linear evaluation, from results or from self-play."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import database_option, number_option, output_option
from plyhouse.clients.shared.output import note

if TYPE_CHECKING:
    from plyhouse.search import LinearEvaluation


@click.command()
@click.argument("game")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, dir_okay=False, exists=True))
@database_option(default=None)
@click.option(
    "--self-play",
    metavar="MATCHES",
    type=click.IntRange(1),
    help="Play so many matches against itself and learn by TD(lambda), instead of from FILES.",
)
@click.option(
    "-w",
    "--weights",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Weights to begin with, instead of those the features come with.",
)
@output_option("weights.toml", "the weights")
@number_option("--rate", 0.3, "Learning rate.", 0, 10)
@number_option("--trace", 0.7, "Lambda.", 0, 1)
@click.option("--seed", default=0, show_default=True, help="Random choices; the same, the same.")
@number_option("--skip", 4, "Plies at the beginning of FILES' matches not to learn from.", 0)
def tune(
    game: str,
    files: tuple[Path, ...],
    database: str | None,
    self_play: int | None,
    weights: Path | None,
    output: Path,
    rate: float,
    trace: float,
    seed: int,
    skip: int,
) -> None:
    """Find weights for a linear evaluation.

    From results: logistic regression on the positions of FILES of records, as
    `plyhouse match --save` writes them, and of a database's matches. Or, with --self-play, by
    temporal differences. The bot `linear(file="weights.toml")` plays by the result.
    """
    from plyhouse.clients.replay.record_files import played_matches
    from plyhouse.games.registry import get_game
    from plyhouse.learning.tuning import fit_logistic, samples_of, td_lambda
    from plyhouse.search import InvalidMatch, LinearEvaluation

    if self_play is not None and (files or database is not None):
        raise CommandError("Take either --self-play or played matches, not both.", EXIT_USAGE)
    chosen = get_game(game)
    base = LinearEvaluation(chosen) if weights is None else LinearEvaluation.load(weights, chosen)
    if self_play is not None:
        tuned = td_lambda(base, self_play, rate=rate, trace=trace, seed=seed)
    else:
        try:
            samples = samples_of(base, played_matches(chosen, files, database), skip=skip)
        except InvalidMatch as error:
            raise CommandError(f"{error}", EXIT_FAILED) from error
        if not samples:
            raise CommandError(f"No match is longer than {skip} plies: take a smaller --skip.")
        tuned, fit = fit_logistic(base, samples, seed=seed)
        note(f"Logistic regression {fit}.")
    _write(base, tuned, output)


def _write(base: LinearEvaluation, tuned: LinearEvaluation, output: Path) -> None:
    """Write the weights, and print them before and after."""
    tuned.save(output)
    width = max(map(len, tuned.features.names))
    for name, before, after in zip(tuned.features.names, base.weights, tuned.weights, strict=True):
        click.echo(f"{name:<{width}}  {before:8.3f} -> {after:8.3f}")
    note(f"Wrote {output}.")
