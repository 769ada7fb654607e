"""``plyhouse learn``: networks and policies for some games, trained by self-play."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from plyhouse.clients.cli.training import train
from plyhouse.clients.shared.options import number_option, output_option
from plyhouse.clients.shared.output import signed

PLAYOUTS = 1000
"""Simulations of MCTS, the rival in breakthrough."""


@click.group()
def learn() -> None:
    """Train a network or compute a policy.

    Beside the output, a file with the suffix .training keeps the state of the training. The
    same command continues from it after an interruption, or after you raise --matches.
    A training always finishes its last step, so it may do more than you ask for. Ctrl-C
    finishes the current step and saves it. A second Ctrl-C leaves at once, with the state that
    was saved last; this happens every 30 seconds.
    """
    # The matrices are small: more threads take longer on a busy machine, and may round differently.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def with_options(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator that adds options to a command, in this order of its help."""
    return lambda command: functools.reduce(lambda made, add: add(made), options[::-1], command)


TIME = click.option(
    "--time",
    "seconds",
    type=click.FloatRange(0),
    help="Seconds, from the start, after which to stop.",
)
OUTPUT = output_option("network.toml", "the network")
SEED = number_option("--seed", 0, "Random numbers, and first weights.", 0)


def shared_options(matches: int, hidden: int, rate: float, halving: int) -> Callable[..., Any]:
    """Return a decorator with the options of every training, and these defaults."""
    return with_options(
        number_option("--matches", matches, "Matches in all, with earlier runs, in whole steps."),
        TIME,
        OUTPUT,
        SEED,
        number_option("--hidden", hidden, "Hidden units.", 1, 256),
        number_option("--rate", rate, "Learning rate.", 0, 1),
        number_option("--halving", halving, "Matches after which the rate is halved."),
    )


def alphazero_options(
    simulations: int, channels: int, opening: int, random: float, at_once: int, measured: int
) -> Callable[..., Any]:
    """Return a decorator with the options of AlphaZero, and these defaults."""
    return with_options(
        number_option("--simulations", simulations, "Simulations for each action of self-play.", 2),
        number_option("--channels", channels, "Units that see each window of the board.", 1, 256),
        number_option("--opening", opening, "Most random plies at the start of a match.", 0),
        number_option("--random", random, "Share of random plies after these.", 0, 1),
        number_option("--at-once", at_once, "Matches of a step, played at the same time."),
        number_option(
            "--measured", measured, "Positions or matches that measure a point of the curve.", 0
        ),
    )


@learn.command()
@shared_options(matches=100_000, hidden=64, rate=0.004, halving=10_000)
@number_option("--trace", 0.5, "Lambda.", 0, 1)
@number_option("--pairs", 200, "Pairs of matches that measure a point of the curve.", 0)
def backgammon(
    matches: int, seconds: float | None, output: Path, trace: float, **options: Any
) -> int:
    """Train a network for backgammon by TD(lambda).

    Each printed point of the learning curve is the mean of matches against the network that
    comes with the game. The bot `td_gammon(file="network.toml")` plays by the network. A step
    has 8 matches.
    """
    from plyhouse.learning.backgammon_training import BackgammonTraining, Settings

    settings = Settings(trace=trace, **options)
    return train(BackgammonTraining, settings, matches, seconds, output, points_a_match)


@learn.command("connect_four")
@shared_options(matches=60_000, hidden=216, rate=0.004, halving=10_000)
@alphazero_options(simulations=25, channels=96, opening=8, random=0.2, at_once=200, measured=300)
def connect_four(
    matches: int, seconds: float | None, output: Path, at_once: int, **options: Any
) -> int:
    """Train a network for connect four as AlphaZero does.

    Each printed point of the learning curve is the share of solved positions in which a search
    of 100 simulations finds a best action. The bot `alpha_zero(file="network.toml")` plays by
    the network.
    """
    options |= {"direct": True, "passes": 5.0}
    return alphazero("connect_four", matches, seconds, output, at_once, options)


@learn.command("tic_tac_toe")
@shared_options(matches=20_000, hidden=32, rate=0.002, halving=8_000)
@alphazero_options(simulations=25, channels=32, opening=4, random=0.2, at_once=100, measured=1_000)
def tic_tac_toe(
    matches: int, seconds: float | None, output: Path, at_once: int, **options: Any
) -> int:
    """Train a network for tic-tac-toe as AlphaZero does.

    Each printed point of the learning curve is the share of solved positions in which a search
    of 2 simulations finds a best action. The bot `alpha_zero(file="network.toml")` plays by
    the network.
    """
    return alphazero("tic_tac_toe", matches, seconds, output, at_once, options)


@learn.command()
@shared_options(matches=10_000, hidden=128, rate=0.002, halving=8_000)
@alphazero_options(simulations=40, channels=64, opening=6, random=0.0, at_once=100, measured=40)
@number_option("--size", 6, "Squares along each side of the board.", 4, 8)
def breakthrough(
    matches: int, seconds: float | None, output: Path, at_once: int, size: int, **options: Any
) -> int:
    """Train a network for breakthrough as AlphaZero does.

    Each printed point of the learning curve is the share of points against MCTS: 100
    simulations of the network against 1000 random playouts. The bot
    `alpha_zero(file="network.toml")` plays by the network on a board of the same size.
    """
    from plyhouse.games.registry import get_game

    game = get_game(f"breakthrough(size={size})").spec
    return alphazero(game, matches, seconds, output, at_once, options)


@learn.command("leduc_poker")
@number_option("--subgames", 60_000, "Subgames in all, with earlier runs, in steps of 720.")
@TIME
@OUTPUT
@SEED
@number_option("--hidden", 64, "Units that see the range of a seat.", 1, 1024)
@number_option("--features", 160, "Features of a range.", 1, 1024)
@number_option("--rate", 0.015, "Learning rate.", 0, 1)
@number_option("--halving", 6_000, "Subgames after which the rate is halved.")
@number_option("--iterations", 1200, "Iterations of CFR+ for each subgame.")
@number_option("--steps", 1500, "Steps of learning after each 720 subgames.")
def leduc_poker(subgames: int, seconds: float | None, output: Path, **options: Any) -> int:
    """Train a network of hand values for Leduc poker.

    It learns from second rounds that are solved, with random ranges and those it meets in the
    first round. Each printed point of the learning curve has the mean error in chips for both
    kinds, and the NashConv of continual resolving by the network.
    """
    from plyhouse.learning.leduc_training import LeducSettings, LeducTraining

    def shown(random: float, met: float, nash_conv: float) -> str:
        return f"error {random:.4f} random, {met:.4f} met; NashConv {nash_conv:.5f}"

    return train(
        LeducTraining,
        LeducSettings(**options),
        subgames,
        seconds,
        output,
        shown,
        unit="subgames",
    )


@learn.command("texas_holdem")
@number_option("--deals", 10_000_000, "Deals in all, with earlier runs, in steps of 400.")
@TIME
@output_option("policy.toml", "the policy")
@number_option("--seed", 0, "Random numbers of the deals.", 0)
def texas_holdem(deals: int, seconds: float | None, output: Path, seed: int) -> int:
    """Compute a policy for heads-up limit hold'em.

    External-sampling MCCFR on an abstraction of the cards. A new training first computes the
    buckets of hands, which takes half a minute. The bot `cfr_holdem(file="policy.toml")` plays
    the policy.
    """
    from plyhouse.learning.limit_holdem_training import LimitSettings, LimitTraining

    settings = LimitSettings(seed=seed)
    return train(
        LimitTraining,
        settings,
        deals,
        seconds,
        output,
        points_a_match,
        unit="deals",
        beginning="Computing the buckets (half a minute) ...",
    )


def alphazero(
    game: str,
    matches: int,
    seconds: float | None,
    output: Path,
    at_once: int,
    options: dict[str, Any],
) -> int:
    """Train a policy and value network for a game."""
    from plyhouse.learning.alphazero_training import AlphaZeroSettings, AlphaZeroTraining
    from plyhouse.search import Limit, mcts

    settings = AlphaZeroSettings(game=game, matches=at_once, **options)
    found = "of the points" if game.startswith("breakthrough") else "best actions"

    def shown(share: float, margin: float) -> str:
        return f"{100 * share:.1f} % ± {100 * margin:.1f} {found}"

    def rival(game: Any, state: Any, seed: int) -> Any:
        return mcts(game, state, Limit(simulations=PLAYOUTS), seed=seed).action

    def prepare(training: Any) -> None:
        training.rival = rival

    return train(AlphaZeroTraining, settings, matches, seconds, output, shown, prepare)


def points_a_match(mean: float, margin: float) -> str:
    """Return a point of backgammon's curve as text."""
    return f"{signed(mean, 3)} ± {margin:.3f} points a match"
