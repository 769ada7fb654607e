"""The ``plyhouse`` command: its tree of subcommands, and how every one of them ends.

This module imports only click; each subcommand has its own module, imported when it runs.  See
`plyhouse.clients.shared.errors` for the exit codes.
"""

from __future__ import annotations

import codecs
import io
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
from plyhouse.clients.shared.lazy import LazyGroup
from plyhouse.clients.shared.program_settings import collect_rarely

_HERE: Final = "plyhouse.clients.cli"

SECTIONS: Final = {
    "Play and watch": {
        "demo": (f"{_HERE}.demo:demo", "Play five games between bots on a local server"),
        "games": (f"{_HERE}.games:games", "List the games, or explain one of them"),
        "play": (f"{_HERE}.play:play", "Play a game in this terminal, here or on a server"),
        "watch": (f"{_HERE}.watch:watch", "Watch a match of a server in this terminal"),
        "replay": (f"{_HERE}.replay:replay", "Step through a recorded match"),
        "leaderboard": (f"{_HERE}.leaderboard:leaderboard", "Show the leaderboard of a game"),
    },
    "Write a bot": {
        "bot": (f"{_HERE}.bot:bot", "Write a bot, check it and connect it to a server"),
        "match": (f"{_HERE}.match:match", "Let bots play many games here, without a server"),
        "yardstick": (
            f"{_HERE}.yardstick:yardstick",
            "Measure a bot against engines and exact values",
        ),
        "review": (f"{_HERE}.review:review", "Find the plies that lost a match"),
        "explain": (f"{_HERE}.explain:explain", "Draw the tree of a search in a position"),
        "solve": (f"{_HERE}.solve:solve", "Compute an equilibrium of a hidden-information game"),
        "book": (f"{_HERE}.book:book", "Make an opening book from played matches"),
        "tune": (f"{_HERE}.tune:tune", "Find weights for a linear evaluation"),
        "learn": (f"{_HERE}.learn:learn", "Train a network or compute a policy"),
        "env": (f"{_HERE}.env:env", "Serve a game as an environment to learn in"),
        "compile": (f"{_HERE}.compile:compile_game", "Compile your own game to machine code"),
    },
    "Compete on a server": {
        "login": (f"{_HERE}.login:login", "Store the server and your token for later commands"),
        "logout": (f"{_HERE}.login:logout", "Forget the stored server and token"),
        "join": (f"{_HERE}.student:join", "Join a competition by a code"),
        "mcp": (f"{_HERE}.mcp:mcp", "Let a language model play on a server"),
        "submit": (f"{_HERE}.submit:submit", "Submit a bot for a server to run"),
        "submission": (f"{_HERE}.submission:submission", "Look after the bots you submitted"),
        "record": (f"{_HERE}.record:record", "Fetch the record of a match"),
        "verify": (f"{_HERE}.record:verify", "Recompute every roll and action of a record"),
        "export": (f"{_HERE}.export:export", "Write matches of a server as a data set"),
    },
    "Run a class": {
        "competition": (
            f"{_HERE}.competition:competition",
            "Set up and run competitions, from one file to grades",
        ),
        "student": (f"{_HERE}.student:student", "Add students to a competition"),
        "code": (f"{_HERE}.join_codes:code", "Create codes by which students join"),
    },
    "Operate a server": {
        "serve": (f"{_HERE}.serve:serve", "Run a server for bots and spectators"),
        "cluster": (f"{_HERE}.cluster:cluster", "Show the members of a cluster and what they run"),
        "runner": (f"{_HERE}.runner:runner", "Run submitted bots on this machine"),
        "token": (f"{_HERE}.accounts:token", "Create tokens of players, list and revoke them"),
        "admin": (
            f"{_HERE}.administration:admin",
            "Administer players, bots, matches and the database",
        ),
        "doctor": (f"{_HERE}.doctor:doctor", "Check what is installed and whether it works"),
        "completion": (f"{_HERE}.completion:completion", "Print a script for shell completion"),
    },
}
"""Every command in the order of ``--help``, by section: where it lives and its short help."""

COMMANDS: Final = {name: entry for table in SECTIONS.values() for name, entry in table.items()}
"""The commands of all sections."""


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from plyhouse.protocol.installed import installed_version

        click.echo(f"plyhouse, version {installed_version()}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    lazy=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every option can also be set in the environment: --database as PLYHOUSE_DATABASE. "
    "Exit codes: 0 done, 1 a check failed or a match could not be played, 2 usage, "
    "3 cannot reach a server or database, 4 refused, 130 interrupted.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def cli() -> None:
    """Host game-bot competitions: matches under a clock, and leaderboards.

    A first look: `plyhouse demo`. Your own bot: `plyhouse bot new mybot.py`, then
    `plyhouse match mybot.py random`.
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; user errors never show a traceback."""
    _open_closed_streams()
    _write_what_streams_can()
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


def _write_what_streams_can() -> None:
    """Replace characters that the encoding of standard output lacks, which Windows chooses."""
    codecs.register_error("plyhouse", _replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="plyhouse")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    part = error.object[error.start : error.end]
    return "".join("-" if each == "\N{MINUS SIGN}" else "?" for each in part), error.end


def _open_closed_streams() -> None:
    """Open what a caller has closed (`plyhouse ... >&-`), or the next file would take its place."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - kept


def _report(error: Exception, debug: bool) -> int:
    """Say on standard error what went wrong; return the exit code."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if debug:
        import traceback

        traceback.print_exception(error)
        # Return the failure in the code of a bot's author, perhaps in another process.
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
