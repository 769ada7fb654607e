"""``plyhouse bot as-uci`` and ``as-gtp``: a bot as an engine of other programs."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import game_files_option, known_game
from plyhouse.clients.shared.output import note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plyhouse.bots.serving.requests import Service
    from plyhouse.games.base import Game

LATE_PASS: Final = ("othello",)
"""Games where a pass is legal, but not at the start."""


@click.command()
@click.argument("spec", metavar="BOT")
@click.option("--game", default="chess", show_default=True, help="Game, also with parameters.")
@game_files_option()
def as_uci(spec: str, game: str) -> None:
    """Let a bot speak UCI, for chess programs.

    These are, for example, fastchess and cutechess. Give the program this command as the engine's.
    The bot runs as on a server: in its own process, with the same turns and limits. Options of the
    bot are options of the engine. You find its output on standard error.

    Other games for two without chance are written in their own notation: position startpos moves.
    """
    from plyhouse.bots.serving.uci_service import UciService

    def make(name: str, options: Sequence[tuple[str, str, str]]) -> Service:
        return UciService(name, game, options)

    _serve(spec, game, "UCI", make)


@click.command()
@click.argument("spec", metavar="BOT")
@click.option("--game", default="go", show_default=True, help="Game, also with parameters.")
@game_files_option()
def as_gtp(spec: str, game: str) -> None:
    """Let a bot speak GTP, for go programs.

    One of these is Sabaki. Give the program this command as the engine's. The bot runs as on a
    server: in its own process, with the same turns and limits. You find its output on standard
    error.

    The rules are those of Plyhouse: area scoring, positional superko, no suicide, and dead stones
    count until they are captured. Boards have 5, 7, 9, 13 or 19 lines.
    """
    from plyhouse.bots.serving.gtp_service import GtpService

    def make(name: str, options: Sequence[tuple[str, str, str]]) -> Service:
        return GtpService(name, game, options)

    if not _has_pass(known_game(game, "--game")):
        raise CommandError(
            f"GTP is for games with a pass, like go and othello, not for {game}: name another with "
            "--game, or use plyhouse bot as-uci.",
            EXIT_USAGE,
        )
    _serve(spec, game, "GTP", make)


def _serve(
    spec: str,
    game: str,
    protocol: str,
    make: Callable[[str, Sequence[tuple[str, str, str]]], Service],
) -> None:
    from plyhouse.bots.serving.shell import ServedBot, lines_of_standard_input, serve
    from plyhouse.games.base import ChanceKind, Information

    found = known_game(game, "--game")
    info = found.info
    if (
        found.seats != 2
        or info.information is not Information.PERFECT
        or info.chance is not ChanceKind.DETERMINISTIC
    ):
        raise CommandError(
            f"{protocol} is for games for two without chance and hidden information, not for "
            f"{game}: name another with --game.",
            EXIT_USAGE,
        )

    async def run() -> None:
        bot = ServedBot(spec, note)
        loaded = await bot.start()
        try:
            if loaded.games and not any(_same(each, game) for each in loaded.games):
                note(f"{loaded.name} claims {', '.join(loaded.games)} only: it may fail in {game}")
            await serve(bot, make(loaded.name, loaded.options), lines_of_standard_input(), _write)
        finally:
            await bot.close()

    asyncio.run(run())


def _has_pass(game: Game) -> bool:
    """Return whether seats may pass, as GTP programs do to change who is to move."""
    start = game.initial_state()
    at_start = [game.format(start, action) for action in start.actions()]
    return game.info.name in LATE_PASS or "pass" in at_start


def _same(claimed: str, game: str) -> bool:
    return claimed.partition("(")[0] == game.partition("(")[0]


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
