"""The board of a final over HTTP: what it proves, and who sees what of it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from tests.harness.finals import Course, weaker_resigns

from plyhouse.server.competitions import results_cache as final_results
from plyhouse.server.grades import board_fits
from plyhouse.server.match.presence import PRIVATE

FILE = """
name = "Cup"
games = ["{game}"]
time_control = "total:60"
board = "{board}"
[[baselines]]
bot = "staff/bot"
[[baselines]]
bot = "secret/bot"
hidden = true
"""
NAMES = [f"s{number}" for number in range(5)]


async def course(house: Any, board: str = "public", game: str = "connect_four") -> Course:
    made = Course(house, FILE.format(board=board, game=game))
    await made.freeze(game, *NAMES, staff=("staff", "secret"))
    return made


async def test_the_table_of_a_final_with_its_intervals(house: Any) -> None:
    cup = await course(house)
    await cup.play(weaker_resigns(["s0", "s1", "staff", "s2", "secret", "s3", "s4"]))
    whole = await cup.get("/table?crosstab=true", "olga")
    assert (whole["status"], whole["matches"], whole["board"]) == ("finished", 42, "public")
    order = ["s0/bot", "s1/bot", "staff/bot", "s2/bot", "secret/bot", "s3/bot", "s4/bot"]
    assert [line["entry"] for line in whole["lines"]] == order
    for line in whole["lines"]:
        rating = line["rating"]
        assert rating["any_low"] < rating["low"] < rating["elo"] < rating["high"]
        assert rating["rank_low"] <= line["rank"] <= rating["rank_high"]
    assert whole["lines"][0]["ahead"] > 0.5
    assert whole["lines"][-1]["ahead"] is None
    assert any("won everything" in note for note in whole["notes"])
    assert any("lost everything" in note for note in whole["notes"])
    cross = {(each["entry"], each["other"]): each for each in whole["crosstab"]}
    assert cross["s0/bot", "s4/bot"]["wins"] == 2
    assert len(cross) == 42
    public = await cup.get("/table?crosstab=true")
    assert "secret" not in str(public)
    assert [line["rank"] for line in public["lines"]] == [1, 2, 3, 4, 5, 6]
    assert all(line["rating"]["rank_high"] <= 6 for line in public["lines"])
    board = await cup.get("/board")
    assert [line["entry"] for line in board] == [line["entry"] for line in public["lines"]]
    async with cup.web("olga") as web:
        assert (await web.get("/api/v1/competitions/cap/table")).status_code == 404


async def test_an_anonymous_table_gives_no_names_away(house: Any) -> None:
    cup = await course(house, "anonymous")
    await cup.play(weaker_resigns([*NAMES[:4], "staff", "secret", "s4"]))
    await cup.get("/table", status=401)
    await cup.get("/table", "eve", status=403)
    whole = await cup.get("/table", "olga")
    assert any("'s0/bot' won everything" in note for note in whole["notes"])
    own = await cup.get("/table?crosstab=true", "s4")
    assert [line["student"] for line in own["lines"]] == [
        *["(another entry)"] * 3, "staff", "s4",
    ]  # fmt: skip
    assert all(line["rating"] for line in own["lines"])
    real = [line for line in whole["lines"] if line["entry"] != "secret/bot"][-5:]
    for mine, line in zip(own["lines"], real, strict=True):
        for key in ("matches", "wins", "draws", "losses"):
            assert mine[key] == line[key], "also of entries without a name"
    for name in ("s0", "s1", "s2", "s3", "secret"):
        assert f"{name}/" not in str(own)
    assert {(each["entry"], each["other"]) for each in own["crosstab"]} == {
        ("s4/bot", "staff/bot"),
        ("staff/bot", "s4/bot"),
    }
    await no_bots_page_gives_more_away(cup)


async def no_bots_page_gives_more_away(cup: Course) -> None:
    """A stranger sees nothing of a final that is closed, a student its own matches."""
    met: dict[str, set[str]] = {}
    for viewer in ("", "s4", "s0", "olga"):
        async with cup.web(viewer) as web:
            page = await web.get("/bots/s0/bot")
            player = await web.get("/players/s0")
            found = (await web.get("/api/v1/bots/s0/bot")).json()
            listed = (await web.get("/api/v1/bots/s0/bot/matches")).json()
        others = {other["player"] for match in listed for other in match["others"]}
        assert others == {each["player"] for each in found["career"]["against"]}
        assert found["career"]["matches"] == len(listed)
        assert bool(found["versions"]) == bool(found["paces"] or viewer) == bool(others)
        for name in ("s1", "s2", "s3", "s4", "staff", "secret"):
            for text in (page.text, player.text):
                assert (f"/bots/{name}/bot" in text) == (name in others), (viewer, name)
        met[viewer] = others
    assert met[""] == set()
    assert met["s4"] == {"s4"}
    assert met["s0"] == {"s1", "s2", "s3", "s4", "staff", PRIVATE}
    assert met["olga"] == {"s1", "s2", "s3", "s4", "staff", "secret"}


async def test_a_twin_shows_the_noise_and_is_never_ranked_or_graded(house: Any) -> None:
    text = (
        'name = "Cup"\ngames = ["tic_tac_toe"]\ntime_control = "total:60"\nboard = "public"\n'
        '[[baselines]]\nbot = "staff/bot"\ngrade = "pass"\n'
        '[[baselines]]\nbot = "staff2/bot"\ntwin_of = "staff/bot"\n'
    )
    cup = Course(house, text)
    same, other = "ab" * 32, "cd" * 32
    for digest in (other, ""):
        async with cup.web() as web:
            token = await house.token(f"o{len(digest)}", "organise")
            for name, files in (("staff", same), ("staff2", digest)):
                client = await house.client()
                await client.hello(await house.token(name), "bot", digest=files)
                await client.close()
            headers = {"Authorization": f"Bearer {token}"}
            refused = await web.post(
                "/api/v1/competition-files/check", json={"file": text}, headers=headers
            )
        assert refused.status_code == 400, refused.text
        (mistake,) = refused.json()["mistakes"]
        assert mistake["code"] == "competition/twin_differs"
        assert mistake["key"] == "baselines[1].twin_of"
    cup.digests = {"staff": same, "staff2": same}
    await cup.freeze("tic_tac_toe", "s0", "s1", staff=("staff", "staff2"))
    assert (await cup.get("", "olga"))["warnings"] == []
    await cup.play(weaker_resigns(["s0", "staff", "staff2", "s1"]))
    board = await cup.get("/table")
    ranks = {line["entry"]: (line["rank"], line["twin_of"]) for line in board["lines"]}
    assert ranks == {
        "s0/bot": (1, ""),
        "staff/bot": (2, ""),
        "staff2/bot": (None, "staff/bot"),
        "s1/bot": (3, ""),
    }
    (pair,) = board["twins"]
    assert pair["same"]
    assert pair["score"] == pytest.approx(1 / 3)
    assert any("scores differ by 0.333" in note for note in board["notes"])
    (final,) = await cup.get("/rounds")
    places = {row["entry"]: row["place"] for row in final["table"]}
    assert places == {"s0/bot": 1, "staff/bot": 2, "staff2/bot": None, "s1/bot": 3}
    marks = await cup.get("/export", "olga")
    assert [list(each["against"]) for each in marks["grades"]] == [["staff/bot"]] * 2
    async with cup.web() as web:
        page = (await web.get("/competitions/cup")).text
        assert "twin of staff/bot" in page
        assert "Differences of that size between other entries are noise" in page
        markdown = (await web.get(f"{cup.here}/export/md")).text
        assert "Differences of that size between other entries are noise" in markdown


async def test_a_class_table_is_for_its_class(house: Any) -> None:
    cup = await course(house, "class")
    for path in ("/table", "/board", "/rounds", "/certainty", "/next"):
        await cup.get(path, status=401)
        await cup.get(path, "eve", status=403)
    assert (await cup.get("/certainty", "s1")) == []
    assert (await cup.get("/table", "s1"))["matches"] == 0
    await cup.begin()
    await cup.get("/next", "eve", status=403)
    coming = await cup.get("/next?limit=5", "s1")
    assert len(coming) == 5
    assert [each["own"] for each in coming] == sorted((e["own"] for e in coming), reverse=True)
    assert "secret" not in str(coming)
    async with cup.web("olga") as web:
        page = (await web.get("/competitions/cup")).text
        assert "<h2>Next</h2>" in page
        assert "have not begun, of" in page, "whoever ends it is told before"
        ended = (await web.post(f"{cup.here}/finish", json={})).json()
    assert ended["status"] == "finished"
    (left,) = ended["unplayed"]
    assert left.startswith("connect_four: ")
    assert "s1/bot" in left


async def test_luck_is_taken_out_of_games_of_chance(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(final_results, "AT_ONCE", 7)
    cup = Course(house, 'name = "Cup"\ngames = ["kuhn_poker"]\ntime_control = "total:60"\n'
                 'board = "public"\n[format]\nname = "double_round_robin"\n')  # fmt: skip
    await cup.freeze("kuhn_poker", "s0", "s1", "s2")
    seeds = {"s0": 1, "s1": 2, "s2": 3}

    def random_play(name: str) -> Any:
        async def play(client: Any, snapshot: Any) -> None:
            await client.play(snapshot, seeds[name])

        return play

    await cup.play(random_play)
    found = await cup.get("/table", "olga")
    for line in found["lines"]:
        mean = line["returns"]["kuhn_poker"]
        assert mean["adjusted"] is not None
        assert mean["raw"]["pairs"] == 4
        assert mean["raw"]["low"] <= mean["raw"]["mean"] <= mean["raw"]["high"]
        assert mean["any_low"] <= mean["raw"]["mean"] <= mean["any_high"]
        assert -2.0 <= mean["any_low"] <= mean["any_high"] <= 2.0
    assert sum(line["returns"]["kuhn_poker"]["raw"]["mean"] for line in found["lines"]) == (
        pytest.approx(0.0)
    )


async def test_bots_that_repeat_themselves_are_counted_once(house: Any) -> None:
    cup = Course(house, 'name = "Cup"\ngames = ["tic_tac_toe"]\ntime_control = "total:60"\n'
                 'board = "public"\n[format]\nname = "double_round_robin"\n')  # fmt: skip
    await cup.freeze("tic_tac_toe", "s0", "s1")

    def the_same(name: str) -> Any:
        async def play(client: Any, snapshot: Any) -> None:
            await client.play(snapshot, 0)  # the same seed each time: the same game

        return play

    await cup.play(the_same)
    found = await cup.get("/table")
    assert (found["matches"], found["repeated"]) == (4, 2)
    assert any("repeat an earlier one" in note for note in found["notes"])
    assert [line["matches"] for line in found["lines"]] == [4, 4]
    assert [line["rating"]["matches"] for line in found["lines"]] == [2, 2]


async def test_a_board_is_worked_out_once_for_all_who_look(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = await course(house)
    await cup.play(weaker_resigns([*NAMES, "staff", "secret"]))
    count = 0
    real: Any = board_fits.compute_statistics

    def counting(*args: Any) -> Any:
        nonlocal count
        count += 1
        return real(*args)

    monkeypatch.setattr(board_fits, "compute_statistics", counting)
    await asyncio.gather(*(cup.get("/table", who) for who in ("", "olga", "s1", "s2") * 3))
    first = count
    assert first == 1
    async with cup.web("olga") as web:
        match = (await web.get("/api/v1/matches?limit=1")).json()[0]["match"]
    root = await house.token("root", "admin")
    headers = {"Authorization": f"Bearer {root}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as web:
        answer = await web.post(f"/api/v1/matches/{match}/void", json={"why": "a test"})
        assert answer.status_code < 300, answer.text
    assert (await cup.get("/table"))["matches"] == 41
    assert count == 2
