"""Every command and Python snippet of README.md and docs/ is run, and the site is built.

A document is run from top to bottom in one shell, in an empty folder:

* a fence ``console`` holds commands (``$ ...``) and, optionally, what they print: compared
  like a doctest, with ``...`` for what differs from run to run;
* a command that does not end (``plyhouse serve``, a bot without ``--matches``) is started in
  the background, and what it should print awaited; it is stopped after the document;
* a fence ``python`` is run; with ``title="name.py"`` it is saved under that name instead, and
  so are other fences whose title is a file name (``toml``, ``csv``, ``javascript``);
* a fence after a comment ``<!-- not run: reason -->`` is not run;
* a document that begins with ``<!-- continues: other.md -->`` is run after that one, in its shell;
* fences ``text`` and ``json`` are illustrations.
"""

from __future__ import annotations

import asyncio
import doctest
import html
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.bridges.libraries import library
from tests.harness.engines import require_engine
from tests.harness.ports import kept_port
from tests.harness.zygote import Zygote
from tests.sandbox.conftest import have

from plyhouse import bots, games, search
from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.clients import api

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"docs/commands.md"}
NEED_SANDBOX = {"docs/first-competition.md"}
NEED_ENGINES = {"docs/engines.md": ("stockfish", "gnugo", "gnubg")}
NEED_BRIDGES = {"docs/libraries.md"}
DOCUMENTS = [
    name
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if (name := path.relative_to(ROOT).as_posix()) not in GENERATED
    and not name.startswith("docs/games/")  # generated, see test_game_pages.py
]
CONTINUES = re.compile(r"<!-- continues: ([\w-]+\.md) -->\n")
LINK = re.compile(r"\]\(([\w./-]*\bdocs/[\w/-]+\.md)(?:#([\w-]+))?\)")
FENCE = re.compile(
    r"^(?: *<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$",
    re.M | re.S,
)
TITLE = re.compile(r'title="([^"]*)"')
FILE = re.compile(r"[\w.-]+\.(py|toml|csv|js|mjs|json)")
ENDLESS = re.compile(
    r"plyhouse (env )?serve\b|plyhouse bot run\b(?!.*--matches)|plyhouse demo\b.*--keep"
)
DEFAULT_PORT = "8765"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LONGEST = 450.0
"""Seconds for a command, of the 600 that a test has: a busy machine plays a final for minutes."""
LATE = re.compile(r"^\[\w+\] match \w+, turn\.ply \d+: time nearly out\b.*\n", re.M)
"""What `plyhouse match` says of a bot that a busy machine has kept waiting for most of a second."""

PLAYED_OUT = ("docs/first-bot.md", "docs/review.md")
"""Pages whose quick bots play a match to its normal end.

A busy machine may keep a bot waiting for the second that it has by default, and its flag would
fall.  So commands of these pages have `PATIENT` by default, and print `USUAL`.
"""
USUAL, PATIENT = "move:1", "move:60"


def as_usual(text: str) -> str:
    """Return what a command has printed, with the usual time control."""
    return re.sub(rf"\b{PATIENT}\b", USUAL, text)


@dataclass(frozen=True)
class Fence:
    line: int
    language: str
    title: str
    body: str
    not_run: bool


def series() -> list[list[str]]:
    """Return the documents in lists; each list is run in one shell."""
    after = {}
    for document in DOCUMENTS:
        if earlier := CONTINUES.match((ROOT / document).read_text(encoding="utf-8")):
            after[f"docs/{earlier[1]}"] = document
    found = []
    for document in sorted(set(DOCUMENTS) - set(after.values())):
        found.append([document])
        while document := after.get(document, ""):
            found[-1].append(document)
    assert sum(map(len, found)) == len(DOCUMENTS), "two documents continue the same one"
    return found


def fences(text: str) -> Iterator[Fence]:
    for match in FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        title = TITLE.search(rest)
        body = re.sub(rf"^{match['indent']}", "", match["body"], flags=re.M)
        line = text.count("\n", 0, match.start()) + 1
        yield Fence(line, language, title[1] if title else "", body, match["reason"] is not None)


def commands(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console fence with what they should print; ``> `` continues one."""
    command: str | None = None
    output: list[str] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield command, "\n".join(output)
            command, output = line[2:], []
        elif line.startswith("> ") and command is not None and not output:
            command += "\n" + line[2:]
        else:
            assert command is not None, f"output before the first command: {line}"
            output.append(line)
    if command is not None:
        yield command, "\n".join(output)


def is_said(line: str, text: str) -> bool:
    """Return whether a similar line is in the text."""
    check = doctest.OutputChecker().check_output
    return any(check(line, said, FLAGS) for said in as_usual(text).splitlines())


class Shell:
    """One bash that runs a document's commands one after the other."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.port = str(kept_port())
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PLYHOUSE_")
        }
        environment |= {
            "PATH": os.pathsep.join(
                (str(programs), str(Path(sys.executable).parent), os.environ["PATH"])
            ),
            "PLYHOUSE_PORT": self.port,
            "XDG_CONFIG_HOME": str(folder / ".config"),
            "COLUMNS": "100",
            "PYTHONUNBUFFERED": "1",
        }
        if "PLYHOUSE_PURE" in os.environ:
            environment["PLYHOUSE_PURE"] = os.environ["PLYHOUSE_PURE"]
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.background = 0

    def run(self, command: str) -> tuple[int, str]:
        """Run a command to its end; its exit code and all that it printed."""
        log = self.folder / ".output"
        status = self.folder / ".status"
        status.unlink(missing_ok=True)
        assert self.process.stdin is not None
        # The braces keep variables that the command sets; nothing is read from our pipe.
        done = f"echo $? >{status}.new; mv {status}.new {status}"
        script = f"{{ {command}\n}} >{log} 2>&1 </dev/null; {done}\n"
        self.process.stdin.write(self.local(script))
        self.process.stdin.flush()
        self.wait_for(status, command, log)
        return int(status.read_text()), as_usual(log.read_text())

    def start(self, command: str, wanted: str) -> None:
        """Start a command in the background; wait until it has printed the lines ``wanted``.

        Other lines, such as warnings of a busy machine, may stand between them.
        """
        self.background += 1
        log = self.folder / f".background-{self.background}"
        assert self.process.stdin is not None
        self.process.stdin.write(self.local(f"{{ {command}\n}} >{log} 2>&1 </dev/null &\n"))
        self.process.stdin.flush()
        lines = self.local(wanted).splitlines() or ["..."]
        self.wait_for(log, command, log, lambda text: all(is_said(line, text) for line in lines))

    def wait_for(
        self, path: Path, command: str, log: Path, enough: Callable[[str], bool] = bool
    ) -> None:
        deadline = time.monotonic() + LONGEST
        while not (path.exists() and enough(path.read_text())):
            if time.monotonic() > deadline or self.process.poll() is not None:
                shown = log.read_text() if log.exists() else ""
                pytest.fail(f"{command} did not finish:\n{shown}")
            time.sleep(0.02)

    def local(self, text: str) -> str:
        """The text with the port of this run instead of the default one."""
        return re.sub(rf"(:|--port ){DEFAULT_PORT}", rf"\g<1>{self.port}", text)

    def wait_longer_for_bots(self) -> None:
        """Let matches of the next commands have `PATIENT` unless they say otherwise."""
        for command in ("MATCH", "BOT_RUN"):
            self.run(f"export PLYHOUSE_{command}_TIME_CONTROL={PATIENT}")

    def close(self) -> None:
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
            except ProcessLookupError:
                break
            try:
                self.process.wait(timeout=3)
            except subprocess.TimeoutExpired:
                continue
        self.process.communicate()


@pytest.fixture
def shell(tmp_path: Path, zygote: Zygote) -> Iterator[Shell]:
    opened = Shell(tmp_path, zygote.folder)
    try:
        yield opened
    finally:
        opened.close()


def perform(shell: Shell, fence: Fence, where: str) -> None:
    """Run one fence; the test fails with the place, the command and what it printed."""
    if fence.not_run:
        return
    named = FILE.fullmatch(fence.title)
    if named:
        (shell.folder / fence.title).write_text(shell.local(fence.body), encoding="utf-8")
        return
    match fence.language:
        case "console":
            for command, wanted in commands(fence.body):
                if ENDLESS.search(command):
                    shell.start(command, wanted)
                    continue
                code, said = shell.run(command)
                assert code == 0, f"{where}: `{command}` ended with {code}:\n{said}"
                if wanted.strip():
                    expected = shell.local(wanted) + "\n"
                    said = said.replace("\ufeff", "")  # a terminal shows no byte-order mark
                    said = LATE.sub("", said)
                    # Three dots in the first line stand for any lines, or none.
                    printed = "...\n" + said if expected.startswith("...\n") else said
                    same = doctest.OutputChecker().check_output(expected, printed, FLAGS)
                    assert same, f"{where}: `{command}` should print\n{wanted}\nnot\n{said}"
        case "python":
            (shell.folder / "snippet.py").write_text(shell.local(fence.body), encoding="utf-8")
            code, said = shell.run("python snippet.py")
            assert code == 0, f"{where}: the snippet ended with {code}:\n{said}"
        case "text" | "json":
            pass
        case other:
            pytest.fail(f"{where}: a fence must say what it is, not '{other}' (see test_docs.py)")


def require_sandbox() -> None:
    async def required() -> None:
        fork_server = await ForkServerClient.start()
        try:
            await have(fork_server, Tier.LANDLOCK)
        finally:
            await fork_server.close()

    asyncio.run(required())


@pytest.mark.parametrize("documents", series(), ids=lambda documents: documents[0])
def test_what_a_document_says_to_do_works(documents: list[str], shell: Shell) -> None:
    if not NEED_SANDBOX.isdisjoint(documents):
        require_sandbox()
    if not NEED_BRIDGES.isdisjoint(documents):
        library("pettingzoo", "pettingzoo")
        library("pyspiel", "openspiel")
    for document in documents:
        for name in NEED_ENGINES.get(document, ()):
            require_engine(name)
        if document in PLAYED_OUT:
            shell.wait_longer_for_bots()
        text = (ROOT / document).read_text(encoding="utf-8")
        for fence in fences(text):
            perform(shell, fence, f"{document}:{fence.line}")


def test_no_fence_is_left_open() -> None:
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        assert len(re.findall(r"^ *```", text, re.M)) == 2 * len(list(fences(text))), document


def headings(text: str) -> set[str]:
    """Return the anchors of a page's headings."""
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)", text, re.M)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", each.lower())) for each in titles}


@pytest.mark.parametrize("folder", [".", ".github", "examples", "examples/*"])
def test_links_into_the_documentation_lead_to_headings(folder: str) -> None:
    for page in ROOT.glob(f"{folder}/*.md"):
        check_links(page)


def check_links(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / path).resolve()
        assert target.is_file(), path
        found = headings(target.read_text(encoding="utf-8"))
        assert not anchor or anchor in found, f"{path}#{anchor}"


def broken_links(site: Path) -> list[str]:
    """Return the links between built pages whose file or anchor does not exist."""
    anchors = {
        page: set(re.findall(r'\s(?:id|name)="([^"]+)"', page.read_text()))
        for page in site.rglob("*.html")
    }
    broken = []
    for page in anchors:
        for link in re.findall(r'\s(?:href|src)="([^"]+)"', page.read_text()):
            parts = urlsplit(html.unescape(link))
            if parts.scheme or parts.netloc:
                continue
            folder = site if parts.path.startswith("/") else page.parent
            target = (folder / unquote(parts.path).lstrip("/")).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            known = anchors.get(target)
            anchor = unquote(parts.fragment)
            if not target.is_file() or (anchor and known is not None and anchor not in known):
                broken.append(f"{page.relative_to(site)}: {link}")
    return broken


def test_the_site_builds_strictly(tmp_path: Path) -> None:
    if shutil.which("mkdocs", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("mkdocs is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) >= len(DOCUMENTS) - 1
    for page in pages:
        loaded = re.findall(
            r'<(?:link|script|img)[^>]+(?:href|src)="(https?:[^"]+)"', page.read_text()
        )
        assert not loaded, f"{page.name} loads {loaded} from the network"
    assert broken_links(tmp_path) == []
    for page in pages:
        text = page.read_text()
        assert 'role="dialog">' not in text, f"{page.name} has a dialog without a name"
        for image in re.findall(r"<img [^>]*>", text):
            assert "width=" in image, image
            assert "height=" in image, image
    described_as = {
        page: re.findall(r'<meta name="description" content="([^"]+)">', page.read_text())
        for page in pages
        if page.name != "404.html"
    }
    assert all(len(found) == 1 and len(found[0]) <= 200 for found in described_as.values())
    assert len({found[0] for found in described_as.values()}) == len(described_as)
    shown = "".join(page.read_text() for page in (tmp_path / "api").glob("*.html"))
    described = {path.rpartition(".")[2] for path in re.findall(r'id="(plyhouse\.[\w.]+)"', shown)}
    for package in (bots, games, search, api):
        missing = {*package.__all__} - described - {"AsyncApi", "policies"}
        assert not missing, f"docs/api/ has nothing about {missing} of {package.__name__}"
    assert "<blockquote>" not in shown, "a doctest is shown as a quotation"
    assert "<code>pv</code>: principal variation" in shown, "fields are not shown as a list"
