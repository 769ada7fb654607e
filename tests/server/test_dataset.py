"""Data sets: rows of matches and plies, what they show, and to whom."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.harness.finals import Course, weaker_resigns
from tests.harness.patience import PATIENCE
from tests.harness.played_matches import over, played
from tests.harness.server import BotClient, Server, legal_action

from plyhouse.games.registry import get_game
from plyhouse.games.scene_text import render_text
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import DATASET_MATCHES, Match, PlyRow
from plyhouse.protocol.api.routes import DEAR
from plyhouse.protocol.messages import Act, Finished, MatchSnapshot, Resign, Turn
from plyhouse.server.accounts.privacy import Privacy, Sight
from plyhouse.server.jobs.fair_queue import FairQueue
from plyhouse.server.jobs.helper_jobs import NotWorkedOut
from plyhouse.server.match.presence import PRIVATE
from plyhouse.server.results import dataset as files
from plyhouse.server.web.api import dataset as route
from plyhouse.server.web.request_limits import cost_of
from plyhouse.storage import match_lists
from plyhouse.storage.match_lists import MatchFilter

CUP = """
name = "Cup"
games = ["connect_four"]
time_control = "total:60"
board = "{board}"
[[baselines]]
bot = "secret/bot"
hidden = true
"""
HIDDEN = ("kuhn_poker", "leduc_poker", "liars_dice", "coin_guess", "battleship")


async def fetched(house: Any, token: str = "", status: int = 200, **asked: Any) -> httpx.Response:
    """Ask for a data set."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    url = house.server.url
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE) as web:
        answer = await web.get(calls.dataset(**asked).target)
    assert answer.status_code == status, answer.text
    return answer


async def plies(house: Any, token: str = "", **asked: Any) -> list[PlyRow]:
    answer = await fetched(house, token, **asked)
    found = msgspec.json.Decoder(PlyRow).decode_lines(answer.content)
    assert int(answer.headers[DATASET_MATCHES]) == len({each.match for each in found})
    return found


async def matches(house: Any, token: str = "", **asked: Any) -> list[Match]:
    answer = await fetched(house, token, rows="matches", **asked)
    found = msgspec.json.Decoder(Match).decode_lines(answer.content)
    assert int(answer.headers[DATASET_MATCHES]) == len(found)
    return found


async def watched(client: BotClient, match: MatchSnapshot, seed: int) -> dict[int, dict[str, Any]]:
    """Play at random; return the observations that the server sent with each turn."""
    game, rng = get_game(match.game), random.Random(seed)
    sent = {}
    message: Any = match
    while not isinstance(message, Finished):
        if isinstance(message, Turn) or (isinstance(message, MatchSnapshot) and message.your_turn):
            sent[message.ply] = dict(message.observation)
            action = legal_action(message, game, rng)
            await client.ask(Act, match.match, message.ply, action, info={"value": 0.5})
        message = await client.next_of(match.match)
    return sent


@pytest.mark.parametrize("name", ["tic_tac_toe", "pig", *HIDDEN])
async def test_a_row_has_what_the_seat_was_sent_with_its_turn(house: Server, name: str) -> None:
    clients, snapshots = await house.pair(name)
    sent = await asyncio.gather(
        *(watched(*each, seed) for seed, each in enumerate(zip(clients, snapshots, strict=True)))
    )
    match = snapshots[0].match
    await asyncio.wait_for(over(house, match), PATIENCE)
    game = get_game(name)
    found = await plies(house)
    assert {each.ply: each.seat for each in found} == {
        ply: seat for seat, turns in enumerate(sent) for ply in turns
    }
    for row in found:
        observation = sent[row.seat][row.ply]
        drawn = render_text(game.scene(game.decode_observation(observation)))
        assert drawn.partition("\nActions: ")[0] == row.observation
        assert row.legal == list(observation["legal"])
        assert row.action in row.legal or row.legal_left_out
        assert (row.match, row.game, row.said) == (match, game.spec, 0.5)
        assert row.charged_ms <= row.thought_ms


async def test_a_row_tells_what_happened_since_the_seat_moved_as_it_saw_it(house: Server) -> None:
    await played(house, "tic_tac_toe")
    first, second, third = (await plies(house))[:3]
    assert (first.seen, second.seen) == ([], [f"0: {first.action}"])
    assert third.seen == [f"1: {second.action}"]
    await played(house, "kuhn_poker")
    for row in (await plies(house, game="kuhn_poker"))[:2]:
        cards = [each for each in row.seen if each.startswith("-1: ")]
        assert sorted(each == "-1: ?" for each in cards) == [False, True], "its own card alone"


async def test_matches_are_rows_as_in_the_list_of_matches(house: Server) -> None:
    early, late = await played(house), await played(house, "pig")
    found = await matches(house)
    assert [each.match for each in found] == [late, early]
    assert await matches(house, bot="alice/one", game="pig") == found[:1]
    assert await matches(house, limit=1) == found[:1]
    ended = found[0].finished_ms
    assert ended is not None
    assert await matches(house, since_ms=ended + 1) == []
    assert {each.match for each in await plies(house, until_ms=ended)} <= {early}
    assert (await fetched(house, status=404, bot="nobody/x")).json()["code"] == "storage/unknown"
    await fetched(house, status=400, since_ms=-1)


async def test_a_match_is_in_it_once_its_whole_pairing_is_over(house: Server) -> None:
    clients = [await house.bot("alice", "one"), await house.bot("bob", "two")]
    for client in clients:
        await client.seek("kuhn_poker", mirrored=True)
    pairing = [(await clients[0].start()).match for _ in range(2)]
    for _ in pairing:
        await clients[1].start()
    for number, match in enumerate(pairing):
        assert await matches(house) == []
        assert await plies(house) == []
        await clients[number].ask(Resign, match)
    await asyncio.wait_for(over(house, pairing[0]), PATIENCE)
    assert {each.match for each in await matches(house)} == set(pairing)


@pytest.mark.parametrize("board", ["public", "class", "anonymous"])
async def test_a_data_set_keeps_to_the_board_and_names_no_hidden_baseline(
    house: Server, board: str
) -> None:
    cup = Course(house, CUP.format(board=board))
    await cup.freeze("connect_four", "s0", "s1", staff=("secret",))
    await cup.play(weaker_resigns(["s0", "secret", "s1"]))
    every = await matches(house, cup.tokens["olga"])
    mine = {e.match for e in every if "s1" in [seat.player for seat in e.seats]}
    assert 0 < len(mine) < len(every)
    allowed = {e.match for e in every}
    for who, seen in {
        "": allowed if board == "public" else set(),
        "eve": allowed if board == "public" else set(),
        "s1": mine if board == "anonymous" else allowed,
        "olga": allowed,
    }.items():
        token = cup.tokens[who]
        found = await matches(house, token, competition="Cup")
        assert {each.match for each in found} == seen
        names = {seat.player for each in found for seat in each.seats}
        assert ("secret" in names) == (who == "olga")
        assert (PRIVATE in names) == (who != "olga" and bool(found))
        for form in ("matches", "plies"):
            text = (await fetched(house, token, rows=form)).text
            assert ("secret" in text) == (who == "olga" and form == "matches")
        status = 200 if who == "olga" else 404
        await fetched(house, token, status, bot="secret/bot", competition="Cup")
        by_player = await matches(house, token, player="secret")
        assert bool(by_player) == (who == "olga")


async def test_values_come_from_reviews_that_the_server_keeps(
    open_house: Callable[..., Awaitable[Server]], tmp_path: Path
) -> None:
    script = tmp_path / "judge.py"
    script.write_text(
        "import json, sys; sys.stdin.read();"
        "row = dict(ply=1, played=-1.0, best=0.0, best_action='b2', certainty='exact');"
        "print(json.dumps({'plies': [row]}))"
    )
    house = await open_house(
        review_command=f"python3 {script}", review_folder=str(tmp_path / "reviews")
    )
    match = await played(house)
    assert {each.value for each in await plies(house)} == {None}
    async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as web:
        await web.get(calls.review(match, seat=1).target)
    first, second, *_ = await plies(house)
    assert (first.value, first.certainty) == (None, "")
    assert (second.value, second.best, second.best_action) == (-1.0, 0.0, "b2")
    assert second.certainty == "exact"


async def test_a_long_data_set_is_made_in_parts(
    house: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await played(house)
    whole = (await fetched(house)).text
    monkeypatch.setattr(route, "PART", 2)
    monkeypatch.setattr(route, "EVENTS", 1)
    assert (await fetched(house)).text == whole
    assert len(await matches(house)) == 3


async def test_match_that_ends_while_the_matches_are_counted_pushes_none_out(
    house: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = await played(house)
    counted = Privacy.count

    async def slowly(privacy: Privacy, sight: Sight, wanted: MatchFilter) -> int:
        count = await counted(privacy, sight, wanted)
        await played(house)
        return count

    monkeypatch.setattr(Privacy, "count", slowly)
    answer = await fetched(house, rows="matches")
    found = msgspec.json.Decoder(Match).decode_lines(answer.content)
    assert [each.match for each in found][-1] == early
    answer = await fetched(house, rows="matches", limit=1)
    assert len(msgspec.json.Decoder(Match).decode_lines(answer.content)) == 1


async def test_parquet_has_the_same_rows(house: Server) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert _table(parquet, await fetched(house, form="parquet")).num_rows == 0
    await played(house)
    await played(house, "kuhn_poker")
    for kind in ("plies", "matches"):
        lines = (await fetched(house, rows=kind)).text.splitlines()
        table = _table(parquet, await fetched(house, rows=kind, form="parquet"))
        rows = [json.loads(line) for line in lines]
        for row in rows:
            row.pop("snapshot", None)
        assert table.to_pylist() == rows


def test_parquet_is_written_in_groups_of_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(files, "GROUP", 1000)
    rows = [
        PlyRow("m", "nim", ply, 0, "é" * 50, ["0: x"], [], False, "x", 1.5, 1.5, 2.0)
        for ply in range(20)
    ]
    lines = files.json_lines(rows)
    out = io.BytesIO()
    with files.ParquetRows(out, PlyRow) as writer:
        for start in range(0, len(lines), 37):
            writer.write(lines[start : start + 37])
    assert parquet.ParquetFile(out).num_row_groups > 1
    assert parquet.read_table(out).to_pylist() == [msgspec.to_builtins(row) for row in rows]


async def test_a_part_of_a_parquet_file_is_not_taken_for_the_whole(
    house: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    await played(house)

    async def broken(*_: Any) -> AsyncIterator[bytes]:
        yield b"{}\n"
        raise OSError("the disk is gone")

    monkeypatch.setattr(route, "_lines", broken)
    with pytest.raises(httpx.RemoteProtocolError):
        await fetched(house)
    await fetched(house, status=500, form="parquet")


async def test_few_parquet_files_are_made_at_once(
    house: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(route, "FILES", FairQueue(0))
    busy = await fetched(house, status=503, form="parquet")
    assert busy.json()["code"] == "server/overloaded"
    assert busy.headers["retry-after"] == "10"


async def test_one_visitor_leaves_parquet_files_to_others(
    house: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    queue = FairQueue(2)
    monkeypatch.setattr(route, "FILES", queue)
    async with queue.of("127.0.0.1"):
        await fetched(house, status=503, form="parquet")
        assert not queue.busy("10.0.0.1"), "another address"
        await fetched(house, form="jsonl")
    await fetched(house, form="parquet")


async def test_parquet_file_that_nobody_reads_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    queue = FairQueue(1)
    monkeypatch.setattr(route, "FILES", queue)
    monkeypatch.setattr(route, "STALLED", 0.5)
    monkeypatch.setattr(files, "GROUP", 1)

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield files.json_lines([_row(random.randbytes(40_000).hex()) for _ in range(200)])

    files_before = set(os.listdir("/proc/self/fd"))
    made = route._parquet(endless(), "plies", "10.0.0.1")
    await anext(made)
    assert queue.busy("10.0.0.2")
    async with asyncio.timeout(PATIENCE):
        while queue.busy("10.0.0.2"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    with pytest.raises(NotWorkedOut, match="was not read"):
        async for _ in made:
            pass
    assert set(os.listdir("/proc/self/fd")) == files_before, "no pipe is left"


def _row(text: str) -> PlyRow:
    return PlyRow("m", "nim", 0, 0, text, [], [], False, "x", 1.5, 1.5, 2.0)


def _table(parquet: Any, answer: httpx.Response) -> Any:
    return parquet.read_table(io.BytesIO(answer.content))


async def test_parquet_without_pyarrow_says_what_is_missing(
    house: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "has_parquet", lambda: False)
    problem = (await fetched(house, status=409, form="parquet")).json()
    assert problem["code"] == "dataset/no_parquet"
    assert "plyhouse[parquet]" in problem["detail"]


async def test_a_count_is_that_of_the_list(house: Server) -> None:
    for game in ("pig", "pig(target=20)", "tic_tac_toe"):
        await played(house, game)
    for wanted in (MatchFilter(), MatchFilter(family="pig", over=True), MatchFilter(until_ms=0)):
        listed = await house.hub.store.read(match_lists.list_matches, wanted)
        assert await house.hub.store.read(match_lists.count_matches, wanted) == len(listed)


def test_a_data_set_costs_what_other_long_answers_cost() -> None:
    assert cost_of("GET", "/api/v1/dataset") == DEAR


def test_the_documentation_names_every_column() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "dataset.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.M) == list(PlyRow.__struct_fields__)
