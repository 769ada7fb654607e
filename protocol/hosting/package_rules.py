"""Limits of a package, and the error that refuses one.

submission/missing       no such file, or neither .py, folder nor zip
submission/too_large     more bytes or files than allowed, packed or unpacked
submission/bad_name      a path that leaves the package, or that no file system can store
submission/bad_file      links, devices, and anything else that is no ordinary file
submission/pickle        pickles: reading one runs code; keep data as JSON or NPZ
submission/compiled      machine code in a Python bot, and bytecode
submission/manifest      plyhouse.toml is malformed, or contradicts the package
submission/requirement   a requirement that the server does not offer
submission/too_complex   reading the package exceeds the server's time or memory limit

Each refusal has one of these codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from plyhouse.protocol.api.submissions import SubmissionRules

MAX_PACKED: Final = 32 << 20
"""Bytes of a zip, where nobody has set another limit."""
MAX_MANIFEST: Final = 16 << 10
"""Bytes of plyhouse.toml."""
MAX_REQUIREMENTS: Final = 4 << 10
"""Bytes of requirements.txt."""


class SubmissionError(Exception):
    """A package is refused; ``code`` is stable, ``str()`` names the place and the fix."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = f"submission/{code}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """Limits and offers that an operator sets for packages."""

    max_bytes: int = 64 << 20
    """Bytes of all files together, unpacked."""
    max_file: int = 32 << 20
    """Bytes of one file."""
    max_packed: int = MAX_PACKED
    """Bytes of the zip."""
    max_files: int = 500
    packages: frozenset[str] = frozenset({"numpy", "scipy"})
    """Packages that requirements.txt may name; ``*`` for all."""
    installed: bool = True
    """True if these packages must be installed here; false on a server that runs no bots itself."""
    runtimes: frozenset[str] = frozenset({"node"})
    """Programs of this machine that ``run`` may start; ``*`` for all."""

    @classmethod
    def from_answer(cls, answer: SubmissionRules, *, installed: bool) -> Rules:
        """Return the rules of a server from its answer."""
        return cls(
            max_packed=answer.max_packed,
            max_bytes=answer.max_bytes,
            max_file=answer.max_file,
            max_files=answer.max_files,
            packages=frozenset(answer.packages),
            runtimes=frozenset(answer.programs),
            installed=installed,
        )

    def as_answer(self) -> SubmissionRules:
        """Return the server's answer to a question for its rules."""
        return SubmissionRules(
            max_packed=self.max_packed,
            max_bytes=self.max_bytes,
            max_file=self.max_file,
            max_files=self.max_files,
            packages=sorted(self.packages),
            programs=sorted(self.runtimes),
        )


def in_units(size: int) -> str:
    """Return a number of bytes as text for people.

    >>> in_units(3 << 20), in_units(16 << 10), in_units(1000)
    ('3 MiB', '16 KiB', '1000 bytes')
    """
    if size >= 1 << 20:
        return f"{size >> 20} MiB"
    return f"{size >> 10} KiB" if size >= 1 << 10 and size % (1 << 10) == 0 else f"{size} bytes"


def shortened(text: str) -> str:
    """Return at most 100 characters of an uploader's text, for an error message.

    >>> len(shortened("x" * 1000))
    103
    """
    return text if len(text) <= 100 else f"{text[:100]}..."
