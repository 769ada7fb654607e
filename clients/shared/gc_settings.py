"""Settings of the garbage collector for our programs.

Little: most of what is alive there was imported and stays.  The collector would look through it
again and again while it is being imported, and in the end once more, module after module, although
the memory goes back to the system anyway.  Together that was a fifth of a short command.
"""

from __future__ import annotations

import atexit
import gc

__all__ = ["collect_rarely"]


def collect_rarely() -> None:
    """Let the collector come rarely from now on, and find nothing to do at the end."""
    gc.set_threshold(20_000, 20, 50)
    atexit.unregister(gc.freeze)  # of an earlier call
    atexit.register(gc.freeze)
