"""Reports of a runner."""

from __future__ import annotations

from plyhouse.protocol.hosting.runner_messages import FlagFell


def flag(number: int) -> FlagFell:
    return FlagFell(
        match=f"m{number}", bot=1, ply=number, allowed=1, wall=1, cpu=1, lost=0,
        match_wall=1, match_lost=0,
    )  # fmt: skip
