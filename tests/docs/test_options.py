"""Pages name options that a program has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "docs").is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
COMMANDS = "docs/commands.md"
"""The generated list of all options of `plyhouse`."""
STYLES = "docs/web-style.md"
"""Its names with two dashes are variables of style sheets."""
PROGRAMS = ("benchmarks", "tests/attack", "examples")
OTHERS = {
    "gnugo": {"--mode", "--chinese-rules", "--positional-superko"},
    "nats-server": {"--user", "--pass"},
    "openenv": {"--url"},
    "pip": {"--force-reinstall", "--no-deps", "--wheel-dir"},
    "python": {"--enable-optimizations"},
    "systemctl": {"--now"},
    "uv": {"--python", "--reinstall", "--with"},
    "xcode-select": {"--install"},
    "every command": {"--help"},
    "a bot of yours": {"--fast", "--stdio"},
}
"""Options of programs that are not in the repository."""


def test_pages_name_options_that_exist() -> None:
    known = set().union(*OTHERS.values())
    known |= set(OPTION.findall((ROOT / COMMANDS).read_text(encoding="utf-8")))
    for folder in PROGRAMS:
        for program in (ROOT / folder).rglob("*.py"):
            known |= set(OPTION.findall(program.read_text(encoding="utf-8")))
    unknown = [
        f"{page.relative_to(ROOT)}: {option}"
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        if page != ROOT / STYLES
        for option in OPTION.findall(page.read_text(encoding="utf-8"))
        if option not in known
    ]
    assert unknown == []
