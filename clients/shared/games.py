"""Games of the user's own on the command line: named by file, or known to a server by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.output import counted, note

if TYPE_CHECKING:
    from plyhouse.games.base import Game

F = TypeVar("F", bound=Callable[..., Any])

_named: dict[str, str] = {}
"""Names of the games in the files that the user chose, by the file's own name."""

_files: dict[str, str] = {}
"""The files that the user chose, by the name of their game."""


class UnknownGameError(CommandError):
    """A record or a stored match is of a game that is not known here."""

    def __init__(self, spec: str, what: str) -> None:
        super().__init__(
            f"unknown game {spec.partition('(')[0]}: give --game-files with the file of its "
            f"rules ({what} is of {spec}).",
            EXIT_USAGE,
        )


def game_files_option() -> Callable[[F], F]:
    """``--game-files FILES``: makes the games in these files known by their names."""

    def add(_: click.Context, __: click.Parameter, value: str) -> None:
        from plyhouse.games.registry import add_game_file

        for source in filter(None, map(str.strip, value.split(","))):
            name = _named[_file(source)] = add_game_file(source)
            _files[name] = source

    return click.option(
        "--game-files",
        metavar="FILES",
        envvar="PLYHOUSE_GAME_FILES",
        show_envvar=True,
        default="",
        callback=add,
        expose_value=False,
        is_eager=True,  # the other arguments may name what is in them
        help="Games of your own, with commas: chomp.py, mygame.py:MyGame. The files are run.",
    )


def file_of(name: str) -> str:
    """The file, and perhaps class, that the user named for the game of this name; "" if none."""
    return _files.get(name, "")


def chosen_files() -> str:
    """The value of ``--game-files``."""
    return ",".join(_files.values())


def named_spec(text: str) -> str:
    """The spec of a game by its own name, as servers and their databases know it.

    A file that is named is run; raises `GameError` for what is not known here.
    """
    from plyhouse.games.errors import UnknownGame
    from plyhouse.games.registry import add_game_file, get_game

    try:
        game = get_game(text, files=True)  # The user of a command may run files.
    except UnknownGame as error:
        raise CommandError(
            f"{error} If it is a game of your own, name its file: --game-files.", EXIT_USAGE
        ) from error
    if not game.source:
        return game.spec
    name = _named[_file(game.source)] = add_game_file(game.source)
    return name + game.spec.removeprefix(game.source)


def spec_of(text: str) -> str:
    """Return the name of a game to send to a server; a game that is unknown here stays as given."""
    from plyhouse.games.errors import UnknownGame

    try:
        return named_spec(text)
    except CommandError as error:
        if isinstance(error.__cause__, UnknownGame):
            return text
        raise


def known_game(spec: str, what: str) -> Game:
    """The game of a record or a stored match.

    Raises `UnknownGameError`, and another `GameError` for parameters that it cannot have.

    A record is not trusted with the name of a file to run: it must be one of ``--game-files``.
    """
    from plyhouse.games.errors import InvalidGameSource, UnknownGame
    from plyhouse.games.registry import get_game

    try:
        return get_game(own_name(spec))
    except (UnknownGame, InvalidGameSource) as error:
        raise UnknownGameError(spec, what) from error


def own_name(spec: str) -> str:
    """The spec of a record by the game's own name, if it names a file that the user named, too."""
    source, parenthesis, values = spec.partition("(")
    name = _named.get(_file(source), source) if ".py" in source else source
    return name + parenthesis + values


def _file(source: str) -> str:
    """``chomp.py`` of ``games/chomp.py:Chomp``."""
    from pathlib import PurePath

    return PurePath(source.partition(".py")[0] + ".py").name


def seat_text(game: Game, seat: int) -> str:
    """Return a seat as people read it, counted from 1: "X (seat 1)", or "seat 1" without a name."""
    number = f"seat {seat + 1}"
    name = game.seat_name(seat)
    return name if name == number else f"{name} ({number})"


def seat_index(game: Game, number: int | None) -> int | None:
    """Return the index of a seat that the user counts from 1; raises `CommandError`."""
    if number is not None and number > game.seats:
        raise CommandError(f"{game.spec} has the seats 1 to {game.seats}.", EXIT_USAGE)
    return None if number is None else number - 1


LISTED = 6
"""Games that a message names at most."""


def claimed_games(bot: str) -> tuple[str, ...]:
    """Return the games that a bot claims; () if it plays any.

    The bot is imported in another process.  Raises `BotLoadError`.
    """

    async def ask() -> tuple[str, ...]:
        from plyhouse.bots.process.bot_process import BotProcess

        def show(lines: Sequence[str]) -> None:
            for line in lines:
                note(line)

        process = await BotProcess.start(bot, on_output=show)
        process.kill()
        await process.closed()
        return tuple(process.loaded.games)

    return asyncio.run(ask())


def common_game(bots: Sequence[str], how: str) -> str:
    """Return the one game that all these bots claim; ``how`` says how the user names another.

    Raises `CommandError` if there is none or several, as the user then has to choose.
    """
    from plyhouse.bots.loading import check_spec

    claims = {bot: claimed_games(check_spec(bot)) for bot in dict.fromkeys(bots)}
    choosy = {bot: games for bot, games in claims.items() if games}
    names = ", ".join(choosy)
    if not choosy:
        raise CommandError(f"{_subject(claims)} any game: name one {how}.", EXIT_USAGE)
    first, *others = choosy.values()
    common = [game for game in first if all(game in games for games in others)]
    if not common:
        raise CommandError(f"{names} have no game in common. Name one {how}.", EXIT_USAGE)
    if len(common) > 1:
        shown = ", ".join(common[:LISTED])
        more = f" and {len(common) - LISTED} more" if len(common) > LISTED else ""
        raise CommandError(
            f"{_subject(choosy)} {counted(len(common), 'game')}, {shown}{more}: name one {how}.",
            EXIT_USAGE,
        )
    return common[0]


def _subject(bots: dict[str, tuple[str, ...]]) -> str:
    return f"{', '.join(bots)} {'plays' if len(bots) == 1 else 'play'}"
