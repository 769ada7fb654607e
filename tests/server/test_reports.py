"""A final's report about one student, and its readers."""

from __future__ import annotations

import shlex
from typing import Any

from msgspec import convert
from tests.harness.finals import Course, weaker_resigns
from tests.harness.zygote import forked_command

from plyhouse.clients.shared.student_report import report_text
from plyhouse.protocol.api.reports import Report
from plyhouse.protocol.messages import Act, MatchSnapshot, Turn
from plyhouse.server.match.presence import PRIVATE
from plyhouse.storage.causes import Cause
from plyhouse.storage.models import events

FILE = """
name = "Cup"
games = ["connect_four"]
time_control = "total:60"
board = "{board}"
[grading]
every_lower = false
[[baselines]]
bot = "staff/bot"
grade = "pass"
at_least = 0.4
[[baselines]]
bot = "secret/bot"
hidden = true
grade = "good"
at_least = 0.5
"""
ORDER = ["s0", "staff", "s1", "secret", "s2"]


async def final(house: Any, board: str) -> Course:
    """The weaker resigns; s2 does not: it plays a column that there is not."""
    cup = Course(house, FILE.format(board=board))
    await cup.freeze("connect_four", "s0", "s1", "s2", staff=("staff", "secret"))
    resigning = weaker_resigns(ORDER)

    def how(name: str) -> Any:
        if name != "s2":
            return resigning(name)

        async def blunder(client: Any, snapshot: MatchSnapshot) -> None:
            if snapshot.seat == 0:
                turn = await client.next(Turn, match=snapshot.match)
                await client.ask(Act, snapshot.match, turn.ply, "nonsense")
            else:
                await resigning(name)(client, snapshot)

        return blunder

    await cup.play(how)
    return cup


async def test_a_report_has_all_that_a_student_asks_for(house: Any) -> None:
    cup = await final(house, "class")
    own = await cup.get("/report", "s2")
    assert (own["student"], own["status"], own["graded_by"]) == ("s2", "finished", "s2/bot")
    (entry,) = own["entries"]
    assert (entry["rank"], entry["matches"], entry["losses"], entry["forfeits"]) == (4, 8, 8, 4)
    rating = entry["rating"]
    assert rating["any_low"] < rating["low"] < rating["elo"] < rating["high"] < rating["any_high"]
    assert rating["rank_low"] <= 4 == rating["rank_high"]
    assert own["forfeits"] == {"illegal_action": 4}
    for forfeit in own["forfeited"]:
        assert (forfeit["kind"], forfeit["ply"], forfeit["actions"]) == ("illegal_action", 0, [])
        assert "played an illegal action at ply 1" in forfeit["reason"]
        assert "nonsense" in forfeit["detail"], "what it tried, for its author"
        assert forfeit["scene"], "the position, to be drawn"
        assert forfeit["replay"] == f"/matches/{forfeit['match']}?ply=0"
    (staff,) = own["baselines"]
    assert (staff["name"], staff["matches"], staff["losses"], staff["reached"]) == (
        *("staff/bot", 2, 2, False),
    )
    assert staff["any_low"] <= staff["low"] <= staff["score"] <= staff["high"] <= staff["any_high"]
    assert [each["name"] for each in own["opponents"]] == ["s0/bot", "s1/bot", "staff/bot"]
    assert len(own["lost"]) == 8
    assert own["lost"][0]["replay"].startswith("/matches/")
    points = own["history"]["s2/bot"]
    assert points[-1]["matches"] == 20
    assert points[-1]["any_low"] < points[-1]["low"] < points[-1]["elo"]
    assert own["slowest"] == [], "it never played a ply"
    assert own["summary"] == {
        "why": "Missed pass by 0.400: 0.000 against staff/bot (95 % from 0.00 to 0.97).",
        "advice": "4 of 8 matches were lost by illegal action: "
        "choose one of the legal actions of the turn.",
        "replay": own["forfeited"][-1]["replay"],
    }
    text = report_text(convert(own, Report), "http://here")
    opening = text.split("\n## ")[0]
    assert opening.index("Grade: **none**") < opening.index(own["summary"]["why"])
    assert "staff/bot  o---------------|" in opening, "the plot, with the threshold"
    assert opening.endswith(
        f"Replay: http://here{own['summary']['replay']}\n\nScored: connect_four by wins\n"
    )
    assert "secret" not in str(own), "hidden baselines stay hidden"
    whole = await cup.get("/report?student=S2", "olga")
    assert [each["name"] for each in whole["baselines"]] == ["staff/bot", "secret/bot"]
    assert {each["detail"] for each in whole["forfeited"]} == {""}
    better = await cup.get("/report", "s1")
    assert better["grade"] == "good"
    assert [each["reached"] for each in better["baselines"]] == [False]
    assert better["summary"]["why"] == "Reached good against a baseline that stays hidden."
    assert "staff/bot" not in better["summary"]["advice"], "it is below the grade"
    assert "secret" not in str(better)


async def test_a_report_page_begins_with_grade_reason_plot_and_advice(house: Any) -> None:
    cup = await final(house, "class")
    async with cup.web("s2") as web:
        whole = (await web.get("/competitions/cup/report")).text
        drawn = await web.get("/competitions/cup/report?student=s2&plot=results")
    told = whole[whole.index("<h1>") : whole.index("<h2>")]
    parts = ["No grade", "Missed pass by 0.400", "<svg", "staff/bot: 0.000", "Try next:", "Replay"]
    places = [told.index(each) for each in parts]
    assert places == sorted(places)
    assert drawn.headers["content-type"].startswith("image/svg+xml")
    assert "secret" not in whole + drawn.text


async def test_a_report_points_to_the_reviewed_ply_that_cost_most(open_house: Any) -> None:
    command = shlex.join([*forked_command(), "review", "-", "--json"])
    house = await open_house(review_command=command)
    cup = Course(house, 'name = "Cup"\ngames = ["tic_tac_toe"]\ntime_control = "total:60"\n')
    await cup.freeze("tic_tac_toe", "s0", "s1")

    await cup.play()
    reports = [await cup.get("/report", who) for who in ("s0", "s1")]
    lost = next(each for report in reports for each in report["lost"])
    student = lost["entry"].partition("/")[0]
    before = (await cup.get("/report", student))["summary"]
    assert before["advice"].startswith("Review the latest loss")
    async with cup.web(student) as web:
        found = (await web.get(f"/api/v1/matches/{lost['match']}/review")).json()
    costs = {each["ply"]: each["drop"] for each in found["plies"] if each["lost"]}
    ply = max(costs, key=lambda each: costs[each])
    after = (await cup.get("/report", student))["summary"]
    assert f"ply {ply + 1} of a match of Tic-tac-toe cost most, " in after["advice"]
    assert after["replay"] == f"/matches/{lost['match']}?ply={ply}"


async def test_reason_of_a_forfeit_names_no_hidden_baseline(house: Any) -> None:
    cup = await final(house, "class")
    drawn = Cause("flag_draw", (0, 1), (1,)).encoded()
    lost = events.c.kind == "end", events.c.text == "illegal_action"
    data = f'{{"returns":[0.0,0.0],"cause":{drawn}}}'
    change = events.update().where(*lost).values(data=data)
    await house.hub.store.write(lambda link: link.execute(change))
    own = [each["reason"] for each in (await cup.get("/report", "s2"))["forfeited"]]
    assert any(f"seat 2 ({PRIVATE}) cannot win" in each for each in own)
    assert any("seat 2 (staff/bot) cannot win" in each for each in own)
    assert "secret" not in str(own)
    whole = await cup.get("/report?student=s2", "olga")
    assert "seat 2 (secret/bot) cannot win" in str(whole["forfeited"]), "for the staff"


async def test_a_report_is_for_its_student_and_organisers(house: Any) -> None:
    cup = await final(house, "anonymous")
    assert (await cup.get("/report", status=401))["code"] == "auth/required"
    assert (await cup.get("/report?student=s1", "s2", 403))["code"] == "auth/scope"
    assert (await cup.get("/report", "eve", 404))["code"] == "storage/unknown"
    assert (await cup.get("/report?student=eve", "olga", 404))["code"] == "storage/unknown"


async def test_a_report_names_opponents_as_the_list_of_matches_does(house: Any) -> None:
    cup = await final(house, "anonymous")
    own = await cup.get("/report?student=s2", "s2")
    async with cup.web("s2") as web:
        listed = (await web.get("/api/v1/matches?competition=Cup")).json()
    met = {f"{seat['player']}/{seat['bot']}" for each in listed for seat in each["seats"]}
    assert met == {"s0/bot", "s1/bot", "s2/bot", "staff/bot", f"{PRIVATE}/"}
    assert [each["name"] for each in own["opponents"]] == ["s0/bot", "s1/bot", "staff/bot"]
    lost = {name for each in own["lost"] for name in each["opponents"]}
    assert lost == {"s0/bot", "s1/bot", "staff/bot", PRIVATE}
    assert "secret" not in str(own), "hidden baselines have no name anywhere"


async def test_a_report_before_the_final_is_empty_and_shows_slow_plies_after_it(house: Any) -> None:
    cup = Course(house, 'name = "Cup"\ngames = ["tic_tac_toe"]\ntime_control = "total:60"\n')
    await cup.freeze("tic_tac_toe", "s0", "s1")
    early = await cup.get("/report", "s0")
    assert (early["lost"], early["baselines"], early["history"]) == ([], [], {"s0/bot": []})

    await cup.play()
    late = await cup.get("/report", "s0")
    slow = [each["thought_s"] for each in late["slowest"]]
    assert slow
    assert slow == sorted(slow, reverse=True)
    assert all(each["left_s"] > 50 for each in late["slowest"])
