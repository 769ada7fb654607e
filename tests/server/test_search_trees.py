"""``/api/v1/matches/MATCH/tree``: the search tree of a position, where it can help nobody."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.search_trees import OpenHouse, ask, begun, ended, explain_command
from tests.harness.server import Server, helped

from plyhouse.protocol.messages import Resign
from plyhouse.server.config import ServerConfig
from plyhouse.server.jobs.helper_jobs import NotWorkedOut, Trees
from plyhouse.server.results.record import read_record
from plyhouse.storage import match_reads

# Notes every start in a file, waits until told to go on, and answers with what it was asked.
STUB = """
import json, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
with (folder / "starts").open("a") as file:
    file.write(" ".join(sys.argv[2:]) + "\\n")
json.load(sys.stdin)
while not (folder / "go").exists():
    time.sleep(0.01)
print(json.dumps({"asked": sys.argv[2:], "svg": "<svg/>"}))
"""


@pytest.fixture
def waiting(tmp_path: Path) -> str:
    program = tmp_path / "grower.py"
    program.write_text(STUB)
    return shlex.join([sys.executable, str(program), str(tmp_path)])


async def test_a_tree_says_what_each_action_leads_to(open_house: OpenHouse) -> None:
    house = await open_house(tree_command=explain_command())
    match = await ended(house, "b2 b1 a1 c3 a3 c1")
    answer = await ask(house, match, "?ply=6&search=minimax")
    assert answer.status_code == 200, answer.text
    tree = answer.json()
    assert (tree["search"], tree["seat"], tree["best"]) == ("minimax", 0, "a2")
    assert tree["complete"]
    values = {child["action"]: child["value"] for child in tree["root"]["children"]}
    assert set(values) == {"a2", "c2", "b3"}
    assert values["a2"] == 1.0
    assert "svg" not in tree
    assert tree["judged"] is None  # nothing was played there
    before = (await ask(house, match, "?ply=1")).json()
    judged = before["judged"]
    assert (before["played"], judged["played"], judged["best"]) == ("b1", -1.0, 0.0)
    assert judged["certainty"] == "exact"
    picture = await ask(house, match, ".svg?ply=6&search=minimax")
    assert picture.headers["content-type"].startswith("image/svg+xml")
    assert ElementTree.fromstring(picture.text).tag.endswith("svg")
    assert "sandbox" in picture.headers["content-security-policy"]


async def test_it_goes_on_from_any_position_below(open_house: OpenHouse) -> None:
    house = await open_house(tree_command=explain_command())
    match = await ended(house, "b2 b1 a1 c3 a3 c1")
    whole = (await ask(house, match, "?ply=4&search=minimax&depth=2")).json()
    assert whole["larger"] is False
    assert whole["complete"] is False
    below = (await ask(house, match, "?ply=4&search=minimax&depth=2&then=a3&then=c1")).json()
    assert below["root"]["position"] != whole["root"]["position"]
    assert below["played"] == ""
    wrong = await ask(house, match, "?ply=4&then=z9")
    assert (wrong.status_code, wrong.json()["code"]) == (400, "tree/impossible")
    assert "'z9'" in wrong.json()["detail"]


async def test_positions_of_a_tree_have_boards(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await open_house(tree_command=explain_command())
    match = await ended(house, "b2 b1 a1 c3 a3 c1")
    worked = helped(house, monkeypatch)
    answer = await ask(house, match, "/scene?ply=2&then=c1&then=a3")
    assert answer.status_code == 200, answer.text
    (grid, *_) = answer.json()["elements"]
    assert sum(cell["owner"] is not None for row in grid["rows"] for cell in row) == 4
    for query, said in (("?ply=99", "6 plies"), ("?ply=2&then=b2", "b2"), ("?then=%00", "then")):
        wrong = await ask(house, match, f"/scene{query}")
        assert (wrong.status_code, wrong.json()["code"]) == (400, "tree/impossible")
        assert said in wrong.json()["detail"]
    assert worked == ["scene_of"] * 3, "replaying a long match would block the event loop"


async def test_dice_are_part_of_it(open_house: OpenHouse) -> None:
    house = await open_house(tree_command=explain_command())
    match = await ended(house, "roll", game="pig")
    tree = (await ask(house, match, "?ply=0")).json()
    assert tree["search"] == "expectiminimax"
    (roll,) = [child for child in tree["root"]["children"] if child["action"] == "roll"]
    assert roll["kind"] == "chance"
    assert [child["probability"] for child in roll["children"]] == [pytest.approx(1 / 6)] * 6


async def test_what_cannot_be_is_said(open_house: OpenHouse) -> None:
    house = await open_house(tree_command=explain_command())
    match = await ended(house, "b2 b1 a1 c3 a3 c1")
    for query, said in (
        ("?ply=99", "has only 6 plies"),
        ("?ply=6&then=a2&then=b3", "over"),
        ("?search=alphabeta", "alpha_beta"),
        ("?search=--help", "search"),
        ("?then=%00", "then"),
        ("?then=" + 65 * "a", "then"),
        ("?" + "&".join(["then=a1"] * 25), "then"),
        ("?depth=13", "depth"),
    ):
        answer = await ask(house, match, query)
        assert answer.status_code == 400, answer.text
        assert said in answer.json()["detail"], query


async def test_a_match_that_counts_is_explained_when_its_pairing_is_over(
    open_house: OpenHouse, waiting: str, tmp_path: Path
) -> None:
    house = await open_house(tree_command=waiting)
    (tmp_path / "go").touch()
    match = await begun(house, "b2", rated=True, mirrored=True)
    answer = await ask(house, match)
    assert (answer.status_code, answer.json()["code"]) == (409, "match/not_over")
    clients = house.clients  # type: ignore[attr-defined]
    await clients[0].ask(Resign, match)
    while (await house.hub.store.read(match_reads.stored_match, match)).header.status != "finished":  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    answer = await ask(house, match)  # its mirrored match is still being played
    assert (answer.status_code, answer.json()["code"]) == (409, "match/not_over")
    assert not (tmp_path / "starts").exists()


async def test_a_casual_match_is_explained_while_it_runs_but_not_to_its_seats(
    open_house: OpenHouse, waiting: str, tmp_path: Path
) -> None:
    house = await open_house(tree_command=waiting)
    (tmp_path / "go").touch()
    match = await begun(house, "b2")
    seat = await ask(house, match, authorization=f"Bearer {await house.token('bob')}")
    assert (seat.status_code, seat.json()["code"]) == (409, "match/not_over")
    assert not (tmp_path / "starts").exists()
    assert (await ask(house, match)).status_code == 200
    other = await ask(house, match, authorization=f"Bearer {await house.token('carol')}")
    assert other.status_code == 200


async def test_games_with_hidden_information_have_no_tree(
    open_house: OpenHouse, waiting: str, tmp_path: Path
) -> None:
    house = await open_house(tree_command=waiting)
    match = await ended(house, "", game="kuhn_poker")
    answer = await ask(house, match)
    assert (answer.status_code, answer.json()["code"]) == (409, "tree/hidden")
    assert "hidden information" in answer.json()["detail"]
    assert not (tmp_path / "starts").exists()


async def test_a_server_without_a_program_says_so(house: Server) -> None:
    match = await ended(house, "b2")
    answer = await ask(house, match)
    assert (answer.status_code, answer.json()["code"]) == (501, "tree/off")


async def test_the_same_position_of_another_match_costs_nothing(
    open_house: OpenHouse, waiting: str, tmp_path: Path
) -> None:
    house = await open_house(tree_command=waiting, trees_per_minute=1)
    (tmp_path / "go").touch()
    first, second = await ended(house, "b2 a1"), await ended(house, "b2 a1 c3")
    assert (await ask(house, first, "?ply=1")).status_code == 200
    assert (await ask(house, second, "?ply=1")).status_code == 200
    assert (tmp_path / "starts").read_text().count("\n") == 1
    more = await ask(house, second, "?ply=0")
    assert (more.status_code, more.json()["code"]) == (429, "tree/rate")
    assert int(more.headers["retry-after"]) > 30
    again = await ask(house, first, "?ply=1")
    assert again.json()["asked"][0] == "--ply=2"


async def test_trees_are_worked_out_one_after_the_other(
    open_house: OpenHouse, waiting: str, tmp_path: Path
) -> None:
    house = await open_house(tree_command=waiting)
    match = await ended(house, "b2 a1")
    asked = [asyncio.create_task(ask(house, match, f"?depth={depth}")) for depth in range(1, 10)]
    while len(house.hub.trees._found._running) < 9:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    full = await ask(house, match, "?depth=10")
    assert (full.status_code, full.json()["code"]) == (503, "tree/busy")
    assert full.headers["retry-after"] == "5"
    starts = tmp_path / "starts"
    while not starts.exists() or not starts.read_text():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert starts.read_text().count("\n") == 1, "one at a time"
    (tmp_path / "go").touch()
    assert [each.status_code for each in await asyncio.gather(*asked)] == [200] * 9


async def test_each_visitor_has_its_own_allowance(clock: FakeClock, tmp_path: Path) -> None:
    program = f"import sys; sys.stdin.read(); print('{json.dumps({})}')"
    trees = Trees(
        ServerConfig(
            tree_command=shlex.join([sys.executable, "-c", program]),
            trees_per_minute=2,
            review_folder=str(tmp_path),
        ),
        clock,
    )
    record = read_record(RECORD)
    for depth in (1, 2):
        await trees.of("ann", record, 0, (), "", depth)
    with pytest.raises(NotWorkedOut) as refused:
        await trees.of("ann", record, 0, (), "", 3)
    assert (refused.value.code, refused.value.retry_after) == ("tree/rate", 30)
    await trees.of("ann", record, 0, (), "", 2)
    await trees.of("bob", record, 0, (), "", 3)
    clock.advance(30)
    await trees.of("ann", record, 0, (), "", 4)
    assert len(list((tmp_path / "trees").glob("*.json"))) == 4
    await trees.close()


RECORD = json.dumps(
    {
        "format": "plyhouse-record-1",
        "match": "m",
        "pairing": "p",
        "game": "tic_tac_toe",
        "parameters": {},
        "time_control": "move:1",
        "rated": False,
        "illegal_rule": "forfeit",
        "lag": {},
        "seats": [{"player": "a"}, {"player": "b"}],
        "chance": {"version": 1, "commitment": "", "stream": "match:m", "nonces": ["", ""]},
        "events": [],
        "outcome": None,
    }
)
