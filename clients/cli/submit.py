"""``plyhouse submit``: submit a bot for a server to run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from plyhouse.clients.shared.errors import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_USAGE,
    CommandError,
)
from plyhouse.clients.shared.options import Server, json_option, on_server
from plyhouse.clients.shared.output import counted, harmless, late_words, note, print_json
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.submissions import Submission

if TYPE_CHECKING:
    from plyhouse.protocol.hosting.package import Package, Rules

ASK_FIRST: Final = 0.5
ASK_LAST: Final = 5.0
"""Seconds between questions whether the check is done, at first and after a while."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--bot",
    default="",
    metavar="NAME",
    help="Name of the bot.  [default: what plyhouse.toml says, or the name of the file]",
)
@click.option(
    "--competition",
    default="",
    metavar="NAME",
    help="Let this version play in a competition.  [default: wherever a bot that connects is "
    "entered]",
)
@click.option("--version-label", default="", help="Label of this build.")
@click.option("--anyway", is_flag=True, help="Send it although it cannot be imported here.")
@click.option(
    "--wait/--no-wait", default=True, show_default=True, help="Wait for the check and show it."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=900.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait.",
)
@on_server
@json_option()
def submit(
    path: Path,
    bot: str,
    competition: str,
    version_label: str,
    anyway: bool,
    wait: bool,
    timeout: float,
    server: Server,
    as_json: bool,
) -> int:
    """Submit a bot for a server to run.

    PATH is a Python file, a folder or a zip; docs/hosted-packages.md says what may be in it. This
    command first looks at it here: it compiles a Python bot and imports it. Nothing is sent if that
    fails, unless you say `--anyway`.

    The server checks it in a sandbox, and the report is shown here. Once it is ready it plays,
    without your machine. Ends with exit code 1 if the check refuses it, or is not over in time,
    or if it does not play in the competition that you named.
    """
    from plyhouse.bots.local_packages import read_package
    from plyhouse.protocol.hosting.package import Rules, pack

    need_player_token(server)
    rules = Rules.from_answer(server.ask(calls.submission_rules()), installed=False)
    package = read_package(path, rules)
    if not anyway:
        _importable(package, rules)
    data = pack(package)
    sent = calls.submit(
        path.resolve().name, data, bot=bot, competition=competition, version=version_label
    )
    made = server.ask(sent)
    if not as_json:
        _told(made, len(package.files), len(data))

    def look() -> Submission:
        return server.ask(calls.submission(made.submission))

    done = waited(look, timeout) if wait else look()
    if as_json:
        print_json(done)
    else:
        show(done, wait)
    in_vain = ("refused", "waiting") if wait else ("refused",)
    kept_out = any(
        each.outcome not in ("", "entered")
        for each in done.competitions
        if each.competition.casefold() == competition.casefold()
    )
    return EXIT_FAILED if kept_out or done.status in in_vain else EXIT_OK


def _importable(package: Package, rules: Rules) -> None:
    """Raise `CommandError` for a bot that cannot be imported here."""
    from plyhouse.clients.bot_check.package_check import import_problem

    problem = import_problem(package, rules.packages)
    if problem is None:
        return
    if problem.details:
        click.echo(problem.details.rstrip(), err=True)
    raise CommandError(
        f"Nothing was sent, as the bot cannot be imported here: {problem}. Correct it, or send it "
        "as it is with --anyway.",
        EXIT_USAGE,
    )


def need_player_token(server: Server) -> None:
    """Raise `CommandError` if there is no token."""
    server.need_token("Your organiser has a token for you, or `plyhouse join CODE` makes one.")


def waited(
    ask: Callable[[], Submission],
    seconds: float,
    *,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Submission:
    """Ask until the check is over, more and more rarely; returns the last answer."""
    until, pause = now() + seconds, ASK_FIRST
    told = ""
    while (found := ask()).status == "waiting" and (left := until - now()) > 0:
        if found.waits_for != told:
            told = found.waits_for
            note(told)
        sleep(min(pause, left))
        pause = min(pause * 1.5, ASK_LAST)
    return found


def _told(made: Submission, files: int, size: int) -> None:
    name, number = made.bot, made.submission
    note(
        f"Submission {number}: {name}, version {made.digest[:12]} "
        f"({counted(files, 'file')}, {size:,} bytes packed)."
    )
    if made.status == "waiting":
        note(f"It waits for its check. {made.waits_for}".rstrip())


def show(done: Submission, wait: bool) -> None:
    """Print what the check said, and where it plays."""
    if done.report:
        click.echo(harmless(done.report.rstrip("\n")))
    if done.status == "ready":
        note(f"{done.bot} is ready, and plays {', '.join(done.games) or 'nothing'}.")
    elif done.status == "refused":
        note(f"{done.bot} is refused; fix it and submit it again.")
    elif wait:
        note(
            f"The check is not over yet. plyhouse submission show {done.submission} shows it later."
        )
    if done.waits_for:
        note(done.waits_for)
    for each in done.competitions:
        late = f"; {late_words(each.days_late, each.penalty)}" if each.days_late else ""
        note(f"  {each.competition}: {each.text}{late}")
