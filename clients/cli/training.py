"""Run a training of ``plyhouse learn``: checkpoints, the printed curve, and Ctrl-C."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from plyhouse.clients.shared.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.output import note

if TYPE_CHECKING:
    from plyhouse.learning.checkpoints import Training

SETTINGS: Final = (
    "seed",
    "hidden",
    "rate",
    "halving",
    "simulations",
    "channels",
    "opening",
    "random",
    "measured",
    "trace",
    "pairs",
    "features",
    "iterations",
    "steps",
)
"""Settings with an option of the same name."""
OPTIONS: Final = {"size": "--size", "matches": "--at-once"} | {
    name: f"--{name}" for name in SETTINGS
}
"""The option of each setting, and of the parameter of breakthrough."""

EVERY: Final = 30.0
"""Seconds between two checkpoints."""


class Interruption:
    """A context in which the first Ctrl-C sets ``asked``, and the second raises as usual.

    Ctrl-C stays ignored where it was, as in a job in the background.
    """

    def __init__(self) -> None:
        self.asked = False
        self.before: Any = None

    def __enter__(self) -> Interruption:
        self.before = signal.getsignal(signal.SIGINT)
        if self.before is signal.default_int_handler:
            signal.signal(signal.SIGINT, self.interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self.before is signal.default_int_handler:
            signal.signal(signal.SIGINT, self.before)

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        if self.asked:
            signal.default_int_handler(number, frame)
        self.asked = True
        note("Interrupted: finishing this step. Press Ctrl-C again to leave at once.")


def _show_end(training: Training, first: int, spent: float, output: Path, unit: str) -> None:
    """Say what a training has done since it had played ``first``."""
    done = training.played - first
    if done > 0:
        note(f"{done:,} {unit} in {spent:,.0f} s: {done / spent * 3600:,.0f} an hour.")
    of = " of self-play" if unit == "matches" else ""
    note(f"Wrote {output}: {training.played:,} {unit}{of}.")


def train(
    kind: type[Training],
    settings: Any,
    matches: int,
    seconds: float | None,
    output: Path,
    shown: Callable[..., str],
    prepare: Callable[[Training], None] = lambda training: None,
    unit: str = "matches",
    beginning: str = "",
) -> int:
    """Begin or continue a training, print its curve, and write the network.

    ``shown`` returns the text of a point of the curve. ``prepare`` gets each training once before
    it runs. ``matches`` counts what the training counts, which ``unit`` names. The time limit
    ``seconds`` begins with this call. ``beginning`` is printed before a new training is made.
    """
    from plyhouse.search.files import write_atomically

    called = time.monotonic()
    if not output.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {output.parent}", param_hint="-o")
    kept = output.with_name(output.name + ".training")
    training = begin(kind, kept, settings, unit, beginning)
    prepare(training)
    first = training.played
    printed = 0

    def show_curve() -> None:
        nonlocal printed
        for played, *point in training.curve[printed:]:
            click.echo(f"{played:>11,} {unit}  {shown(*point)}")
        printed = len(training.curve)

    start = saved = time.monotonic()
    interrupted = False
    with Interruption() as interruption:
        try:
            ends = math.inf if seconds is None else called + seconds
            while training.played < matches:
                show_curve()
                training.run(training.played + 1)
                now = time.monotonic()
                if interruption.asked or now >= ends:
                    break
                if now - saved >= EVERY:
                    training.save(kept)
                    saved = now
        except KeyboardInterrupt:
            if not kept.is_file():
                note("Interrupted before the first checkpoint: nothing is kept.")
                return EXIT_INTERRUPTED
            note("Interrupted: the last checkpoint is kept.")
            training = kind.load(kept)  # a step may have been cut in half
            interrupted = True
        show_curve()
        training.save(kept)
        write_atomically(output, training.text().encode())
    _show_end(training, first, time.monotonic() - start, output, unit)
    return EXIT_INTERRUPTED if interrupted or interruption.asked else EXIT_OK


def begin(
    kind: type[Training], kept: Path, settings: Any, unit: str, beginning: str = ""
) -> Training:
    """Return the training of a checkpoint, or a new one if there is none."""
    from plyhouse.search.files import InvalidFile

    if not kept.is_file():
        if beginning:
            note(beginning)
        return kind(settings)
    try:
        training = kind.load(kept)
    except InvalidFile as error:
        advice = "Delete it to train from the beginning, or choose another file with -o."
        raise CommandError(f"{error}. {advice}", EXIT_USAGE) from error
    if training.settings != settings:
        raise CommandError(difference(kept, training.settings, settings), EXIT_USAGE)
    note(f"Continuing {kept} after {training.played:,} {unit}.")
    return training


def difference(kept: Path, had: Any, wanted: Any) -> str:
    """Return a sentence that tells how the settings of a checkpoint differ, and advice."""
    from plyhouse.games.registry import get_game

    old, new = asdict(had), asdict(wanted)
    games = [get_game(each["game"]) for each in (old, new) if "game" in each]
    if games and games[0].info.name != games[1].info.name:
        return (
            f"{kept} was trained for {games[0].spec}, not for {games[1].spec}. "
            "Choose another file with -o."
        )
    for each, game in zip((old, new), games, strict=False):
        each |= game.parameters
        del each["game"]
    names = [name for name in new if old.get(name) != new[name]]
    differing = [
        f"with {OPTIONS[name]} {old[name]}, not {new[name]}" for name in names if name in OPTIONS
    ]
    advice = "Repeat its options, or choose another file with -o."
    if len(differing) < len(names):
        differing.append("by another version of Plyhouse")
        advice = "Choose another file with -o."
    *others, last = differing
    listed = f"{', '.join(others)}, and {last}" if others else last
    return f"{kept} was trained {listed}. {advice}"
