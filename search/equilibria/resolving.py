"""Subgame resolving: solve the rest of a game again, and better, from its public state.

A *blueprint* is a policy for the whole game, often a coarse one.  A *public state* is what a
spectator knows: all events so far, the hidden ones as gaps.  The *subgame* below it begins in one
of several states, its *roots*, which differ only in what is hidden.

If one solved the subgame alone, with the probabilities that the blueprint gives its roots, the
opponent could profit: it would play differently on the way to the subgame.  Therefore the solver
works on a *gadget* in front of the subgame.  There the opponent chooses its own information state
among those it may have, and chance one of the roots that fit.  The opponent is paid what it gets
beyond its best response to the blueprint in that information state.  So the solver makes the least
margin as large as it can, over the information states.  The blueprint has margins of 0.  Hence
the resolved policy is at most as exploitable as the blueprint, apart from the error of the solver.

Moravčík, Schmid, Ha, Hladík and Gaukrodger, "Refining subgames in large imperfect information
games", AAAI 2016 (max-margin).  Burch, Johanson and Bowling, "Solving imperfect information games
using decomposition", AAAI 2014 (the first gadget).  Ganzfried and Sandholm, "Endgame solving in
large imperfect-information games", AAMAS 2015 (without a gadget).

>>> from plyhouse.games import get_game
>>> from plyhouse.search import cfr, exploitability
>>> leduc = get_game("leduc_poker")
>>> blueprint = cfr(leduc, iterations=20).policy
>>> def second_round(seen):
...     return seen.board is not None
>>> resolved = resolved_policy(leduc, blueprint, second_round, iterations=50)
>>> exploitability(leduc, resolved) < exploitability(leduc, blueprint)
True
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from plyhouse.games.base import CHANCE, TERMINAL, Game, Utility
from plyhouse.games.errors import GameMismatch
from plyhouse.search.callback_types import Policy
from plyhouse.search.equilibria.best_response import shares_of
from plyhouse.search.equilibria.solution import most_iterations
from plyhouse.search.equilibria.tabular import TabularPolicy
from plyhouse.search.game_requirements import require_solvable
from plyhouse.search.kernels.cfr import CfrKernel
from plyhouse.search.kernels.sequences import InformationSet, SequenceForm
from plyhouse.search.kernels.unfold import UnfoldKernel
from plyhouse.search.limit import MAX_DEPTH, UNLIMITED, Limit
from plyhouse.search.poll import Poll, SearchStopped
from plyhouse.search.tree_size import MAX_NODES

__all__ = [
    "PublicRecord",
    "SubgameRoot",
    "public_record",
    "resolve_subgame",
    "resolved_policy",
    "subgame_roots",
    "subgames",
]

StateT = TypeVar("StateT")

PublicEvent = tuple[int, str | None]
"""The seat, or -1 for chance, and its action as spectators see it; None if it is hidden."""

PublicRecord = tuple[PublicEvent, ...]
"""All events from the beginning, as spectators see them."""


@dataclass(frozen=True)
class SubgameRoot:
    """One of the states in which a subgame may begin."""

    state: Any
    chance: float
    """Product of the probabilities of chance on the way to the state."""
    reach: tuple[float, ...]
    """By seat, the product of the blueprint's probabilities of its actions on the way."""


def public_record(
    game: Game,
    events: Iterable[tuple[int, str | None]],
    seat: int,
    *,
    max_nodes: int = MAX_NODES,
) -> PublicRecord:
    """Return what spectators saw of a match, from the events as one of its seats saw them.

    Each event is a seat, or -1 for chance, and the text of its action; None if it is hidden from
    ``seat``.  Raises `ValueError` for events that no match of the game has, and `GameMismatch` if
    they fit more than ``max_nodes`` states.
    """
    fitting = [game.initial_state()]
    record: list[PublicEvent] = []
    for mover, text in events:
        children = (
            (game.visible(state, action, None), state.after(action))
            for state in fitting
            if state.to_move == mover
            for action in (
                [action for action, _ in state.chance_outcomes()]
                if mover == CHANCE
                else state.actions()
            )
            if game.visible(state, action, seat) == text
        )
        found = _at_most(max_nodes, children, game)
        if not found:
            raise ValueError(
                f"no match of {game.spec} goes on with {text!r} of seat {mover} after {record!r}"
            )
        record.append((mover, found[0][0]))
        fitting = [state for _, state in found]
    return tuple(record)


def subgame_roots(
    game: Game, blueprint: Policy, record: PublicRecord, *, max_nodes: int = MAX_NODES
) -> list[SubgameRoot]:
    """Return the states that are possible after a public record.

    Raises `ValueError` if there are none, and `GameMismatch` as `resolve_subgame` does, or if there
    are more than ``max_nodes``.
    """
    _require(game)
    found = [_start(game)]
    for event in record:
        children = (
            child
            for root in found
            for seen, child in _children(game, blueprint, root)
            if seen == event
        )
        found = _at_most(max_nodes, children, game)
    if not found:
        raise ValueError(f"no match of {game.spec} has the public record {record!r}")
    return found


def _at_most(max_nodes: int, states: Iterator[StateT], game: Game) -> list[StateT]:
    """Return all states; raise `GameMismatch` if there are more than ``max_nodes``."""
    found = list(islice(states, max_nodes + 1))
    if len(found) > max_nodes:
        reason = f"more than {max_nodes:,} states are possible"
        fits = "it resolves games with few hidden states: choose smaller parameters"
        raise GameMismatch("resolve_subgame", game.spec, reason, fits)
    return found


def subgames(
    game: Game, blueprint: Policy, begins: Callable[[Any], bool]
) -> dict[PublicRecord, list[SubgameRoot]]:
    """Return the roots of all subgames, by public record.

    They begin where ``begins`` is true for the first time; it gets the observation of a spectator.
    Raises `GameMismatch` as `resolve_subgame` does.
    """
    _require(game)
    found: dict[PublicRecord, list[SubgameRoot]] = {}

    def walk(root: SubgameRoot, record: PublicRecord) -> None:
        if root.state.to_move == TERMINAL:
            return
        if begins(game.observe(root.state, None)):
            found.setdefault(record, []).append(root)
            return
        for seen, child in _children(game, blueprint, root):
            walk(child, (*record, seen))

    walk(_start(game), ())
    return found


def resolve_subgame(
    game: Game,
    blueprint: Policy,
    roots: Iterable[SubgameRoot],
    seat: int,
    limit: Limit = UNLIMITED,
    *,
    iterations: int | None = None,
    gadget: bool = True,
    values: Mapping[Hashable, float] | None = None,
    max_nodes: int = MAX_NODES,
) -> TabularPolicy:
    """Solve a subgame by CFR+, and return the policy of one seat in it.

    ``iterations`` and ``limit`` bound the solver; without any bound it does 1,000 iterations.  The
    time to walk the tree counts, but only ``max_nodes`` bounds it.  If no time is left then, the
    result is the blueprint.  To resolve again later in the same match, pass the policy that was
    played until then as the blueprint, for the roots as well; otherwise the result is not safe.
    ``values`` has for each information state of the opponent at the roots what it may get, for
    example what an earlier solver promised it; otherwise the blueprint says so.
    ``gadget=False`` assumes that the opponent plays the blueprint up to the subgame, which is not
    safe.

    Raises `GameMismatch` unless the game has two seats and a zero sum, and the subgame at most
    ``max_nodes`` nodes.  Raises `ValueError` if the seat's blueprint never reaches the subgame, or
    gives what are not probabilities of legal actions.
    """
    _require(game)
    if seat not in (0, 1):
        raise ValueError(f"seat={seat!r}: expected 0 or 1")
    most = most_iterations(limit, iterations)
    roots = list(roots)
    if not roots:
        raise ValueError("roots is empty: expected the roots of a subgame, see subgame_roots")
    poll = Poll(limit)
    subgame = _Subgame(game, roots, seat, gadget=gadget)
    form = subgame.unfold(max_nodes)
    if gadget:
        if values is None:
            subgame.set_values(form, blueprint)
        else:
            subgame.values = {known: values[known] for known in subgame.roots}
        form = subgame.unfold(max_nodes)
    kernel = CfrKernel(form, alternating=True)
    try:
        while most is None or kernel.iterations < most:
            kernel.run(poll, [1.0], [0.0], [float(kernel.iterations + 1)])
    except SearchStopped:
        pass
    form.set_trial_average()
    if kernel.iterations == 0:  # there was no time: the blueprint is better than nothing
        _put_on_trial(game, blueprint, form.sets[seat])
    return TabularPolicy.of_states(
        game,
        [(info.state.inner, [slot.trial for slot in info.slots]) for info in form.sets[seat]],
        algorithm="resolve_subgame",
        iterations=int(kernel.iterations),
    )


def resolved_policy(
    game: Game,
    blueprint: TabularPolicy,
    begins: Callable[[Any], bool],
    *,
    iterations: int | None = None,
    gadget: bool = True,
    max_nodes: int = MAX_NODES,
) -> TabularPolicy:
    """Return the blueprint with every subgame resolved for both seats, to measure what that gives.

    ``begins`` is as for `subgames`, the rest as for `resolve_subgame`.  A seat keeps the blueprint
    in subgames that it never reaches.
    """
    table = dict(blueprint.table)
    for roots in subgames(game, blueprint, begins).values():
        for seat in range(2):
            if _is_reached(roots, seat, gadget=gadget):
                resolved = resolve_subgame(
                    game,
                    blueprint,
                    roots,
                    seat,
                    iterations=iterations,
                    gadget=gadget,
                    max_nodes=max_nodes,
                )
                table.update(resolved.table)
    return TabularPolicy(game, table, algorithm="resolve_subgame")


class _Subgame:
    """A subgame as one seat resolves it, with the gadget for the opponent."""

    def __init__(
        self, game: Game, roots: Sequence[SubgameRoot], seat: int, *, gadget: bool
    ) -> None:
        if not _is_reached(roots, seat, gadget=gadget):
            raise ValueError(f"the blueprint of seat {seat} never reaches this subgame")
        self.game = game
        self.seat = seat
        self.opponent = 1 - seat
        self.gadget = gadget
        self.roots: dict[Hashable, list[tuple[Any, float]]] = {}
        """States with their probabilities, by the information state that the opponent chooses;
        without a gadget, all have the key None.
        """
        for root in roots:
            weight = _weight(root, seat, gadget=gadget)
            if weight:
                known = game.information_state(root.state, self.opponent) if gadget else None
                self.roots.setdefault(known, []).append((root.state, weight))
        for known, own in self.roots.items():
            total = sum(weight for _, weight in own)
            self.roots[known] = [(state, weight / total) for state, weight in own]
        self.values = dict.fromkeys(self.roots, 0.0)
        """The value of the opponent's best response to the blueprint, by its information state."""

    def unfold(self, max_nodes: int) -> SequenceForm:
        """Walk the tree, in which the opponent is paid what it gets beyond ``values``."""
        kernel = UnfoldKernel(
            Poll(UNLIMITED), self.information_state, self.game.seats, max_nodes, MAX_DEPTH
        )
        form: SequenceForm = kernel.build(_SubgameState(self))
        if kernel.fault == "nodes":
            reason = f"the subgame has more than {max_nodes:,} nodes"
            fits = "it solves subgames that fit into memory: begin later, or raise max_nodes"
            raise GameMismatch("resolve_subgame", self.game.spec, reason, fits)
        if kernel.fault:
            fits = f"it solves games of perfect recall, at most {MAX_DEPTH} plies deep"
            raise GameMismatch("resolve_subgame", self.game.spec, kernel.fault, fits)
        return form

    def information_state(self, state: _SubgameState, seat: int) -> Hashable:
        """Return what a seat knows; the opponent has a single state at the gadget."""
        return "gadget" if state.inner is None else self.game.information_state(state.inner, seat)

    def set_values(self, form: SequenceForm, blueprint: Policy) -> None:
        """Compute ``values`` on a form that was unfolded with values of 0."""
        _put_on_trial(self.game, blueprint, form.sets[self.seat])
        form.spread_trial()
        form.respond(self.opponent, None)
        choice = form.sets[self.opponent][0]
        self.values = {
            known: slot.gain for known, slot in zip(choice.actions, choice.slots, strict=True)
        }


class _SubgameState:
    """A state of a subgame: ``inner``, or of its gadget while that is None."""

    __slots__ = ("inner", "known", "subgame", "to_move")

    def __init__(self, subgame: _Subgame, known: Hashable = None, inner: Any = None) -> None:
        self.subgame = subgame
        self.known = known
        """The information state that the opponent has chosen."""
        self.inner = inner
        if inner is not None:
            self.to_move: int = inner.to_move
        else:
            chooses = subgame.gadget and known is None
            self.to_move = subgame.opponent if chooses else CHANCE

    def actions(self) -> tuple[Any, ...]:
        return tuple(self.subgame.roots) if self.inner is None else tuple(self.inner.actions())

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        if self.inner is None:
            return tuple(self.subgame.roots[self.known])
        outcomes: tuple[tuple[Any, float], ...] = self.inner.chance_outcomes()
        return outcomes

    def after(self, action: Any) -> _SubgameState:
        if self.inner is not None:
            return _SubgameState(self.subgame, self.known, self.inner.after(action))
        if self.to_move == CHANCE:
            return _SubgameState(self.subgame, self.known, action)
        return _SubgameState(self.subgame, action)

    def returns(self) -> tuple[float, ...]:
        first, second = self.inner.returns()
        value = self.subgame.values[self.known]
        if self.subgame.opponent == 0:
            return first - value, second + value
        return first + value, second - value


def _put_on_trial(game: Game, blueprint: Policy, own: Sequence[InformationSet]) -> None:
    """Set the probabilities of the blueprint in information sets of a subgame."""
    for info in own:
        shares = shares_of(game, blueprint, info.state.inner, info.actions)
        for slot, action in zip(info.slots, info.actions, strict=True):
            slot.trial = shares[action]


def _start(game: Game) -> SubgameRoot:
    return SubgameRoot(game.initial_state(), 1.0, (1.0, 1.0))


def _children(
    game: Game, blueprint: Policy, root: SubgameRoot
) -> list[tuple[PublicEvent, SubgameRoot]]:
    """Return what spectators see of each event that may come next, and where it leads."""
    state = root.state
    mover = state.to_move
    if mover == TERMINAL:
        return []
    if mover == CHANCE:
        shares = dict(state.chance_outcomes())
    else:
        shares = shares_of(game, blueprint, state, state.actions())
    found: list[tuple[PublicEvent, SubgameRoot]] = []
    for action, share in shares.items():
        chance = root.chance * share if mover == CHANCE else root.chance
        reach = tuple(
            [before * share if seat == mover else before for seat, before in enumerate(root.reach)]
        )
        event = mover, game.visible(state, action, None)
        found.append((event, SubgameRoot(state.after(action), chance, reach)))
    return found


def _weight(root: SubgameRoot, seat: int, *, gadget: bool) -> float:
    """Return how likely a root is; with a gadget, the opponent decides itself whether it comes."""
    weight = root.chance * root.reach[seat]
    return weight if gadget else weight * root.reach[1 - seat]


def _is_reached(roots: Sequence[SubgameRoot], seat: int, *, gadget: bool) -> bool:
    return any(_weight(root, seat, gadget=gadget) for root in roots)


def _require(game: Game) -> None:
    require_solvable("resolve_subgame", game)
    if game.seats != 2 or game.info.utility is not Utility.ZERO_SUM:
        reason = f"it has {game.seats} seats and the utility {game.info.utility.value}"
        fits = "it resolves games of two seats whose returns sum to zero"
        raise GameMismatch("resolve_subgame", game.spec, reason, fits)
