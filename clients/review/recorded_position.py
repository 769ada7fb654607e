"""A position of a recorded match: the turn of its seat, and the tree of a search.

Everything a seat sees goes through `plyhouse.server.match.views` here, too, so that a bot that is
asked again learns nothing that it could not know in the match.  Clocks follow from the ledgers.

`plyhouse explain --record` shows the tree.  The server asks for it in the same way
(`plyhouse.server.jobs.helper_jobs`), as it knows no search itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.games.values import counts_wins, unit_of
from plyhouse.protocol.messages import MatchSnapshot, SeatInfo
from plyhouse.server.match.clock import Clock
from plyhouse.server.match.time_control import MS, TimeControl
from plyhouse.server.match.views import Views, clock_states
from plyhouse.server.results.record import Record, RecordEvent

if TYPE_CHECKING:
    from plyhouse.search.teaching.deepest_tree import Fitted


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A seat to move, and what became of it."""

    snapshot: MatchSnapshot
    """The turn that the seat received."""
    position: Position
    """The full position, hidden parts included: for reading actions, not for the bot."""
    played: str
    """The action played; empty if the match ended before one."""
    event: RecordEvent | None
    """With the ledger of that ply."""

    @property
    def seat(self) -> int:
        """The seat to move."""
        return self.position.mover


def moment_of(record: Record, game: Game, ply: int) -> RecordedTurn:
    """The moment before ply ``ply``; raises `CommandError` if there was none."""
    position = Position(game)
    views = Views(game, game.seats)
    clock = Clock(TimeControl.parse(record.time_control), game.seats, record.lag)
    played: RecordEvent | None = None
    try:
        for event in record.events:
            if event.kind == "end" and position.ply == ply:
                played = event
            if event.kind not in ("action", "chance"):
                continue
            if event.kind == "action" and position.ply == ply:
                played = event
                break
            before = position.state
            action = position.apply(event.seat, event.text)
            charged = event.charged_ns if event.kind == "action" else None
            views.record(before, action, event.text, event.seat, event.ply, charged)
            if event.kind == "action":
                clock.replay(event.seat, event.charged_ns, event.lag_ns)
    except (GameError, ValueError) as error:
        raise CommandError(
            f"Match {record.match} cannot be played again as {game.spec}: {error}"
        ) from error
    if position.ply != ply or position.mover < 0:
        last = position.ply if position.mover >= 0 else position.ply - 1
        raise CommandError(
            f"Nobody was to move at ply {ply + 1} of match {record.match}: its plies are 1 to "
            f"{last + 1}.",
            EXIT_USAGE,
        )
    return RecordedTurn(
        _snapshot(record, position, views, clock),
        position,
        played.text if played is not None and played.kind == "action" else "",
        played,
    )


def _snapshot(record: Record, position: Position, views: Views, clock: Clock) -> MatchSnapshot:
    seat = position.mover
    return MatchSnapshot(
        match=record.match,
        pairing=record.pairing,
        game=position.game.spec,
        time_control=record.time_control,
        rated=record.rated,
        seat=seat,
        players=[SeatInfo(each.player, each.bot, each.version) for each in record.seats],
        status="running",
        ply=position.ply,
        commitment=record.chance.commitment,
        nonces=list(record.chance.nonces),
        illegal_rule=record.illegal_rule,
        events=list(views.events(seat)),
        observation=views.observation(position.state, seat),
        clocks=clock_states(clock, 0, seat),
        your_turn=True,
        deadline_ms=clock.remaining(seat, 0) // MS,
    )


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
        "wins": counts_wins(tree.game),
        "unit": unit_of(tree.game),
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
