"""Plots: shapes inside their frame, tables with the same numbers, and files that are XML."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import httpx
import pytest

from plyhouse.protocol.api.bots import BotRating
from plyhouse.server.web.pages.rendering import plot_answer
from plyhouse.server.web.plots import (
    HeatCell,
    Interval,
    Plot,
    PlyTime,
    bars,
    head_to_head,
    intervals,
    ply_times,
    progress,
    rating_history,
    ticks,
)

from .conftest import House

NAME = "<b>&\"'"
POINTS = [
    BotRating("pig", "1", 1000, 1500.0, 100.0, 2900.0, 1),
    BotRating("pig", "1", 2000, 1600.0, 1550.0, 1650.0, 9),
    BotRating("pig", "2", 2000, 1400.0, 1300.0, 1500.0, 9),
]
CELLS: list[list[HeatCell | None]] = [
    [None, HeatCell(0.25, 4), None],
    [HeatCell(0.75, 4), None, HeatCell(0.0, 2)],
    [None] * 3,
]
PLOTS: dict[str, Plot | None] = {
    "intervals": intervals(
        NAME, [Interval(NAME, 1500, 900, 4000), Interval("b", 1600, 1590, 1610, 1500, 1700)]
    ),
    "history": rating_history("pig", POINTS),
    "heat": head_to_head(NAME, ["a", "b" * 40, NAME], CELLS),
    "many": head_to_head("many", [str(n) for n in range(40)], [[None] * 40 for _ in range(40)]),
    "progress": progress(NAME, [1000, 2000, 5000], 4, [(2, 200.0), (3, 120.0)]),
    "time": ply_times(NAME, [NAME, "b"], [PlyTime(1, 0, "e4", 20.0), PlyTime(2, 1, "e5", 0.0)]),
}
ACROSS = {"x", "x1", "x2", "cx"}
DOWN = {"y", "y1", "y2", "cy"}


@pytest.mark.parametrize("name", PLOTS)
def test_every_shape_of_a_plot_is_inside_its_frame(name: str) -> None:
    plot = PLOTS[name]
    assert plot is not None
    for shape in plot.shapes:
        values = dict(shape.attributes)
        places = [pair.split(",") for pair in values.get("points", "").split()]
        across = [float(values[each]) for each in ACROSS & values.keys()]
        down = [float(values[each]) for each in DOWN & values.keys()]
        across += [float(x) for x, _ in places]
        down += [float(y) for _, y in places]
        if shape.tag == "rect":
            across.append(across[0] + float(values["width"]))
            down.append(down[0] + float(values["height"]))
        assert all(0 <= each <= plot.width for each in across), shape
        assert all(0 <= each <= plot.height for each in down), shape


@pytest.mark.parametrize("name", PLOTS)
def test_a_file_is_xml_with_its_style_title_and_no_other_names(name: str) -> None:
    plot = PLOTS[name]
    answer = plot_answer(plot, f"{NAME} of\r\nnobody")
    root = ElementTree.fromstring(str(answer.content))
    assert plot is not None
    assert root.findtext("{http://www.w3.org/2000/svg}title") == plot.title
    style = root.findtext("{http://www.w3.org/2000/svg}style") or ""
    assert "--panel: #ffffff" in style  # the light colours
    assert style.count("--panel:") == 2  # and the dark ones
    assert ".plot-ground" in style
    looks = {look for shape in plot.shapes for look in shape.look.split()}
    assert {look for look in looks if f".{look} " not in style} == set()
    assert re.fullmatch(r'attachment; filename="[\w.-]+"', answer.headers["content-disposition"])


def test_tables_have_the_numbers_of_their_plots() -> None:
    heat, time, history = PLOTS["heat"], PLOTS["time"], PLOTS["history"]
    assert heat is not None
    assert time is not None
    assert history is not None
    assert heat.rows[0] == ("a", "b" * 40, "0.250", "4")
    assert time.rows == (("1", NAME, "e4", "0.02"), ("2", "b", "e5", "0.00"))
    assert history.rows[0] == (1000, "1", "1500", "100 \N{EN DASH} 2900")


def test_plots_of_nothing_are_none() -> None:
    assert rating_history("pig", POINTS[:1]) is None
    assert progress("x", [1000], 4, []) is None
    assert ply_times("x", [], []) is None
    assert plot_answer(None, "x").status_code == 404


def test_bars_have_one_scale_and_stay_on_it() -> None:
    first, none, second = bars([Interval("a", 0, -10, 10), None, Interval("b", 100, 90, 110)])
    assert none is None
    assert first is not None
    assert second is not None
    assert first.near_at == 0.0
    assert first.at == pytest.approx(8.33, abs=0.01)
    assert second.near_at + second.near == pytest.approx(100.0)
    assert bars([]) == []


@pytest.mark.parametrize(("low", "high"), [(0, 1e-6), (-3, 7), (1132.5, 1133.5), (0, 123456)])
def test_ticks_are_round_and_between_the_bounds(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 6
    assert all(low <= each <= high for each in found)


async def test_plots_of_pages_are_files_and_unknown_ones_are_not_there(house: House) -> None:
    match = await house.play("connect_four", "1 1 2 2 3 3 4")
    first, _ = await house.pair("kuhn_poker")
    async with httpx.AsyncClient(base_url=house.url) as web:
        time = await web.get(f"/matches/{match}?plot=time")
        ratings = await web.get("/leaderboards/connect_four?plot=ratings")
        closed = await web.get(f"/matches/{first.match}?plot=time")
        unknown = [
            await web.get(path)
            for path in ("/leaderboards/connect_four?plot=x", "/bots/alice/bot?plot=x")
        ]
    for answer in (time, ratings):
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/svg+xml"
        assert "sandbox" in answer.headers["content-security-policy"]
    assert "alice/bot" in ratings.text
    assert [answer.status_code for answer in (closed, *unknown)] == [404, 404, 404]
