"""The inner loops of the searches: one file each, compiled where a compiler is present.

A kernel is written once, against `plyhouse.search.kernels.node_state.NodeState` (any object
with the attributes of `plyhouse.games.base.State`), so users' games stay ordinary
Python.  The build makes a *typed copy* of each, ``<name>_native``, from the same source,
which imports `plyhouse.games.native.NativeState` under that name instead.  In the copy
the calls into the built-in games are C calls.
"""

from __future__ import annotations

import importlib
from typing import Any, TypeVar

from plyhouse.games.native import COMPILED, NativeState

if __name__ != "plyhouse.search.kernels":
    raise ImportError("import plyhouse.search, not search")

__all__ = ["kernel_for"]

KernelT = TypeVar("KernelT")


def kernel_for(kernel: type[KernelT], state: Any) -> type[KernelT]:
    """Return the typed copy of a kernel for states of built-in games, else the kernel itself."""
    if not (COMPILED and isinstance(state, NativeState)):
        return kernel
    typed_copy = importlib.import_module(f"{kernel.__module__}_native")
    found: type[KernelT] = getattr(typed_copy, kernel.__name__)
    return found
