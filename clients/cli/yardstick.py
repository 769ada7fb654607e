"""``plyhouse yardstick``: a bot against engines, exact values and equilibria."""

from __future__ import annotations

import json
import math
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import json_option, number_option
from plyhouse.clients.shared.output import note, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plyhouse.clients.arena.tally import MatchResult
    from plyhouse.clients.yardstick.measuring import Measured
    from plyhouse.clients.yardstick.scales import Engines, Exact, Scale
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
    "Pairs of matches against engines.",
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
    help="Pairs at once, of which both matches run together.  [default: enough for all cores]",
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

    Chess is measured by the levels of Stockfish, go by GNU Go and Pachi, and backgammon by gnubg;
    these engines must be installed; for go, one of them is enough. In othello, connect four and
    small games without chance, the bot is asked in random positions whose best action is known. In
    small games of hidden information it plays an equilibrium, and best responses to its answers
    show what can be won from it.

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
    measurement = _Measurement(bot, seconds, pairs, positions, jobs, seed, sandbox)
    for game, scale in scaled:
        try:
            found += measurement.by(scale, game)
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
    from plyhouse.search.tree_size import SOLVABLE, histories, positions

    if game.info.information is Information.IMPERFECT:
        most = MAX_NODES if bot == "policy" else SOLVABLE  # `best` samples larger games
        return histories(game, most) <= most
    return positions(game) <= SOLVABLE


@dataclass(frozen=True)
class _Measurement:
    """A bot, and the terms on which it is measured."""

    bot: str
    seconds: float
    """Time for each move."""
    pairs: int
    positions: int
    jobs: int | None
    seed: int
    sandbox: bool

    def by(self, scale: Scale, game: Game) -> list[Measured]:
        """Return the results by a scale."""
        from plyhouse.clients.yardstick.equilibrium import equilibrium
        from plyhouse.clients.yardstick.measuring import exploitability
        from plyhouse.clients.yardstick.scales import Equilibrium, Exact, Exploitability

        match scale:
            case Exploitability():
                return exploitability(game, self.seconds)
            case Equilibrium():
                with equilibrium(game) as engines:
                    found = self._against(engines, game, "policy")
                return found + self._best_responses(game)
            case Exact():
                return self._exact_values(scale, game)
        return self._against(scale, game, "engines")

    def _against(self, engines: Engines, game: Game, name: str) -> list[Measured]:
        """Play against engines."""
        from plyhouse.clients.arena.pairing_log import run
        from plyhouse.clients.arena.progress import Score, watched
        from plyhouse.clients.arena.series import default_jobs
        from plyhouse.clients.yardstick.measuring import against_engines

        with watched(self.pairs, Score(("bot", name))) as progress:
            return run(
                against_engines(
                    game,
                    self.bot,
                    engines,
                    seconds=self.seconds,
                    pairs=self.pairs,
                    jobs=self.jobs or default_jobs(game.seats, mirrored=True),
                    seed=self.seed,
                    sandbox=self.sandbox,
                    on_played=progress.advance,
                    on_line=progress.say,
                )
            )

    def _best_responses(self, game: Game) -> list[Measured]:
        """Compute what best responses to the bot's answers win, in a game that is small enough."""
        from plyhouse.clients.arena.pairing_log import run
        from plyhouse.clients.arena.progress import watched
        from plyhouse.clients.yardstick.equilibrium import (
            QUESTIONS,
            approximate_exploitability,
            information_states,
        )

        asked = information_states(game, self.positions)
        if asked is None:
            note(f"{game.spec}: it has more information states than --positions {self.positions}.")
            return []
        with watched(QUESTIONS * len(asked), _Answers()) as progress:
            found = run(
                approximate_exploitability(
                    game,
                    self.bot,
                    asked,
                    seconds=self.seconds,
                    seed=self.seed,
                    sandbox=self.sandbox,
                    on_asked=lambda: progress.advance(()),
                    on_line=progress.say,
                )
            )
        return [found]

    def _exact_values(self, scale: Exact, game: Game) -> list[Measured]:
        """Ask the bot in positions whose values are known."""
        from plyhouse.clients.arena.pairing_log import run
        from plyhouse.clients.arena.progress import watched
        from plyhouse.clients.yardstick.measuring import compare_with_exact_values

        choices = _Choices()
        with watched(self.positions, choices) as progress:

            def on_asked(best: bool) -> None:
                choices.asked += 1
                choices.best += best
                progress.advance(())

            return run(
                compare_with_exact_values(
                    game,
                    self.bot,
                    scale,
                    seconds=self.seconds,
                    count=self.positions,
                    seed=self.seed,
                    sandbox=self.sandbox,
                    on_asked=on_asked,
                    on_line=progress.say,
                )
            )


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
