"""Inspect one uploaded package in a separate process, with limited time and memory.

    python -m plyhouse.protocol.hosting.package_inspector '[NAME, RULES]' < upload > answer

The server runs this program for each upload, so that no package can slow down or exhaust the
process that hosts matches.  `command` and `answer_of` are the two ends of the conversation.
"""

from __future__ import annotations

import sys
from typing import Final

import msgspec

from plyhouse.protocol.hosting.package import digest_of, from_upload, pack
from plyhouse.protocol.hosting.package_rules import Rules, SubmissionError

CPU_SECONDS: Final = 20
MEMORY: Final = 1 << 30
"""Bytes of address space: the largest package that the default rules allow, several times."""


class Accepted(msgspec.Struct, frozen=True, tag="accepted"):
    """A package that obeys the rules; the server stores it for its check."""

    name: str
    """The bot's name in plyhouse.toml; ``""`` if it has none."""
    program: str
    """The program that starts it (`Manifest.program`)."""
    digest: str
    archive: bytes
    """The package in its stored form (`pack`)."""


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """A package that breaks a rule."""

    code: str
    message: str


def command(name: str, rules: Rules) -> list[str]:
    """Return the command that inspects an upload called ``name``.

    The name is the uploader's choice, and no argument can hold every character: JSON escapes it.
    """
    given = msgspec.json.encode((name, rules)).decode()
    return [sys.executable, "-P", "-m", "plyhouse.protocol.hosting.package_inspector", given]


def answer_of(output: bytes) -> Accepted | Refused:
    """Decode what the program printed; raises `msgspec.MsgspecError`."""
    return msgspec.msgpack.decode(output, type=Accepted | Refused)


def inspect(name: str, data: bytes, rules: Rules) -> Accepted | Refused:
    """Apply the rules to an upload.

    >>> inspect("mybot.txt", b"", Rules()).code
    'submission/missing'
    """
    try:
        package = from_upload(name, data, rules)
    except SubmissionError as error:
        return Refused(error.code, str(error))
    manifest = package.manifest
    return Accepted(manifest.name, manifest.program, digest_of(package), pack(package))


def _limit() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, most in ((resource.RLIMIT_CPU, CPU_SECONDS), (resource.RLIMIT_AS, MEMORY)):
        resource.setrlimit(kind, (most, most))


def main() -> None:
    """Inspect standard input, as `command` says."""
    _limit()
    name, rules = msgspec.json.decode(sys.argv[1], type=tuple[str, Rules])
    answer = inspect(name, sys.stdin.buffer.read(), rules)
    sys.stdout.buffer.write(msgspec.msgpack.encode(answer))


if __name__ == "__main__":
    main()
