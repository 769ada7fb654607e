"""The web client: complete, free of other hosts, and drawing what games show."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.harness.patience import PATIENCE

from plyhouse.clients.web import FOLDER
from plyhouse.games.registry import game_names, get_game
from plyhouse.games.scene import scene_fields

TEXTS = sorted(path for path in FOLDER.iterdir() if path.suffix in {".html", ".js", ".css", ".svg"})

# Enough of a document for scene.js to draw into.
HARNESS = """
class Node {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, children: [], dataset: {} });
    this.style = { setProperty() {} };
  }
  querySelector() { return null; }
  setAttribute(name, value) { this.attributes[name] = value; }
  append(...children) { this.children.push(...children); }
  addEventListener() {}
}
globalThis.document = {
  createElement: (tag) => new Node(tag),
  createElementNS: (space, tag) => new Node(tag),
};
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
const { drawScene } = await import(process.argv[2]);
let text = "";
for await (const chunk of process.stdin) text += chunk;
const drawn = JSON.parse(text).map((scene) => drawScene(scene));
const count = (node) => typeof node === "string" ? 1
  : node.children.reduce((sum, child) => sum + count(child), 1);
console.log(JSON.stringify(drawn.map(count)));
"""


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_nothing_comes_from_another_host(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://", text)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_file_that_is_named_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.findall(r'(?:src|href)="([\w.]+)"|from "\./([\w.]+)"', text)
    for name in (first or second for first, second in named):
        assert (FOLDER / name).is_file() or not name.strip("."), name


@pytest.mark.parametrize("path", [p for p in TEXTS if p.suffix == ".html"], ids=lambda p: p.name)
def test_pages_keep_to_a_strict_content_policy(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=", text)
    assert '<meta name="viewport"' in text
    assert '<html lang="en">' in text


def test_texts_are_never_set_as_markup() -> None:
    for path in TEXTS:
        if path.suffix == ".js":
            assert not re.search(r"innerHTML|insertAdjacentHTML|eval\(", path.read_text())


@pytest.mark.javascript
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_every_game_is_drawn(tmp_path: Path) -> None:
    scenes = []
    for name in game_names():
        game = get_game(name)
        scenes.append(scene_fields(game.scene(game.observe(game.initial_state(), None))))
    scenes.append({"elements": [{"kind": "hologram"}], "status": "newer than this client"})
    (tmp_path / "harness.mjs").write_text(HARNESS)
    for path in TEXTS:  # a folder of their own says that they are modules
        shutil.copy(path, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    done = subprocess.run(
        ["node", "harness.mjs", "./scene.js"],
        cwd=tmp_path,
        input=json.dumps(scenes),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    sizes = json.loads(done.stdout)
    assert len(sizes) == len(scenes)
    assert all(size > 3 for size in sizes[:-1])


REQUESTS = """
const { call } = await import(process.argv[2]);
const waits = [];
globalThis.setTimeout = (done, ms) => { waits.push(ms); done(); };
const answers = JSON.parse(process.argv[3]);
globalThis.fetch = async () => {
  const { status, retry, ...body } = answers.shift();
  const headers = new Headers(retry === undefined ? {} : { "retry-after": String(retry) });
  return { ok: status < 400, status, headers, json: async () => body };
};
let outcome;
try { outcome = await call("GET", "session"); } catch (error) { outcome = { error: error.code }; }
console.log(JSON.stringify({ outcome, waits, left: answers.length }));
"""

BUSY = {"status": 429, "code": "http/rate", "retry": 2}


@pytest.mark.javascript
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("answers", "outcome", "waits"),
    [
        ([BUSY, BUSY, {"status": 200, "player": "ada"}], {"player": "ada"}, [2000, 2000]),
        ([BUSY] * 4, {"error": "http/rate"}, [2000] * 3),
        ([{**BUSY, "retry": 60}], {"error": "http/rate"}, []),
        ([{**BUSY, "code": "auth/rate"}], {"error": "auth/rate"}, []),
    ],
    ids=["busy for a moment", "busy for long", "retry-after is too long", "another limit"],
)
def test_request_refused_by_the_rate_limit_of_the_address_is_sent_again(
    answers: list[dict[str, object]], outcome: dict[str, str], waits: list[int], tmp_path: Path
) -> None:
    (tmp_path / "harness.mjs").write_text(REQUESTS)
    shutil.copy(FOLDER / "session.js", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    done = subprocess.run(
        ["node", "harness.mjs", "./session.js", json.dumps(answers)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"outcome": outcome, "waits": waits, "left": 0}
