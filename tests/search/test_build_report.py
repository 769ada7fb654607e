"""Pure and compiled variants agree bit for bit, and each says which it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.search import workload

from plyhouse.games import native
from plyhouse.search import BuildInfo, build_info

WORKLOAD = Path(__file__).with_name("workload.py")
REQUIRED = os.environ.get("PLYHOUSE_REQUIRE_COMPILED") == "1"


def run(part: str, *, pure: bool) -> tuple[bool, str]:
    """Return whether compiled code ran, and the report of a part of the workload as JSON."""
    environ = {name: value for name, value in os.environ.items() if name != "PLYHOUSE_PURE"}
    if pure:
        environ["PLYHOUSE_PURE"] = "1"
    done = subprocess.run(
        [sys.executable, str(WORKLOAD), part],
        env=environ,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    variant, report = done.stdout.split("\n", 1)
    return variant == "compiled", report


@pytest.fixture(scope="module")
def compiled_code() -> None:
    """Skip where nothing is compiled, before the parts run interpreted for nothing."""
    program = "from plyhouse.games import native; raise SystemExit(not native.COMPILED)"
    environ = {name: value for name, value in os.environ.items() if name != "PLYHOUSE_PURE"}
    if subprocess.run([sys.executable, "-c", program], env=environ, check=False).returncode:
        info = build_info({}, compiled=False)
        if REQUIRED:
            pytest.fail(f"PLYHOUSE_REQUIRE_COMPILED=1, but nothing is compiled: {info.reason}")
        pytest.skip(f"nothing is compiled here: {info.reason}")


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_code")
@pytest.mark.parametrize("part", workload.PARTS)
def test_pure_and_compiled_agree_bit_for_bit(part: str) -> None:
    is_compiled, compiled = run(part, pure=False)
    assert is_compiled
    is_compiled, pure = run(part, pure=True)
    assert not is_compiled
    if pure == compiled:  # reading megabytes of JSON takes longer than comparing its text
        return
    expected: dict[str, Any] = json.loads(pure)
    found: dict[str, Any] = json.loads(compiled)
    assert found.keys() == expected.keys()
    for name, results in expected.items():
        assert found[name] == results, name
    pytest.fail("the reports differ in their text alone")


def test_compiled_code_is_not_older_than_its_source() -> None:
    info = build_info({}, compiled=True)
    if not native.COMPILED:
        pytest.skip(f"the pure variant runs: {build_info().reason}")
    assert not info.stale, "install again (pip install -e .)"


def test_the_process_says_which_variant_it_runs() -> None:
    info = build_info()
    assert info.compiled is native.COMPILED
    assert info.variant in ("compiled", "pure")
    assert info.reason.endswith(".")


def test_the_variant_reads_as_a_sentence() -> None:
    assert str(BuildInfo("pure", "No compiler.")) == "pure. No compiler."
    stale = BuildInfo("compiled", "Compiled by mypyc.", ("games/pig.py",))
    assert "older than its source (games/pig.py)" in str(stale)


def test_the_reason_for_a_pure_variant_is_told(tmp_path: Path) -> None:
    note = tmp_path / "_build.json"
    assert "no build has been made" in build_info({}, compiled=False, note=note).reason
    note.write_text(json.dumps({"compiled": False, "reason": "Compiling failed: no gcc"}))
    info = build_info({}, compiled=False, note=note)
    assert (info.variant, info.reason) == ("pure", "Compiling failed: no gcc.")
    asked = build_info({"PLYHOUSE_PURE": "1"}, compiled=False, note=note)
    assert "PLYHOUSE_PURE" in asked.reason
    note.write_text(json.dumps({"compiled": True, "python": "cpython-399"}))
    assert "cpython-399" in build_info({}, compiled=False, note=note).reason
    note.write_text("not json")
    assert "no build has been made" in build_info({}, compiled=False, note=note).reason
