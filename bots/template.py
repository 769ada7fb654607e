"""The starter that ``plyhouse new-bot`` writes: runs as it is, and says what to change."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["new_bot_text"]

_TEXT: Final = '''"""{title}: a bot for Plyhouse.

Try it:   plyhouse match {file} random --game {game} --games 10
Check it: plyhouse check {file}
"""

from plyhouse.bots import Bot, Turn


class {name}(Bot):
    games = ("{game}",)  # what it can play; leave empty for every game

    def start(self, turn: Turn) -> None:
        """Called before the first choice of a match; a new object is made for each match."""

    def choose(self, turn: Turn):
        """Return one of turn.legal (or its text, see turn.legal_text)."""
        # turn.state is the position, turn.observation what you see where something is hidden.
        for action in turn.legal:
            after = turn.state.after(action)
            if after.to_move == -2 and after.returns()[turn.seat] > 0:
                return action  # wins at once
        # A search would be better:
        #     from plyhouse.search import alpha_beta
        #     return alpha_beta(turn.game, turn.state, turn.limit).action
        return turn.rng.choice(turn.legal)  # repeatable randomness
'''

_HIDDEN: Final = '''"""{title}: a bot for Plyhouse.

Try it:   plyhouse match {file} random --game {game} --games 10
Check it: plyhouse check {file}
"""

from plyhouse.bots import Bot, Turn


class {name}(Bot):
    games = ("{game}",)  # what it can play; leave empty for every game

    def start(self, turn: Turn) -> None:
        """Called before the first choice of a match; a new object is made for each match."""

    def choose(self, turn: Turn):
        """Return one of turn.legal (or its text, see turn.legal_text)."""
        # The game hides something: turn.observation is what you see, turn.history what happened,
        # and turn.sample() a position that may be the true one.
        seen = turn.observation
        print("I see", seen)  # goes to your terminal and to the bot's log
        return turn.rng.choice(turn.legal)  # repeatable randomness
'''


def new_bot_text(
    file: str = "mybot.py", game: str = "connect_four", *, hidden: bool = False
) -> str:
    """A starter bot of at most 30 lines for ``file``; ``hidden``: the game hides something."""
    stem = re.sub(r"\.py$", "", file.replace("\\", "/").rpartition("/")[2])
    words = [word for word in re.split(r"[^A-Za-z0-9]+", stem) if word]
    name = "".join(word[0].upper() + word[1:] for word in words) or "MyBot"
    if name[0].isdigit() or name in {"Bot", "Turn"}:
        name = f"My{name}"
    text = _HIDDEN if hidden else _TEXT
    return text.format(title=" ".join(words) or "mybot", file=file, name=name, game=game)
