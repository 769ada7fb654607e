"""The tree of commands: help, hints, exit codes, and how errors end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.cli.conftest import Plyhouse

from plyhouse.clients.cli.main import COMMANDS, cli, main
from plyhouse.clients.cli.reference import reference
from plyhouse.clients.shared import errors

ROOT = Path(__file__).resolve().parents[2]


def test_help_lists_every_command(plyhouse: Plyhouse) -> None:
    done = plyhouse("--help")
    assert done.code == 0
    for name, (_, short) in COMMANDS.items():
        assert name in done.out
        assert short.rstrip(".") in done.out


def test_help_imports_only_the_command_line() -> None:
    script = (
        "import sys; from plyhouse.clients.cli.main import main; main(['--help']); "
        "heavy = ('rich', 'litestar', 'sqlalchemy', 'msgspec', 'numpy', 'asyncio', "
        "'plyhouse.games', 'plyhouse.server', 'plyhouse.search', 'plyhouse.protocol'); "
        "print([m for m in sys.modules if m.startswith(heavy)])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout


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
    assert command.help, "every command explains itself"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    with click.Context(cli) as ctx:
        command = cli.get_command(ctx, name)
        assert command is not None
        commands = [command]
        if isinstance(command, click.Group):
            commands += command.commands.values()
    for each in commands:
        for param in each.params:
            if isinstance(param, click.Option):
                assert param.help, f"{each.name} {param.opts}"


def test_version(plyhouse: Plyhouse) -> None:
    done = plyhouse("--version")
    assert done.code == 0
    assert done.out.startswith("plyhouse, version ")


@pytest.mark.parametrize(
    ("typed", "meant"), [("mach", "match"), ("leader", "leaderboard"), ("gmaes", "games")]
)
def test_a_mistyped_command_is_answered_with_the_nearest(
    plyhouse: Plyhouse, typed: str, meant: str
) -> None:
    done = plyhouse(typed)
    assert done.code == errors.EXIT_USAGE
    assert f"There is no command '{typed}': did you mean {meant}" in done.err


def test_a_mistyped_subcommand_too(plyhouse: Plyhouse) -> None:
    done = plyhouse("player", "ad")
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
        "run: python -m plyhouse.clients.cli.reference > docs/commands.md"
    )


@pytest.mark.parametrize("group", [(), ("bot",), ("player",), ("competition",), ("db",)])
def test_a_group_alone_shows_its_help_as_it_is(plyhouse: Plyhouse, group: tuple[str, ...]) -> None:
    done = plyhouse(*group)
    assert done.code == errors.EXIT_USAGE
    assert done.err.startswith(" ".join(("Usage: plyhouse", *group)))
    assert "(see " not in done.err
