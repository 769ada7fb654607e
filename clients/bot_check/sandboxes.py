"""`plyhouse check --sandbox` and `plyhouse doctor sandbox`: bots where a server would run them."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.hosting.build import Built, build
from plyhouse.bots.hosting.host import Runner, hosted_runner
from plyhouse.bots.hosting.package import read_package
from plyhouse.bots.loading import check_spec
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.running.runner import BotRunner
from plyhouse.bots.sandbox.box import TIERS, Tier, tier_named
from plyhouse.bots.sandbox.client import KeeperClient
from plyhouse.bots.sandbox.cores import Cores
from plyhouse.bots.sandbox.launcher import SandboxLauncher
from plyhouse.bots.sandbox.promises import PROMISES, Result, kept, try_promises
from plyhouse.bots.sandbox.tiers import LEAST, choose_tier, gaps, why_not
from plyhouse.clients.bot_check.controls import DEFAULT, Terms
from plyhouse.clients.bot_check.examination import Finding, check_bot
from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_OK
from plyhouse.protocol.package import Rules
from plyhouse.server.match.time_control import TimeControl

__all__ = ["check_bot_or_submission", "look_at_tiers"]


async def check_bot_or_submission(
    bot: str,
    games: Sequence[str] | None,
    *,
    sandbox: bool,
    tier: str | None,
    on_finding: Callable[[Finding], None],
    on_output: Callable[[str], None],
    on_games: Callable[[Sequence[str], Sequence[str]], None] | None = None,
    rules: Rules | None = None,
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
    keeper = await KeeperClient.start()
    try:
        chosen = await choose_tier(keeper, only=tier_named(tier) if tier else None)
        on_output(f"[sandbox] {chosen.value}")
        with tempfile.TemporaryDirectory(prefix="plyhouse-check-") as store:
            spec, make_runner = await asyncio.to_thread(
                _prepared, bot, Path(store), keeper, chosen, rules, core
            )
            return await check_bot(
                spec=spec,
                games=games,
                terms=terms,
                default=default,
                on_finding=on_finding,
                on_output=on_output,
                on_games=on_games,
                make_runner=make_runner,
            )
    finally:
        await keeper.close()


MakeRunner = Callable[[str, Connector, str, RunOptions], Runner]


def _prepared(
    bot: str,
    store: Path,
    keeper: KeeperClient,
    tier: Tier,
    rules: Rules | None,
    core: int | None,
) -> tuple[str, MakeRunner]:
    """What to check, and how it is run: a package in its tree, a bot by name where it is."""
    path = Path(bot)
    cores = None if core is None else Cores([core])
    if not path.exists():
        launcher = SandboxLauncher(keeper, tier, cores=cores)

        def run_named(spec: str, connector: Connector, token: str, options: RunOptions) -> Runner:
            return BotRunner(
                spec, connector, token, dataclasses.replace(options, launcher=launcher)
            )

        return check_spec(bot), run_named
    built = build(read_package(path, rules), store)

    def run_built(_: str, connector: Connector, token: str, options: RunOptions) -> Runner:
        # As a server would run it: with nothing remembered from one match to the next.
        alike = dataclasses.replace(options, forgetful=True)
        return hosted_runner(built, connector, token, alike, keeper=keeper, tier=tier, cores=cores)

    return _what(built), run_built


def _what(built: Built) -> str:
    return built.spec or " ".join(built.manifest.run)


# ------------------------------------------------------------------------ the doctor


async def look_at_tiers(only: str | None, *, attempts: bool, as_json: bool) -> int:
    """Try every promise on every tier; print what holds, and return the exit code."""
    keeper = await KeeperClient.start()
    looked: dict[Tier, tuple[str, list[Result]]] = {}
    try:
        for tier in [tier_named(only)] if only else TIERS:
            problem = await why_not(keeper, tier)
            looked[tier] = (problem, [] if problem else await try_promises(keeper, tier))
    finally:
        await keeper.close()
    if as_json:
        click.echo(json.dumps(_as_json(looked), indent=2))
    else:
        _print(looked, attempts)
    sound = [bool(results) and all(kept(results).values()) for _, results in looked.values()]
    return EXIT_OK if any(sound) else EXIT_FAILED


def _as_json(looked: dict[Tier, tuple[str, list[Result]]]) -> dict[str, object]:
    return {
        "user": "root" if os.geteuid() == 0 else "not root",
        "tiers": [
            {
                "tier": tier.value,
                "works": not problem,
                "why_not": problem,
                "promises": kept(results) if results else {},
                "attempts": [dataclasses.asdict(result) for result in results],
                "gaps": gaps(tier),
            }
            for tier, (problem, results) in looked.items()
        ],
    }


def _print(looked: dict[Tier, tuple[str, list[Result]]], attempts: bool) -> None:
    first = ""
    for tier, (problem, results) in looked.items():
        if problem:
            click.echo(f"{tier.value}: not here: {problem}\n")
            continue
        held = kept(results)
        click.echo(f"{tier.value}: {sum(held.values())} of {len(held)} promises hold")
        if all(held.values()) and not first:
            first = tier.value
        for promise, sentence in PROMISES.items():
            of_it = [result for result in results if result.promise == promise]
            broken = [result for result in of_it if not result.refused]
            mark = "holds  " if held[promise] else "BROKEN "
            click.echo(f"  {mark}{sentence} ({len(of_it) - len(broken)} of {len(of_it)} refused)")
            for result in of_it if attempts else broken:
                word = "refused" if result.refused else "worked "
                click.echo(f"           {word} {result.name}: {result.how}")
        click.echo("  What it cannot do:")
        for gap in gaps(tier):
            click.echo(f"    - {gap}")
        click.echo()
    allowed = ", ".join(tier.value for tier in TIERS[: TIERS.index(LEAST) + 1])
    if first:
        click.echo(f"Bots of others are run in: {first} (the first that works of {allowed}).")
    else:
        click.echo(f"No sandbox here keeps all promises: bots of others need one of {allowed}.")
