"""The web client: complete, free of other hosts, and drawing what games show."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plyhouse.clients.web import FOLDER
from plyhouse.games.registry import game_names, get_game
from plyhouse.games.scene import scene_fields

TEXTS = sorted(path for path in FOLDER.iterdir() if path.suffix in {".html", ".js", ".css", ".svg"})

# Enough of a document for scene.js to draw into.
HARNESS = """
class Node {
  constructor(tag) { this.tag = tag; this.attributes = {}; this.children = []; }
  setAttribute(name, value) { this.attributes[name] = value; }
  append(...children) { this.children.push(...children); }
  addEventListener() {}
}
globalThis.document = {
  createElement: (tag) => new Node(tag),
  createElementNS: (space, tag) => new Node(tag),
};
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
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    sizes = json.loads(done.stdout)
    assert len(sizes) == len(scenes)
    assert all(size > 3 for size in sizes[:-1])
