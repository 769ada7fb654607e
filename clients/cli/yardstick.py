"""``plyhouse yardstick``: a bot against engines, exact values and equilibria."""

from __future__ import annotations

import json
import math
import secrets
from typing import TYPE_CHECKING, Any, Final

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import json_option, number_option
from plyhouse.clients.shared.output import note, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plyhouse.clients.arena.tally import MatchResult
    from plyhouse.clients.yardstick.measuring import Measured
    from plyhouse.clients.yardstick.scales import Scale
    from plyhouse.games.base import Game

COMPUTING: Final = ("best", "policy")
"""Bots that play small games of hidden information by a policy that they compute."""
DIGITS: Final = {"Elo": 0, "exploitability": 4}
"""Digits after the point of a result; two for others."""


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option("--bot", default="best", show_default=True, help="Bot to measure, or its file.")
@click.option(
    "--time",
    "seconds",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0.01, 3600),
    help="Seconds for each move.",
)
@number_option(
    "--pairs",
    10,
    "Pairs of matches against engines; in chess in all, otherwise against each.",
    1,
    100_000,
)
@number_option(
    "--positions",
    50,
    "Positions with a known best action in which to ask the bot, and the most information "
    "states of a hidden game in which to ask it.",
    1,
    100_000,
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    help="Pairs at once.  [default: enough for all cores]",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Openings, dice and positions.")
@click.option("--sandbox", is_flag=True, help="Run the bot in the sandbox of a server.")
@json_option()
def yardstick(
    games: tuple[str, ...],
    bot: str,
    seconds: float,
    pairs: int,
    positions: int,
    jobs: int | None,
    seed: int | None,
    sandbox: bool,
    as_json: bool,
) -> int:
    """Measure a bot against engines and exact values.

    Chess is measured by the levels of Stockfish, go by those of GNU Go, and backgammon by gnubg;
    these engines must be installed. In othello, connect four and small games without chance, the
    bot is asked in random positions whose best action is known. In small games of hidden
    information it plays an equilibrium, and best responses to its answers show what can be won from
    it.

    GAME is a game, also with parameters. Without one, all games that have a scale are measured; a
    game whose engine is missing is left out then.
    """
    from plyhouse.bots.loading import check_spec
    from plyhouse.clients.yardstick.scales import scale_of
    from plyhouse.games.registry import game_names, get_game

    check_spec(bot)
    seed = secrets.randbits(32) if seed is None else seed
    found: list[Measured] = []
    left_out = False
    scaled = []
    for spec in games or game_names():
        game = get_game(spec, files=True)
        scale = scale_of(game, solvable=_solvable(game, bot), computes=bot in COMPUTING)
        if scale is not None:
            scaled.append((game, scale))
        elif games:
            raise CommandError(_without_scale(game, bot), EXIT_USAGE)
    for game, scale in scaled:
        try:
            found += _measure(
                game, bot, scale, seconds, pairs, positions, jobs, seed, sandbox=sandbox
            )
        except CommandError as error:  # the results of other games stay
            left_out = True
            note(f"{game.spec} is left out: {str(error).removeprefix(f'{game.spec}: ')}")
    if as_json:
        click.echo(json.dumps([_document(each) for each in found], indent=2))
    elif found:
        title = f"{bot}, {seconds:g} s a move, seed {seed}"
        columns = ["game", "measure", "against", "result", "95 %", "number", "detail"]
        print_table(title, columns, [_row(each) for each in found], "lllrrrl")
    return EXIT_FAILED if left_out and (games or not found) else EXIT_OK


def _without_scale(game: Game, bot: str) -> str:
    """Return why a bot cannot be measured in a game, and what you can do instead."""
    from plyhouse.clients.yardstick.scales import scale_of

    if bot == "policy" or scale_of(game, solvable=_solvable(game, "policy")) is None:
        return f"{game.spec} has no scale that others share; use `plyhouse match`."
    return (
        f"{game.spec} is too large to measure {bot} by an equilibrium. Use --bot policy, or "
        f"`plyhouse match {bot} policy --game '{game.spec}'`."
    )


def _solvable(game: Game, bot: str) -> bool:
    """Return whether all positions, or the policy of a bot, can be computed."""
    from plyhouse.bots.reference.policy_bot import MAX_NODES
    from plyhouse.games.base import Information
    from plyhouse.search.game_requirements import SOLVABLE, histories, positions

    if game.info.information is Information.IMPERFECT:
        most = MAX_NODES if bot == "policy" else SOLVABLE  # `best` samples larger games
        return histories(game, most) <= most
    return positions(game) <= SOLVABLE


def _measure(
    game: Game,
    bot: str,
    scale: Scale,
    seconds: float,
    pairs: int,
    positions: int,
    jobs: int | None,
    seed: int,
    *,
    sandbox: bool,
) -> list[Measured]:
    from plyhouse.clients.arena.pairing_log import run
    from plyhouse.clients.arena.progress import Score, watched
    from plyhouse.clients.arena.series import default_jobs
    from plyhouse.clients.yardstick.equilibrium import (
        QUESTIONS,
        approximate_exploitability,
        equilibrium,
        information_states,
    )
    from plyhouse.clients.yardstick.measuring import (
        against_engines,
        compare_with_exact_values,
        exploitability,
    )
    from plyhouse.clients.yardstick.scales import Engines, Equilibrium, Exact, Exploitability

    found: list[Measured] = []

    def play(engines: Engines, name: str) -> None:
        rounds = 1 if engines.unit == "Elo" else len(engines.opponents)
        with watched(pairs * rounds, Score(("bot", name))) as progress:

            async def matches() -> None:
                found.extend(
                    await against_engines(
                        game,
                        bot,
                        engines,
                        control=f"move:{seconds:g}",
                        pairs=pairs,
                        jobs=jobs or default_jobs(game.seats, mirrored=True),
                        seed=seed,
                        sandbox=sandbox,
                        on_played=progress.advance,
                        on_line=progress.say,
                    )
                )

            run(matches())

    match scale:
        case Exploitability():
            return exploitability(game, seconds)
        case Equilibrium():
            with equilibrium(game) as engines:
                play(engines, "policy")
            asked = information_states(game, positions)
            if asked is None:
                note(f"{game.spec}: it has more information states than --positions {positions}.")
                return found
            with watched(QUESTIONS * len(asked), _Answers()) as progress:

                async def answers() -> None:
                    found.append(
                        await approximate_exploitability(
                            game,
                            bot,
                            asked,
                            seconds=seconds,
                            seed=seed,
                            sandbox=sandbox,
                            on_asked=lambda: progress.advance(()),
                            on_line=progress.say,
                        )
                    )

                run(answers())
        case Exact():
            choices = _Choices()
            with watched(positions, choices) as progress:

                def on_asked(best: bool) -> None:
                    choices.asked += 1
                    choices.best += best
                    progress.advance(())

                async def ask() -> None:
                    found.extend(
                        await compare_with_exact_values(
                            game,
                            bot,
                            scale,
                            seconds=seconds,
                            count=positions,
                            seed=seed,
                            sandbox=sandbox,
                            on_asked=on_asked,
                            on_line=progress.say,
                        )
                    )

                run(ask())
        case Engines():
            play(scale, "engines")
    return found


class _Answers:
    """Nothing to tell about answers, for a bar of progress."""

    def add(self, _: Iterable[MatchResult], /) -> None:
        """Do nothing: no match is played."""

    def __str__(self) -> str:
        return "asked in all information states"


class _Choices:
    """The number of best choices so far, for a bar of progress."""

    def __init__(self) -> None:
        self.asked = self.best = 0

    def add(self, _: Iterable[MatchResult], /) -> None:
        """Do nothing: no match is played."""

    def __str__(self) -> str:
        return f"{self.best} of {self.asked} are best"


def _document(found: Measured) -> dict[str, Any]:
    """A result for scripts; bounds that are infinite are null."""
    bounds = {"value": found.value.value, "low": found.value.low, "high": found.value.high}
    return {
        "game": found.game,
        "measure": found.measure,
        "against": found.against,
        **{name: value if math.isfinite(value) else None for name, value in bounds.items()},
        "number": found.number,
        "detail": found.detail,
    }


def _row(found: Measured) -> list[str]:
    digits = DIGITS.get(found.measure, 2)
    value, low, high = found.value.value, found.value.low, found.value.high
    shown = (
        f"{value:.{digits}f}" if math.isfinite(value) else "all won" if value > 0 else "all lost"
    )
    bounds = "exact" if low == high else f"{low:.{digits}f} to {high:.{digits}f}"
    number = str(found.number) if found.number else ""
    return [found.game, found.measure, found.against, shown, bounds, number, found.detail]
