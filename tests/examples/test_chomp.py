"""The example game: lawful, short, hosted by its file, and compiled by ``plyhouse compile``."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.harness.patience import PATIENCE

from plyhouse.bots.running.python_session import RunOptions, RunSummary, SeekRequest, run_bot
from plyhouse.games import DuplicateGame, State, add_game_file, game_names, get_game, registry
from plyhouse.games.errors import InvalidGameSource
from plyhouse.games.testing import check_game
from plyhouse.server.config import ServerConfig
from plyhouse.server.results.record import stored_record
from plyhouse.server.results.verify import verify
from plyhouse.server.serve import running_server
from plyhouse.storage import match_reads

CHOMP = Path(__file__).resolve().parents[2] / "examples" / "chomp.py"

if not CHOMP.is_file():
    pytest.skip("the examples are not here", allow_module_level=True)


@pytest.fixture
def nothing_added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Games that a test makes known by name are forgotten after it."""
    monkeypatch.setattr(registry, "_added", {})
    yield
    registry._named_game.cache_clear()
    registry.game_class.cache_clear()


def test_it_is_as_short_as_promised() -> None:
    assert len(CHOMP.read_text(encoding="utf-8").splitlines()) < 80


@pytest.mark.parametrize("parameters", ["", "(size=2)", "(size=9)"])
def test_it_keeps_every_law(parameters: str) -> None:
    check_game(get_game(f"{CHOMP}:Chomp{parameters}", files=True), max_states=100)


def wins(state: Any, known: dict[Any, bool]) -> bool:
    """Return whether the seat to move can win."""
    if state.rows not in known:
        following: list[State] = [state.after(action) for action in state.actions()]
        known[state.rows] = any(s.to_move >= 0 and not wins(s, known) for s in following)
    return known[state.rows]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_first_seat_can_win(size: int) -> None:
    """D. Gale, "A curious Nim-type game", 1974."""
    assert wins(get_game(f"{CHOMP}(size={size})", files=True).initial_state(), {})


async def test_it_is_played_on_a_server_by_its_file(nothing_added: None) -> None:
    config = ServerConfig(
        port=0, database="sqlite:///:memory:", game_files=str(CHOMP), log_level="error"
    )
    async with running_server(config) as server:
        assert "chomp" in game_names()

        async def play(player: str) -> RunSummary:
            row = await server.hub.store.add_player(player)
            token = await server.hub.store.add_token(row.id, ["play"])
            seeks = [SeekRequest(f"{CHOMP}:Chomp(size=3)", "move:60")]
            running = run_bot(
                "random",
                server.url,
                token,
                RunOptions(seeks=seeks, matches=1, say=lambda _: None),
            )
            return await asyncio.wait_for(running, PATIENCE)

        one, other = await asyncio.gather(play("anna"), play("bert"))
        result = one.results[0]
        assert result.outcome.termination == "normal"
        assert result.outcome == other.results[0].outcome
        stored = await server.hub.store.read(match_reads.stored_match, result.match)
        assert stored.header.game == "chomp(size=3)", "by its name, not by anybody's path"
        report = verify(stored_record(stored, get_game("chomp(size=3)")))
        assert report.ok, str(report)


async def test_a_server_does_not_start_without_a_file_that_it_is_to_host() -> None:
    config = ServerConfig(port=0, database="sqlite:///:memory:", game_files="nowhere.py")
    with pytest.raises(InvalidGameSource, match=r"there is no file nowhere\.py"):
        async with running_server(config):
            pass


def test_a_file_may_not_take_the_name_of_another_game(tmp_path: Path, nothing_added: None) -> None:
    text = CHOMP.read_text(encoding="utf-8")
    for name, wanted in (("tic_tac_toe", "tic_tac_toe"), ("chomp", "chomp")):
        add_game_file(str(CHOMP))
        path = tmp_path / f"{name}_too.py"
        path.write_text(text.replace('"chomp"', f'"{wanted}"'), encoding="utf-8")
        with pytest.raises(DuplicateGame):
            add_game_file(str(path))


# Compiling


@pytest.fixture(scope="session")
def compiler() -> None:
    try:
        import mypyc.build
        import setuptools  # type: ignore[import-untyped]
    except ImportError:
        missing = "mypyc"
    else:
        assert mypyc.build
        assert setuptools
        missing = "" if shutil.which(os.environ.get("CC", "cc").split()[0]) else "C compiler"
    if missing and os.environ.get("PLYHOUSE_REQUIRE_COMPILED") == "1":
        pytest.fail(f"PLYHOUSE_REQUIRE_COMPILED=1, but there is no {missing}")
    if missing:
        pytest.skip(f"there is no {missing} here")


def plyhouse(folder: Path, *arguments: str, **environ: str) -> tuple[int, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLYHOUSE_")}
    done = subprocess.run(
        [sys.executable, "-m", "plyhouse.clients.cli.main", *arguments],
        cwd=folder,
        env={**kept, "COLUMNS": "100", **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert "Traceback" not in done.stdout, done.stdout
    return done.returncode, done.stdout


LOOK = """
import json, random, sys
from plyhouse.games import get_game
from plyhouse.games.testing import check_game
game = get_game("chomp.py:Chomp(size=5)", files=True)
check_game(game, max_states=200)
state, rng, played = game.initial_state(), random.Random(3), []
while state.to_move >= 0:
    action = rng.choice(state.actions())
    played.append(game.format(state, action))
    state = state.after(action)
print(json.dumps([sys.modules[type(game).__module__].__file__, played, state.returns()]))
"""


def look(folder: Path, **environ: str) -> tuple[bool, Any]:
    """Return whether machine code runs, and a play."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLYHOUSE_")}
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd=folder,
        env={**kept, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    file, *play = json.loads(done.stdout)
    return not file.endswith(".py"), play


def test_it_is_compiled_and_stale_machine_code_is_never_used(
    tmp_path: Path, compiler: None
) -> None:
    file = tmp_path / "chomp.py"
    shutil.copyfile(CHOMP, file)
    compiled, play = look(tmp_path)
    assert not compiled
    code, said = plyhouse(tmp_path, "games", "chomp.py")
    assert "pure. `plyhouse compile chomp.py` makes machine code of it." in said

    code, said = plyhouse(tmp_path, "compile", "chomp.py")
    assert code == 0, said
    assert said.startswith("Compiled chomp.py: ")
    assert look(tmp_path) == (True, play)
    assert look(tmp_path, PLYHOUSE_PURE="1") == (False, play)
    code, said = plyhouse(tmp_path, "games", "chomp.py")
    assert "compiled. Compiled by `plyhouse compile`: " in said
    assert "poisoned" in said, "machine code has no docstring, the file has"
    code, said = plyhouse(
        tmp_path,
        *("match", "random", "random", "--game", "chomp.py", "--games", "2"),
        *("--time-control", "move:60"),
    )
    assert code == 0, said

    file.write_text(file.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    assert look(tmp_path) == (False, play)
    code, said = plyhouse(tmp_path, "games", "chomp.py")
    assert "The file has changed since it was compiled" in said


def test_wrong_types_are_told_with_their_place(tmp_path: Path, compiler: None) -> None:
    text = CHOMP.read_text(encoding="utf-8").splitlines()
    place = next(n for n, line in enumerate(text) if "return ChompObservation(" in line)
    text[place] = text[place].replace("state.winner", '"nobody"')
    (tmp_path / "chomp.py").write_text("\n".join(text), encoding="utf-8")
    code, said = plyhouse(tmp_path, "compile", "chomp.py")
    assert code == 1
    assert f"chomp.py:{place + 1}: error: Argument 5" in said
    assert not list(tmp_path.rglob("*.so"))


def test_without_a_c_compiler_that_is_said(tmp_path: Path, compiler: None) -> None:
    shutil.copyfile(CHOMP, tmp_path / "chomp.py")
    code, said = plyhouse(tmp_path, "compile", "chomp.py", CC="/nonexistent/cc")
    assert (code, said) == (
        1,
        "plyhouse: There is no C compiler here: install cc, gcc or clang.\n",
    )


def test_without_mypyc_its_package_is_named(tmp_path: Path) -> None:
    shutil.copyfile(CHOMP, tmp_path / "chomp.py")
    hide = "import sys; sys.modules['mypyc'] = None"
    script = f"{hide}; from plyhouse.clients.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, "compile", "chomp.py"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PLYHOUSE_PURE"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == "plyhouse: Compiling needs mypyc: pip install 'plyhouse[compile]'\n"


def test_only_games_are_compiled(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text("x = 1\n", encoding="utf-8")
    code, said = plyhouse(tmp_path, "compile", "notes.py")
    assert code == 2
    assert "it defines no game" in said
    code, said = plyhouse(tmp_path, "compile", "chess")
    assert code == 2
    assert "like mygame.py:MyGame" in said
