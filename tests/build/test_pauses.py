"""The tool that lets processes of tests stand still."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.harness.patience import PATIENCE
from tests.pauses import family

NOTICES = f"""
import sys, time
last = time.monotonic()
end = last + {PATIENCE}
while last < end:
    now = time.monotonic()
    if now - last > 0.5:
        sys.exit(7)
    last = now
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_command_stands_still_and_its_exit_code_is_passed_on() -> None:
    tool = [sys.executable, "-m", "tests.pauses", "--each", "0.1", "--longest", "6", "--"]
    done = subprocess.run([*tool, sys.executable, "-c", NOTICES], timeout=2 * PATIENCE)
    assert done.returncode == 7


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_stopped_process_is_known_as_such() -> None:
    program = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    with subprocess.Popen([sys.executable, "-c", program]) as child:
        while family(os.getpid()).get(child.pid) != "T":
            pass
        child.kill()
