"""``plyhouse export`` where something is in its way: options, other servers, proxies and disks."""

from __future__ import annotations

import functools
import json
import resource
import socketserver
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.cli.conftest import Plyhouse, clean_environment, command
from tests.harness.patience import PATIENCE

from plyhouse.protocol.api.matches import DATASET_MATCHES, PlyRow
from plyhouse.server.results.dataset import json_lines

ROWS: Final = json_lines(
    [
        PlyRow("m", "nim", ply, 0, "é" * 90, ["0: x"], [], False, "x", 1.5, 1.5, 2.0)
        for ply in range(9)
    ]
)
FILE: Final = f"{DATASET_MATCHES}: 1\r\ncontent-disposition: attachment; filename=rows\r\n"
FORMS: Final = ("jsonl", "parquet")


class Canned(socketserver.ThreadingTCPServer):
    """A server that sends one answer after the other, and ends each by closing."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Canned.Answer)
        self.answers: list[bytes | Callable[[bytes], bytes]] = []
        self.asked: list[bytes] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    class Answer(socketserver.StreamRequestHandler):
        server: Canned

        def handle(self) -> None:
            self.server.asked.append(self.rfile.readline())
            while self.rfile.readline().strip():
                pass
            given = self.server.answers.pop(0)
            self.wfile.write(given if isinstance(given, bytes) else given(self.server.asked[-1]))


@pytest.fixture
def canned() -> Iterator[Canned]:
    with Canned() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def answer(body: bytes, headers: str = FILE, length: int | None = None) -> bytes:
    """An answer; ``length`` is what it says of its own length, None for the whole."""
    told = f"content-length: {len(body) if length is None else length}\r\n" if length != -1 else ""
    return f"HTTP/1.1 200 OK\r\nconnection: close\r\n{told}{headers}\r\n".encode() + body


@pytest.mark.parametrize("form", FORMS)
def test_answer_that_breaks_off_leaves_the_files_of_the_last_export(
    form: str, canned: Canned, plyhouse: Plyhouse, tmp_path: Path
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    export = ("export", "--server", canned.url, "--format", form, "--to", "data")
    canned.answers = [answer(ROWS), answer(b"")]
    done = plyhouse(*export)
    assert done.code == 0, done.err
    before = {each.name: each.read_bytes() for each in (tmp_path / "data").iterdir()}
    assert sorted(before) == [f"matches.{form}", f"plies.{form}"]
    canned.answers = [answer(ROWS[: len(ROWS) // 2], length=len(ROWS))]
    done = plyhouse(*export)
    assert done.code == 3
    assert done.err.startswith(f"plyhouse: The answer of {canned.url} broke off: ")
    canned.answers = [answer(b""), answer(ROWS[: len(ROWS) // 2], length=len(ROWS))]
    assert plyhouse(*export).code == 3
    assert {each.name: each.read_bytes() for each in (tmp_path / "data").iterdir()} == before


def test_row_that_is_cut_off_is_no_whole_file(
    canned: Canned, plyhouse: Plyhouse, tmp_path: Path
) -> None:
    canned.answers = [answer(ROWS[:-9], length=-1)]
    done = plyhouse("export", "--server", canned.url, "--to", "data")
    assert (done.code, done.err) == (3, "plyhouse: The data set ends within a row. Ask again.\n")
    assert list((tmp_path / "data").iterdir()) == []


def test_page_to_log_in_is_no_data_set(canned: Canned, plyhouse: Plyhouse) -> None:
    canned.answers = [answer(b"<html><title>Log in</title>", "content-type: text/html\r\n")]
    done = plyhouse("export", "--server", canned.url)
    assert done.code == 3
    assert done.err.startswith(f"plyhouse: What answers at {canned.url} is no Plyhouse server: ")


@pytest.mark.parametrize("form", FORMS)
def test_full_disk_is_named_and_leaves_no_part(form: str, canned: Canned, tmp_path: Path) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    canned.answers = [answer(ROWS)]
    done = subprocess.run(
        [*command(), "export", "--server", canned.url, "--format", form, "--to", "data"],
        cwd=tmp_path,
        env=clean_environment() | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (999, 999)),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("plyhouse: No more can be written: file too large.")
    assert list((tmp_path / "data").iterdir()) == []


def test_dates_between_which_no_match_ends_are_refused(plyhouse: Plyhouse) -> None:
    done = plyhouse("export", "--since", "2026-12-01", "--until", "2026-11-01")
    assert done.code == 2
    assert "--since must be before --until" in done.err


def test_dates_before_1970_are_those_of_no_match(canned: Canned, plyhouse: Plyhouse) -> None:
    canned.answers = [answer(b""), answer(b"")]
    done = plyhouse("export", "--server", canned.url, "--since", "1960-01-01")
    assert done.code == 0, done.err
    assert [b"since_ms=0" in each for each in canned.asked] == [True, True]


def last_matches(matches: str, asked: bytes) -> bytes:
    """Answer with the last two matches, or with three plies of each."""
    rows = 3 if b"rows=plies" in asked else 1
    lines = [json.dumps({"match": match, "ply": n}) for match in matches[:2] for n in range(rows)]
    return answer("".join([line.replace(": ", ":") + "\n" for line in lines]).encode())


def test_with_a_limit_each_ply_has_its_match(
    canned: Canned, plyhouse: Plyhouse, tmp_path: Path
) -> None:
    # The match c ends between the two requests, and is among the last two then.
    canned.answers = [functools.partial(last_matches, each) for each in ("ba", "cba")]
    done = plyhouse("export", "--server", canned.url, "--limit", "2")
    assert done.code == 0, done.err
    found = {}
    for rows in ("matches", "plies"):
        lines = (tmp_path / f"{rows}.jsonl").read_text().splitlines()
        found[rows] = [json.loads(line)["match"] for line in lines]
    assert found == {"matches": ["b", "a"], "plies": ["b", "b", "b"]}
    assert "matches.jsonl (2 rows) and plies.jsonl (3 rows)" in done.err
