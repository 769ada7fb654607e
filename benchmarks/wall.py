"""Frames per second on a wall of many running boards, beside those of an empty page.

``python benchmarks/wall.py`` runs a server in this process, on which pairs of bots play without
pause, opens the wall and then an empty page in Chromium, and prints the intervals of their frames.
``--boards 20`` limits the boards, ``--plies 2`` sets the plies per second of each.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import statistics
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.harness.server import BotClient, Server  # noqa: E402
from tests.web.browser import Page, chromium, find_chromium, open_page  # noqa: E402

from plyhouse.protocol.messages import Act, Finished, MatchMessage, Ready, Seek, Turn  # noqa: E402
from plyhouse.server.config import ServerConfig  # noqa: E402
from plyhouse.server.serve import running_server  # noqa: E402

GAMES: Final = ("connect_four", "othello", "chess", "go(size=9)", "backgammon")
FRAMES: Final = """
new Promise((resolve) => {
  const seen = [];
  let last = performance.now();
  const end = last + %d;
  const next = (now) => {
    seen.push(now - last);
    last = now;
    if (now < end) requestAnimationFrame(next); else resolve(seen.slice(1));
  };
  requestAnimationFrame(next);
})
"""


async def play(client: BotClient, game: str, plies: float) -> None:
    """Play seeded actions in one match after the other."""
    rng = random.Random(client.session)
    await client.seek(game, "total:3000")
    while (message := await client.receive()) is not None:
        if isinstance(message, MatchMessage) and message.snapshot.status == "waiting":
            client.last_id += 1
            await client.send(Ready(client.last_id, message.snapshot.match, "ab12"))
        elif isinstance(message, Turn):
            await asyncio.sleep(rng.uniform(0.5, 1.5) / plies)
            client.last_id += 1
            action = rng.choice(message.observation["legal"])
            await client.send(Act(client.last_id, message.match, message.ply, action))
        elif isinstance(message, Finished):
            client.last_id += 1
            await client.send(Seek(client.last_id, game, "total:3000"))


async def frames(page: Page, seconds: float) -> list[float]:
    """Return the milliseconds between frames of a page."""
    found: list[float] = await page.evaluate(FRAMES % int(1000 * seconds))
    return found


def line(name: str, found: list[float]) -> str:
    """A line of the table."""
    ordered = sorted(found)
    late = sum(each > 1.5 * 1000 / 60 for each in found) / len(found)
    return (
        f"{name:12} {1000 / statistics.mean(found):>6.1f} {statistics.median(found):>7.1f} "
        f"{ordered[int(0.95 * (len(ordered) - 1))]:>7.1f} {ordered[-1]:>7.1f} {late:>6.1%}"
    )


async def main(program: str, boards: int, plies: float, seconds: float) -> None:
    """Print the frames of the wall and of an empty page."""
    config = ServerConfig(port=0, database="sqlite:///:memory:", guests=True)
    async with (
        running_server(config) as server,
        contextlib.AsyncExitStack() as stack,
        chromium(program) as browser,
        open_page(browser) as page,
    ):
        house = Server(server, stack)
        players = []
        for at in range(boards):
            for side in "ab":
                client = await house.bot(f"{side}{at}", "bot")
                players.append((client, GAMES[at % len(GAMES)]))
        tasks = [asyncio.create_task(play(client, game, plies)) for client, game in players]
        try:
            await page.show_as(1920, 1080)
            await page.go(f"{server.url}/wall")
            await page.until(f"document.querySelectorAll('.tile').length >= {boards}")
            await frames(page, 5)
            wall = await frames(page, seconds)
            shown = await page.evaluate("document.querySelectorAll('.tile').length")
            await page.go("about:blank")
            await frames(page, 1)
            empty = await frames(page, seconds)  # under the same load
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    print(f"{shown} boards, about {plies:g} plies per second on each, {seconds:g} s")
    print(f"{'page':12} {'frames':>6} {'median':>7} {'95 %':>7} {'longest':>7} {'late':>6}")
    print(f"{'':12} {'per s':>6} {'ms':>7} {'ms':>7} {'ms':>7}")
    print(line("wall", wall))
    print(line("empty page", empty))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=50)
    parser.add_argument("--plies", type=float, default=2.0, help="plies per second of each board")
    parser.add_argument("--seconds", type=float, default=15.0)
    given = parser.parse_args()
    program = find_chromium()
    if program is None:
        raise SystemExit("No Chromium is installed (PLYHOUSE_CHROMIUM can name one).")
    asyncio.run(main(program, given.boards, given.plies, given.seconds))
