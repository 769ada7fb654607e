"""Prompts for chat models: one builder for every game.

A prompt holds the rules of the game, what has happened, the position as text and, if wanted, the
legal actions.  It holds no name of a player, no title of a match and nothing else that another user
chose; actions of opponents are written as the game writes them.  So an opponent can say nothing to
the model.
"""

from __future__ import annotations

from typing import Final

from plyhouse.bots.api import Turn
from plyhouse.games.rules import rules_text
from plyhouse.games.scene import scene_fields
from plyhouse.games.scene_text import draw_fields
from plyhouse.protocol.messages import CHANCE_SEAT, Event
from plyhouse.protocol.parts import HelpLevel

__all__ = ["again", "question", "system"]

MOST_EVENTS: Final = 400
"""Events that a prompt repeats; of longer matches the latest."""
MOST_ACTIONS: Final = 400
"""Legal actions that a prompt lists."""
FORM: Final = '{"action": "..."}'


def system(turn: Turn, level: HelpLevel) -> str:
    """Return the instructions, which are the same for each turn of a match."""
    game = turn.game
    seats = ", ".join(f"{seat}: {game.seat_name(seat)}" for seat in range(game.seats))
    parts = [
        f"You play {game.info.title} ({game.spec}) as {game.seat_name(turn.seat)}. The seats are "
        f"{seats}. You are seat {turn.seat}.",
        f"Actions are written like this: {game.action_notation}",
        f"Think as long as you like. End with your action as JSON on a line of its own: {FORM}",
        "That action is played as it stands. An illegal action can lose the match.",
    ]
    if level == "rules":
        parts.insert(1, f"The rules:\n\n{rules_text(game)}")
    return "\n\n".join(parts)


def question(turn: Turn, level: HelpLevel) -> str:
    """Return the question of one turn."""
    game = turn.game
    events = turn.history
    shown = [_line(turn, each) for each in events[-MOST_EVENTS:]]
    if len(events) > MOST_EVENTS:
        shown.insert(0, f"... {len(events) - MOST_EVENTS} earlier events")
    parts = ["What has happened:\n" + ("\n".join(shown) or "nothing yet")]
    parts.append("The position:\n" + draw_fields(scene_fields(game.scene(turn.observation))))
    if level != "position":
        parts.append("Your legal actions:\n" + _listed(turn))
    parts.append(f"It is your turn. End with {FORM}.")
    return "\n\n".join(parts)


def again(turn: Turn, said: str, why: str, *, illegal: bool) -> str:
    """Return what to say after an answer that cannot be played.

    said: the action that was read, if the answer had one
    why: the broken rule, or what could not be read
    """
    if illegal:
        return (
            f"{said!r} is not legal in this position: {why} Choose another action. End with {FORM}."
        )
    notation = turn.game.action_notation
    return (
        f"Your answer has no action that can be read: {why} Write the action in this form, on a "
        f"line of its own: {FORM}. Actions are written like this: {notation}"
    )


def _line(turn: Turn, event: Event) -> str:
    who = "chance" if event.seat == CHANCE_SEAT else turn.game.seat_name(event.seat)
    return f"{who}: {event.action if event.action is not None else '(hidden from you)'}"


def _listed(turn: Turn) -> str:
    actions = turn.game.legal_text(turn.sample(), turn.seat)
    more = "" if len(actions) <= MOST_ACTIONS else f"\n... and {len(actions) - MOST_ACTIONS} more"
    return "\n".join(actions[:MOST_ACTIONS]) + more
