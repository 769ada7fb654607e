"""Draws docs/pictures/leaderboard.svg from the results of a demo.

plyhouse demo --database sqlite:///demo.db
python docs/pictures/leaderboard.py sqlite:///demo.db
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
from pathlib import Path

from rich.console import Console

from plyhouse.clients.shared.standings import standings_from_database, standings_table

GAMES = ("connect_four", "pig", "kuhn_poker")
WIDTH = 122


def drawing(database: str) -> str:
    """The leaderboards as SVG, without the web font that rich would load from elsewhere."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for game in GAMES:
        console.print(
            standings_table(game, asyncio.run(standings_from_database(database, game, 9)))
        )
    svg = console.export_svg(title="plyhouse demo", unique_id="plyhouse")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.S)
    return svg.replace("Fira Code", "ui-monospace").replace("\r", "")


def main() -> int:
    """Write the picture beside this script."""
    if len(sys.argv) != 2:
        sys.stderr.write(f"usage: {sys.argv[0]} DATABASE-URL\n")
        return 2
    target = Path(__file__).with_name("leaderboard.svg")
    target.write_text(drawing(sys.argv[1]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
