"""The digest of a bot: the same for the same files, another for any change that matters."""

from __future__ import annotations

from pathlib import Path

from plyhouse.bots.running.digest import bot_digest

BOT = """
import helper
from tools import deep
from tools.more import what

class MyBot: ...
"""


def lay(folder: Path) -> Path:
    (folder / "tools").mkdir(parents=True)
    files = {
        "mybot.py": BOT,
        "helper.py": "import second\n",
        "second.py": "x = 1\n",
        "tools/__init__.py": "",
        "tools/deep.py": "from . import near\nfrom .. import helper\n",
        "tools/near.py": "",
        "tools/more.py": "what = 1",
        "other.py": "class Other: ...",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder / "mybot.py"


def test_every_module_of_its_own_counts_and_nothing_else(tmp_path: Path) -> None:
    bot = lay(tmp_path / "a")
    digest = bot_digest(str(bot))
    assert len(digest) == 64
    assert bot_digest(str(lay(tmp_path / "b"))) == digest, "wherever it lies"
    (bot.parent / "other.py").write_text("changed")
    assert bot_digest(str(bot)) == digest
    counted = ("mybot.py", "helper.py", "second.py", "tools/__init__.py", "tools/deep.py",
               "tools/near.py", "tools/more.py")  # fmt: skip
    for name in counted:
        before = (bot.parent / name).read_text()
        (bot.parent / name).write_text(before + "# changed\n")
        assert bot_digest(str(bot)) != digest, name
        (bot.parent / name).write_text(before)
    assert bot_digest(str(bot)) == digest


def test_options_their_files_and_the_class_count(tmp_path: Path) -> None:
    bot = lay(tmp_path / "a")
    weights = tmp_path / "weights.json"
    weights.write_text("[1]")
    specs = [f"{bot}", f"{bot}:MyBot", f"{bot}(depth=3)", f"{bot}(depth=4)",
             f'{bot}(file="{weights}")']  # fmt: skip
    digests = [bot_digest(spec) for spec in specs]
    assert len(set(digests)) == len(specs)
    weights.write_text("[2]")
    assert bot_digest(specs[-1]) != digests[-1]


def test_installed_bots_have_one_too() -> None:
    assert len({bot_digest("random"), bot_digest("mcts"), bot_digest("alpha_beta(depth=3)")}) == 3


def test_a_file_that_is_not_there_or_no_python_is_no_reason_to_fail(tmp_path: Path) -> None:
    assert bot_digest(str(tmp_path / "none.py")) == ""
    broken = tmp_path / "broken.py"
    broken.write_text("def (")
    assert len(bot_digest(str(broken))) == 64
