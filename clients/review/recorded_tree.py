"""The tree of a position of a match that was played, for ``plyhouse explain --record``.

The server asks for it in the same way (`plyhouse.server.jobs.helper_jobs`), as it knows no search
itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.games.base import CHANCE, TERMINAL, Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position

if TYPE_CHECKING:
    from plyhouse.games.base import Game
    from plyhouse.search.teaching.deepest_tree import Fitted
    from plyhouse.server.results.record import Record


@dataclass(frozen=True, slots=True)
class Spot:
    """A position of a match, or one that could have come of it."""

    state: Any
    mover: int
    """The seat whose values are shown: the one to move; at a roll, the one that acted before."""
    name: str
    """Where it is, in words: ``ply 4, then b1``."""
    played: str
    """The action played there; empty at the end, and after actions outside of the match."""


def spot_of(record: Record, game: Game, ply: int, then: Sequence[str]) -> Spot:
    """The position before ply ``ply`` with its dice rolled, and after what is in ``then``.

    ``then`` has actions of the seats to move and outcomes of chance, in the game's notation.
    Raises `CommandError` if there is no such position.
    """
    position = Position(game)
    mover = 0
    played = ""
    try:
        for event in record.events:
            if event.kind not in ("action", "chance"):
                continue
            if position.ply == ply and position.mover != CHANCE:
                played = event.text
                break
            mover = event.seat if event.kind == "action" else mover
            position.apply(event.seat, event.text)
    except GameError as error:
        raise CommandError(
            f"Match {record.match} cannot be played again as {game.spec}: {error}"
        ) from error
    if position.ply != ply:
        raise CommandError(
            f"Match {record.match} has only {position.ply} plies: choose an earlier one.",
            EXIT_USAGE,
        )
    for index, text in enumerate(then):
        if position.mover == TERMINAL:
            raise CommandError(f"The game is over before {text}.", EXIT_USAGE)
        if position.mover >= 0:
            mover = position.mover
        try:
            position.apply(position.mover, text)
        except GameError as error:
            raise CommandError(
                f"Action {index + 1} from ply {ply + 1} on: {error}", EXIT_USAGE
            ) from error
    if position.mover == TERMINAL:
        raise CommandError("The game is over there: there is no tree to search.", EXIT_USAGE)
    name = ", then ".join([f"ply {ply + 1}", " ".join(then)] if then else [f"ply {ply + 1}"])
    if position.mover >= 0:
        mover = position.mover
    return Spot(position.state, mover, name, "" if then else played)


def judged(game: Game, spot: Spot, seconds: float) -> dict[str, Any] | None:
    """The value of the played action, and the best one, as `plyhouse review` judges it.

    A tree that people can look at is shallow, and of what is not best it often has a bound alone.
    None where nothing was played, or nothing could be said of it in time.
    """
    if not spot.played or spot.state.to_move < 0:
        return None
    from plyhouse.clients.review.judges import judge_for

    action = game.parse(spot.state, spot.played)
    said = judge_for(game, seconds / 2).judge(spot.state, action, seconds / 2)
    if said.played is None:
        return None
    return {
        "best_action": game.format(spot.state, said.best_action),
        "best": said.best,
        "played": said.played,
        "certainty": said.certainty,
    }


def fields_of(
    found: Fitted, spot: Spot, searches: Sequence[str], judgement: dict[str, Any] | None
) -> dict[str, Any]:
    """Everything that a page needs to show a tree, as plain data."""
    tree = found.tree
    heading = f"{tree.game.info.name}, {spot.name}"
    root = _finite(tree.fields(tree.root))
    _label(tree.game, spot.state, root)
    return {
        "game": tree.game.spec,
        "search": tree.search,
        "searches": list(searches),
        "depth": tree.depth,
        "complete": found.complete,
        "larger": found.larger,
        "wins": _counts_wins(tree.game),
        "estimated": hasattr(spot.state, "heuristic"),
        "seat": tree.seat,
        "seats": [tree.game.seat_name(seat) for seat in range(tree.game.seats)],
        "nodes": tree.nodes,
        "best": tree.best,
        "played": spot.played,
        "judged": judgement,
        "title": tree.title(),
        "root": root,
        "svg": tree.svg(heading),
    }


def _counts_wins(game: Game) -> bool:
    """Return whether a value is a chance: -1 for a loss, 1 for a win, of one of two seats."""
    return (
        game.seats == 2 and game.return_bounds == (-1.0, 1.0) and game.info.scoring is Scoring.WINS
    )


def _label(game: Game, state: Any, node: dict[str, Any]) -> None:
    """Add to the nodes below one the actions that lead to them, as people write them."""
    read = game.parse_chance if state.to_move == CHANCE else game.parse
    for child in node.get("children", ()):
        action = read(state, child["action"])
        label = game.display(state, action)
        if label != child["action"]:
            child["label"] = label
        _label(game, state.after(action), child)


def _finite(node: dict[str, Any]) -> dict[str, Any]:
    """The same node with null for what JSON has no number for."""
    for name in ("value", "alpha", "beta"):
        value = node.get(name)
        if isinstance(value, float) and not math.isfinite(value):
            node[name] = None
    for child in node.get("children", ()):
        _finite(child)
    return node
