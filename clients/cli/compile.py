"""``plyhouse compile``: machine code of a game that lies in a file, made by mypyc.

The file is compiled alone, in a folder of copies where mypy finds it beside the packages that it
imports types from.  The result plays against the interpreted file before it is kept.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Final

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_USAGE, CommandError

CONFIG: Final = """\
[mypy]
mypy_path = .
namespace_packages = true
explicit_package_bases = true
no_site_packages = true
follow_imports = silent
ignore_missing_imports = true
allow_redefinition = true
"""
NO_COMPILER: Final = "There is no C compiler here: install cc, gcc or clang."
SETUP: Final = """\
import sys
from mypyc.build import mypycify
from setuptools import setup

setup(
    name="game",
    packages=[],
    ext_modules=mypycify(["--config-file=mypy.ini", sys.argv[1]], opt_level="2", debug_level="0"),
    script_args=["build_ext", "--build-lib=lib", "--build-temp=o"],
)
"""
PLAY: Final = """\
import sys
from plyhouse.games.playthrough import playthrough
from plyhouse.games.registry import get_game
for seed in range(3):
    sys.stdout.write(playthrough(get_game(sys.argv[1], files=True), seed, views_until=3))
"""
NOT_NATIVE: Final = b"""\
import plyhouse.games.base, plyhouse.games.scene; from mypy_extensions import mypyc_attr as _attr
@_attr(native_class=False)
"""
MISSING: Final = "Compiling needs {}: pip install 'plyhouse[compile]'"


@click.command("compile")
@click.argument("file", metavar="FILE")
def compile_game(file: str) -> None:
    """Compile your own game to machine code.

    FILE is mygame.py, or mygame.py:MyGame. Needs a C compiler and mypyc: pip install
    'plyhouse[compile]'. The machine code lies in __pycache__ beside the file and is used
    wherever the game is loaded; once the file changes it is not, until it is compiled
    again. Types make it faster; they are checked.
    """
    from plyhouse.games._compiled import extension_of, module_name
    from plyhouse.games._pure import wanted
    from plyhouse.games.registry import game_file, load_game_class, parse_spec

    if wanted(os.environ):
        raise CommandError("PLYHOUSE_PURE asks for interpreted games: unset it.", EXIT_USAGE)
    source, _ = parse_spec(file)
    path = game_file(source)
    load_game_class(source)  # An error of the file itself is reported as such.
    for needed in ("mypyc", "setuptools"):
        try:
            found = importlib.util.find_spec(needed)
        except ValueError:  # a module that cannot be imported again
            found = None
        if found is None:
            raise CommandError(MISSING.format(needed))
    text = path.read_bytes()
    target = extension_of(path, text)
    with tempfile.TemporaryDirectory(prefix="plyhouse-compile-") as folder:
        made = _build(path, text, module_name(path), Path(folder))
        expected = _played(source, pure=True)
        _forget(path)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(made, target)
    try:
        differs = _played(source, pure=False) != expected
    except CommandError:
        target.unlink(missing_ok=True)
        raise
    if differs:
        target.unlink(missing_ok=True)
        raise CommandError(
            f"{path}: compiled it plays differently than interpreted, so the machine code was "
            "thrown away. Look for numbers beyond 64 bits, and for values of other types than "
            "their annotations say."
        )
    click.echo(f"Compiled {path}: {target}")


def _build(path: Path, text: bytes, name: str, folder: Path) -> Path:
    """Compile a copy of the file; return the extension, or raise with the compiler's words."""
    from plyhouse import games

    # Said at once: the types are checked first, which takes seconds.  Windows finds its own.
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    if os.name == "posix" and shutil.which(str(command).split()[0]) is None:
        raise CommandError(NO_COMPILER)
    copies = folder / "plyhouse" / "games"
    copies.mkdir(parents=True)
    for module in Path(games.__path__[0]).glob("*.py"):
        shutil.copyfile(module, copies / module.name)
    copy = folder / f"{name}.py"
    prepared, inserted = _prepared(text)
    copy.write_bytes(prepared)
    folder.joinpath("mypy.ini").write_text(CONFIG, encoding="utf-8")
    folder.joinpath("setup.py").write_text(SETUP, encoding="utf-8")
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, "setup.py", copy.name],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    told = re.compile(rf"{name}\.py:(?P<line>\d+)(?P<rest>:.*)")
    made = sorted((folder / "lib").glob(f"{name}.*")) if done.returncode == 0 else []
    if made:
        return made[0]
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    types = [_told(found, path, inserted) for line in lines if (found := told.match(line))]
    if any(": error:" in line for line in types):
        raise CommandError("The file does not compile:\n" + "\n".join(types), EXIT_FAILED)
    if any("No such file or directory" in line or "unable to execute" in line for line in lines):
        raise CommandError(NO_COMPILER)
    raise CommandError("The file does not compile:\n" + "\n".join(lines[-12:] or ["(no output)"]))


def _prepared(text: bytes) -> tuple[bytes, list[int]]:
    """The text as mypyc gets it, and the lines of the original before which two were inserted.

    Dataclasses, as observations are, must be told to stay interpreted classes; and mypyc looks
    names up where they are defined, in modules that the file itself need not have imported.
    """
    lines = text.splitlines(keepends=True)
    inserted: list[int] = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.ClassDef):
            continue
        names = {
            ast.unparse(each).partition("(")[0].rpartition(".")[2]: each.lineno
            for each in node.decorator_list
        }
        if "dataclass" in names and "mypyc_attr" not in names:
            inserted.append(min(names.values()))
    for number in reversed(inserted):
        lines.insert(number - 1, NOT_NATIVE)
    return b"".join(lines), inserted


def _told(found: re.Match[str], path: Path, inserted: list[int]) -> str:
    """A line of mypy about the copy, as one about the file."""
    line = int(found["line"])
    for number in inserted:
        if line > number:
            line = max(number, line - NOT_NATIVE.count(b"\n"))
    return f"{path}:{line}{found['rest']}"


def _played(source: str, *, pure: bool) -> str:
    """Return random plays of the game in full detail, from another process."""
    done = subprocess.run(  # noqa: S603 - the game that the user named
        [sys.executable, "-P", "-c", PLAY, source],
        env={**os.environ, "PLYHOUSE_PURE": "1" if pure else "0"},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        how = "Interpreted" if pure else "Compiled"
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise CommandError(f"{how}, the game cannot be played: {last}")
    return done.stdout


def _forget(path: Path) -> None:
    """Remove what earlier versions of the file were compiled to."""
    from plyhouse.games._compiled import SUFFIX, extension_of, module_name

    for old in extension_of(path).parent.glob(f"{module_name(path)}.*{SUFFIX}"):
        old.unlink(missing_ok=True)
