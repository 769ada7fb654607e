"""In the bot's process: write a traceback on a signal, and when machine code crashes.

`plyhouse.bots.process.traceback_reader` reads it.  The two are separate because the reader needs
asyncio, whose import takes as long as the rest of a bot's process.
"""

from __future__ import annotations

import faulthandler
import os
import signal
from types import FrameType
from typing import Final

__all__ = ["ASK", "ASK_MACHINE_CODE", "tell_when_asked"]

ASK: Final = signal.SIGUSR2
"""Asks for a traceback between two instructions of Python."""
ASK_MACHINE_CODE: Final = signal.SIGUSR1
"""Asks for a traceback at once, also while machine code holds the interpreter's lock."""


def tell_when_asked(descriptor: int) -> None:
    """Write a traceback of all threads to ``descriptor`` on either signal or after a crash.

    `ASK_MACHINE_CODE` alone would not do: a handler that interrupts the interpreter while it makes
    a frame crashes now and then, because it reads that frame.
    """

    def tell(number: int, frame: FrameType | None) -> None:
        faulthandler.dump_traceback(file=descriptor)

    os.set_inheritable(descriptor, False)
    faulthandler.enable(file=descriptor)
    faulthandler.register(ASK_MACHINE_CODE, file=descriptor)
    signal.signal(ASK, tell)
