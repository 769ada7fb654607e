"""What a filled server answers: record it, and compare two recordings field by field.

    python -m benchmarks.answers fill FOLDER
    python -m benchmarks.answers record FOLDER RECORDING.json
    python -m benchmarks.answers compare OLD.json NEW.json

``fill`` plays matches and competitions, and keeps the database and tokens of five kinds of people
in FOLDER.  ``record`` starts a server on a copy of it, requests every address that answers GET as
each of them, runs the commands of `COMMANDS`, and keeps all answers.  ``compare`` names each field
that differs.  To check a change, fill once, record with the old tree and the new one, and compare.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from tests.harness.finals import HERE, Course, weaker_resigns
from tests.harness.server import Server
from tests.server.routes import get_paths
from tests.web.populated import populated

from plyhouse.clients.cli.main import main as command_line
from plyhouse.protocol.hosting.package import Rules, digest_of, from_upload, pack
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server
from plyhouse.storage import people, submission_sql, suspensions

DATABASE = "filled.db"
FACTS = "facts.json"
TIMED = frozenset(
    ("uptime_s", "stalled_ms", "longest_stall_ms", "clocks", "seconds", "last_used_ms", "lease_ms")
)
"""Fields that differ from run to run."""
CLASS = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
board = "anonymous"
[[baselines]]
bot = "tutor/bot"
grade = "4.0"
at_least = 0.25
[[baselines]]
bot = "secret/bot"
hidden = true
grade = "1.0"
at_least = 0.5
"""
SWISS = """
name = "Swiss"
games = ["connect_four"]
time_control = "total:60"
board = "public"
[format]
name = "swiss"
"""
BOT = """
from plyhouse.bots import Bot


class First(Bot):
    def choose(self, turn):
        return turn.legal[0]
"""
COMMANDS = (
    "competition list",
    "competition status 'spring cup'",
    "competition status cup",
    "competition standings 'spring cup'",
    "competition standings cup",
    "competition pairings 'spring cup'",
    "competition pairings cup",
    "competition staff list cup",
    "competition announcements cup",
    "competition regrade list cup",
    "competition report cup --student ann",
    "competition suspicious cup",
    "competition file cup",
    "student list --competition cup",
    "code list --competition cup",
    "submission list",
    "submission show 1",
    "submission logs",
    "leaderboard connect_four",
)
"""Commands whose output is recorded."""


async def fill(folder: Path) -> None:
    """Fill a database by playing on a server."""
    path = folder / DATABASE
    config = ServerConfig(port=0, database=f"sqlite:///{path}", guests=True, hosted=True)
    async with populated(config) as filled:
        house, store = filled.house, filled.house.hub.store
        cup = Course(house, CLASS, "cup")
        await cup.freeze("tic_tac_toe", "ann", "ben2", "cai", staff=("tutor", "secret"))
        order = ["ann", "tutor", "ben2", "secret", "cai"]
        async with cup.web("olga") as api:
            await _post(api, f"{HERE}/cup/codes", {"uses": 3, "late_until": "2030-01-01T12:00:00Z"})
            await _post(api, f"{HERE}/cup/announcements", {"text": "Pizza at six."})
            await house.token("ira")
            await _post(api, f"{HERE}/cup/staff", {"player": "ira", "role": "reader"})
        await cup.play(weaker_resigns(order))
        admin = await house.token("root", "admin", "organise", "play", "runner")
        tokens = {"": "", "staff": cup.tokens["olga"], "admin": admin}
        tokens |= {"student": cup.tokens["ann"], "other": cup.tokens["eve"]}
        async with cup.web("ann") as api:
            found = (await api.get("/api/v1/matches?player=ann")).json()
            own = found[0]["match"]
            asked = {"match": own, "text": "Was that a flag?"}
            await _post(api, f"{HERE}/cup/regrades", asked)
            await _post(api, f"{HERE}/cup/regrades", {"text": "And my grade?"})
        async with cup.web("olga") as api:
            answer = {"text": "No.", "close": True}
            await _post(api, f"{HERE}/cup/regrades/1/answer", answer)
            await _post(api, f"{HERE}", {"file": SWISS})
            await _post(api, f"/api/v1/matches/{found[1]['match']}/void", {"why": "Test of voids"})
            late = {"student": "cai", "until": "2030-02-01T12:00:00Z"}
            await api.post(f"{HERE}/cup/extend", json=late)
            await _post(
                api,
                HERE,
                {
                    "file": 'name = "Open cup"\ngames = ["connect_four"]\n'
                    'time_control = "total:60"\nboard = "public"\n[limits]\nstudents = 0\n',
                    "entries": ["alice/one", "bob/two"],
                },
            )
        package = from_upload("mybot.py", BOT.encode(), Rules())
        for player, bot in (("ann", "bot"), ("ben2", "hosted")):
            owner = await store.read(people.player, player)
            row = await store.ensure_bot(owner.id, bot, "bot")
            digest = digest_of(package)
            made = await store.submissions.add(row.id, "v1", digest, pack(package), store.now())
            games = ("tic_tac_toe", "pig")
            await store.write(
                submission_sql.check, made.id, True, "All is well.", games, store.now()
            )
        async with httpx.AsyncClient(
            base_url=house.server.url, headers={"Authorization": f"Bearer {admin}"}
        ) as api:
            hosted = await store.read(people.bot_named, "ann", "bot")
            printed = {"lines": [[0, "print", "hello"]], "costs": [[0, 3_000_000, 2_000_000, 0]]}
            await _post(
                api,
                "/api/v1/runner/output",
                {"match": own, "bot": hosted.id, "part": "a-1", **printed},
            )
            version = next(each for each in house.hub.directory.presences.values())
            await store.write(suspensions.suspend, version.version_id, "3 crashes", store.now())
            await _post(api, "/api/v1/players/ira/disable", {"why": "A test"})
            await _post(api, "/api/v1/players/bob/bots/two/disable", {"why": "A test"})
        facts = {"tokens": tokens, "values": await _values(filled.pages, house, own)}
    (folder / FACTS).write_text(json.dumps(facts, indent=1))


async def _post(api: httpx.AsyncClient, path: str, body: dict[str, Any]) -> Any:
    answer = await api.post(path, json=body)
    assert answer.is_success, (path, answer.text)
    return answer.json() if answer.content else None


async def _values(pages: dict[str, str], house: Server, own: str) -> dict[str, list[str]]:
    """Return what to put in for the parameters of paths."""
    names = ["alice", "ann", "secret"]
    ids = [pages[each].removeprefix("/matches/") for each in ("match live", "replay")]
    competitions = ["spring cup", "cup", "swiss", "open cup"]
    games = ["connect_four", "tic_tac_toe"]
    forms = "csv md html json jsonl pgn sgf grades canvas moodle gradescope"
    return {
        "competition": competitions,
        "reference": competitions,
        "player": names,
        "name": [*names, "connect_four"],
        "bot": ["one", "bot"],
        "match": [*ids, own],
        "game": games,
        "form": forms.split(),
        "digest": ["0" * 64],
        "submission": ["1", "2", "9"],
        "path": ["nothing"],
    }


QUERIES = {
    "/api/v1/matches": ("?limit=200", "?player=ann", "?sort=ended&competition=spring%20cup"),
    "/api/v1/matches/{}/replay": ("?seat=0", "?all_hands=true"),
    "/api/v1/competitions/{}/table": ("?crosstab=true",),
    "/api/v1/competitions/{}/report": ("?student=ann", "?student=ben"),
    "/competitions/{}/report": ("?student=ann", "?student=ben"),
    "/api/v1/leaderboards/{}": ("?versions=all",),
    "/bots/{}/{}": ("?show=all",),
}
SKIPPED = re.compile(r"^/(metrics|web/|api/openapi|docs|api$|competitions/new)|/tree|/review")
"""What changes by itself, is a file, or waits for another process."""


async def record(folder: Path) -> dict[str, Any]:
    """Return all answers of a server on a copy of the database."""
    facts = json.loads((folder / FACTS).read_text())
    values = {
        name: [quote(each, safe="") for each in some] for name, some in facts["values"].items()
    }
    paths = [each for each in get_paths(values) if not SKIPPED.search(each)]
    for shape, queries in QUERIES.items():
        pattern = re.compile(re.escape(shape).replace(r"\{\}", "[^/]+") + "$")
        paths += [each + query for each in paths if pattern.match(each) for query in queries]
    answers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        config = ServerConfig(
            port=0, database=f"sqlite:///{copy}/{DATABASE}", guests=True, hosted=True
        )
        async with running_server(config) as server:
            for who, token in facts["tokens"].items():
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                async with httpx.AsyncClient(
                    base_url=server.url, headers=headers, timeout=120
                ) as api:
                    for path in paths:
                        answer = await api.get(path)
                        answers[f"{who or 'stranger'} {path}"] = _kept(answer, server.url)
            os.environ["PLYHOUSE_SERVER"] = server.url
            for command in COMMANDS:
                for who in ("staff", "student"):
                    os.environ["PLYHOUSE_TOKEN"] = facts["tokens"][who]
                    said = await asyncio.to_thread(_said, command, server.url)
                    answers[f"{who} $ plyhouse {command}"] = said
    return answers


def _kept(answer: httpx.Response, url: str) -> Any:
    if answer.content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
            return [
                answer.status_code,
                {name: repr(packed.read(name)) for name in packed.namelist()},
            ]
    body: Any = answer.text.replace(url, "SERVER")
    if "json" in answer.headers.get("content-type", ""):
        with contextlib.suppress(ValueError):
            body = json.loads(body)
    return [answer.status_code, answer.headers.get("content-type", ""), body]


def _said(command: str, url: str) -> Any:
    """Return the exit code of a command, and what it prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            code: Any = command_line(shlex.split(command))
        except SystemExit as error:
            code = error.code
    return [code, text.getvalue().replace(url, "SERVER")]


def differences(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Yield each field that differs, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            if name in TIMED:
                continue
            if name not in new or name not in old:
                yield f"{at}.{name}: {'gone' if name in old else 'new'}"
            else:
                yield from differences(old[name], new[name], f"{at}.{name}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{at}: {len(old)} and {len(new)} items"
        for index, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from differences(one, other, f"{at}[{index}]")
    elif old != new and type(old) is type(new) is str and "\n" in old:
        lines = zip(old.splitlines(), new.splitlines(), strict=False)
        for number, (one, other) in enumerate(lines, 1):
            if one != other:
                yield f"{at} line {number}: {one.strip()[:120]!r} and {other.strip()[:120]!r}"
    elif old != new or type(old) is not type(new):
        yield f"{at}: {str(old)[:120]!r} and {str(new)[:120]!r}"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("fill").add_argument("folder", type=Path)
    recording = steps.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("out", type=Path)
    comparing = steps.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    given = parser.parse_args()
    if given.step == "fill":
        given.folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(fill(given.folder))
    elif given.step == "record":
        answers = asyncio.run(record(given.folder))
        given.out.write_text(json.dumps(answers, indent=1, sort_keys=True))
        print(f"{len(answers)} answers in {given.out}")
    else:
        found = list(
            differences(json.loads(given.old.read_text()), json.loads(given.new.read_text()))
        )
        print("\n".join(found) or "No answer differs.")
        raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
