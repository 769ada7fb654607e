"""Policies as tables: a probability for each action in each information state.

A `TabularPolicy` maps states to probabilities; you can save and load it.  Its keys are canonical
texts of ``game.information_state(state, seat)``, equal for all states that the seat cannot tell
apart.  So a bot can look up any state consistent with its observations (``turn.sample()``).

The file is one JSON document, easy to read and to compare::

    {"format": "plyhouse.policy", "version": 1, "game": "kuhn_poker",
     "algorithm": "cfr_plus", "iterations": 1000, "exploitability": 0.00001,
     "digest": "sha256:...",
     "states": {"[0,2,2,[],[null,null],-1]": {"check": 0.2, "bet": 0.8}, ...}}

``game`` is the game with its parameters; ``states`` has the probabilities by the text of the
action; ``digest`` is the SHA-256 of ``states`` as compact JSON.  Unknown fields are ignored,
so that version 1 can get further optional ones.

Errors: `PolicyError` (``policy/unreadable``: not a file of this format), and its subclasses
`PolicyDamaged`, `PolicyVersion`, `PolicyMismatch`.

>>> canonical_text((1, "x", (None, 2.5)))
'[1,"x",[null,2.5]]'
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import math
import os
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from plyhouse.games.base import Game
from plyhouse.games.registry import get_game
from plyhouse.search.files import write_atomically

__all__ = [
    "PolicyDamaged",
    "PolicyError",
    "PolicyMismatch",
    "PolicyVersion",
    "TabularPolicy",
    "canonical_text",
    "drawn_action",
    "load_policy",
]

FORMAT: Final = "plyhouse.policy"
VERSION: Final = 1
TOLERANCE: Final = 1e-6
"""Largest deviation from 1 of the sum of probabilities in one information state."""

Table = dict[str, dict[str, float]]


class PolicyError(Exception):
    """A policy cannot be used; the message says why, and how to fix it."""

    code: ClassVar[str] = "policy/unreadable"


class PolicyDamaged(PolicyError):  # noqa: N818 - a condition of the file
    """A policy file is truncated, was modified, or has invalid probabilities."""

    code = "policy/damaged"


class PolicyVersion(PolicyError):  # noqa: N818 - a condition of the file
    """A policy file has a format version that this Plyhouse does not read."""

    code = "policy/version"


class PolicyMismatch(PolicyError):  # noqa: N818 - a condition of the file
    """A policy is for another game, other parameters or other rules."""

    code = "policy/wrong_game"


def canonical_text(key: Any) -> str:
    """Return an information state as text; two texts are equal exactly if the states are.

    The state may consist of None, numbers, strings, bytes, tuples, frozen sets, enums and
    dataclasses of these.  Anything else raises `TypeError`.
    """
    if key is None:
        return "null"
    if isinstance(key, enum.Enum):
        return f"{type(key).__name__}.{key.name}"
    if isinstance(key, str):
        return json.dumps(key, ensure_ascii=False)
    if isinstance(key, int | float):
        # 1, 1.0 and True are equal in Python, so they are one information state.
        whole = not isinstance(key, float) or (math.isfinite(key) and key == int(key))
        return str(int(key)) if whole else repr(key)
    if isinstance(key, tuple):
        return f"[{','.join([canonical_text(item) for item in key])}]"
    if isinstance(key, frozenset):
        return f"{{{','.join(sorted(canonical_text(item) for item in key))}}}"
    if isinstance(key, bytes):
        return f"0x{key.hex()}"
    if dataclasses.is_dataclass(key):
        parts = [canonical_text(getattr(key, field.name)) for field in dataclasses.fields(key)]
        return f"{type(key).__name__}({','.join(parts)})"
    raise TypeError(
        f"an information state holds a {type(key).__name__}: build it of None, numbers, texts, "
        "tuples, frozen sets and dataclasses"
    )


def drawn_action(choices: Sequence[tuple[Any, float]], rng: random.Random) -> Any:
    """Draw one of the actions by their probabilities."""
    drawn = rng.random()
    for action, share in choices:
        drawn -= share
        if drawn < 0.0:
            return action
    return max(choices, key=lambda choice: choice[1])[0]  # the probabilities were rounded


class TabularPolicy:
    """A policy as a table: action probabilities in every information state.

    ``table`` maps the canonical text of an information state to the probabilities of its actions,
    by their texts.  In an information state that it lacks, all actions are equally likely.  Call
    the policy with a state to get the actions with their probabilities; so you can pass it wherever
    a policy over states is expected.  A policy is immutable.
    """

    def __init__(
        self,
        game: Game,
        table: Mapping[str, Mapping[str, float]],
        *,
        algorithm: str = "",
        iterations: int = 0,
        exploitability: float | None = None,
    ) -> None:
        self.game = game
        self.algorithm = algorithm
        """The algorithm, such as ``cfr_plus``; "" if unknown."""
        self.iterations = iterations
        self.exploitability = exploitability
        """Exploitability computed when the policy was saved; None if it was not computed."""
        self._table: Table = {key: dict(shares) for key, shares in table.items()}
        for key, shares in self._table.items():
            problem = _problem(shares)
            if problem:
                raise ValueError(f"information state {key}: {problem}")

    @classmethod
    def of_states(
        cls,
        game: Game,
        choices: Iterable[tuple[Any, Sequence[float]]],
        *,
        algorithm: str = "",
        iterations: int = 0,
    ) -> TabularPolicy:
        """Make a policy from pairs of a state and its probabilities.

        Probabilities are in the order of ``state.actions()``.  Raises `ValueError` if two states
        have the same information state.
        """
        table: Table = {}
        for state, shares in choices:
            key = canonical_text(game.information_state(state, state.to_move))
            if key in table:
                raise ValueError(f"two of the states have the same information state, {key}")
            texts = [game.format(state, action) for action in state.actions()]
            table[key] = dict(zip(texts, shares, strict=True))
        return cls(game, table, algorithm=algorithm, iterations=iterations)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<TabularPolicy {self.game.spec}: {len(self)} information states>"

    @property
    def table(self) -> Mapping[str, Mapping[str, float]]:
        """Probabilities by information state and action, as in the file."""
        return self._table

    def covers(self, state: Any) -> bool:
        """Return whether the table has the mover's information state."""
        return self._key(state) in self._table

    def __call__(self, state: Any) -> tuple[tuple[Any, float], ...]:
        """Return the legal actions with their probabilities, in the order of ``state.actions()``.

        Raises `PolicyMismatch` if the table's actions are not those of the state.
        """
        actions = state.actions()
        if not actions:
            raise ValueError("no seat is to move in this state")
        shares = self._table.get(self._key(state))
        if shares is None:
            return tuple([(action, 1.0 / len(actions)) for action in actions])
        texts = [self.game.format(state, action) for action in actions]
        if len(texts) != len(shares) or any(text not in shares for text in texts):
            raise PolicyMismatch(
                f"The policy chooses among {', '.join(shares)} where {self.game.spec} has "
                f"{', '.join(texts)}: it was made for other rules; solve the game again."
            )
        return tuple([(action, shares[text]) for action, text in zip(actions, texts, strict=True)])

    def choose(self, state: Any, rng: random.Random) -> Any:
        """Draw an action for the mover of a state."""
        return drawn_action(self(state), rng)

    def _key(self, state: Any) -> str:
        return canonical_text(self.game.information_state(state, state.to_move))

    def save(self, path: str | os.PathLike[str], *, exploitability: float | None = None) -> None:
        """Write the policy to a file atomically, replacing an older file.

        Raises `OSError` if the file cannot be written.
        """
        gap = self.exploitability if exploitability is None else exploitability
        document = _Document(
            format=FORMAT,
            version=VERSION,
            game=self.game.spec,
            algorithm=self.algorithm,
            iterations=self.iterations,
            exploitability=gap,
            digest=_digest(self._table),
            states=self._table,
        )
        write_atomically(path, msgspec.json.encode(document))


def load_policy(path: str | os.PathLike[str], game: Game | None = None) -> TabularPolicy:
    """Read a policy that `TabularPolicy.save` has written.

    Without ``game`` the policy is for the game that the file names, which must be in the registry.
    Raises a `PolicyError`, `OSError`, or an error of the registry for an unknown game.  The policy
    of another game raises `PolicyMismatch`.
    """
    data = Path(path).read_bytes()
    name = Path(path).name
    try:
        header = msgspec.json.decode(data, type=_Header)
    except msgspec.ValidationError as error:
        raise PolicyError(f"{name} is no policy file: {error}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if data.startswith(b'{"format":"' + FORMAT.encode()):
            raise PolicyDamaged(f"{name} is damaged: {error}; solve the game again.") from None
        raise PolicyError(
            f"{name} is no policy file: it is not JSON; `plyhouse solve` writes one."
        ) from None
    if header.format != FORMAT:
        raise PolicyError(f"{name} is no policy file: its format is {header.format!r}.")
    if header.version != VERSION:
        raise PolicyVersion(
            f"{name} is of version {header.version}, and this Plyhouse reads version {VERSION}: "
            "solve the game again, or update Plyhouse."
        )
    try:
        document = msgspec.json.decode(data, type=_Document)
    except msgspec.DecodeError as error:
        raise PolicyDamaged(f"{name} is damaged: {error}; solve the game again.") from None
    if _digest(document.states) != document.digest:
        raise PolicyDamaged(
            f"{name} is damaged: its contents do not have the digest that it states; "
            "solve the game again."
        )
    if game is None:
        game = get_game(document.game)
    elif game.spec != document.game:
        raise PolicyMismatch(
            f"{name} is a policy for {document.game}, not for {game.spec}: "
            f"`plyhouse solve '{game.spec}'` makes one."
        )
    try:
        return TabularPolicy(
            game,
            document.states,
            algorithm=document.algorithm,
            iterations=document.iterations,
            exploitability=document.exploitability,
        )
    except ValueError as error:
        raise PolicyDamaged(f"{name} is damaged: {error}.") from None


class _Header(msgspec.Struct):
    """Keys of every version of the format."""

    format: str
    version: int


class _Document(_Header):
    """Version 1; the order of the fields is that in the file."""

    game: str
    digest: str
    states: Table
    algorithm: str = ""
    iterations: int = 0
    exploitability: float | None = None


def _digest(table: Table) -> str:
    return f"sha256:{hashlib.sha256(msgspec.json.encode(table)).hexdigest()}"


def _problem(shares: Mapping[str, float]) -> str:
    """Return the problem with these probabilities; "" if they are valid."""
    for text, share in shares.items():
        if not 0.0 <= share <= 1.0:
            return f"the probability of {text} is {share}, expected 0 to 1"
    total = math.fsum(shares.values())
    if abs(total - 1.0) > TOLERANCE:
        return f"the probabilities add up to {total}, expected 1"
    return ""
