"""Every game has a page, made from the game as it is now, and the site links it."""

from __future__ import annotations

import json
import random
import re
import tomllib
from pathlib import Path

import pytest

from plyhouse.clients.docgen.game_pages import game_pages, write_game_pages
from plyhouse.games.observation_fields import observation_fields
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.games.stochastic.monopoly.board import CODES
from plyhouse.protocol.codec import JSON
from plyhouse.protocol.messages import Turn

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "games"
if not FOLDER.is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.name != "published.toml")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The pages by their names, as they are made from the games."""
    return game_pages(tomllib.loads((FOLDER / "published.toml").read_text(encoding="utf-8")))


def test_every_game_has_a_page_and_no_page_is_left_over(pages: dict[str, str]) -> None:
    assert set(pages) == {"observations.json", *(f"{name}.md" for name in (*BUILT_IN, "index"))}
    assert {path.name for path in FOLDER.iterdir()} == {"published.toml", *pages}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_up_to_date(name: str, pages: dict[str, str]) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == pages[name], "python -m plyhouse.clients.docgen.game_pages --write docs/games"


def test_page_of_monopoly_lists_the_properties_and_groups(pages: dict[str, str]) -> None:
    page = pages["monopoly.md"]
    rows = [
        "| 39 | Boardwalk | `boardwalk` | `BOA` | `dark_blue` | 400 | 200 "
        "| 50, 200, 600, 1400, 1700, 2000 |",
        "| 5 | Reading Railroad | `reading` | `REA` | `railroads` | 200 |  | 25, 50, 100, 200 |",
        "| 12 | Electric Company | `electric` | `ELE` | `utilities` | 150 |  "
        "| 4, 10 times the dice |",
    ]
    assert all(row in page for row in rows)
    deeds = re.findall(r"^\| \d+ \| [^|]+ \| `(\w+)` \| `[\w&]+` \|", page, re.MULTILINE)
    assert deeds == list(CODES)
    assert "| 30 | Go to Jail |" in page


def test_the_site_links_every_page(pages: dict[str, str]) -> None:
    linked = set(re.findall(r"games/(\w+\.md)", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert linked == {name for name in pages if name.endswith(".md")}
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\((\w+\.\w+)\)", index)) == set(pages) - {"index.md"}


def test_pages_are_written_beside_the_published_numbers(
    tmp_path: Path, pages: dict[str, str]
) -> None:
    (tmp_path / "published.toml").write_bytes((FOLDER / "published.toml").read_bytes())
    write_game_pages(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"published.toml", *pages}


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_page_shows_every_field_and_a_frame_that_can_be_read(
    name: str, pages: dict[str, str]
) -> None:
    page = pages[f"{name}.md"]
    (shown,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    turn = JSON.decode_server(shown)
    assert isinstance(turn, Turn)
    assert turn.deadline_ms
    assert turn.observation["legal"]
    assert len(turn.clocks) > turn.observation["seat"]
    game = get_game(name)
    assert list(turn.observation) == [field.name for field in observation_fields(game)]
    game.sample_state(game.decode_observation(turn.observation), random.Random(1))
    for field in observation_fields(game):
        assert f"| `{field.name}` | {field.type} | {field.meaning} |" in page
    assert max(map(len, shown.splitlines())) <= 100
    definition = json.loads(pages["observations.json"])["$defs"][name]
    assert definition["examples"] == [turn.observation]
