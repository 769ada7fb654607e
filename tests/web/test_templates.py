"""Templates: each of them renders with any names, and a name is only a text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import UndefinedError

from plyhouse.games.base import Parameter
from plyhouse.games.rules import Block
from plyhouse.protocol.api.bots import (
    Bot,
    BotMatch,
    BotPage,
    BotRating,
    BotResult,
    BotVersion,
    Holder,
    Suspension,
)
from plyhouse.protocol.api.competitions import Announcement, Code, Entry, Staff
from plyhouse.protocol.api.matches import KeptOutput, Match, Seat
from plyhouse.protocol.api.people import OFFERED_TIMES, OfferedTime, PlayerAccount
from plyhouse.protocol.api.reports import (
    BaselineScore,
    Forfeit,
    LostMatch,
    Report,
    ReportEntry,
    ReportScore,
    SlowPly,
    Summary,
)
from plyhouse.protocol.api.server import ClusterMember, ClusterState
from plyhouse.protocol.api.standings import (
    Board,
    Mean,
    MeanReturn,
    Nash,
    NextPairing,
    ProvenLine,
    Strength,
)
from plyhouse.protocol.api.standings import Standing as LeaderboardStanding
from plyhouse.protocol.api.submissions import Submission, SubmissionEntry
from plyhouse.protocol.messages import SeatInfo
from plyhouse.server.competition_rules.file import Practice as FilePractice
from plyhouse.server.competitions.bot_profiles import BotCareer
from plyhouse.server.lobby.match_search import Words
from plyhouse.server.match.presence import MatchSummary
from plyhouse.server.results.bot_statistics import career, paces
from plyhouse.server.web import templates
from plyhouse.server.web.pages.client_pages import Choice, Tile
from plyhouse.server.web.pages.competition_forms import STEPS, Entered, Own, Pupil, StaffView
from plyhouse.server.web.pages.competitions import Practice, Row, Table
from plyhouse.server.web.pages.games import Rules
from plyhouse.server.web.pages.matches import FILTERS as LOOKED_FOR
from plyhouse.server.web.pages.rendering import ENVIRONMENT, render
from plyhouse.server.web.pages.template_filters import FILTERS
from plyhouse.server.web.plots import Bar, HeatCell, Plot, Score, progress, rating_history, results
from plyhouse.storage.bot_profiles import PlyCost
from plyhouse.storage.competition_rows import (
    CompetitionEntry,
    CompetitionGame,
    CompetitionRow,
    CompetitionStudent,
    VersionRow,
)
from plyhouse.storage.submission_rows import OUTCOMES, SubmissionRow

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


def member(name: str, state: str, leads: bool) -> ClusterMember:
    return ClusterMember(1, name, name, name, state, leads, 0, -500, 3, 40, 2)


def tile(name: str, picture: str = "") -> Tile:
    choice = Choice(name, name, name, name, (name, name), None, None)
    return Tile(name, name, name, 0, picture, {2: name}, (choice,), (name, name))


def rules(name: str) -> Rules:
    blocks = (Block("", (name, name)), Block(name, (name,)))
    parameters = ((Parameter(name, name, name), name),)
    return Rules(name, name, name, blocks, (name,), name, "2", name, parameters)


def match(name: str, returns: tuple[float | None, ...] = (1.0, -1.0), **changed: Any) -> Match:
    fields: dict[str, Any] = {
        "match": name,
        "pairing": name,
        "game": name,
        "time_control": name,
        "rated": True,
        "status": "finished",
        "ply": 7,
        "seats": [
            Seat(0, name, f"{name}.bot", name, returns[0]),
            Seat(1, name, name, name, returns[1]),
        ],
        "termination": f"flag_{name}",
        "reason": name,
        "created_ms": 0,
        "started_ms": 0,
        "finished_ms": 1_700_000_000_000,
        "record": name,
    }
    return Match(**{**fields, **changed})


def line(name: str, mean: float | None) -> LeaderboardStanding:
    return LeaderboardStanding(
        rank=1,
        player=name,
        bot=name,
        bot_id=1,
        version=name,
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


def live(name: str) -> MatchSummary:
    """A running match whose texts are all ``name``."""
    return MatchSummary(
        id=name,
        pairing=name,
        tournament=name,
        game=name,
        family=name,
        simultaneous=False,
        time_control=name,
        rated=True,
        players=(SeatInfo(name), SeatInfo(name)),
        seats=(),
        status="running",
        ply=3,
        began=True,
        outcome=None,
    )


def course(name: str) -> CompetitionRow:
    games = (CompetitionGame(0, name, None), CompetitionGame(1, name, name, "running"))
    return CompetitionRow(
        *(name, name, "", name),
        status="running",
        entries_each=1,
        most_students=9,
        created_ms=0,
        opens_ms=1,
        games=games,
    )


def board(name: str) -> Table:
    """A drawn board of two lines, the second without a rating."""
    out = ProvenLine(
        *(1, name, name, "active", False, 0.5, 4, 2, 0, 2, 0, {}),
        rating=Strength(1500.0, 1480.0, 1520.0, 1470.0, 1530.0, 1, 2, 4.0),
        ahead=0.5,
        twin_of="",
        nash=Nash(0.5, 0.4, 0.6, 0.0, 1.0),
        returns={name: MeanReturn(Mean(1.0, 0.5, 2.0, 3), Mean(1.0, None, None, 1), 0.1, 0.1, 2.0)},
        place=2,
        partners=[f"x/{name}"],
        decider=name,
        tie_break=name,
    )
    gone = ProvenLine(
        *(None, f"{name}!", name, name, True, None, 0, 0, 0, 0, 0, {}),
        rating=None,
        ahead=None,
        twin_of=name,
        nash=None,
        returns={},
    )
    shown = Board(
        name, name, "open", "public", 4, 0, [out, gone], [name], {}, {}, [], [], decided_by=name
    )
    bar = Bar(0.0, 100.0, 20.0, 60.0, 50.0)
    rows = (Row(out, bar, (None, HeatCell(0.5, 4))), Row(gone, None, (HeatCell(0.5, 0), None)))
    return Table(shown, rows, True)


def practice(name: str) -> Practice:
    """A practice ladder with a line of the viewer, and one without a rating."""
    table = board(name)
    return Practice(course(name), table, tuple(row.line for row in table.rows))


def competition(name: str) -> dict[str, Any]:
    return {
        "row": course(name),
        "early": True,
        "file": SimpleNamespace(
            teams=True,
            time_control=name,
            rules=name,
            board="public",
            practice=FilePractice(ladder=True),
        ),
        "practice": practice(name),
        "course": progress(name, [1000, 2000], 3, [(2, 50.0)]),
        "refused": name,
        "announced": [Announcement(1, 0, name, kind, name) for kind in ("note", "change")],
        "games": [SimpleNamespace(game=name, finished=1, planned=2, waiting_for=(name,))],
        "named": True,
        "following": [NextPairing(name, "1", 0, [name, name], 2, own) for own in (True, False)],
        "running": [live(name)],
        "files": ("csv", "jsonl"),
        "every": 15000,
        "outcomes": OUTCOMES,
        "scoring": {name: "by wins: a win scores 1, a draw 0.5, a loss 0"},
    }


def entries(name: str) -> tuple[Entered, ...]:
    """Entries: connected, not connected, never connected, and run by the server."""
    here = CompetitionEntry(1, 1, name, name, 1, name, name, True, False, "active")
    gone = CompetitionEntry(2, 1, name, name, 2, "", "", False, False, name, 3, name, name)
    never = CompetitionEntry(3, 1, name, name, None, "", "", False, True, "active")

    def shown(entry: CompetitionEntry, *, connected: bool = False, hosted: bool = False) -> Entered:
        fields = (entry.name, entry.version, entry.digest, entry.chosen, entry.baseline)
        return Entered(entry, Entry(*fields, entry.status, connected, hosted=hosted))

    return shown(here, connected=True), shown(gone), shown(never), shown(here, hosted=True)


def staff(name: str) -> StaffView:
    """A competition with a student, and one who was removed."""
    there = CompetitionStudent(1, name, f"{name}!", "active", 0, 1)
    gone = CompetitionStudent(2, name, "", name, 0, None)
    return StaffView(
        "owner",
        STEPS["running"],
        True,
        (Pupil(there, entries(name)), Pupil(gone, ())),
        entries(name),
        (Suspension(name, name, name, name, 1, 0, name),),
        (Code("ab", 2, 1, 1, name, None, None), Code("cd", 2, 1, None, "", None, 1)),
        (name,),
        people=(Staff(name, "owner", 0), Staff(name, "reader", 0)),
    )


def own(name: str) -> Own:
    student = CompetitionStudent(1, name, name, name, 0, 1)
    asked = [SubmissionEntry(name, True, each, text) for each, text in OUTCOMES.items()]
    handed_in = tuple(
        Submission(
            *(1, f"{name}/{name}", label, name, status, [name], 5, 0, None),
            asked,
            open=False,
            report=report,
            waits_for=name,
        )
        for status, label, report in (
            ("ready", name, name),
            ("refused", "", name),
            ("waiting", name, ""),
        )
    )
    versions = (VersionRow(1, 1, name, name, name, 0),)
    return Own(student, entries(name), versions, True, True, 5, handed_in)


def report(name: str) -> Report:
    """A report that has something of everything; addresses are the server's own."""
    score = ReportScore(name, 2, 1, 0, 1, 0.5, None, None, 0.1, 0.9)
    goal = BaselineScore(name, 2, 1, 0, 1, 0.5, 0.2, 0.8, 0.1, 0.9, name, 0.4, True)
    rating = Strength(1500.0, 1490.0, 1510.0, 1480.0, 1520.0, 1, 2, 2.0)
    entered = ReportEntry(name, name, name, name, 1, 0.5, 2, 1, 0, 1, 1, rating)
    forfeit = Forfeit(name, name, name, name, 3, name, name, [name], None, "/matches/a?ply=3")
    slow = SlowPly(name, name, 3, name, 0.5, 0.5, 9.0, "/matches/a?ply=3")
    lost = LostMatch(name, name, name, 0, [name, name], name, 7, "/matches/a")
    return Report(
        *(name, name, name, name, name, name, [entered], [goal], [score], {name: 1}),
        *([forfeit], [slow], [lost], {}, [name]),
        points=1.0,
        days_late=1,
        summary=Summary(name, name, "/matches/a?ply=3"),
    )


def scores(name: str) -> Plot | None:
    return results(name, [Score(name, 0.5, 0.2, 0.8, 2, 0.4, name), Score(name, 0, None, None, 1)])


def bot_page(name: str) -> dict[str, Any]:
    """A bot with a loss by forfeit, a void match and ratings of two versions."""
    fields = (name, name, 0, name)
    lost = BotMatch(
        *(*fields, "L", -1.0, "flag_fall", True, name, True, 7, 0, None),
        [Holder(name, name), Holder(name, f"{name}.bot")],
    )
    void = BotMatch(*(*fields, "", None, "aborted", False, name, True, 7, 0, name, []))
    points = [
        BotRating(name, each, at, 1500.0, 1400.0, 1600.0, 3) for each in "ab" for at in (1, 2)
    ]
    row = Bot(1, 1, name, f"{name}.bot", "bot", 0, 1, 1)
    shown = BotPage(
        *(name, name, row.name, row.kind, 0, True, True, [BotVersion(name, 0)]),
        [BotResult(name, name, False, 1.0, 2, 1, 0, 1, None, None, None)],
        points,
        career([lost, void], more=True),
        paces([PlyCost(name, 5, 5)], {name: name}),
        Summary(name, name, "/matches/a"),
    )
    found = BotCareer(
        *(row, shown, [lost, void]),
        (name,),
        True,
    )
    return {
        "found": found,
        "career": shown.career,
        "plot": scores(name),
        "histories": [rating_history(name, points)],
        "lost": True,
        "rows": [(row, lost), (row, void)],
        "older": name,
        "first": True,
        "reviews": True,
        "shown": 1,
        "printed": [KeptOutput(name, name, 0, name, 1, result, 2, 3) for result in (None, "L")],
    }


def player_page(name: str) -> dict[str, Any]:
    known = bot_page(name)
    return {
        "row": PlayerAccount(1, name, 0, name, 1),
        "bots": [(known["found"].row, known["found"].page.standings), (known["found"].row, [])],
        "online": {1},
        "newest": known["rows"],
        "running": [live(name)],
    }


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
    """The values of every page, with ``name`` as every text."""
    counts = {"bots": 1, "running": 0, "seeks": 2}
    return {
        "front.html": [
            {
                **counts,
                "led": True,
                "tiles": [tile(name), tile(name, "boards/chess.webp")],
                "guests": True,
                "hero": match(name),
                "example": (name, name),
                "competitions": [course(name)],
                "boards": [(name, [line(name, None)]), (name, [line(name, 0.5)])],
                "recent": [match(name), match(name, finished_ms=None, returns=(None, None))],
            },
            {
                **counts,
                "led": False,
                "tiles": [],
                "guests": False,
                "hero": None,
                "example": (name, name),
                "competitions": [],
                "boards": [],
                "recent": [],
            },
        ],
        "leaderboards.html": [
            {"boards": [(name, [line(name, None)])]},
            {"boards": []},
        ],
        "leaderboard.html": [
            {"game": name, "board": [line(name, 0.0), line(name, None)], "every_version": True},
            {"game": name, "board": [], "every_version": False},
        ],
        "games.html": [{"tiles": [tile(name)]}, {"tiles": []}],
        "game.html": [
            {
                "rules": rules(name),
                "picture": "boards/chess.webp",
                "example": True,
                "players": name,
                "levels": (name,),
                "boards": [(name, [line(name, None)])],
                "recent": [match(name)],
            },
            {
                "rules": replace(rules(name), parameters=(), notation=""),
                "picture": "",
                "example": False,
                "players": "",
                "levels": (),
                "boards": [],
                "recent": [],
            },
        ],
        "matches.html": [
            {
                "newest": newest,
                "led": led,
                "running": [live(name)][:rows],
                "finished": [match(name)][:rows],
                "older": name if rows and newest else None,
                "words": Words(**dict.fromkeys(LOOKED_FOR, name if rows else "")),
                "shown": name if rows else "",
                "query": "player=x" if rows else "",
                "wrong": wrong,
                "games": [name],
                "competitions": [name],
                "terminations": ["normal", "flag_fall"],
            }
            for newest, rows, wrong, led in (
                (True, 1, "", True),
                (True, 0, "", True),
                (True, 0, "", False),
                (False, 1, "", True),
                (True, 1, name, True),
            )
        ],
        "match.html": [
            {
                "row": match(name),
                "rules": rules(name),
                "reviews": True,
                "competition": None,
                "competition_id": None,
                "competition_name": None,
                "embed": False,
                "output": True,
                "trees": True,
                "no_trees": "",
            },
            {
                "row": match(
                    name, status="running", rated=False, returns=(None, None), termination=""
                ),
                "rules": None,
                "reviews": True,
                "trees": True,
                "no_trees": name,
                "competition": name,
                "competition_id": name,
                "competition_name": name,
                "embed": True,
                "output": False,
            },
            {
                "row": match(name, void_reason=name),
                "rules": rules(name),
                "reviews": False,
                "trees": False,
                "no_trees": "",
                "competition": None,
                "competition_id": None,
                "competition_name": None,
                "embed": True,
                "output": False,
            },
        ],
        "projector.html": [{"match": name, "game": name, "competition": name}],
        "wall.html": [{"game": name, "competition": name}],
        "embed.html": [{"row": match(name)}],
        "private.html": [{"match": name}],
        "competitions.html": [
            {"competitions": [course(name)]},
            {"competitions": []},
        ],
        "competition.html": [
            {**competition(name), "table": board(name), "staff": staff(name), "own": own(name)},
            {
                **competition(name),
                "table": None,
                "course": None,
                "running": [],
                "named": False,
                "files": (),
                "staff": StaffView("reader", (), False, (), (), (), ()),
                "own": Own(
                    CompetitionStudent(1, name, name, "active", 0, None),
                    (),
                    (),
                    False,
                    False,
                    5,
                    (),
                ),
            },
            {**competition(name), "table": None, "staff": None, "own": None},
            {
                **competition(name),
                "practice": None,
                "table": board(name),
                "row": replace(course(name), status="open"),
                "staff": None,
                "own": None,
            },
            {
                **competition(name),
                "table": board(name),
                "row": replace(course(name), status="open"),
                "staff": None,
                "own": None,
            },
        ],
        "new_competition.html": [
            {
                "file": name,
                "allowed": allowed,
                "values": dict.fromkeys(("name", "time", "form", "freeze", "final", "zone"), name),
                "games": [name],
                "offered": [(name, name, tile(name).choices)],
                "formats": (name,),
                "times": (name,),
                "wrong": {"game": name},
            }
            for allowed in (True, False)
        ],
        "join.html": [{"code": name}],
        "cluster.html": [
            {"cluster": ClusterState(True, [], 0), "now_ms": 0},
            {"cluster": ClusterState(False, [], 2), "now_ms": 0},
            {
                "cluster": ClusterState(
                    False, [member(name, "running", True), member(name, "expired", False)], 0
                ),
                "now_ms": 0,
            },
        ],
        "report.html": [
            {"row": course(name), "report": report(name), "plot": scores(name)},
            {
                "row": course(name),
                "plot": None,
                "report": Report(name, name, name, "", "", "", [], [], [], {}, [], [], [], {}, []),
            },
        ],
        "play.html": [
            {
                "games": [name],
                "others": [name, name],
                "tiles": [tile(name)],
                "levels": (name,),
                "most": 6,
                "hosted": [
                    SubmissionRow(1, name, name, 1, 1, "", name, "ready", name, (name,), 1, 1)
                ],
                "guests": True,
                "presets": [OfferedTime(name, name, name)],
            },
            {
                "hosted": [],
                "games": [],
                "others": [],
                "tiles": [],
                "levels": (),
                "most": 6,
                "guests": False,
                "presets": OFFERED_TIMES,
            },
        ],
        "account.html": [
            {"registration": True, "guests": True, "shortest": 10},
            {"registration": False, "guests": True, "shortest": 10},
        ],
        "bot.html": [
            {**bot_page(name), "led": True},
            {
                **bot_page(name),
                "led": False,
                "rows": [],
                "older": None,
                "first": False,
                "lost": False,
                "histories": [],
                "printed": [],
            },
        ],
        "player.html": [
            {**player_page(name), "led": True},
            {**player_page(name), "led": True, "bots": [], "newest": [], "running": []},
            {**player_page(name), "led": False},
        ],
        "missing.html": [{"title": name, "text": name}],
        "reference.html": [schema(name)],
    }


PARTS = {
    *(
        "career_parts.html",
        "competition_parts.html",
        "game_parts.html",
        "layout.html",
        "plots.html",
        "regrades.html",
        "staff.html",
        "tables.html",
    ),
    *("tiles.html", "words.html"),
}
"""Templates that others include."""
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
    page = render("leaderboard.html", game="go(size=5)", board=[], every_version=False)
    assert '<span class="soft">(size=5)</span></h1>' in page


def test_values_in_words() -> None:
    assert [FILTERS["signed"](value) for value in (0.0, 1.0, -0.5)] == ["0", "+1", "\u22120.5"]
    assert FILTERS["scores"](()) == "\u2013"
    assert FILTERS["interval"]((None, 2.0), ".0f") == ""
    assert FILTERS["interval"]((1.0, 2.0), ".0f") == "1 … 2"
    assert FILTERS["interval"]((-1.5, 2.0), "+.1f") == "\u22121.5 … +2.0"
    assert FILTERS["number"](-0.25, "+.2f") == "\u22120.25"
    assert FILTERS["number"](None, ".0f") == "\u2013"
    assert [FILTERS["count"](many, "match", "es") for many in (1, 2)] == ["1 match", "2 matches"]
    assert FILTERS["segment"]("a/b?c#d") == "a%2Fb%3Fc%23d"
    assert FILTERS["ending"]("flag_fall") == "flag fall"


@pytest.mark.parametrize(
    ("time_control", "words"),
    [
        ("total:300+5", "5 min + 5 s per move"),
        ("total:90", "90 s in all"),
        ("move:0.5", "0.5 s per move"),
        ("byoyomi:60+5x10", "1 min + 5 periods of 10 s"),
        ("bank:1+30", "1 s per move + 30 s in all"),
        ("<b>", "<b>"),
    ],
)
def test_time_controls_are_shown_in_words(time_control: str, words: str) -> None:
    assert FILTERS["pace"](time_control) == words
