"""The node type of the kernels for users' games: anything that behaves like a `State`.

This is the one line the build swaps to make the typed twins.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["NodeState"]

NodeState: TypeAlias = Any
