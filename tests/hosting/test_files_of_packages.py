"""Packages as editors, archivers and systems write them: marks, separators, names, leftovers."""

from __future__ import annotations

import codecs
import io
import os
import zipfile
from pathlib import Path

import pytest

from plyhouse.bots.hosting.build import build
from plyhouse.bots.loading import load_bot
from plyhouse.bots.local_packages import read_package
from plyhouse.bots.process.bot_process import BotProcess
from plyhouse.clients.api.client import packed
from plyhouse.clients.bot_check.package_check import import_problem
from plyhouse.protocol.hosting.package import Package, Rules, SubmissionError, from_upload, from_zip
from plyhouse.protocol.text import decoded, trimmed_token
from plyhouse.server.config import ConfigError, read_settings

BOT = (
    "from plyhouse.bots import Bot\n"
    "class Mine(Bot):\n"
    "    games = ('nim',)\n"
    "    def choose(self, turn):\n"
    "        return turn.legal[0]\n"
)
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]
RULES = Rules(installed=False)


def zipped(**files: str | bytes) -> bytes:
    """A zip with these files; `SEPARATOR` in a name is a backslash."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def of(*files: tuple[str, str | bytes]) -> Package:
    return from_zip(zipped(**dict(files)), RULES)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_package_in_any_encoding_with_a_mark_is_read(encoding: str, end: str) -> None:
    manifest = f'[bot]{end}name = "größe"{end}bot = "a.py"{end}'
    package = of(
        ("a.py", BOT),
        ("plyhouse.toml", manifest.encode(encoding)),
        ("requirements.txt", f"numpy>=1.20{end}# größe{end}".encode(encoding)),
    )
    assert (package.manifest.name, package.manifest.bot) == ("größe", "a.py")
    assert package.requirements == ("numpy>=1.20",)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_settings_in_any_encoding_with_a_mark_are_read(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "plyhouse.toml"
    file.write_bytes("# größe\r\nport = 9\r\n".encode(encoding))
    assert read_settings(file) == {"port": 9}


@pytest.mark.parametrize("data", ["größe".encode("latin-1"), "port = 9".encode("utf-16-le")])
def test_text_in_another_encoding_is_refused_with_the_fix(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="save it as UTF-8"):
        decoded(data)
    file = tmp_path / "plyhouse.toml"
    file.write_bytes(data)
    with pytest.raises(ConfigError, match="save it as UTF-8"):
        read_settings(file)
    for name in ("plyhouse.toml", "requirements.txt"):
        with pytest.raises(SubmissionError, match=f"{name} cannot be read.*save it as UTF-8"):
            of(("a.py", BOT), (name, data))


@pytest.mark.parametrize("around", ["{}", "\ufeff{}", "{}\r", "\ufeff{}\r\n", " {}\t\n"])
def test_token_of_a_file_is_trimmed(around: str) -> None:
    assert trimmed_token(around.format("ply_x")) == "ply_x"


def leftovers(top: str = "") -> list[tuple[str, str | bytes]]:
    return [
        (f"{top}._mybot.py", b"\0\5\x16\7\0\2\0\0Mac OS X"),
        (f"{top}sub/._x.txt", b"\0\5\x16\7"),
        (f"{top}__MACOSX/._mybot.py", b"\0\5\x16\7"),
        (f"{top}.DS_Store", b"\0\0\0\1Bud1"),
        (f"{top}Thumbs.db", b"\xd0\xcf"),
        (f"{top}desktop.ini", "[x]"),
        (f"{top}__pycache__/mybot.cpython-312.pyc", b"x"),
        (f"{top}.ipynb_checkpoints/mybot-checkpoint.py", BOT),
        (f"{top}.git/config", "x"),
    ]


@pytest.mark.parametrize("top", ["", "mybot/"])
def test_leftovers_of_systems_and_tools_are_ignored(top: str, tmp_path: Path) -> None:
    files = [(f"{top}mybot.py", BOT), (f"{top}sub/x.txt", "1"), *leftovers(top)]
    if top:  # what macOS puts beside the folder itself
        files += [("__MACOSX/._mybot", b"\0"), ("._mybot", b"\0")]
    assert of(*files).files.keys() == {"mybot.py", "sub/x.txt"}
    for name, content in files:
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    folder = tmp_path / top
    assert read_package(folder, RULES).files.keys() == {"mybot.py", "sub/x.txt"}
    assert from_upload(*packed(folder), RULES).files.keys() == {"mybot.py", "sub/x.txt"}


def test_zip_with_backslashes_has_folders() -> None:
    package = of(
        ("mybot\\", ""),
        ("mybot\\mybot.py", BOT),
        ("mybot\\data\\", ""),
        ("mybot\\data\\w.txt", "1"),
    )
    assert package.files.keys() == {"mybot.py", "data/w.txt"}


@pytest.mark.parametrize("name", ["..\\x.py", "a\\..\\..\\x.py", "\\x.py", "C:\\x.py", "a\\\\b.py"])
def test_backslashes_lead_nowhere_else(name: str) -> None:
    with pytest.raises(SubmissionError) as refused:
        of(("mybot.py", BOT), (name, "x"))
    assert refused.value.code == "submission/bad_name"


def test_backslash_and_slash_are_one_name() -> None:
    with pytest.raises(SubmissionError, match="twice"):
        of(("a/x.txt", "1"), ("a\\x.txt", "2"), ("mybot.py", BOT))


@pytest.mark.parametrize(
    "name", ["my bot.py", "mybot (1).py", "Größe.py", "mybot-v1.2.py", "my,bot=2.py", "a.py.py"]
)
@pytest.mark.parametrize("named", [True, False])
def test_bot_in_a_file_of_any_name_is_loaded(name: str, named: bool, tmp_path: Path) -> None:
    manifest = [("plyhouse.toml", f'[bot]\nbot = "{name}"\n')] if named else []
    package = of((name, BOT), *manifest)
    assert import_problem(package) is None
    assert load_bot(build(package, tmp_path).spec).__name__ == "Mine"


@pytest.mark.parametrize(
    ("start", "fault"),
    [
        (codecs.BOM_UTF8 + b"#!/bin/sh\n", "byte-order mark"),
        (b"#!/bin/sh\r\n", "line ends of Windows"),
        (b"#!/bin/sh\n", ""),
        (b"\x7fELF\r\n", ""),
    ],
)
def test_program_that_no_machine_can_start_is_refused(start: bytes, fault: str) -> None:
    manifest = '[bot]\nrun = ["./go"]\ngames = ["nim"]\n'
    files = (("go", start + b"exit\n"), ("plyhouse.toml", manifest))
    if not fault:
        assert "go" in of(*files).executable
        return
    with pytest.raises(SubmissionError, match=fault):
        of(*files)


BASES = (
    "from abc import ABC, abstractmethod\n",
    "class Base(Bot):\n    depth = 2\n",
    "class Base(Bot, ABC):\n    @abstractmethod\n    def rate(self, state): ...\n"
    "    def choose(self, turn):\n        return turn.legal[0]\n",
    "class Base(Bot, ABC):\n    @abstractmethod\n    def choose(self, turn): ...\n",
)


@pytest.mark.parametrize("base", BASES[1:])
def test_abstract_base_is_no_second_bot(base: str, tmp_path: Path) -> None:
    text = (
        f"{BASES[0]}from plyhouse.bots import Bot\n{base}"
        "class Mine(Base):\n    games = ('nim',)\n    def rate(self, state): return 0\n"
        "    def choose(self, turn):\n        return turn.legal[0]\nAlias = Mine\n"
    )
    name = tmp_path.name  # unlike that of any module of another test
    (tmp_path / f"{name}.py").write_text(text)
    assert load_bot(str(tmp_path / f"{name}.py")).__name__ == "Mine"
    (tmp_path / f"{name}_2.py").write_text(f"from {name} import Base, Mine\n")
    assert load_bot(str(tmp_path / f"{name}_2.py")).__name__ == "Mine"


ODD_IMPORTS = {
    "a thread that never ends": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(1000,)).start()\n",
    "a program that keeps the output": "import subprocess, sys\n"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n",
    "a closed output": "import sys\nsys.stdout.close()\nsys.stderr.close()\n",
    "closed descriptors": "import os\nos.close(1)\nos.close(2)\n",
    "no output": "import sys\nsys.stdout = sys.stderr = None\n",
    "much output": "print('x' * 1_000_000)\n",
    "something to do at the end": "import atexit, time\natexit.register(time.sleep, 1000)\n",
}


@pytest.mark.parametrize("odd", ODD_IMPORTS.values(), ids=ODD_IMPORTS)
def test_bot_that_is_fit_is_no_problem_whatever_its_import_does(odd: str) -> None:
    assert import_problem(of(("mybot.py", odd + BOT))) is None


@pytest.mark.parametrize("odd", ODD_IMPORTS.values(), ids=ODD_IMPORTS)
async def test_process_of_a_bot_with_an_odd_import_starts_and_ends(
    odd: str, tmp_path: Path
) -> None:
    (tmp_path / "mybot.py").write_text(odd + BOT)
    process = await BotProcess.start(str(tmp_path / "mybot.py"), on_output=lambda _: None)
    assert list(process.loaded.games) == ["nim"]
    await process.quit()
    process.kill()  # what it has started
    await process.closed()


def test_names_of_a_zip_may_begin_at_the_current_folder() -> None:
    package = of(("./", ""), ("./bot.py", BOT), ("././data/a.txt", "x"))
    assert sorted(package.files) == ["bot.py", "data/a.txt"]
    with pytest.raises(SubmissionError, match="points outside"):
        of(("./../bot.py", BOT))


def test_file_name_that_is_not_in_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / os.fsdecode(b"\xff.txt")).write_text("")
    with pytest.raises(SubmissionError, match="not in UTF-8: rename"):
        read_package(tmp_path)
