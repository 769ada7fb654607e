"""The specs of bots that play by engines, from the options ``--engine`` and ``--option``."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError

__all__ = ["ENGINE_BOTS", "check_engine_games", "engine_name", "engine_spec"]

ENGINE_BOTS: Final = ("gnubg", "gtp", "uci", "xboard")
"""The bots that play by an engine, each by the name of its protocol."""


def engine_spec(bot: str, engine: str | None, options: Sequence[str]) -> str:
    """Return the spec of a bot with its engine; raise `CommandError` if it has none.

    >>> engine_spec("uci", "stockfish", ["Skill Level=3", "Hash=16"])
    'uci(engine="stockfish", options="Skill Level=3; Hash=16")'
    """
    if bot not in ENGINE_BOTS:
        raise CommandError(
            f"--engine and --option are for the bots {', '.join(ENGINE_BOTS)}, not for {bot}. "
            'Write options of a bot behind its name: "alpha_beta(depth=6)".',
            EXIT_USAGE,
        )
    given = []
    if engine is not None:
        path = Path(engine).expanduser()
        given.append(f"engine={json.dumps(str(path.resolve()) if path.is_file() else engine)}")
    if options:
        given.append(f"options={json.dumps('; '.join(options))}")
    return f"{bot}({', '.join(given)})" if given else bot


def engine_name(engine: str | None) -> str | None:
    """Return the name of a bot that plays by this engine; None for that of its protocol.

    >>> engine_name("/opt/katago/katago gtp -model best.bin")
    'katago'
    """
    try:
        words = shlex.split(engine or "")
    except ValueError:
        return None  # the bot reports it
    return re.sub(r"[^A-Za-z0-9_-]", "_", Path(words[0]).stem) if words else None


def check_engine_games(spec: str, games: Sequence[str]) -> None:
    """Start the engine once; raise `CommandError` for a game that it does not play.

    Raises `plyhouse.bots.loading.BotLoadError` if the engine cannot be used.
    """
    if not games:
        return
    from plyhouse.clients.shared.bot_games import claimed_games

    claimed = claimed_games(spec)
    for game in games:
        if game.partition("(")[0] not in claimed:
            raise CommandError(
                f"This engine plays {' and '.join(claimed)}, not {game}. Name one of its games "
                "with --game, or an engine that plays the game with --engine.",
                EXIT_USAGE,
            )
