"""``/api/v1/matches/MATCH/review``: worked out by another process, for matches that are over."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.log_lines import log_text
from tests.harness.patience import PATIENCE
from tests.harness.played_matches import played
from tests.harness.server import Server
from tests.harness.zygote import forked_command

from plyhouse.protocol.messages import Resign
from plyhouse.server.results.record import record_json
from plyhouse.server.web.api import players
from plyhouse.storage import match_reads

OpenHouse = Callable[..., Awaitable[Server]]

# Notes every start in a file, waits until told to go on, and answers with what it was given.
STUB = """
import json, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
with (folder / "starts").open("a") as file:
    file.write(" ".join(sys.argv[2:]) + "\\n")
record = json.load(sys.stdin)
while not (folder / "go").exists():
    time.sleep(0.01)
print(json.dumps({"match": record["match"], "asked": sys.argv[2:]}))
"""


@pytest.fixture
def waiting(tmp_path: Path) -> str:
    program = tmp_path / "reviewer.py"
    program.write_text(STUB)
    return shlex.join([sys.executable, str(program), str(tmp_path)])


async def ask(house: Server, path: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as http:
        return await http.get(path)


async def test_a_review_is_worked_out_by_plyhouse_review_and_kept(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    house = await open_house(
        review_command=shlex.join([*forked_command(), "review", "-", "--json"]),
        review_folder=str(tmp_path / "reviews"),
    )
    match = await played(house)
    first = await ask(house, f"/api/v1/matches/{match}/review?seat=1")
    assert first.status_code == 200, first.text
    review = first.json()
    assert (review["match"], review["seat"]) == (match, 1)
    assert review["plies"]
    assert {ply["certainty"] for ply in review["plies"]} == {"exact"}
    assert review["losses"]
    assert "plyhouse bot ask" in review["command"]
    (kept,) = (tmp_path / "reviews").glob("*.json")
    kept.write_text(json.dumps({**review, "verdict": "from the file"}))
    again = await ask(house, f"/api/v1/matches/{match}/review?seat=1")
    assert again.json()["verdict"] == "from the file"


async def test_what_a_bot_loses_per_ply_is_worked_out_by_plyhouse_review(
    open_house: OpenHouse,
) -> None:
    house = await open_house(
        review_command=shlex.join([*forked_command(), "review", "-", "--json"]),
    )
    await house.bot("carol", "idle")
    none = await ask(house, "/api/v1/bots/carol/idle/review")
    assert (none.status_code, none.json()["games"]) == (200, [])
    match = await played(house)
    answer = await ask(house, "/api/v1/bots/alice/one/review")
    assert answer.status_code == 200, answer.text
    (found,) = answer.json()["games"]
    assert (found["game"], found["matches"], found["unjudged"]) == ("tic_tac_toe", 1, 0)
    assert found["plies"] == found["exact"] > 0
    seats = (await ask(house, f"/api/v1/matches/{match}")).json()["seats"]
    seat = [each["player"] for each in seats].index("alice")
    review = (await ask(house, f"/api/v1/matches/{match}/review?seat={seat}")).json()
    losses = [ply["drop"] for ply in review["plies"] if ply["action"]]
    assert found["mean"] == pytest.approx(sum(losses) / len(losses))


async def test_a_match_that_runs_is_not_reviewed(house: Server) -> None:
    clients, (match, _) = await house.pair("tic_tac_toe", rated=True)
    answer = await ask(house, f"/api/v1/matches/{match.match}/review")
    assert (answer.status_code, answer.json()["code"]) == (409, "match/not_over")
    await clients[0].ask(Resign, match.match)


async def half_played(house: Server) -> str:
    """A finished match of alice/one, whose mirrored match is being played."""
    clients = [await house.bot("alice", "one"), await house.bot("bob", "two")]
    for client in clients:
        await client.seek("tic_tac_toe", rated=True, mirrored=True)
    first = [await client.start() for client in clients]
    for client in clients:
        await client.start()
    done = first[0].match
    await clients[0].ask(Resign, done)
    while (await house.hub.store.read(match_reads.stored_match, done)).header.status != "finished":  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return done


async def test_nor_is_one_whose_mirrored_match_is_still_being_played(
    open_house: OpenHouse, waiting: str
) -> None:
    house = await open_house(review_command=waiting)
    done = await half_played(house)
    answer = await ask(house, f"/api/v1/matches/{done}/review")
    assert (answer.status_code, answer.json()["code"]) == (409, "match/not_over")


async def test_a_bot_is_not_reviewed_by_such_a_match(open_house: OpenHouse, waiting: str) -> None:
    house = await open_house(review_command=waiting)
    await half_played(house)
    assert (await ask(house, "/api/v1/bots/alice/one/review")).json()["games"] == []


async def test_kept_review_of_a_bot_is_answered_without_reading_its_records(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """import sys; sys.stdin.read(); print('{"bot": "x", "games": []}')"""
    house = await open_house(review_command=shlex.join([sys.executable, "-c", script]))
    await played(house)
    path, read = "/api/v1/bots/alice/one/review", []

    def noted(stored: Any) -> bytes:
        read.append(stored)
        return record_json(stored)

    monkeypatch.setattr(players, "record_json", noted)
    answers = [(await ask(house, path)).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert len(read) == 1


async def test_review_of_another_person_waits_for_its_turn_and_is_not_refused(
    open_house: OpenHouse, waiting: str, tmp_path: Path
) -> None:
    """One who asks for the next review as soon as one is ready cannot keep others out."""
    house = await open_house(review_command=waiting, reviews=1, review_seconds=3.0)
    match = await played(house)

    async def review(who: str, seat: int) -> httpx.Response:
        headers = {"authorization": f"Bearer {await house.token(who)}"}
        async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as web:
            return await web.get(f"/api/v1/matches/{match}/review?seat={seat}", headers=headers)

    first = asyncio.create_task(review("ada", 0))
    while not (tmp_path / "starts").exists():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    second = asyncio.create_task(review("bob", 1))
    while len(house.hub.reviews._found._running) < 2:
        assert not second.done(), second.result().text
        await asyncio.sleep(0.01)
    (tmp_path / "go").touch()
    assert [each.status_code for each in await asyncio.gather(first, second)] == [200, 200]
    assert not house.hub.reviews._found._asked


async def test_a_server_without_a_program_says_that_it_reviews_nothing(house: Server) -> None:
    match = await played(house)
    answer = await ask(house, f"/api/v1/matches/{match}/review")
    assert (answer.status_code, answer.json()["code"]) == (501, "review/off")


async def test_only_so_many_at_once_and_the_same_one_only_once(
    open_house: OpenHouse, waiting: str, tmp_path: Path
) -> None:
    house = await open_house(review_command=waiting, reviews=1, review_seconds=3.0)
    match = await played(house)
    path = f"/api/v1/matches/{match}/review?seat=0"
    same = [asyncio.create_task(ask(house, path)) for _ in range(3)]
    while not (tmp_path / "starts").exists():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    busy = await ask(house, f"/api/v1/matches/{match}/review?seat=1")
    assert (busy.status_code, busy.json()["code"]) == (503, "review/busy")
    assert busy.headers["retry-after"] == "3"
    (tmp_path / "go").touch()
    answers = await asyncio.gather(*same)
    assert [each.status_code for each in answers] == [200] * 3
    assert answers[0].json()["asked"] == ["--seconds", "3", "--seat", "1"]
    assert (tmp_path / "starts").read_text().count("\n") == 1
    assert (await ask(house, path)).status_code == 200
    assert (tmp_path / "starts").read_text().count("\n") == 1, "it was kept"


@pytest.mark.parametrize(
    "program",
    ["import sys; sys.exit(3)", "print('no JSON')", "print([1])"],
    ids=["fails", "nonsense", "a list"],
)
async def test_a_program_that_fails_is_no_answer(
    open_house: OpenHouse, program: str, caplog: pytest.LogCaptureFixture
) -> None:
    house = await open_house(review_command=shlex.join([sys.executable, "-c", program]))
    match = await played(house)
    answer = await ask(house, f"/api/v1/matches/{match}/review")
    assert (answer.status_code, answer.json()["code"]) == (500, "review/failed")
    assert match in log_text(caplog)


async def test_a_program_that_does_not_end_is_ended(
    open_house: OpenHouse, waiting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plyhouse.server.jobs.helper_jobs.STARTING", 0.1)
    house = await open_house(review_command=waiting, review_seconds=0.1)
    match = await played(house)
    answer = await ask(house, f"/api/v1/matches/{match}/review")
    assert (answer.status_code, answer.json()["code"]) == (504, "review/too_long")


async def test_a_stopping_server_ends_its_reviews(
    open_house: OpenHouse, waiting: str, tmp_path: Path
) -> None:
    house = await open_house(review_command=waiting)
    match = await played(house)
    asked = asyncio.create_task(ask(house, f"/api/v1/matches/{match}/review"))
    while not (tmp_path / "starts").exists():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await house.hub.reviews.close()
    answer = await asked
    assert (answer.status_code, answer.json()["code"]) == (503, "server/shutting_down")


async def test_seats_that_are_not_there(house: Server) -> None:
    match = await played(house)
    answer = await ask(house, f"/api/v1/matches/{match}/review?seat=2")
    assert (answer.status_code, answer.json()["code"]) == (404, "seat/unknown")
