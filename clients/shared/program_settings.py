"""Settings of our programs: how often the garbage collector runs, and which event loop."""

from __future__ import annotations

import atexit
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


def collect_rarely() -> None:
    """Let the garbage collector come rarely from now on, and find nothing to do at the end.

    Most of what is alive in a command was imported and stays.  The collector would search it again
    and again during the imports, and module after module at the end, although the system then gets
    the memory anyway.  Together that was a fifth of a short command.
    """
    gc.set_threshold(20_000, 20, 50)
    atexit.unregister(gc.freeze)  # of an earlier call
    atexit.register(gc.freeze)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes the fastest event loop there is on this machine."""
    try:
        import uvloop
    except ImportError:  # not made for this system
        import asyncio

        return asyncio.new_event_loop
    return uvloop.new_event_loop
