"""The inner loops of the searches: one file each, compiled where a compiler is present.

A kernel is written once, against `plyhouse.search.kernels.duck.NodeState` (any object
with the attributes of `plyhouse.games.base.State`), so users' games stay ordinary
Python.  The build makes a *typed twin* of each, ``<name>_native``, from the same source
by importing `plyhouse.games.native.NativeState` under that name instead: in the twin
the calls into the built-in games are C calls.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, Final

from plyhouse.games.native import COMPILED, NativeState

if __name__ != "plyhouse.search.kernels":
    raise ImportError("import plyhouse.search, not search")

__all__ = ["MAX_DEPTH", "kernel_for"]

MAX_DEPTH: Final = 256
"""Plies below the root that a search looks at most: it guards the C stack of compiled
searches and the recursion limit of pure ones.  Positions there are valued as at any
other depth limit."""


def kernel_for(name: str, state: Any) -> ModuleType:
    """Import the kernel of that name that is fastest for the state."""
    twin = COMPILED and isinstance(state, NativeState)
    return importlib.import_module(f"plyhouse.search.kernels.{name}{'_native' if twin else ''}")
