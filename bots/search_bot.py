"""`SearchBot`: the base class of bots that call one search.

A bot of an algorithm of your own is as short as those of the house::

    class Mine(SearchBot):
        games = ("connect_four",)
        search = my_search

and takes the options of every `SearchBot`: ``mybot.py(depth=4)``, ``mybot.py(simulations=1000)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from plyhouse.bots.api import Bot, Turn
from plyhouse.games.registry import game_names, get_game
from plyhouse.search.game_requirements import fitting_algorithms
from plyhouse.search.limit import Limit, SearchResult

__all__ = ["SearchBot"]


class SearchBot(Bot):
    """A bot whose search may be bounded by options: the tighter of these and the clock counts.

    ``time`` is in seconds per turn, ``depth`` in plies, ``nodes`` and ``simulations`` as in
    `plyhouse.search.Limit`, which raises `ValueError` for values that make no sense.
    """

    algorithm: ClassVar[str] = ""
    """The search it plays by, as in `plyhouse.search.game_requirements.ALGORITHMS`.  A bot that
    names no games claims all that fit this."""
    search: ClassVar[Callable[..., SearchResult]]
    """The search that `choose` calls with the game, the position, the limit and a seed."""

    def __init__(
        self,
        time: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        simulations: int | None = None,
    ) -> None:
        self.own = Limit(time=time, depth=depth, nodes=nodes, simulations=simulations)

    @classmethod
    def claims(cls) -> Sequence[str]:
        """Return the games named, or else all registered games that fit the algorithm."""
        if cls.games or not cls.algorithm:
            return cls.games
        wanted = cls.algorithm
        return [name for name in game_names() if wanted in fitting_algorithms(get_game(name))]

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        search = type(self).search
        return self.say(turn, search(turn.game, turn.state, self.limit(turn), seed=self.seed(turn)))

    def limit(self, turn: Turn) -> Limit:
        """Return the budget of this turn: the clock's, within the bot's own bounds."""
        turn.narrow(self.own)
        return turn.limit

    def say(self, turn: Turn, result: SearchResult) -> Any:
        """Tell what a search found along with the action (`Turn.info`), and return that."""
        turn.info(result)
        return result.action

    def seed(self, turn: Turn) -> int:
        """Return a seed for the search, another one each turn: so that two matches need not be the
        same.  Never 0, which stands for the game's own order.
        """
        return turn.rng.getrandbits(32) | 1
