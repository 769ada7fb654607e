"""Everything that a bot must not be able to do, as a bot that tries it.

`tests.sandbox.escapes` copies this folder into that of a bot in a box, beside ``targets.json``; the
bot calls `try_all`; it prints one JSON list per attempt.  An attempt that succeeds does not harm
the machine. Signals go to a process made for that, bombs are bounded, packets go to listeners on
loopback, and everything created is removed.

    base          a registry of attempts, system calls by name
    files         other files, and writing
    network       ways out
    processes     its own and those of others
    privileges    what only an administrator may
    bounds        more than its share
"""

from __future__ import annotations

import json
import sys

from . import bounds, files, network, privileges, processes
from .base import ATTEMPTS, HERE, Refused

__all__ = ["ATTEMPTS", "try_all"]

_MODULES = (files, network, processes, privileges, bounds)
"""Importing them registers what they try."""


def try_all() -> None:
    """Try everything in the order of the registry, and say how each went."""
    targets = json.loads((HERE / "targets.json").read_text("ascii"))
    for name, (promise, function) in ATTEMPTS.items():
        refused, how = False, ""
        try:
            how = repr(function(targets))[:200]
        except (OSError, Refused, MemoryError, OverflowError) as error:
            refused, how = True, str(error) or type(error).__name__
        except Exception as error:  # an attempt of ours that is wrong must not count as refused
            how = f"{type(error).__name__}: {error}"
        sys.stdout.write(json.dumps([name, promise, refused, how]) + "\n")
    sys.stdout.flush()
