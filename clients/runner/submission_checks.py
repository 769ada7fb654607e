"""Checks of submissions on this machine by ``plyhouse bot check --sandbox``.

Each check has its own process, because its referee and opponents would otherwise share an event
loop with bots on the clock.

If a check ends without a verdict, either the package or the machine is at fault.  So the machine
then checks a built-in bot by the same steps, and reports the result to the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from plyhouse.bots.process.messages import cut
from plyhouse.bots.sandbox.box import Tier
from plyhouse.clients.runner.packages import Packages, WrongPackageError, remove
from plyhouse.protocol.hosting.package import Rules, SubmissionError, digest_of, from_upload, pack
from plyhouse.protocol.hosting.runner_messages import (
    LONGEST_CHECK,
    MAX_GAME,
    MAX_GAMES,
    MAX_REPORT,
    CheckDone,
    CheckTerms,
    CheckWanted,
    Trouble,
)

OWN_BOT: Final = b"""
from plyhouse.bots import Bot

class First(Bot):
    games = ("tic_tac_toe",)

    def choose(self, turn):
        return turn.legal[0]
"""
OWN_TERMS: Final = CheckTerms("tic_tac_toe", "move:1")


class Busy(Trouble, frozen=True):
    """A check without a verdict, because the machine was too busy for the bot."""


async def check_package(
    wanted: CheckWanted,
    packages: Packages,
    folder: Path,
    tier: Tier | None,
    rules: Rules,
    *,
    core: int | None = None,
) -> CheckDone | Trouble:
    """Fetch, build and check a package; a `Trouble` says whether the machine works.

    ``folder`` is the machine's, ``core`` the processor that bots think on.
    """
    done = await _checked(wanted, packages, tier, rules, core)
    if not isinstance(done, Trouble) or isinstance(done, Busy):
        return done
    package = from_upload("bot.py", OWN_BOT, rules)
    own = CheckWanted(0, digest_of(package), [OWN_TERMS])
    place = folder / f".own-{secrets.token_hex(8)}"
    try:
        fresh = Packages(place, lambda _: pack(package), lambda: rules)
        proof = await _checked(own, fresh, tier, rules, core)
    finally:
        await asyncio.to_thread(remove, place)
    works = isinstance(proof, CheckDone) and proof.ok
    return structs.replace(done, machine_works=works)


async def _checked(
    wanted: CheckWanted, packages: Packages, tier: Tier | None, rules: Rules, core: int | None
) -> CheckDone | Trouble:
    submission = wanted.submission
    try:
        await asyncio.to_thread(packages.built, wanted.digest)
        package = await asyncio.to_thread(packages.zip_of, wanted.digest)
        return await check_submission(wanted, package, tier, rules, core=core)
    except SubmissionError as error:
        return CheckDone(submission, False, f"FAILED  {error} [{error.code}]"[:MAX_REPORT])
    except (WrongPackageError, OSError) as error:
        return Trouble(str(error)[:2000], submission=submission)


def _command(
    wanted: CheckWanted, package: Path, tier: Tier | None, rules: Rules, core: int | None
) -> list[str]:
    """Return the command that checks a package in a sandbox."""
    command = [sys.executable, "-P", "-m", "plyhouse.clients.cli.main", "bot", "check"]
    command.append(str(package))
    command += ["--sandbox", "--json", *(["--tier", tier.value] if tier is not None else [])]
    command += ["--packages", ",".join(sorted(rules.packages))]
    command += ["--programs", ",".join(sorted(rules.runtimes))]
    for each in wanted.terms:
        command += ["--terms", f"{each.game}@{each.time_control}"]
    command += ["--must-play"] if wanted.must_play else []
    command += ["--flags-count"] if wanted.flags_count else []
    command += ["--core", str(core)] if core is not None else []
    return command


def _verdict(submission: int, found: dict[str, Any]) -> CheckDone | Busy:
    """Read what the check has printed."""
    if "busy" in found:
        return Busy(str(found["busy"])[:2000], submission=submission)
    games = [str(each) for each in found["games"]]
    if len(games) > MAX_GAMES or any(len(each) > MAX_GAME for each in games):
        why = f"it claims {len(games)} games; here {MAX_GAMES} are the most"
        return CheckDone(submission, False, f"FAILED  loads: {why}, by names of {MAX_GAME} letters")
    checked = [str(each) for each in found["checked"]]
    return CheckDone(submission, bool(found["passed"]), report_of(found), games, checked)


async def check_submission(
    wanted: CheckWanted,
    package: Path,
    tier: Tier | None,
    rules: Rules,
    *,
    core: int | None = None,
    seconds: float = LONGEST_CHECK,
) -> CheckDone | Trouble:
    """Check a package; a `Trouble` is no verdict, and may be this machine's fault.

    It is `Busy` if the machine was at work for others.

    ``core`` is the processor that the bot thinks on; None for any.
    """
    submission = wanted.submission
    kept = {name: value for name, value in os.environ.items() if name != "PLYHOUSE_TOKEN"}
    process = await asyncio.create_subprocess_exec(
        *_command(wanted, package, tier, rules, core),
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
        why = (
            f"the check took more than {seconds:g} s, which imports and all matches of a check "
            "have together; make imports and the first action of a match faster"
        )
        return CheckDone(submission, False, f"FAILED  ends in time: {why}")
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    try:
        return _verdict(submission, json.loads(said))
    except (ValueError, KeyError, TypeError):
        last = errors.decode(errors="replace").strip().splitlines()[-1:]
        why = last[0] if last else f"the check ended with exit code {process.returncode}"
        return Trouble(why[:2000], submission=submission)


def report_of(found: dict[str, Any]) -> str:
    """Return the findings of a check as text of at most `MAX_REPORT` characters.

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
    return cut("\n".join(lines), MAX_REPORT)
