"""Templates: each of them renders, whatever the names, and a name is never more than a text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import UndefinedError

from plyhouse.server.results.leaderboards import Line
from plyhouse.server.web import templates
from plyhouse.server.web.pages.rendering import ENVIRONMENT, render
from plyhouse.server.web.pages.words import FILTERS
from plyhouse.storage.rows import MatchRow, SeatRow

PLAIN = "zebra"
NAMES = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "' onmouseover=alert(1) x='",
    "</title></textarea></noscript><b>",
    "&lt;b&gt; &amp; {{ 7 * 7 }} {% raw %}",
    "Ærøskøbing \N{SNOWMAN} \N{HEBREW LETTER ALEF} \N{RIGHT-TO-LEFT OVERRIDE}x",
    "javascript:alert(1)",
)


def match(name: str, **changed: Any) -> MatchRow:
    fields: dict[str, Any] = {
        "id": name,
        "pairing_id": name,
        "game": name,
        "time_control": name,
        "rated": True,
        "illegal_rule": "forfeit",
        "stream": "",
        "commitment": "",
        "seed": b"",
        "seats": (
            SeatRow(0, name, f"{name}.bot", name, 1, 1, 1),
            SeatRow(1, name, name, name, 2, 2, 2),
        ),
        "created_ms": 0,
        "status": "finished",
        "ply": 7,
        "finished_ms": 1_700_000_000_000,
        "termination": f"flag_{name}",
        "reason": name,
        "returns": (1.0, -1.0),
    }
    return MatchRow(**{**fields, **changed})


def line(name: str, mean: float | None) -> Line:
    return Line(
        rank=1,
        player=name,
        bot=name,
        bot_id=1,
        score=1.5,
        games=2,
        wins=1,
        draws=1,
        losses=0,
        rating=None if mean is None else 1500.4,
        low=1400.0,
        high=None if mean is None else 1600.0,
        returns=1.0,
        return_squares=1.0,
        mean_return=mean,
        mean_low=mean,
        mean_high=mean,
    )


def live(name: str) -> Any:
    """What a page of running matches reads of one."""
    holder = SimpleNamespace(name=name)
    config = SimpleNamespace(time_control=name)
    state = SimpleNamespace(game=SimpleNamespace(spec=name), config=config, ply=3)
    return SimpleNamespace(id=name, holders=[holder, holder], match=state)


def schema(name: str) -> dict[str, Any]:
    kinds: list[dict[str, Any]] = [
        {"$ref": f"#/components/schemas/a_{name}"},
        {"oneOf": [{"type": name}, {"enum": [name, 1]}]},
        {"type": "array", "items": {"type": ["null", name]}},
        {},
    ]
    body = {"content": {name: {"schema": kinds[0]}}}
    operation = {
        "summary": name,
        "parameters": [{"name": name, "in": name, "description": name, "schema": kinds[1]}],
        "requestBody": body,
        "responses": {"200": body, "400": body},
    }
    properties = {f"{name}{index}": kind for index, kind in enumerate(kinds)}
    return {
        "info": {"title": name, "description": name},
        "operations": [(name, name, operation), ("GET", "/bare", {"description": name})],
        "types": [
            (name, {"title": name, "description": name, "properties": properties}),
            (f"{name}2", {"required": []}),
        ],
    }


def pages(name: str) -> dict[str, list[dict[str, Any]]]:
    """What every page may be given, with ``name`` wherever a text is shown."""
    counts = {"bots": 1, "running": 0, "seeks": 2}
    return {
        "front.html": [
            {
                **counts,
                "version": name,
                "boards": [(name, [line(name, None)]), (name, [line(name, 0.5)])],
                "recent": [match(name), match(name, finished_ms=None, returns=())],
            },
            {**counts, "version": name, "boards": [], "recent": []},
        ],
        "leaderboard.html": [
            {"game": name, "board": [line(name, 0.0), line(name, None)]},
            {"game": name, "board": []},
        ],
        "matches.html": [
            {"newest": True, "running": [live(name)], "finished": [match(name)], "older": name},
            {"newest": True, "running": [], "finished": [], "older": None},
            {"newest": False, "running": [live(name)], "finished": [match(name)], "older": None},
        ],
        "match.html": [
            {"row": match(name)},
            {"row": match(name, status="running", rated=False, returns=(), termination="")},
        ],
        "play.html": [{"games": [name], "others": [name, name]}],
        "missing.html": [{"text": name}],
        "reference.html": [schema(name)],
    }


PARTS = {"layout.html", "tables.html", "words.html"}
"""What other templates are made of."""
CASES = [
    pytest.param(template, case, id=f"{template.removesuffix('.html')}-{case}")
    for template, cases in pages(PLAIN).items()
    for case in range(len(cases))
]


@dataclass
class Parsed(HTMLParser):
    """The elements of a page with the names of their attributes; its texts; its values."""

    shape: list[tuple[str, ...]] = field(default_factory=list)
    texts: str = ""
    links: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shape.append((tag, *(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        self.shape.append(("/", tag))

    def handle_data(self, data: str) -> None:
        self.texts += data


def parsed(html: str) -> Parsed:
    made = Parsed()
    made.feed(html)
    made.close()
    return made


def test_every_template_is_tried_here() -> None:
    assert set(ENVIRONMENT.list_templates(extensions=["html"])) == PARTS | set(pages(PLAIN))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("template", "case"), CASES)
def test_a_name_changes_the_text_of_a_page_and_nothing_else(
    template: str, case: int, name: str
) -> None:
    plain = parsed(render(template, **pages(PLAIN)[template][case]))
    other = parsed(render(template, **pages(name)[template][case]))
    assert other.shape == plain.shape
    if PLAIN in plain.texts:
        assert name in other.texts
    assert all(link.startswith(("/", "#")) for link in other.links)
    assert not any(link.startswith("//") for link in other.links)


@pytest.mark.parametrize("template", [name for name in pages(PLAIN) if name != "missing.html"])
def test_a_page_is_never_made_of_nothing(template: str) -> None:
    with pytest.raises(UndefinedError):
        render(template)
    with pytest.raises(UndefinedError):
        render("missing.html", txet="misspelt")


def test_nothing_is_exempt_from_escaping() -> None:
    folder = Path(templates.__file__).parent
    assert ENVIRONMENT.autoescape is True
    for path in folder.glob("*.html"):
        assert not re.search(r"\|\s*safe\b|autoescape|<style|\sstyle=|\son\w+=", path.read_text())
    for path in folder.parent.rglob("*.py"):
        assert not re.search(r"\bMarkup\(|import Markup|import html\b", path.read_text()), path
    assert set(FILTERS).isdisjoint({"safe", "escape", "e", "forceescape"})


def test_games_have_titles_and_those_that_are_gone_their_spec() -> None:
    shown = [FILTERS["title"](spec) for spec in ("go(size=9)", "connect_four", "gone(<b>=1)")]
    assert shown[1:] == [("Connect four", ""), ("gone(<b>=1)", "")]
    assert "go" in shown[0].name.lower()
    page = render("leaderboard.html", game="go(size=5)", board=[])
    assert '<span class="soft">(size=5)</span></h1>' in page


def test_values_in_words() -> None:
    assert [FILTERS["signed"](value) for value in (0.0, 1.0, -0.5)] == ["0", "+1", "\u22120.5"]
    assert FILTERS["scores"](()) == "\u2013"
    assert FILTERS["interval"]((None, 2.0), ".0f") == ""
    assert FILTERS["interval"]((1.0, 2.0), ".0f") == "1 … 2"
    assert FILTERS["number"](None, ".0f") == "\u2013"
    assert [FILTERS["count"](many, "match", "es") for many in (1, 2)] == ["1 match", "2 matches"]
    assert FILTERS["segment"]("a/b?c#d") == "a%2Fb%3Fc%23d"
    assert FILTERS["ending"]("flag_fall") == "flag fall"
