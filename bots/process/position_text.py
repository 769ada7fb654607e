"""Describe the position of a turn, for the author of a failed bot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from plyhouse.bots.api import Match, Turn
from plyhouse.bots.process.messages import Begin
from plyhouse.bots.process.tracker import Tracker
from plyhouse.games.errors import GameError
from plyhouse.games.registry import add_game_file, game_names, get_game

__all__ = ["get_ready", "match_of", "position_of", "position_text"]


def get_ready(games: Iterable[str]) -> None:
    """Load these games for `match_of` before the bot's clock runs.

    The lookup of installed games takes longest (0.1 s), so it happens for every bot.  Unknown games
    cause an error only in a match that uses them.
    """
    with contextlib.suppress(GameError):
        game_names()
    for game in games:
        with contextlib.suppress(GameError):
            get_game(game).initial_state()


def match_of(begin: Begin) -> Match:
    """Return the metadata of a beginning match; raise `GameError` for an unknown game."""
    snapshot = begin.snapshot
    if begin.file:
        add_game_file(begin.file)
    return Match(
        id=snapshot.match,
        game=get_game(snapshot.game, files=begin.files),
        seat=snapshot.seat or 0,
        players=tuple(snapshot.players),
        time_control=snapshot.time_control,
        rated=snapshot.rated,
        illegal_rule=snapshot.illegal_rule,
    )


def position_text(turn: Turn) -> str:
    """Return the bot's view at this turn as text, with seat and ply from 0 as its code has them."""
    played = " ".join(str(event.action) for event in turn.history) or "none"
    return (
        f"{turn.game.spec}, turn.seat {turn.seat}, turn.ply {turn.ply}\n"
        f"{turn.describe()}\nactions so far: {played}"
    )


def position_of(begin: Begin, ply: int, observation: dict[str, Any]) -> str:
    """Return the same without the bot's process, from all that is known of the match."""
    match = match_of(begin)
    tracker = Tracker(match.game, begin.snapshot.events)
    seen = tracker.observation(observation, match.seat)
    return position_text(
        Turn(match, ply=ply, state=tracker.state, observation=seen, history=tracker.events)
    )
