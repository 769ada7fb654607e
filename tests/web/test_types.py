"""The types by which the web client is checked are those of what the server sends."""

from __future__ import annotations

import re

from .make_types import TARGET, types_text

FOLDER = TARGET.parent


def test_types_of_the_wire_are_those_of_the_server() -> None:
    written = TARGET.read_text(encoding="utf-8")
    assert written == types_text(), "python -m tests.web.make_types writes them anew"


def test_nothing_escapes_the_check_of_types() -> None:
    for path in sorted(FOLDER.glob("*.js")):
        text = path.read_text(encoding="utf-8")
        escaped = re.findall(r"@ts-(?:ignore|nocheck|expect-error)|@\w+ \{[^}\n]*\bany\b", text)
        assert not escaped, f"{path.name}: {escaped}"
