"""Options of a bot, written behind its name: ``alpha_beta(depth=6)``, ``mybot.py:MyBot(bold=0.2)``.

They are what its constructor takes, by keyword: their names, types and defaults are read off its
signature, so that a mistake is named before anything is played.
"""

from __future__ import annotations

import difflib
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

from plyhouse.games.errors import InvalidSpec
from plyhouse.games.registry import parse_spec

__all__ = [
    "OptionError",
    "OptionValue",
    "checked_options",
    "described_options",
    "split_options",
]

OptionValue = int | float | str | bool

WORDS: Final[dict[type, str]] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
}


class OptionError(Exception):
    """An option that cannot be; ``str()`` is the rest of a sentence that begins with the bot."""


def split_options(spec: str) -> tuple[str, dict[str, OptionValue]]:
    """Take the options off a bot's spec.

    Raises `OptionError` if what is in the parentheses cannot be read.

    >>> split_options("mcts(simulations=100, time=0.5)")
    ('mcts', {'simulations': 100, 'time': 0.5})
    >>> split_options("mybot.py:MyBot")
    ('mybot.py:MyBot', {})
    """
    if not spec.rstrip().endswith(")"):
        return spec, {}
    try:
        return parse_spec(spec)
    except InvalidSpec as error:
        raise OptionError(f"cannot be read: {error.reason}") from None


def checked_options(
    make: Callable[..., object], options: Mapping[str, OptionValue]
) -> dict[str, OptionValue]:
    """Return the options as the constructor wants them: a whole number may stand for a number.

    Raises `OptionError` for a name or type that it does not take.

    >>> class Bold:
    ...     def __init__(self, boldness: float = 0.5, depth: int = 4) -> None: ...
    >>> checked_options(Bold.__init__, {"boldness": 1})
    {'boldness': 1.0}
    >>> checked_options(Bold.__init__, {"dept": 6})
    Traceback (most recent call last):
    plyhouse.bots.options.OptionError: has no option dept; did you mean depth?
    >>> checked_options(Bold.__init__, {"depth": "deep"})
    Traceback (most recent call last):
    plyhouse.bots.options.OptionError: takes a whole number as depth, not 'deep'
    """
    known = _parameters(make)
    checked: dict[str, OptionValue] = {}
    for name, value in options.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            if near:
                hint = f"did you mean {near[0]}?"
            else:
                hint = f"it has {', '.join(known)}" if known else "it has none"
            raise OptionError(f"has no option {name}; {hint}")
        kinds = known[name]
        if kinds and type(value) not in kinds:
            if type(value) is int and float in kinds:
                checked[name] = float(value)
                continue
            wanted = " or ".join([WORDS[kind] for kind in WORDS if kind in kinds])
            raise OptionError(f"takes {wanted} as {name}, not {value!r}")
        checked[name] = value
    return checked


def described_options(make: Callable[..., object]) -> list[tuple[str, str, str]]:
    """Return name, kind and default of the options of a constructor; the default may be "".

    >>> class Bold:
    ...     def __init__(self, boldness: float = 0.5, depth: int | None = None) -> None: ...
    >>> described_options(Bold.__init__)
    [('boldness', 'float', '0.5'), ('depth', 'int', '')]
    """
    parameters = inspect.signature(make).parameters
    found = []
    for name, kinds in _parameters(make).items():
        kind = next(iter(kinds)).__name__ if len(kinds) == 1 else "str"
        default = parameters[name].default
        known = default is not None and default is not inspect.Parameter.empty
        text = str(default).lower() if isinstance(default, bool) else str(default)
        found.append((name, kind, text if known else ""))
    return found


def _parameters(make: Callable[..., object]) -> dict[str, frozenset[type]]:
    """Names that can be given by keyword, with the simple types they may have (none: any)."""
    try:
        hints = typing.get_type_hints(make)
    except Exception:  # names that only a type checker knows
        hints = {}
    found = {}
    for name, parameter in list(inspect.signature(make).parameters.items()):
        if name != "self" and parameter.kind in (
            inspect.Parameter.KEYWORD_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        ):
            found[name] = _simple(hints.get(name))
    return found


def _simple(hint: Any) -> frozenset[type]:
    parts = typing.get_args(hint) if _is_union(hint) else (hint,)
    kinds = frozenset(part for part in parts if part in WORDS)
    return kinds if all(part in WORDS or part is types.NoneType for part in parts) else frozenset()


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)
