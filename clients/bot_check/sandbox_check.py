"""Run bots in the sandbox of a server: `plyhouse bot check --sandbox` and `doctor sandbox`."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from plyhouse.bots.hosting.hosted_session import boxed
from plyhouse.bots.loading import check_spec
from plyhouse.bots.local_packages import LOCAL_RULES
from plyhouse.bots.sandbox.box import TIERS, Cores, Tier, tier_named
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.probe_runner import ProbeResult, probe_tier
from plyhouse.bots.sandbox.tiers import LEAST, choose_tier, gaps, why_not
from plyhouse.clients.bot_check.examination import Finding, check_bot
from plyhouse.clients.bot_check.time_controls import DEFAULT, Terms
from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK
from plyhouse.protocol.hosting.package import Rules
from plyhouse.server.match.time_control import TimeControl


async def check_bot_or_submission(
    bot: str,
    games: Sequence[str] | None,
    *,
    sandbox: bool,
    tier: str | None,
    on_finding: Callable[[Finding], None],
    on_output: Callable[[str], None],
    on_games: Callable[[Sequence[str], Sequence[str]], None] | None = None,
    rules: Rules = LOCAL_RULES,
    terms: Terms | None = None,
    default: TimeControl = DEFAULT,
    core: int | None = None,
) -> list[Finding]:
    """Call `check_bot`, on this machine as it is or in a sandbox.

    ``core`` is the processor that a bot in a sandbox thinks on; None for any.  Raises
    `SubmissionError` for a package that is refused, `SandboxError` if there is no sandbox, and
    `MachineBusyError`.
    """
    if not sandbox:
        return await check_bot(
            spec=check_spec(bot),
            games=games,
            terms=terms,
            default=default,
            on_finding=on_finding,
            on_output=on_output,
            on_games=on_games,
        )
    fork_server = await ForkServerClient.start()
    try:
        chosen = await choose_tier(fork_server, only=tier_named(tier) if tier else None)
        on_output(f"[sandbox] {chosen.value}")
        cores = None if core is None else Cores([core])
        with tempfile.TemporaryDirectory(prefix="plyhouse-check-") as store:
            spec, make_session = await asyncio.to_thread(
                boxed, bot, Path(store), fork_server, chosen, rules, cores, games or ()
            )
            return await check_bot(
                spec=spec,
                games=games,
                terms=terms,
                default=default,
                on_finding=on_finding,
                on_output=on_output,
                on_games=on_games,
                make_session=make_session,
            )
    finally:
        await fork_server.close()


# ------------------------------------------------------------------------ the doctor


async def probe_tiers(only: str | None, files: Sequence[Path], *, as_json: bool) -> int:
    """Run all probes on every tier, or on ``only`` one; print them and return the exit code.

    ``files`` are files of the server that bots must not read; missing ones are left out.
    """
    fork_server = await ForkServerClient.start()
    existing = [file for file in files if file.exists()]
    problems: dict[Tier, str] = {}
    probed: dict[Tier, list[ProbeResult]] = {}
    try:
        for tier in [tier_named(only)] if only else TIERS:
            problems[tier] = await why_not(fork_server, tier)
            probed[tier] = [] if problems[tier] else await probe_tier(fork_server, tier, existing)
    finally:
        await fork_server.close()
    sound = [tier for tier, results in probed.items() if results and all(x.holds for x in results)]
    if as_json:
        tiers = [
            {
                "tier": tier.value,
                "works": not problem,
                "why_not": problem,
                "probes": [dataclasses.asdict(result) for result in probed[tier]],
                "gaps": gaps(tier),
            }
            for tier, problem in problems.items()
        ]
        user = "root" if os.geteuid() == 0 else "not root"
        click.echo(json.dumps({"user": user, "tiers": tiers}, indent=2))
    else:
        _print(problems, probed, sound)
    return EXIT_OK if sound else EXIT_FAILED


def _print(
    problems: dict[Tier, str], probed: dict[Tier, list[ProbeResult]], sound: list[Tier]
) -> None:
    for tier, results in probed.items():
        if problems[tier]:
            click.echo(f"{tier.value}: does not work here: {problems[tier]}\n")
            continue
        click.echo(f"{tier.value}: {sum(x.holds for x in results)} of {len(results)} probes hold")
        for result in results:
            click.echo(f"  {'holds ' if result.holds else 'BROKEN'} {result.sentence}")
            click.echo(f"         {result.answer}")
        click.echo("  What this tier cannot prevent:")
        for gap in gaps(tier):
            click.echo(f"    - {gap}")
        click.echo()
    allowed = ", ".join(tier.value for tier in TIERS[: TIERS.index(LEAST) + 1])
    if sound:
        click.echo(f"Bots of others run in {sound[0].value}: the first that works of {allowed}.")
    else:
        click.echo(f"No tier here holds all probes; bots of others need one of {allowed}.")
