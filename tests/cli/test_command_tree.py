"""The tree of commands: help, hints, exit codes, and how errors end."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.cli.conftest import Plyhouse

from plyhouse.bots.running.run_options import TIME_CONTROL
from plyhouse.clients.bot_check.time_controls import DEFAULT
from plyhouse.clients.cli.bot import run
from plyhouse.clients.cli.check import check
from plyhouse.clients.cli.competition import ORDER, competition
from plyhouse.clients.cli.main import COMMANDS, SECTIONS, cli, main
from plyhouse.clients.docgen.command_reference import reference
from plyhouse.clients.shared import errors
from plyhouse.server.web.pages.new_competition import TIMES

LONGEST = 61
"""Characters of a short help with its full stop, so that a line of 80 characters holds it."""
ROOT = Path(__file__).resolve().parents[2]


def test_help_lists_every_command(plyhouse: Plyhouse) -> None:
    done = plyhouse("--help")
    assert done.code == 0
    for name, (_, short) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(short)}$", done.out, re.M), name


def test_help_groups_the_commands(plyhouse: Plyhouse) -> None:
    out = plyhouse("--help").out
    places = [out.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places)
    assert "\nCommands:\n" not in out


def test_default_time_controls_are_those_of_the_modules_behind_the_commands() -> None:
    shown = {
        each: next(option.default for option in command.params if option.name == "time_control")
        for each, command in (("bot", run), ("check", check), ("new", competition.commands["new"]))
    }
    assert shown == {"bot": TIME_CONTROL, "check": str(DEFAULT), "new": TIMES[0]}


@pytest.mark.parametrize("module", ["plyhouse.clients.cli.main", "plyhouse.clients.arena.process"])
def test_a_program_looks_for_garbage_rarely_and_not_at_all_as_it_leaves(module: str) -> None:
    script = (
        "import atexit, gc, runpy, sys; sys.argv = ['plyhouse', '--version']; "
        "atexit.register(lambda: print(gc.get_freeze_count() > 1000, gc.get_threshold()[0])); "
        f"runpy.run_module({module!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["True 20000"]), done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_knows_each_command_by_heart(name: str) -> None:
    with click.Context(cli) as ctx:
        command = cli.get_command(ctx, name)
    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(200).rstrip(".") == COMMANDS[name][1]


def test_help_of_a_group_with_sections_lists_every_command(plyhouse: Plyhouse) -> None:
    out = plyhouse("competition", "--help").out
    for title, names in ORDER.items():
        section = out.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == list(names)
    assert sorted(name for names in ORDER.values() for name in names) == sorted(
        competition.commands
    )


def subcommands(command: click.Command, ctx: click.Context) -> Iterator[click.Command]:
    """Yield a command and all commands below it."""
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            child = command.get_command(ctx, name)
            assert child is not None
            assert child.name == name
            yield from subcommands(child, ctx)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    with click.Context(cli) as ctx:
        command = cli.get_command(ctx, name)
        assert command is not None
        for each in subcommands(command, ctx):
            for param in each.params:
                if isinstance(param, click.Option):
                    assert param.help, f"{each.name} {param.opts}"


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help_fits_a_line(name: str) -> None:
    with click.Context(cli) as ctx:
        command = cli.get_command(ctx, name)
        assert command is not None
        for each in subcommands(command, ctx):
            assert len(each.get_short_help_str(200)) <= LONGEST, each.name


def test_python_m_plyhouse_is_the_command(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "plyhouse", "--version"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("plyhouse, version ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(plyhouse: Plyhouse, shell: str) -> None:
    done = plyhouse("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert f"_PLYHOUSE_COMPLETE={shell}_complete" in done.out


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("plyhouse comp", {"compile", "competition", "completion"}), ("plyhouse bot n", {"new"})],
)
def test_completion_in_bash_completes_commands(
    words: str, wanted: set[str], tmp_path: Path
) -> None:
    typed = words.split()
    script = (
        'source <("$0" -m plyhouse completion bash); '
        f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; "
        "_plyhouse_completion ./plyhouse; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    (tmp_path / "plyhouse").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m plyhouse "$@"\n')
    (tmp_path / "plyhouse").chmod(0o755)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", script, sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert set(done.stdout.split()) == wanted, done.stderr


def test_version(plyhouse: Plyhouse) -> None:
    done = plyhouse("--version")
    assert done.code == 0
    assert done.out.startswith("plyhouse, version ")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("mach", "match"),
        ("leader", "leaderboard"),
        ("gmaes", "games"),
        ("run", "bot run or competition run?"),
        ("new", "bot new or competition new?"),
    ],
)
def test_a_mistyped_command_is_answered_with_the_nearest(
    plyhouse: Plyhouse, typed: str, meant: str
) -> None:
    done = plyhouse(typed)
    assert done.code == errors.EXIT_USAGE
    assert f"There is no command '{typed}': did you mean {meant}" in done.err


def test_a_mistyped_subcommand_too(plyhouse: Plyhouse) -> None:
    done = plyhouse("admin", "player", "ad")
    assert done.code == errors.EXIT_USAGE
    assert "did you mean add?" in done.err


def test_an_unknown_option_is_one_sentence(plyhouse: Plyhouse) -> None:
    done = plyhouse("games", "--jsn")
    assert done.code == errors.EXIT_USAGE
    assert "--jsn" in done.err
    assert "--json" in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert done.out == ""


def test_a_fault_of_ours_says_so_and_how_to_see_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("the cat sat on it")

    monkeypatch.setattr(cli, "main", lambda *_, **__: broken())
    assert main(["games"]) == errors.EXIT_FAILED
    captured = capsys.readouterr()
    assert "internal error: RuntimeError: the cat sat on it" in captured.err
    assert "Traceback" not in captured.err
    assert main(["--debug", "games"]) == errors.EXIT_FAILED
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_is_130_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    assert main(["games"]) == errors.EXIT_INTERRUPTED
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("game/unknown", errors.EXIT_USAGE),
        ("time_control/invalid", errors.EXIT_USAGE),
        ("storage/locked", errors.EXIT_UNREACHABLE),
        ("storage/newer_schema", errors.EXIT_UNREACHABLE),
        ("storage/exists", errors.EXIT_USAGE),
        ("auth/bad_token", errors.EXIT_REFUSED),
        ("competition/full", errors.EXIT_REFUSED),
        ("competition/code_used_up", errors.EXIT_REFUSED),
        ("competition/code_unknown", errors.EXIT_USAGE),
        ("competition/invalid", errors.EXIT_USAGE),
        ("storage/not_now", errors.EXIT_REFUSED),
        ("hosted/busy", errors.EXIT_REFUSED),
        ("submission/too_many", errors.EXIT_REFUSED),
        ("submission/too_large", errors.EXIT_USAGE),
        ("connection/unreachable", errors.EXIT_UNREACHABLE),
        ("something/new", errors.EXIT_FAILED),
    ],
)
def test_codes_of_errors_decide_the_exit_code(code: str, wanted: int) -> None:
    class DomainError(Exception):
        pass

    error = DomainError("what would be right")
    error.code = code  # type: ignore[attr-defined]
    assert errors.exit_code(error) == wanted
    assert errors.sentence(error) == "what would be right"


def test_the_reference_is_up_to_date() -> None:
    page = ROOT / "docs" / "commands.md"
    assert page.read_text(encoding="utf-8") == reference(), (
        "run: python -m plyhouse.clients.docgen.command_reference > docs/commands.md"
    )


def test_reference_has_no_code_within_code() -> None:
    assert not re.findall(r"`plyhouse [^`\n]*`--.*", reference())


@pytest.mark.parametrize("group", [(), ("bot",), ("admin",), ("admin", "player"), ("competition",)])
def test_a_group_alone_shows_its_help_as_it_is(plyhouse: Plyhouse, group: tuple[str, ...]) -> None:
    done = plyhouse(*group)
    assert done.code == errors.EXIT_USAGE
    assert done.err.startswith(" ".join(("Usage: plyhouse", *group)))
    assert "(see " not in done.err


def _with_both(command: click.Command, name: str) -> Iterator[str]:
    """The commands below this one that offer a server and a database."""
    options = {each.name for each in command.params}
    if {"server", "database"} <= options:
        yield name
    if isinstance(command, click.Group):
        with click.Context(command) as ctx:
            for below in command.list_commands(ctx):
                found = command.get_command(ctx, below)
                assert found is not None
                yield from _with_both(found, f"{name} {below}".strip())


def test_command_asks_a_server_or_a_database() -> None:
    assert list(_with_both(cli, "")) == ["doctor"], "doctor examines each that it is given"
