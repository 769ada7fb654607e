"""A submission looked at on this machine, by ``plyhouse check --sandbox`` in a process of its own.

In a process of its own, because its referee and its opponents would otherwise share an event loop
with bots that are on the clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

from plyhouse.bots.sandbox.box import Tier
from plyhouse.protocol.package import Rules, SubmissionError
from plyhouse.server.house.runner_messages import (
    MAX_GAME,
    MAX_GAMES,
    MAX_REPORT,
    CheckDone,
    CheckWanted,
    Trouble,
)

__all__ = ["check_submission", "report_of"]

LONGEST: Final = 900.0
"""Seconds that a check may take."""
CUT: Final = "\n[...]\n"


async def check_submission(
    wanted: CheckWanted,
    package: Path,
    tier: Tier | None,
    rules: Rules,
    *,
    core: int | None = None,
    seconds: float = LONGEST,
) -> CheckDone | Trouble:
    """Check a package; a `Trouble` is this machine's and says nothing of the package.

    ``core`` is the processor that the bot thinks on; None for any.
    """
    submission = wanted.submission
    command = [sys.executable, "-P", "-m", "plyhouse.clients.cli.main", "check", str(package)]
    command += ["--sandbox", "--json", *(["--tier", tier.value] if tier is not None else [])]
    command += ["--packages", ",".join(sorted(rules.packages))]
    command += ["--programs", ",".join(sorted(rules.runtimes))]
    for each in wanted.terms:
        command += ["--terms", f"{each.game}@{each.time_control}"]
    command += ["--must-play"] if wanted.must_play else []
    command += ["--flags-count"] if wanted.flags_count else []
    command += ["--core", str(core)] if core is not None else []
    kept = {name: value for name, value in os.environ.items() if name != "PLYHOUSE_TOKEN"}
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=kept,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            said, errors = await process.communicate()
    except TimeoutError:
        return CheckDone(submission, False, f"The check took more than {seconds:g} s.")
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    try:
        found: dict[str, Any] = json.loads(said)
        games = [str(each) for each in found["games"]]
        if len(games) > MAX_GAMES or any(len(each) > MAX_GAME for each in games):
            why = f"it claims {len(games)} games; here {MAX_GAMES} are the most"
            return CheckDone(
                submission, False, f"FAILED  loads: {why}, by names of {MAX_GAME} letters"
            )
        checked = [str(each) for each in found["checked"]]
        return CheckDone(submission, bool(found["passed"]), report_of(found), games, checked)
    except (ValueError, KeyError, TypeError):
        last = errors.decode(errors="replace").strip().splitlines()[-1:]
        why = last[0] if last else f"the check ended with exit code {process.returncode}"
        return Trouble(why[:2000], submission=submission)


def refused(submission: int, error: SubmissionError) -> CheckDone:
    """What the rules of packages refuse needs no sandbox."""
    return CheckDone(submission, False, f"FAILED  {error} [{error.code}]"[:MAX_REPORT])


def report_of(found: dict[str, Any]) -> str:
    """What a check has found, as it is printed, the middle left out if it is too long.

    >>> print(report_of({"checks": [{"name": "loads", "passed": True, "explanation": "1 game"}]}))
    ok      loads: 1 game
    All checks passed.
    """
    lines = []
    for each in found["checks"]:
        passed = "WARNING " if each.get("warning") else "ok      "
        mark = passed if each["passed"] else "FAILED  "
        told = f": {each['explanation']}" if each["explanation"] else ""
        lines.append(f"{mark}{each['name']}{told}")
    failed = sum(not each["passed"] for each in found["checks"])
    lines.append(f"{failed} of {len(lines)} checks failed." if failed else "All checks passed.")
    text = "\n".join(lines)
    if len(text) <= MAX_REPORT:
        return text
    half = (MAX_REPORT - len(CUT)) // 2
    return text[:half] + CUT + text[-half:]
