"""``plyhouse match --sandbox``: bots of this machine, as a server would run them."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.conftest import Plyhouse

BOT = (
    "from plyhouse.bots import Bot\nclass Mine(Bot):\n    games = ('nim',)\n"
    "    def choose(self, turn):\n        open('trace', 'w').close()\n"
    "        return turn.legal[0]\n"
)


def test_package_plays_in_the_sandbox_and_is_confined(plyhouse: Plyhouse, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "mybot.py").write_text(BOT)
    series = ("match", "pack", "random", "--game", "nim", "--games", "2", "--jobs", "1")
    done = plyhouse(*series)
    assert done.code == 0, done.err
    (tmp_path / "trace").unlink()
    done = plyhouse(*series, "--sandbox", traceback=True)
    assert done.code == 1, "it may not write there"
    assert "Permission denied" in done.err or "Read-only" in done.err
    assert not (tmp_path / "trace").exists()


def test_command_has_no_sandbox(plyhouse: Plyhouse) -> None:
    bot = f"cmd:{sys.executable} -c pass"
    done = plyhouse("match", bot, "random", "--game", "nim", "--sandbox")
    assert done.code == 2
    assert "a sandbox needs a folder with plyhouse.toml" in done.err
