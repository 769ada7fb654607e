"""The ``plyhouse`` command: its tree of subcommands, and how every one of them ends.

Only click is imported here; each subcommand lives in a module of its own that is
imported when it runs.  See `plyhouse.clients.shared.errors` for the exit codes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

import click

from plyhouse.clients.shared.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    exit_code,
    sentence,
)
from plyhouse.clients.shared.garbage import collect_rarely
from plyhouse.clients.shared.lazy import LazyGroup

__all__ = ["cli", "main"]

_HERE: Final = "plyhouse.clients.cli"

COMMANDS: Final = {
    "demo": (f"{_HERE}.demo:demo", "Start a server and real bots, play five games, show tables."),
    "games": (f"{_HERE}.games:games", "List the games, or explain one of them."),
    "play": (f"{_HERE}.play:play", "Play a game in this terminal against a bot."),
    "match": (f"{_HERE}.match:match", "Let two bots play many games here, without a server."),
    "lobby": (f"{_HERE}.lobby:lobby", "Play on a server in this terminal: bots or people."),
    "watch": (f"{_HERE}.watch:watch", "Watch a match of a server in this terminal."),
    "replay": (f"{_HERE}.replay:replay", "Step through a match that was played."),
    "review": (f"{_HERE}.review:review", "Say where a match was lost, ply by ply."),
    "explain": (f"{_HERE}.explain:explain", "Draw the tree that a search looks at."),
    "solve": (f"{_HERE}.solve:solve", "Work out an equilibrium of a game with hidden parts."),
    "compile": (f"{_HERE}.compile:compile_game", "Compile a game of your own to machine code."),
    "new-bot": (f"{_HERE}.new_bot:new_bot", "Write a starter bot into a new file."),
    "check": (f"{_HERE}.check:check", "Check a bot before it may play rated matches."),
    "bot": (f"{_HERE}.bot:bot", "Connect a bot to a server."),
    "submit": (f"{_HERE}.submit:submit", "Hand in a bot for a server to run."),
    "submissions": (f"{_HERE}.submit:submissions", "List what you have handed in."),
    "output": (f"{_HERE}.printed:output", "Show what your hosted bots printed in a match."),
    "serve": (f"{_HERE}.serve:serve", "Run a server for bots and spectators."),
    "runner": (f"{_HERE}.runner:runner", "Run bots for their authors, on this machine."),
    "player": (f"{_HERE}.player:player", "Manage players and their tokens."),
    "competition": (
        f"{_HERE}.competition:competition",
        "Set up and run competitions: from one file to grades.",
    ),
    "student": (f"{_HERE}.student:student", "Take students into a competition."),
    "join": (f"{_HERE}.student:join", "Join a competition by a code."),
    "void": (f"{_HERE}.administration:void", "Let a match count nowhere any more."),
    "audit": (f"{_HERE}.administration:audit", "Show what organisers did, and why."),
    "db": (f"{_HERE}.db:db", "Copy, back up, check or upgrade a database."),
    "leaderboard": (
        f"{_HERE}.leaderboard:leaderboard",
        "Show leaderboards and tables of competitions.",
    ),
    "record": (f"{_HERE}.record:record", "Fetch the record of a match."),
    "verify": (f"{_HERE}.verify:verify", "Recompute every roll and move of a record."),
    "book": (f"{_HERE}.book:book", "Make an opening book of played matches."),
    "tune": (f"{_HERE}.tune:tune", "Find weights for a linear evaluation."),
    "doctor": (f"{_HERE}.doctor:doctor", "Say what is installed, and whether it works."),
}
"""Every command in the order of ``--help``: where it lives and its short help."""


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every option can also be set in the environment: --database as PLYHOUSE_DATABASE. "
    "Exit codes: 0 done, 1 a check failed or a match could not be played, 2 usage, "
    "3 cannot reach a server or database, 4 refused, 130 interrupted.",
)
@click.version_option(package_name="plyhouse", prog_name="plyhouse")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def cli() -> None:
    """Host game-bot competitions: matches under a clock, and leaderboards.

    A first look: `plyhouse demo`. Your own bot: `plyhouse new-bot mybot.py`, then
    `plyhouse match mybot.py random --game connect_four`.
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; user errors never show a traceback."""
    collect_rarely()
    arguments = list(sys.argv[1:] if args is None else args)
    # The one option that has to be known even when parsing the others fails.
    debug = "--debug" in arguments or os.environ.get("PLYHOUSE_DEBUG", "") not in ("", "0")
    try:
        result = cli.main(
            arguments,
            prog_name="plyhouse",
            standalone_mode=False,
            auto_envvar_prefix="PLYHOUSE",
        )
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # `plyhouse ... | head`: the reader has left, and Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except Exception as error:
        return _report(error, debug)
    return result if isinstance(result, int) else EXIT_OK


def _report(error: Exception, debug: bool) -> int:
    """Say on standard error what went wrong; return the exit code."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if debug:
        import traceback

        traceback.print_exception(error)
        # What failed in the code of a bot's author, perhaps in another process.
        click.echo(getattr(error, "details", ""), err=True)
    code = exit_code(error)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)  # the help of a group, not a sentence
        return error.exit_code
    if code is None:
        click.echo(
            f"plyhouse: internal error: {type(error).__name__}: {sentence(error)}\n"
            "This is a fault of Plyhouse, not yours; "
            "the same command with `plyhouse --debug ...` shows where.",
            err=True,
        )
        return EXIT_FAILED
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see '{error.ctx.command_path} --help')"
    else:
        hint = ""
    click.echo(f"plyhouse: {sentence(error)}{hint}", err=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
