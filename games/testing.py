"""`check_game`: the laws that every game must keep, for the authors of games.

>>> from plyhouse.games import get_game
>>> check_game(get_game("kuhn_poker")).states > 50
True

The laws are checked on states reached breadth-first from the start and by random play;
a `LawBroken` names the law, the position and what differs:

info              the static facts make sense
to_move           a plain attribute: a seat, CHANCE or TERMINAL
fixed order       asking twice gives the same distinct, hashable actions in the same order
purity            ``after`` leaves the state as it was and gives the same result again
termination       no play is longer than ``info.max_plies``
chance            probabilities are positive and sum to 1; none where none are declared
returns           one number per seat, within the bounds, with the declared sum
notation          what was written reads as the same; other text is refused by a `GameError`
numbers           an action that is a number is written as that number, or in words
observation       plain fields that can be rebuilt; perfect information where declared
non-interference  what a seat is shown depends only on its information state, and what
                  spectators are shown is known to every seat
sample_state      a sampled state looks to the seat like the real one
scene             it offers exactly the legal actions
copying           states and games survive pickle and copy
hooks             ``key``, ``heuristic``, ``playout``, ``noted_playout``, ``priors``, ``order``,
                  ``noisy_actions``, ``forced``, ``forces`` where present
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import random
import re
from collections.abc import Hashable, Iterable
from typing import Any

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    Information,
    Observation,
    State,
    Utility,
)
from plyhouse.games.counting import branches
from plyhouse.games.notation_laws import LawBroken, check_list, check_notation
from plyhouse.games.scene import Scene, scene_actions, scene_faults, scene_fields
from plyhouse.games.scene_text import render_text

__all__ = ["CheckReport", "LawBroken", "check_game", "check_notation"]

_TOLERANCE = 1e-9


@dataclasses.dataclass(frozen=True, slots=True)
class CheckReport:
    """Counts of what a successful check looked at."""

    states: int
    plays: int
    longest: int
    """Actions of seats and chance in the longest play."""


def check_game(
    game: Game, *, max_states: int = 1000, seed: int = 0, positions: Iterable[State] = ()
) -> CheckReport:
    """Check every law on up to ``max_states`` states; raises `LawBroken`.

    The same seed checks the same states.  Half of the states are the first ones from the
    start, the other half are met in random plays to the end.  ``positions`` are checked in
    addition.  Pass positions that random play seldom meets.  `check_notation` holds the law of
    notation alone, which is faster where there are many.
    """
    return _Checker(game, seed).run(max_states, positions)


def _plain(value: Any) -> bool:
    """Return whether a value is allowed in an observation."""
    if isinstance(value, tuple):
        return all(_plain(item) for item in value)
    return value is None or type(value) in (bool, int, float, str)


def _held(state: State) -> bytes | None:
    """Pickle a state, to check cheaply that it has not changed; None if it cannot be pickled.  The
    law of copying ensures that the pickle is complete.
    """
    try:
        return pickle.dumps(state)
    except Exception:  # what is wrong is said by that law
        return None


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


class _Checker:
    """One run of `check_game`."""

    def __init__(self, game: Game, seed: int) -> None:
        self.game = game
        self.info = game.info
        self.rng = random.Random(seed)
        self.viewers: tuple[int | None, ...] = (*range(game.seats), None)
        self.perfect = self.info.information is Information.PERFECT
        self.position = "(before the start)"
        self.constant_sum: float | None = None
        self.seen: dict[Hashable, tuple[str, str, Any]] = {}
        self.views: dict[int | None, tuple[Any, ...]] = {}
        """Everything that each viewer is shown in the state being checked."""

    # Gathering states

    def run(self, max_states: int, positions: Iterable[State]) -> CheckReport:
        """Check the static facts, then states in breadth, then random plays, then more states."""
        self.check_info()
        checked = self.breadth(max(1, max_states // 2))
        plays = longest = 0
        while plays == 0 or checked < max_states:
            length, looked = self.play(max_states - checked)
            checked += looked
            plays += 1
            longest = max(longest, length)
        for state in positions:
            self.check_state(state)
            checked += 1
        return CheckReport(checked, plays, longest)

    def breadth(self, limit: int) -> int:
        """Check the first states from the start."""
        level = [self.game.initial_state()]
        checked = 0
        depth = 0
        while level:
            following: list[State] = []
            for state in level:
                if checked >= limit:
                    return checked
                self.check_state(state)
                checked += 1
                if len(following) < limit:
                    following += [state.after(action) for action in branches(state)]
            level = following
            depth += 1
            if level and depth > self.info.max_plies:
                self.broken("termination", f"play goes on after {self.info.max_plies} actions")
        return checked

    def play(self, limit: int) -> tuple[int, int]:
        """Play at random to the end; returns the length and how many states were checked."""
        state = self.game.initial_state()
        length = checked = 0
        # In long plays look here and there only; always at the end.
        stride = 1
        while True:
            if state.to_move == TERMINAL or (length % stride == 0 and checked < limit):
                self.check_state(state)
                checked += 1
                if checked % 40 == 0:
                    stride *= 2
            if state.to_move == TERMINAL:
                return length, checked
            if length >= self.info.max_plies:
                self.position = self.game.describe(state)
                self.broken("termination", f"play goes on after {self.info.max_plies} actions")
            state = state.after(self.rng.choice(branches(state)))
            length += 1

    # Reporting

    def broken(self, law: str, difference: str) -> None:
        """Raise for the position being checked."""
        raise LawBroken(law, self.position, difference)

    def require(self, condition: bool, law: str, difference: str) -> None:
        """Raise unless the condition holds."""
        if not condition:
            self.broken(law, difference)

    def same(self, law: str, what: str, one: Any, other: Any) -> None:
        """Raise unless two values are equal, showing both."""
        if one != other:
            self.broken(law, f"{what}: {one!r} is not {other!r}")

    def constant(self, law: str, key: Hashable, what: str, value: Any) -> None:
        """Raise if something else was found for ``key`` in another position."""
        first = self.seen.setdefault(key, (self.position, what, value))
        if first[2] != value:
            self.broken(
                law,
                f"{what}: {value!r} here, but {first[2]!r} in the position {first[0]!r} "
                "which must look the same",
            )

    def fingerprint(self, state: State) -> tuple[Any, ...]:
        """All that can be asked of a state, for comparing states."""
        key = getattr(state, "key", None)
        actions = state.actions()
        self.same("fixed order", "actions() asked again", state.actions(), actions)
        return (
            state.to_move,
            actions,
            state.chance_outcomes(),
            state.returns() if state.to_move == TERMINAL else None,
            key() if key is not None else None,
            self.game.describe(state),
            tuple([self.game.observe(state, viewer).fields() for viewer in self.viewers]),
        )

    # Laws

    def check_info(self) -> None:
        """The static facts, and the game object itself."""
        game, info = self.game, self.info
        named = re.fullmatch(r"[a-z][a-z0-9_]*|openspiel:\w+", info.name) is not None
        self.require(named, "info", f"name {info.name!r} is not like my_game")
        seats_fit = 1 <= info.min_seats <= game.seats <= info.max_seats
        self.require(
            seats_fit, "info", f"{game.seats} seats, not {info.min_seats} to {info.max_seats}"
        )
        self.require(info.min_return < info.max_return, "info", "min_return is not < max_return")
        least, most = self.game.return_bounds
        self.require(
            info.min_return <= least < most <= info.max_return,
            "info",
            f"return_bounds {least:g} to {most:g} are not within min_return and max_return",
        )
        self.require(info.max_plies > 0, "info", "max_plies is not positive")
        again = type(game)(**game.parameters)
        self.same("copying", "a game made with the same parameters", again, game)
        self.same("copying", "a pickled game", pickle.loads(pickle.dumps(game)), game)  # noqa: S301

    def check_state(self, state: State) -> None:
        """Every law on one state."""
        self.position = self.game.describe(state)
        self.check_to_move(state)
        self.check_order(state)
        if state.to_move == CHANCE:
            self.check_chance(state)
        if state.to_move == TERMINAL:
            self.check_returns("returns", state.returns())
        self.check_purity(state)
        check_notation(self.game, state)
        for viewer in self.viewers:
            self.check_observation(state, viewer)
        self.check_views(state)
        self.check_samples(state)
        self.check_copies(state)
        self.check_hooks(state)

    def check_to_move(self, state: State) -> None:
        """A plain attribute with a value that means something."""
        plain = not isinstance(getattr(type(state), "to_move", None), property)
        self.require(plain, "to_move", "to_move is a property")
        mover = state.to_move
        known = mover in (CHANCE, TERMINAL) or 0 <= mover < self.game.seats
        self.require(known, "to_move", f"to_move is {mover!r}")
        if mover == CHANCE and self.game.chance_kind is ChanceKind.DETERMINISTIC:
            self.broken("chance", "a chance node in a game declared deterministic")

    def check_order(self, state: State) -> None:
        """Actions: a fixed, distinct, hashable tuple, there exactly when a seat moves."""
        actions = state.actions()
        self.require(isinstance(actions, tuple), "fixed order", "actions() is not a tuple")
        self.same("fixed order", "actions() asked again", state.actions(), actions)
        for action in actions:
            self.require(_hashable(action), "fixed order", f"{action!r} is not hashable")
        self.require(len(set(actions)) == len(actions), "fixed order", f"{actions!r} repeats")
        if state.to_move >= 0:
            self.require(bool(actions), "fixed order", "a seat is to move but has no action")
        else:
            self.same("fixed order", "actions() while no seat moves", actions, ())

    def check_chance(self, state: State) -> None:
        """Outcomes: distinct, positive, together certain."""
        outcomes = state.chance_outcomes()
        self.require(bool(outcomes), "chance", "a chance node without outcomes")
        self.same("chance", "chance_outcomes() asked again", state.chance_outcomes(), outcomes)
        names = [outcome for outcome, _ in outcomes]
        self.require(len(set(names)) == len(names), "chance", f"outcomes {names!r} repeat")
        for outcome, probability in outcomes:
            good = 0.0 < probability <= 1.0 + _TOLERANCE
            self.require(good, "chance", f"outcome {outcome!r} has probability {probability!r}")
        total = math.fsum([probability for _, probability in outcomes])
        self.require(abs(total - 1.0) < _TOLERANCE, "chance", f"probabilities sum to {total!r}")

    def check_bounds(self, law: str, values: Any) -> None:
        """One finite number per seat within the declared bounds."""
        self.require(isinstance(values, tuple), law, f"{values!r} is not a tuple")
        self.same(law, "how many values", len(values), self.game.seats)
        least, most = self.game.return_bounds
        for value in values:
            self.require(
                least - _TOLERANCE <= value <= most + _TOLERANCE,
                law,
                f"{values!r} is not within {least:g} to {most:g}",
            )

    def check_returns(self, law: str, values: Any) -> None:
        """Bounds, and the declared relation between the seats."""
        self.check_bounds(law, values)
        total = math.fsum(values)
        if self.info.utility is Utility.ZERO_SUM:
            self.require(abs(total) < _TOLERANCE, law, f"{values!r} sum to {total!r}, not 0")
        elif self.info.utility is Utility.CONSTANT_SUM:
            if self.constant_sum is None:
                self.constant_sum = total
            stays = abs(total - self.constant_sum) < _TOLERANCE
            self.require(stays, law, f"{values!r} sum to {total!r}, not {self.constant_sum!r}")
        elif self.info.utility is Utility.TEAM:
            self.check_teams(law, values)

    def check_teams(self, law: str, values: tuple[float, ...]) -> None:
        """Equal returns within a team, opposite ones between two."""
        teams = [self.game.team(seat) for seat in range(self.game.seats)]
        for seat, team in enumerate(teams):
            self.same(law, f"team of seat {seat}, as its least seat", team, teams.index(team))
            shared = abs(values[seat] - values[team]) < _TOLERANCE
            self.require(shared, law, f"{values!r}: seats {team} and {seat} are a team")
        if len(set(teams)) == 2:
            total = math.fsum(values[team] for team in set(teams))
            self.require(abs(total) < _TOLERANCE, law, f"{values!r}: two teams must be opposite")

    def check_purity(self, state: State) -> None:
        """``after`` twice: the same results, and the state unchanged."""
        before, held = self.fingerprint(state), _held(state)
        for action in branches(state):
            result = state.after(action)
            once, found = self.fingerprint(result), _held(result)
            # Asking for everything takes long: only where not even what they hold is the same.
            if held is None or _held(state) != held:
                self.same("purity", f"state after {action!r}", self.fingerprint(state), before)
            result = state.after(action)
            if found is None or _held(result) != found:
                again = self.fingerprint(result)
                self.same("purity", f"result of {action!r} asked again", again, once)
        self.same("purity", "state after all its actions", self.fingerprint(state), before)

    def check_observation(self, state: State, viewer: int | None) -> None:
        """The common fields are true, all fields are plain, and they make it up again."""
        game = self.game
        seen = game.observe(state, viewer)
        right_type = isinstance(seen, game.observation_type)
        self.require(right_type, "observation", f"{type(seen).__name__} is not observation_type")
        self.same("observation", "seat", seen.seat, viewer)
        self.same("observation", "to_move", seen.to_move, state.to_move)
        legal: tuple[str, ...] = ()
        if viewer is not None and state.to_move == viewer:
            legal = tuple([game.format(state, each) for each in game.listed_actions(state)])
            check_list(game, state)
        self.same("observation", f"legal actions of {viewer}", seen.legal, legal)
        fields = seen.fields()
        for name, value in fields.items():
            self.require(_plain(value), "observation", f"field {name} is not plain: {value!r}")
        self.same("observation", "decoded again", game.decode_observation(fields), seen)
        sent = json.loads(json.dumps(fields))
        self.same("observation", "decoded from JSON", game.decode_observation(sent), seen)
        drawn = self.check_scene(state, seen)
        actions = state.actions() if state.to_move == viewer else None
        self.views[viewer] = repr(fields), repr(drawn), actions

    def check_scene(self, state: State, seen: Observation) -> dict[str, Any]:
        """The scene offers exactly what is legal, as plain data that can be drawn; returns it."""
        scene: Any = self.game.scene(seen)
        if not isinstance(scene, Scene):
            self.broken("scene", f"{scene!r} is not a Scene")
        self.same("scene", "actions offered", sorted(scene_actions(scene)), sorted(seen.legal))
        mover = state.to_move if state.to_move >= 0 else None
        self.same("scene", "seat_to_move", scene.seat_to_move, mover)
        for fault in scene_faults(scene):
            self.broken("scene", fault)
        try:
            drawn = scene_fields(scene)
            json.dumps(drawn)
            render_text(scene)
        except (TypeError, ValueError) as error:
            self.broken("scene", f"it cannot be drawn or sent: {error}")
        return drawn

    def check_views(self, state: State) -> None:
        """Non-interference: nobody is shown more than their information state tells."""
        game = self.game
        law = "non-interference"
        spectator = self.views[None]
        if self.perfect:
            public = {**game.observe(state, None).fields(), "seat": None, "legal": ()}
            for seat in range(game.seats):
                own = {**game.observe(state, seat).fields(), "seat": None, "legal": ()}
                self.same(
                    "observation", f"what seat {seat} sees of perfect information", own, public
                )
        for seat in range(game.seats):
            known = game.information_state(state, seat)
            if not _hashable(known):
                self.broken(law, f"the information state of seat {seat} is not hashable")
            mine = self.views[seat]
            self.constant(law, ("view", seat, known), f"what seat {seat} is shown", mine)
            self.constant(law, ("public", seat, known), "what spectators are shown", spectator)
            if self.perfect:
                continue
            for action in branches(state):
                after = game.information_state(state.after(action), seat)
                change = (known, after)
                text = game.visible(state, action, seat)
                self.constant(
                    law, ("text", seat, change), f"what seat {seat} is told of an action", text
                )
                self.constant(
                    law,
                    ("public text", seat, change),
                    "what spectators are told of an action",
                    game.visible(state, action, None),
                )

    def check_samples(self, state: State) -> None:
        """States sampled from an observation look the same to the observer."""
        game = self.game
        law = "sample_state"
        real = self.fingerprint(state) if self.perfect else None
        for seat in range(game.seats):
            seen = game.observe(state, seat)
            seed = self.rng.getrandbits(32)
            sampled = game.sample_state(seen, random.Random(seed))
            again = game.sample_state(seen, random.Random(seed))
            one, held = self.fingerprint(sampled), _held(sampled)
            if held is None or _held(again) != held:
                other = self.fingerprint(again)
                self.same(law, "sampled again with the same seed", other, one)
            self.same(law, f"what seat {seat} sees", game.observe(sampled, seat), seen)
            known = game.information_state(state, seat)
            self.same(law, f"what seat {seat} knows", game.information_state(sampled, seat), known)
            if self.perfect:
                self.same(law, "the one possible state", one, real)

    def check_copies(self, state: State) -> None:
        """Pickling and copying give the same state."""
        real = self.fingerprint(state)
        try:
            held = pickle.dumps(state)
            copies = {
                "pickle": pickle.loads(held),  # noqa: S301 - our own bytes
                "copy": copy.copy(state),
                "deepcopy": copy.deepcopy(state),
            }
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            self.broken("copying", f"the state cannot be copied or pickled: {error}")
        for how, duplicate in copies.items():
            # Once the pickled copy proves equal, the pickle holds the whole state, so comparing
            # pickles suffices.
            if how == "pickle" or _held(duplicate) != held:
                self.same("copying", f"the state after {how}", self.fingerprint(duplicate), real)

    def check_hooks(self, state: State) -> None:
        """Optional methods of states keep what `State` says of them."""
        law = "hooks"
        hooks: Any = state
        actions = state.actions()
        if hasattr(state, "key"):
            self.require(_hashable(hooks.key()), law, "key() is not hashable")
            returns = state.returns() if state.to_move == TERMINAL else None
            future = (state.to_move, actions, state.chance_outcomes(), returns)
            self.constant(law, ("key", hooks.key()), "future of positions with one key", future)
        if hasattr(state, "heuristic"):
            self.check_bounds(law, hooks.heuristic())
        if hasattr(state, "playout"):
            self.check_returns(law, hooks.playout(random.Random(self.rng.getrandbits(32))))
        if hasattr(state, "noted_playout"):
            first = [0] * hooks.action_count()
            self.check_returns(law, hooks.noted_playout(random.Random(0), first))
            self.require(set(first) <= set(range(self.game.seats + 1)), law, f"first is {first!r}")
        if state.to_move >= 0 and hasattr(state, "priors"):
            visits, means = hooks.priors(actions)
            fits = len(visits) == len(means) == len(actions) and min(visits) >= 0
            self.require(fits, law, f"priors gives {visits!r}, {means!r} for {actions!r}")
        if state.to_move >= 0 and hasattr(state, "order"):
            ordered = hooks.order(actions)
            complete = len(ordered) == len(actions) and set(ordered) == set(actions)
            self.require(complete, law, f"order gives {ordered!r} for {actions!r}")
        if state.to_move >= 0 and hasattr(state, "noisy_actions"):
            noisy = hooks.noisy_actions()
            self.require(set(noisy) <= set(actions), law, f"{noisy!r} are not all legal")
        if state.to_move >= 0 and hasattr(state, "forced"):
            forced = hooks.forced()
            self.require(isinstance(forced, bool), law, f"forced gives {forced!r}, not a bool")
        for action in actions if hasattr(state, "forces") else ():
            child: Any = state.after(action)
            right = child.to_move < 0 or hooks.forces(action) == child.forced()
            self.require(right, law, f"forces of {action!r} is not forced() of the state after it")
