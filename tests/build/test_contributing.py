"""The lists of CONTRIBUTING.md are complete: a made-up game, format, call and page are added to a
copy of the sources, in the listed files only, and the tests of the project accept them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.build.conftest import copy_tree
from tests.harness.source_tree import TOP

ROOT = Path(__file__).resolve().parents[2]

GAME: Final = '''\
"""Last straw: take one or two of four straws; the seat that takes the last one wins.

Actions are written as the number taken, ``1`` or ``2``.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from plyhouse.games.base import GameInfo
from plyhouse.games.deterministic.coins import Coins, CoinsState


class LastStraw(Coins):
    """The subtraction game in its normal form."""

    info: ClassVar[GameInfo] = dataclasses.replace(
        Coins.info, name="last_straw", title="Last straw", summary="Take one.", parameters=()
    )

    def check_parameters(self) -> None:
        self.max_take, self.misere = 2, False
        self.action_notation = "how many straws to take, 1 or 2"

    def int_parameter(self, name: str) -> int:
        return 4
'''
FORMAT: Final = '''\
"""Twice round: every entry meets every other one twice."""

from dataclasses import dataclass

from plyhouse.server.competition_rules.round_robin import RoundRobin


@dataclass(frozen=True, kw_only=True)
class TwiceRound(RoundRobin):
    """Every entry meets every other one twice, once more with each of ``laps``."""

    name = "twice_round"

    laps: int = 2
'''
CALL: Final = '''

@get("echoes/{word}")
def echo(word: str, *, times: int = 1) -> list[str]:
    """A word, several times."""
'''
HANDLER: Final = '''

@serve(calls.echo)
async def echo(word: FromPath[str], times: FromQuery[int] = 1) -> list[str]:
    """Give a word several times."""
    return [word] * times


HANDLERS = (*HANDLERS, echo)
'''
PAGE: Final = '''

@get("/echo", include_in_schema=False)
async def echo_page() -> Response[str]:
    """Show a word."""
    return page("echo.html", word="echo")


HANDLERS = (*HANDLERS, echo_page)
'''
TEMPLATE: Final = """\
{% extends "layout.html" %}
{% block title %}{{ word }} - Plyhouse{% endblock %}
{% block main %}
<h1>{{ word }}</h1>
{% endblock %}
"""
SERVED: Final = """\
import asyncio

import httpx

from plyhouse.clients.api import AsyncApi
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server


async def test_call_and_page_are_served():
    config = ServerConfig(port=0, database="sqlite:///:memory:", builtin_bots=False)
    async with running_server(config) as server, AsyncApi(server.url) as api:
        assert await api.echo("a b", times=2) == ["a b", "a b"]
        async with httpx.AsyncClient(base_url=server.url) as http:
            assert "<h1>echo</h1>" in (await http.get("/echo")).text
            described = (await http.get("/api/openapi.json")).json()
    assert "/api/v1/echoes/{word}" in described["paths"]
"""
ADDED: Final[dict[str, list[tuple[str, str, str]]]] = {
    "A game.": [
        ("games/deterministic/last_straw.py", "", GAME),
        (
            "games/registry.py",
            "BUILT_IN: Final[dict[str, str]] = {\n",
            '    "last_straw": "plyhouse.games.deterministic.last_straw:LastStraw",\n',
        ),
        ("tests/games/test_check_game.py", "SPECS = [\n", '    "last_straw",\n'),
        (
            "docs/games/published.toml",
            "tests of the game itself).\n\n",
            "[[last_straw.perft]]\ncounts = [2, 4, 4, 1]\n\n",
        ),
        ("mkdocs.yml", "games/kuhn_poker.md\n", "      - Last straw: games/last_straw.md\n"),
    ],
    "A format of competitions.": [
        ("server/competition_rules/twice_round.py", "", FORMAT),
        (
            "server/competition_rules/format_registry.py",
            "import Tables\n",
            "from plyhouse.server.competition_rules.twice_round import TwiceRound\n",
        ),
        (
            "server/competition_rules/format_registry.py",
            '"ladder": (Ladder, {}),\n',
            '    "twice_round": (TwiceRound, {}),\n',
        ),
        (
            "docs/competitions-formats.md",
            "",
            "\n## Twice round\n\nEveryone meets all `laps` times.\n",
        ),
        (
            "docs/choose-format.md",
            "| `ladder` | no end | no end |\n",
            "| `twice_round` | 1,740 | 79,600 |\n",
        ),
        (
            "tests/harness/competition_fields.py",
            "import Tables\n",
            "from plyhouse.server.competition_rules.twice_round import TwiceRound\n",
        ),
        (
            "tests/harness/competition_fields.py",
            "FORMS = st.one_of(\n",
            "    st.builds(TwiceRound, mirrored=mirrored),\n",
        ),
    ],
    "A call of the HTTP API.": [
        ("protocol/api/calls.py", "", CALL),
        ("server/web/api/standings.py", "", HANDLER),
        ("clients/api/client.py", "calls.health)\n", "    echo = Method(calls.echo)\n"),
    ],
    "A page of the server.": [
        ("server/web/templates/echo.html", "", TEMPLATE),
        ("server/web/pages/leaderboards.py", "", PAGE),
        (
            "tests/web/test_templates.py",
            '"text": name}],\n',
            '        "echo.html": [{"word": name}],\n',
        ),
    ],
}
"""For each list the additions: a file, the text after which it comes ("" for its end), and what."""
WRITTEN: Final = {
    "tests/games/golden/": (
        "from plyhouse.games.playthrough import *; write_golden_files('tests/games/golden')"
    ),
    "docs/games/": (
        "from pathlib import Path; from plyhouse.clients.docgen.game_pages import *;"
        " write_game_pages(Path('docs/games'))"
    ),
}
"""What commands of the lists write, and those commands."""
TESTS: Final = (
    "tests/games/test_completeness.py::test_every_game_is_checked_against_the_laws",
    "tests/games/test_completeness.py::test_every_game_has_a_golden_playthrough",
    "tests/games/test_completeness.py::test_every_game_is_registered_under_its_own_name",
    "tests/games/test_check_game.py::test_built_in_games_keep_every_law[last_straw]",
    "tests/games/test_published.py::test_every_game_has_numbers_that_prove_it",
    "tests/games/test_published.py::test_published_counts_come_out[last_straw-start]",
    "tests/docs/test_game_pages.py::test_every_game_has_a_page_and_no_page_is_left_over",
    "tests/docs/test_game_pages.py::test_a_page_is_up_to_date",
    "tests/docs/test_game_pages.py::test_the_site_links_every_page",
    "tests/docs/test_game_pages.py::"
    "test_a_page_shows_every_field_and_a_frame_that_can_be_read[last_straw]",
    "tests/competition_rules/test_laws.py::test_everybody_who_stays_plays",
    "tests/competition_rules/test_laws.py::"
    "test_more_seats_are_refused_where_only_two_fit_and_told_what_would[twice_round]",
    "tests/competition_rules/test_laws.py::test_every_format_is_made_with_its_defaults[twice_round]",
    "tests/competition_rules/test_page.py",
    "tests/web/test_templates.py::test_every_template_is_tried_here",
    "tests/web/test_templates.py::"
    "test_a_name_changes_the_text_of_a_page_and_nothing_else[echo-0-<script>alert(1)</script>]",
    "tests/web/test_templates.py::test_a_page_is_never_made_of_nothing[echo.html]",
    "tests/server/test_served.py",
)
"""What says that something has been forgotten; the other games, pages and formats are as before."""


def listed(kind: str) -> list[str]:
    """The files and folders of a list, in its order: those at the beginning of each line."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    found = text.partition(f"**{kind}**")[2].partition("\n**")[0]
    lines = re.findall(r"^- (.*?)[:\n]", found, re.M)
    return [path for line in lines for path in re.findall(r"`([\w./-]+)`", line)]


def insert(file: Path, anchor: str, text: str) -> None:
    old = file.read_text("utf-8") if file.exists() else ""
    assert not anchor or anchor in old, f"{file} has no {anchor!r}"
    before, found, after = old.partition(anchor) if anchor else (old, "", "")
    file.write_text(before + found + text + after, "utf-8")


@pytest.mark.parametrize("kind", ADDED)
def test_a_list_names_the_files_that_an_addition_touches(kind: str) -> None:
    places = listed(kind)
    touched = [path for path, _, _ in ADDED[kind]]
    touched += [folder for folder in WRITTEN if folder in places]
    for path in touched:
        assert any(path == place or path.startswith(place) for place in places), path
    unused = [place for place in places if not any(path.startswith(place) for path in touched)]
    assert len(places) > 2
    # Folders that stand for others, and files of which one is chosen.
    assert set(unused) <= {
        "games/stochastic/",
        "games/hidden/",
        "protocol/api/competition_calls.py",
    }


def test_what_the_lists_say_is_enough(tmp_path: Path) -> None:
    tree = copy_tree(tmp_path / "tree")
    (tree / "plyhouse").mkdir()
    for top in TOP:
        (tree / "plyhouse" / top).symlink_to(tree / top)
    for additions in ADDED.values():
        for path, anchor, text in additions:
            insert(tree / path, anchor, text)
    (tree / "tests" / "server" / "test_served.py").write_text(SERVED, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tree), "PLYHOUSE_PURE": "1"}
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST"):
        environment.pop(name, None)

    def run(*words: str) -> None:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]

    for program in WRITTEN.values():
        run("-c", program)
    assert (tree / "docs" / "games" / "last_straw.md").is_file()
    run("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *TESTS)
