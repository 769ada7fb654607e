"""Drawings and texts of search trees: well-formed, complete, nothing on top of each other."""

from __future__ import annotations

import random
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from plyhouse.games.registry import get_game
from plyhouse.games.trees import tree_game
from plyhouse.search.teaching.drawable_tree import Explanation, Kind
from plyhouse.search.teaching.drawing.layout import Box, tidy
from plyhouse.search.teaching.drawing.svg import WIDEST
from plyhouse.search.teaching.explain import SEARCHES, explain

SVG = "{http://www.w3.org/2000/svg}"
COURSE = "((4 2 7) (3 1)) ((5 8) (2 9) (5 6)) ((1 2) (3 5))"
SHAPES = {
    Kind.MAX: "polygon",
    Kind.MIN: "polygon",
    Kind.CHANCE: "ellipse",
    Kind.MODEL: "ellipse",
    Kind.SEAT: "rect",
    Kind.TERMINAL: "rect",
    Kind.ESTIMATE: "rect",
}


def of(text: str, search: str) -> Explanation:
    game = tree_game(text)
    return explain(game, game.initial_state(), search)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("text", [COURSE, "(a:?(1/4:8 3/4:(2 -3)) b:(3 ?(1 2)))"])
def test_every_node_has_its_shape_and_a_tooltip(search: str, text: str) -> None:
    if "?" in text and search in ("minimax", "alpha_beta"):
        return
    tree = of(text, search)
    root = ElementTree.fromstring(tree.svg("A <heading> & more"))
    drawn = [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}title") is not None]
    assert len(drawn) == tree.nodes
    for group, node in zip(drawn, tree.root.all(), strict=True):
        assert group.find(f"{SVG}{SHAPES[node.kind]}") is not None
        words = group.find(f"{SVG}text")
        assert words is not None
        assert words.text == tree.value_text(node)
        tip = group.find(f"{SVG}title")
        assert tip is not None
        assert node.position in (tip.text or "")
    assert root.find(f"{SVG}title").text == f"A <heading> & more: {tree.title()}"  # type: ignore[union-attr]


def test_notebooks_show_the_drawing() -> None:
    tree = of(COURSE, "minimax")
    assert tree._repr_svg_() == tree.svg()


def test_upright_triangles_are_max_and_inverted_ones_min() -> None:
    root = ElementTree.fromstring(of("((1 2) (3 4))", "minimax").svg())
    for polygon in root.iter(f"{SVG}polygon"):
        low, _, tip = [float(point.split(",")[1]) for point in polygon.attrib["points"].split()]
        css = polygon.attrib["class"].split()
        assert (tip < low) is ("max" in css)
        assert (tip > low) is ("min" in css)


def test_cuts_are_double_bars_with_the_moves_beside_them() -> None:
    tree = of(COURSE, "alpha_beta")
    cuts = [node for node in tree.root.all() if node.pruned]
    root = ElementTree.fromstring(tree.svg())
    bars = [path for path in root.iter(f"{SVG}path") if path.attrib["class"] == "c"]
    assert len(bars) == len(cuts) + 1, "one more in the legend"
    assert "not looked at: 2" in tree.svg()
    assert 'class="c"' not in of(COURSE, "minimax").svg()


@pytest.mark.parametrize("wide", [False, True])
def test_what_was_cut_is_drawn_pale_if_asked_for(wide: bool) -> None:
    game = tree_game(COURSE if not wide else " ".join([COURSE] * 8))
    state = game.initial_state()
    tree = explain(game, state, "alpha_beta", show_cut=True)
    whole = explain(game, state, "minimax")
    root = ElementTree.fromstring(tree.svg())
    drawn = [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}title") is not None]
    pale = [group for group in drawn if group.attrib.get("class") == "u"]
    assert (len(drawn), len(pale)) == (whole.nodes, whole.nodes - tree.nodes)
    cuts = sum(len(node.pruned) for node in tree.root.all())
    bars = [path for path in root.iter(f"{SVG}path") if path.attrib["class"] == "c"]
    assert len(bars) == cuts + 1, "one more in the legend"


def test_the_best_line_is_emphasised() -> None:
    tree = of(COURSE, "alpha_beta")
    root = ElementTree.fromstring(tree.svg())
    lines = [path for path in root.iter(f"{SVG}path") if "pv" in path.attrib["class"].split()]
    assert len(lines) == len(tree.line()) - 1


def test_a_wide_tree_grows_to_the_right_instead() -> None:
    game = get_game("connect_four")
    narrow = explain(game, game.initial_state(), "alpha_beta", depth=1)
    wide = explain(game, game.initial_state(), "minimax", depth=3)
    for tree in (narrow, wide):
        root = ElementTree.fromstring(tree.svg())
        assert float(root.attrib["width"]) <= WIDEST
    assert float(root.attrib["height"]) > 343 * 20, "a line for every leaf"


def test_it_follows_dark_mode_and_loads_nothing() -> None:
    svg = of(COURSE, "alpha_beta").svg()
    assert "prefers-color-scheme:dark" in svg
    assert "href" not in svg
    assert "url(" not in svg
    assert svg.count("http") == 1, "the namespace"


@pytest.mark.parametrize("seed", range(30))
def test_boxes_of_a_level_never_overlap(seed: int) -> None:
    rng = random.Random(seed)

    def grow(depth: int) -> Box:
        size = rng.uniform(2, 60)
        children = [grow(depth - 1) for _ in range(rng.randint(0, 4))] if depth else []
        return Box(None, "", children=children, before=size, after=size + rng.uniform(0, 30))

    root = grow(5)
    extent = tidy(root, 8, 20)
    levels: dict[int, list[Box]] = {}
    for box in root.all():
        levels.setdefault(box.level, []).append(box)
    for boxes in levels.values():
        for one, other in pairwise(boxes):
            assert one.across + one.after + 8 <= other.across - other.before + 1e-6
    assert min(box.across - box.before for box in root.all()) == pytest.approx(0)
    assert max(box.across + box.after for box in root.all()) == pytest.approx(extent)
    for box in root.all():
        if box.children:
            middle = (box.children[0].across + box.children[-1].across) / 2
            assert box.across == pytest.approx(middle)
    assert tidy(root, 8, 20) == pytest.approx(extent), "the same again"


def test_text_has_a_line_for_every_node_and_cut() -> None:
    assert of("(a:(3 5) b:(2 9))", "alpha_beta").text() == (
        "alpha_beta to the end: value 3 for MAX, best a, 6 nodes\n"
        "MAX = 3  α −∞ β ∞\n"
        "├─ a  MIN = 3  α −∞ β ∞ *\n"
        "│  ├─ 1  end = 3 *\n"
        "│  └─ 2  end = 5\n"
        "└─ b  MIN ≤ 2  α 3 β ∞\n"
        "   ├─ 1  end = 2\n"
        "   └─ cut: 2  (the value is ≤ 2, α is 3)\n"
    )


def test_text_shows_probabilities_once() -> None:
    assert of("?(1/2:8 1/3:24 1/6:-12)", "expectiminimax").text() == (
        "expectiminimax to the end: value 10 for MAX, 4 nodes\n"
        "chance = 10\n"
        "├─ 1/2  end = 8\n"
        "├─ 1/3  end = 24\n"
        "└─ 1/6  end = −12\n"
    )
    game = get_game("pig")
    text = explain(game, game.initial_state().after(0), "expectiminimax", depth=1).text()
    assert "├─ 2 (1/6)  estimate" in text
