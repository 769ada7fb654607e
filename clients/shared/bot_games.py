"""The games that bots claim, as defaults for ``--game``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.output import counted, note

__all__ = ["claimed_games", "common_game"]

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
