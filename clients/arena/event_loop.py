"""The event loop that commands run on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """The fastest event loop there is on this machine."""
    try:
        import uvloop
    except ImportError:  # not made for this system
        return asyncio.new_event_loop
    return uvloop.new_event_loop
