"""``team_search``: alpha-beta between two teams."""

from __future__ import annotations

from plyhouse.bots import SearchBot
from plyhouse.search.trees.many_seats import team_search

__all__ = ["TeamSearchBot"]


class TeamSearchBot(SearchBot):
    """Plays for its team, like Pacman's ghosts, against the other one.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    """

    name = "team_search"
    algorithm = "team_search"
    search = team_search
