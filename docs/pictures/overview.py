"""Draws docs/pictures/overview.svg: a replay, a search tree and a leaderboard, animated.

plyhouse demo --database sqlite:///demo.db
python docs/pictures/overview.py sqlite:///demo.db

The replay is a match of two searches with fixed seeds, the tree is the one of docs/course.md, and
the leaderboard is that of the demo.  The picture follows the reader's choice of a light or dark
page, and stands still if the reader prefers less motion.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import escape

from plyhouse.clients.shared.standings import standings_from_database
from plyhouse.games import get_game
from plyhouse.games.trees import tree_game
from plyhouse.protocol.api.standings import Standing
from plyhouse.search import Limit, alpha_beta, explain, mcts

TREE = "((4 2 7) (3 1)) ((5 8) (2 9) (5 6)) ((1 2) (3 5))"
GAME = "connect_four"
COLUMNS, ROWS, CELL = 7, 6, 40
SECONDS = 16.0
"""Length of the animation, which repeats."""
PLAYED = 0.75
"""The part of it in which the replay runs."""

STYLE = """
.plain{fill:#fff}.ink{fill:#1b1f24}.dim{fill:#59636e}.frame{fill:#2a6f77}.hole{fill:#fff}
.first{fill:#d9a400}.second{fill:#b3392f}.bar{stroke:#1f5fa8;stroke-width:8;opacity:.35}
.dot{fill:#1f5fa8}.axis{stroke:#9aa4af;stroke-width:1}
.name{font:13px system-ui,sans-serif}.head{font:600 15px system-ui,sans-serif}
@media(prefers-color-scheme:dark){
.plain{fill:#15191e}.ink{fill:#e8ecf0}.dim{fill:#a3adb8}.frame{fill:#1f4f55}.hole{fill:#15191e}
.first{fill:#f2c53d}.second{fill:#e0685d}.bar{stroke:#7ab8ff}.dot{fill:#7ab8ff}
}
@media(prefers-reduced-motion:reduce){.move{animation:none!important}}
"""


def match() -> list[int]:
    """Play alpha-beta against Monte Carlo tree search; return the columns, from 0."""
    game = get_game(GAME)
    state: Any = game.initial_state()
    random = Random(7)
    played = []
    while state.to_move >= 0:
        if len(played) < 2:
            action = random.choice(state.actions())
        elif state.to_move == 0:
            action = alpha_beta(game, state, Limit(depth=7)).action
        else:
            action = mcts(game, state, Limit(simulations=1500), seed=random.random()).action
        played.append(int(game.format(state, action)) - 1)
        state = state.after(action)
    return played


def replay(columns: list[int]) -> str:
    """Return the board, into which the discs drop one after the other."""
    width, height = COLUMNS * CELL, ROWS * CELL
    parts = [f'<rect class="frame" width="{width}" height="{height}" rx="8"/>']
    parts += [
        f'<circle class="hole" cx="{CELL * (x + 0.5):g}" cy="{CELL * (y + 0.5):g}" r="15"/>'
        for x in range(COLUMNS)
        for y in range(ROWS)
    ]
    heights = [0] * COLUMNS
    for ply, column in enumerate(columns):
        row = ROWS - 1 - heights[column]
        heights[column] += 1
        begin = 100 * PLAYED * ply / len(columns)
        drop = f"drop{ply}"
        parts.append(
            f"<style>@keyframes {drop}{{0%,{begin:.2f}%{{opacity:0;"
            f"transform:translateY({-CELL * (row + 1)}px)}}{begin + 0.01:.2f}%{{opacity:1;"
            f"transform:translateY({-CELL * (row + 1)}px)}}{begin + 2:.2f}%,100%{{opacity:1;"
            f"transform:none}}}}</style>"
            f'<circle class="{("first", "second")[ply % 2]} move" r="15" '
            f'style="animation:{drop} {SECONDS:g}s infinite" '
            f'cx="{CELL * (column + 0.5):g}" cy="{CELL * (row + 0.5):g}"/>'
        )
    return "".join(parts)


def tree() -> str:
    """Return the drawing of an alpha-beta search, from the search library."""
    game = tree_game(TREE)
    return explain(game, game.initial_state(), "alpha_beta").svg()


def leaderboard(lines: list[Standing]) -> str:
    """Return the ratings with their intervals, growing from the rating outwards."""
    known = [
        (line, line.rating, line.low, line.high)
        for line in lines
        if line.rating is not None and line.low is not None and line.high is not None
    ]
    least = min(low for _, _, low, _ in known)
    most = max(high for _, _, _, high in known)

    def x(rating: float) -> float:
        return 118 + 150 * (rating - least) / (most - least)

    parts = []
    for index, (line, rating, low, high) in enumerate(known):
        y = 34 + 34 * index
        parts.append(
            f'<text class="name ink" x="0" y="{y + 4}">{escape(line.bot)}</text>'
            f'<line class="axis" x1="118" x2="268" y1="{y}" y2="{y}"/>'
            f'<line class="bar move" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y}" y2="{y}" '
            f'style="transform-origin:{x(rating):.1f}px;animation:grow {SECONDS:g}s infinite"/>'
            f'<circle class="dot" cx="{x(rating):.1f}" cy="{y}" r="5"/>'
            f'<text class="name dim" x="280" y="{y + 4}">{rating:.0f}</text>'
        )
    grow = "<style>@keyframes grow{0%{transform:scaleX(0)}30%,100%{transform:none}}</style>"
    return grow + "".join(parts)


def picture(lines: list[Standing]) -> str:
    """Return the three parts side by side."""
    place = '<svg x="312" y="36" width="390" height="256" '
    drawn = re.sub(r' width="\d+" height="\d+"', "", tree(), count=1).replace("<svg ", place, 1)
    titles = {10: "Watch a match", 320: "Draw a search", 720: "Rank the bots, with intervals"}
    heads = "".join(
        f'<text class="head ink" x="{x}" y="24">{title}</text>' for x, title in titles.items()
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1040 300" width="1040" height="300">'
        "<title>A match of connect four, an alpha-beta search, and a leaderboard</title>"
        f'<style>{STYLE}</style><rect class="plain" width="1040" height="300" rx="8"/>{heads}'
        f'<g transform="translate(10 42)">{replay(match())}</g>{drawn}'
        f'<g transform="translate(720 42)">{leaderboard(lines)}</g></svg>\n'
    )


def main() -> int:
    """Write the picture beside this script."""
    if len(sys.argv) != 2:
        sys.stderr.write(f"usage: {sys.argv[0]} DATABASE-URL\n")
        return 2
    lines = asyncio.run(standings_from_database(sys.argv[1], GAME, 7))
    Path(__file__).with_name("overview.svg").write_text(picture(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
