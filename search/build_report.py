"""Which variant of games, searches and the server's core runs, compiled or pure, and why.

The build (setup.py) writes ``_build.json`` beside this module: whether it compiled, the reason if
not, and a digest of each source. The digests show whether compiled code is older than its source
(`plyhouse.games._build`).

>>> print(BuildInfo("pure", "The environment variable PLYHOUSE_PURE asks for it."))
pure. The environment variable PLYHOUSE_PURE asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plyhouse.games import native
from plyhouse.games._build import NOTE, ROOT, changed, noted, stale_sentence
from plyhouse.games._pure import wanted

__all__ = ["BuildInfo", "build_info", "how_to_compile"]


@dataclass(frozen=True)
class BuildInfo:
    """What `build_info` found."""

    variant: Literal["compiled", "pure"]
    reason: str
    """Why this variant, as one sentence."""
    stale: tuple[str, ...] = ()
    """Sources changed since they were compiled; what runs is the old code."""

    @property
    def compiled(self) -> bool:
        """True if machine code runs."""
        return self.variant == "compiled"

    def __str__(self) -> str:
        text = f"{self.variant}. {self.reason}"
        if self.stale:
            text += f" {stale_sentence(self.stale)}"
        return text


def how_to_compile(
    info: BuildInfo, environ: Mapping[str, str] = os.environ, root: Path = ROOT
) -> str:
    """Say what compiling brings and how to do it, as one sentence; "" where that does not apply."""
    if info.compiled or wanted(environ) or not root.joinpath("Makefile").is_file():
        return ""
    return (
        "Games and searches run interpreted: `make build` compiles them in one to three minutes, "
        "which makes them several times as fast."
    )


def build_info(
    environ: Mapping[str, str] = os.environ, *, compiled: bool = native.COMPILED, note: Path = NOTE
) -> BuildInfo:
    """Say which variant is loaded in this process, and why."""
    built = noted(note)
    if compiled:
        how = built.get("reason", "compiled modules lie beside the sources")
        return BuildInfo("compiled", f"{how}.", changed(built.get("sources", {})))
    if wanted(environ):
        return BuildInfo("pure", "The environment variable PLYHOUSE_PURE asks for it.")
    if not built:
        return BuildInfo("pure", "Plyhouse runs from its sources; no build has been made here.")
    if built.get("compiled"):
        return BuildInfo(
            "pure",
            f"The compiled modules were built for {built.get('python', 'another Python')} "
            "and do not fit this one; install again.",
        )
    return BuildInfo("pure", f"{built.get('reason', 'The build did not compile')}.")
