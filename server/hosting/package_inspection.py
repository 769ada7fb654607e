"""Start the program that reads uploaded packages, and wait for its answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import IO, Final

import msgspec

from plyhouse.protocol.hosting.package_inspector import Accepted, answer_of, command
from plyhouse.protocol.hosting.package_rules import Rules
from plyhouse.storage.errors import SubmissionRefusal

__all__ = ["inspect_upload"]

log = logging.getLogger("plyhouse.server.submissions")

SECONDS: Final = 60.0
"""The longest time for one inspection; `package_inspector` limits its processor time."""


async def inspect_upload(name: str, upload: IO[bytes], rules: Rules) -> Accepted:
    """Inspect an upload in a separate process.

    ``upload`` is an open file at its beginning.

    Raises `SubmissionRefusal` for a package that breaks a rule, and for one that takes more time or
    memory than the process may use.
    """
    process = await asyncio.create_subprocess_exec(
        *command(name, rules),
        stdin=upload.fileno(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C must reach only the server
    )
    complaint = b""
    try:
        async with asyncio.timeout(SECONDS):
            output, complaint = await process.communicate()
        answer = answer_of(output)
    except (TimeoutError, msgspec.MsgspecError):
        why = complaint.decode(errors="replace")[-500:]
        log.warning("an upload could not be read", extra={"file": name, "why": why})
        raise SubmissionRefusal(
            "submission/too_complex",
            f"{name or 'the package'} takes too much time or memory to read; send a smaller or "
            "simpler package",
        ) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if isinstance(answer, Accepted):
        return answer
    raise SubmissionRefusal(answer.code, answer.message)
