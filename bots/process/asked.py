"""In a bot's process: where it stands is told when it is asked, or when its machine code crashes.

What becomes of that is read in `plyhouse.bots.process.last_stand`, which needs asyncio: to import
it would take as long as all the rest of a bot's process.
"""

from __future__ import annotations

import faulthandler
import os
import signal
from typing import Final

__all__ = ["ASK", "tell_when_asked"]

ASK: Final = signal.SIGUSR2
"""Asks a bot's process where it stands."""


def tell_when_asked(descriptor: int) -> None:
    """In the bot's process: write where it stands when `ASK` comes, or when it crashes."""
    os.set_inheritable(descriptor, False)
    faulthandler.enable(file=descriptor)
    faulthandler.register(ASK, file=descriptor)
