"""``flat_monte_carlo``: random playouts after every action, without a tree."""

from __future__ import annotations

from plyhouse.bots import SearchBot
from plyhouse.search.monte_carlo.flat_monte_carlo import flat_monte_carlo

__all__ = ["FlatMonteCarloBot"]


class FlatMonteCarloBot(SearchBot):
    """Takes the action after which random play ends best.

    Searches until its time is used, or 1000 simulations where there is no clock.
    """

    name = "flat_monte_carlo"
    algorithm = "flat_monte_carlo"
    search = flat_monte_carlo
