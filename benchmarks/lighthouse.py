"""Lighthouse on every kind of page: performance, accessibility, layout shift, bytes.

``python benchmarks/lighthouse.py`` fills a server in this process and lets Lighthouse (fetched by
npx, which needs node and Chromium) look at each page the way it does by itself: as a phone in the
middle range on a slow network.  ``--desk`` looks as a desk does, ``--only NAME`` at some pages.
Exits with 1 if a page has less than 95 points in either, shifts by 0.1 and more, or transfers more
than 200 KiB.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.web.browser import find_chromium  # noqa: E402
from tests.web.populated import populated  # noqa: E402

LIGHTHOUSE: Final = "lighthouse@12"
"""The last one that runs on node 20."""
NEEDED: Final = 95
SHIFT: Final = 0.1
MOST_BYTES: Final = 200 * 1024
PATIENCE: Final = 180.0
"""Seconds for one page."""


async def look(npx: str, chromium: str, url: str, *, desk: bool) -> dict[str, Any]:
    """Return Lighthouse's scores of a page; raises RuntimeError if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report.json"
        command = [
            *(npx, "--yes", LIGHTHOUSE, url, "--quiet", "--output=json", f"--output-path={out}"),
            *("--only-categories=performance,accessibility", *(["--preset=desktop"] * desk)),
            "--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage",
        ]
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**os.environ, "CHROME_PATH": chromium},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(PATIENCE):
            _, said = await process.communicate()
        if not out.exists():
            raise RuntimeError(said.decode(errors="replace")[-2000:])
        found: dict[str, Any] = json.loads(out.read_text())
        return found


def line(name: str, report: dict[str, Any]) -> tuple[str, bool]:
    """A line of the table, and whether the page is good enough."""
    points = {
        name: round(100 * (report["categories"][name]["score"] or 0))
        for name in ("performance", "accessibility")
    }
    audits = report["audits"]
    shift = audits["cumulative-layout-shift"]["numericValue"]
    paint = audits["largest-contentful-paint"]["numericValue"] / 1000
    size = audits["total-byte-weight"]["numericValue"]
    good = min(points.values()) >= NEEDED and shift < SHIFT and size <= MOST_BYTES
    text = (
        f"{name:24} {points['performance']:>5} {points['accessibility']:>6} "
        f"{shift:>6.3f} {paint:>7.2f} s {size / 1024:>6.0f} KiB"
    )
    return text, good


async def main(only: str, *, desk: bool) -> int:
    """Look at the pages; returns how many are not good enough."""
    npx, chromium = shutil.which("npx"), find_chromium()
    if npx is None or chromium is None:
        print("Not measured: this needs npx (of node) and Chromium.")
        return 0
    print(f"{'page':24} {'speed':>5} {'access':>6} {'shift':>6} {'largest':>9} {'bytes':>10}")
    poor = 0
    async with populated() as house:
        for name, path in house.pages.items():
            if name == "404" or only not in name:  # Lighthouse looks at no page that is not there
                continue
            report = await look(npx, chromium, house.house.server.url + path, desk=desk)
            text, good = line(name, report)
            poor += not good
            print(
                text
                if good
                else f"{text}  below {NEEDED}, shift of {SHIFT} or above {MOST_BYTES // 1024} KiB",
                flush=True,
            )
            if not good:
                for key, audit in report["audits"].items():
                    if audit.get("score") is not None and audit["score"] < 0.9:
                        print(f"    {key}: {audit.get('displayValue', audit['title'])}")
    return poor


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="pages whose name has this")
    parser.add_argument("--desk", action="store_true", help="look as a desk does, not a phone")
    given = parser.parse_args()
    raise SystemExit(1 if asyncio.run(main(given.only, desk=given.desk)) else 0)
