"""Which tiers this machine has, found out by using them, and which one to take."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Final

from plyhouse.bots.sandbox import kernel
from plyhouse.bots.sandbox.box import TIERS, Box, SandboxError, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.seccomp import ARCHITECTURES

__all__ = ["GAPS", "LEAST", "choose_tier", "gaps", "why_not"]

LEAST: Final = Tier.BUBBLEWRAP
"""The least that bots of others get, unless the operator names less: one of the first two."""

GAPS: Final[dict[Tier, tuple[str, ...]]] = {
    Tier.LANDLOCK: (
        "names, sizes and times of files that the user may reach can be asked for (stat)",
        "two bots that read the same file can time whether it is in the kernel's cache",
        "bots share the processor's caches and the memory bus",
    ),
    Tier.BUBBLEWRAP: (
        "two bots that read the same file can time whether it is in the kernel's cache",
        "bots share the processor's caches and the memory bus",
        "a start costs an interpreter of its own, and its memory",
    ),
    Tier.RLIMITS: (
        "files, the network and other processes are as open as they are to the bot's user",
        "it may start processes, up to a limit",
    ),
}
"""Gaps of each tier on every machine."""


async def why_not(fork_server: ForkServerClient, tier: Tier) -> str:
    """Why a tier does not work here, in words; empty if it does: a program was run in it."""
    machine = os.uname().machine
    if tier is not Tier.RLIMITS:
        if machine not in ARCHITECTURES:
            return f"there is no table of system calls for {machine}"
        if not kernel.seccomp_works():
            return "the kernel does not filter system calls (CONFIG_SECCOMP_FILTER)"
    if tier is Tier.LANDLOCK and not kernel.landlock_version():
        return "the kernel has no Landlock (5.13 or newer, and `landlock` in its list of LSMs)"
    read_end, write_end = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    try:
        box = Box(tier=tier, folder=os.path.dirname(__file__), command=("true",))
        process = await fork_server.launch(box, (null, null, write_end))
        ending = await process.wait()
    except SandboxError as error:
        return str(error)
    finally:
        os.close(write_end)
        os.close(null)
        said = await asyncio.to_thread(_all_of, read_end)
    if ending.code or ending.why:
        return said.strip() or ending.why or f"exit code {ending.code}"
    return ""


def _all_of(descriptor: int) -> str:
    with os.fdopen(descriptor, "rb") as file:
        return file.read().decode(errors="replace")


def gaps(tier: Tier) -> list[str]:
    """Return the gaps of a tier on this machine."""
    found = list(GAPS[tier])
    version = kernel.landlock_version()
    if tier is Tier.LANDLOCK and version < 6:
        found.append(
            f"Landlock is of version {version}: that signals stay inside rests on the filter of "
            "system calls alone (version 6 checks it, too)"
        )
    if tier is not Tier.BUBBLEWRAP and os.geteuid() != 0:
        found.append(
            "the fork server is not root, so all bots are one user of the machine: the number of "
            "threads is watched ten times a second instead of limited by the kernel"
        )
    return found


async def choose_tier(
    fork_server: ForkServerClient, *, least: Tier = LEAST, only: Tier | None = None
) -> Tier:
    """Return the first tier that works here and is no less than ``least``; or ``only`` that one.

    Raises `SandboxError`, which says of each why not.
    """
    wanted: Sequence[Tier] = [only] if only is not None else TIERS[: TIERS.index(least) + 1]
    problems = []
    for tier in wanted:
        problem = await why_not(fork_server, tier)
        if not problem:
            return tier
        problems.append(f"{tier.value}: {problem}")
    raise SandboxError(
        f"this machine has no sandbox for bots of others ({'; '.join(problems)}); "
        "see `plyhouse doctor sandbox`"
    )
