"""Note what a process has loaded when it ends.

`tests.harness.loaded` puts this folder on the path of a command and of all that it starts.  Python
imports the module at each start.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from typing import NoReturn


def _note() -> None:
    seconds = time.process_time()
    modules = "\n".join(sys.modules)
    path = os.path.join(os.environ["PLYHOUSE_LOADED"], str(os.getpid()))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{' '.join(sys.orig_argv)}\n{seconds}\n{modules}")


def _exit(status: int) -> NoReturn:
    _note()
    _leave(status)


if "PLYHOUSE_LOADED" in os.environ:
    _leave = os._exit
    os._exit = _exit  # the processes of bots end by it
    atexit.register(_note)
