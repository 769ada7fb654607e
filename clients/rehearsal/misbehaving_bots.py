"""Bots that misbehave, each in one way, for the rehearsal of a competition.

Until then they play at random.  They misbehave in the middle of a match, at their second turn.
In games without a second turn they do it at the first one, and also in games of more than two
seats, where others may end the match before.
"""

from __future__ import annotations

import time
from typing import Any, Final

from plyhouse.bots import Bot, Turn
from plyhouse.games.base import Game

SHORT: Final = 3
"""Turns of a seat in matches so short that there is no middle."""
HOARD: Final = 64 * 1024 * 1024
"""Bytes that the hog may take on this machine, beyond what it had."""
PIECE: Final = 8 * 1024 * 1024
PAUSE: Final = 0.15
"""Seconds that the steady one thinks, so that its matches have a middle."""


def misbehaves(game: Game, ply: int) -> bool:
    """Return whether these bots misbehave if they are to move at a ply."""
    return game.seats > 2 or game.info.max_plies <= SHORT * game.seats or ply >= game.seats


class Honest(Bot):
    """Plays at random; what the others are before they misbehave."""

    def choose(self, turn: Turn) -> Any:
        """Any legal action, but for the middle of the match."""
        return self.misbehave(turn) if misbehaves(turn.game, turn.ply) else self.play(turn)

    def play(self, turn: Turn) -> Any:
        """Return any legal action."""
        return turn.rng.choice(turn.legal)

    def misbehave(self, turn: Turn) -> Any:
        """Play on as before; the bots below misbehave here."""
        return self.play(turn)


class Crasher(Honest):
    """Raises an exception."""

    def misbehave(self, turn: Turn) -> Any:
        """Divide by zero."""
        return turn.ply // (turn.seat - turn.seat)


class Hanger(Honest):
    """Never comes back."""

    def misbehave(self, turn: Turn) -> Any:
        """Go in circles for ever."""
        while True:
            pass


class Sleeper(Honest):
    """Comes back, but only when its time is over."""

    def misbehave(self, turn: Turn) -> Any:
        """Wait for longer than there is."""
        time.sleep(turn.clock.left + 0.5)
        return self.play(turn)


class RuleBreaker(Honest):
    """Plays what is not legal."""

    def misbehave(self, turn: Turn) -> Any:
        """No game has this action."""
        return "no-such-action"


class Hog(Honest):
    """Takes all the memory that it gets."""

    def misbehave(self, turn: Turn) -> Any:
        """Hoard, up to a limit that it sets itself so that this machine is not harmed."""
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (now + HOARD, hard))
        hoard = []
        while True:
            hoard.append(bytearray(PIECE))


class Printer(Honest):
    """Prints to standard output, which belongs to its author."""

    def choose(self, turn: Turn) -> Any:
        """Print, and play."""
        print(f"printed at ply {turn.ply}: " + "x" * 200)
        return self.play(turn)


class Steady(Honest):
    """Plays at random, and takes a moment for it."""

    def choose(self, turn: Turn) -> Any:
        """Think for a moment."""
        time.sleep(min(PAUSE, turn.clock.left / 3))
        return self.play(turn)
