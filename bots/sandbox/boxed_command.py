"""Run one program in a box, as if it had been started without: ``boxed_command.py BOX``.

A bot that starts programs (`plyhouse.bots.engines.command_bot`) uses it.  The program has the
standard input, output and error of this process, and the box ends with it.
"""

from __future__ import annotations

import asyncio
import sys
from typing import NoReturn

import msgspec

from plyhouse.bots.sandbox.box import Box, SandboxError
from plyhouse.bots.sandbox.client import ForkServerClient

__all__ = ["boxed_command"]

MODULE = "plyhouse.bots.sandbox.boxed_command"


def boxed_command(box: Box) -> tuple[str, ...]:
    """Return the command that runs the program of a box."""
    return (sys.executable, "-P", "-m", MODULE, msgspec.json.encode(box).decode())


async def _run(box: Box) -> int:
    """Run the program to its end, and return its exit code as a shell does."""
    fork_server = await ForkServerClient.start()
    try:
        process = await fork_server.launch(box, (0, 1, 2))
        ending = await process.wait()
    finally:
        await fork_server.close()
    if ending.why:
        sys.stderr.write(f"the sandbox ended it: {ending.why}\n")
    return ending.code if ending.code >= 0 else 128 - ending.code


def main() -> NoReturn:
    """Be the program in its box."""
    box = msgspec.json.decode(sys.argv[1], type=Box)
    try:
        code = asyncio.run(_run(box))
    except SandboxError as error:
        code = 1
        sys.stderr.write(f"the sandbox could not start the program: {error}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
