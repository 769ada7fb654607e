"""The error of a cluster that cannot start."""

from __future__ import annotations

from typing import ClassVar

__all__ = ["ClusterError"]


class ClusterError(Exception):
    """A server cannot join a cluster; the message is one sentence that says what to change."""

    code: ClassVar[str] = "cluster/cannot_start"
