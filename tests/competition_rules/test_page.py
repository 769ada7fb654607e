"""The pages about formats state their costs and parameters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from plyhouse.server.competition_rules.format_registry import FORMATS, described, make_format
from plyhouse.server.competition_rules.formats import FormatError

ROOT = Path(__file__).resolve().parents[2]
CHOICE = (ROOT / "docs" / "choose-format.md").read_text("utf-8")
PAGE = (ROOT / "docs" / "competitions-formats.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)`(.*?) \| ([\w, ]+) \| ([\w, ]+) \|$", CHOICE, re.M)


@pytest.mark.parametrize(("name", "terms", "few", "many"), ROWS)
def test_the_costs_on_the_page_are_counted(name: str, terms: str, few: str, many: str) -> None:
    given: dict[str, Any] = {key: int(value) for key, value in re.findall(r"`(\w+)` (\d+)", terms)}
    against = re.search(r"against (\d+) baselines", terms)
    baselines = int(against[1]) if against else 0
    form = make_format(name, **given)
    for entries, said in ((30, few), (200, many)):
        if said == "no end":
            with pytest.raises(FormatError):
                form.count(entries)
        else:
            assert f"{form.count(entries + baselines, baselines):,}" == said


def test_every_format_and_parameter_is_on_the_page() -> None:
    assert {name for name, *_ in ROWS} == set(FORMATS)
    named = set(re.findall(r"`(\w+)", PAGE))
    # The rest has defaults that nobody needs to think of; the catalogue tells them.
    rest = {"bye", "patience"}
    wanted = {
        key for name in FORMATS for key in {each.name: each.default for each in described(name)}
    }
    assert wanted - named <= rest
