"""The node type of the kernels for users' games: anything that behaves like a `State`.

Where a kernel imports it, the build (setup.py) puts `NativeState` to make the typed copy.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["NodeState"]

NodeState: TypeAlias = Any
