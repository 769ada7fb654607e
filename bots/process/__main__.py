"""The program of a bot's process: ``python -m plyhouse.bots.process FD STAND BOT``.

`plyhouse.bots.process.bot_process` starts it.  FD is the file descriptor of its end of the pipe.
STAND is that of the pipe for tracebacks (`plyhouse.bots.process.traceback_reader`).
"""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import socket
import sys
from functools import partial
from typing import NoReturn

from plyhouse.bots.api import Bot, BotError
from plyhouse.bots.loading import BotLoadError, bot_options, default_name, load_bot
from plyhouse.bots.options import described_options
from plyhouse.bots.process import child
from plyhouse.bots.process.messages import Loaded, LoadFailed
from plyhouse.bots.process.traceback_writer import tell_when_asked
from plyhouse.bots.process.tracker import get_ready

__all__ = ["main"]


def _no_keyboard(*_: object, **__: object) -> NoReturn:
    """Replace ``breakpoint()``: pdb would find its input closed and end in ``BdbQuit``."""
    raise BotError(
        "breakpoint() needs a keyboard, and a bot's process has none: make a Turn and call choose "
        "in a program of your own (docs/debugging.md)"
    )


def main() -> None:
    """Import the bot, say what it is, and serve it until told to quit."""
    _, descriptor, stand, spec = sys.argv
    tell_when_asked(int(stand))
    # Ctrl-C in the terminal is for the runner, which then tells us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end = socket.socket(fileno=int(descriptor))
    end.set_inheritable(False)
    wire = child.Wire(end)
    if "PYTHONBREAKPOINT" not in os.environ:  # which may name a debugger that needs no keyboard
        sys.breakpointhook = _no_keyboard
    sys.argv = [spec]
    try:
        bot_class = load_bot(spec)
        options = bot_options(spec, bot_class)
        make = partial(bot_class, **options)
    except BotLoadError as error:
        wire.send(LoadFailed(str(error), error.details))
        return
    prepares = bot_class.prepare is not Bot.prepare
    concurrent = inspect.iscoroutinefunction(bot_class.choose)
    games = list(bot_class.claims())
    get_ready(games)
    wire.send(
        Loaded(
            name=default_name(bot_class),
            games=games,
            concurrent=concurrent,
            best_at_deadline=bool(bot_class.play_best_at_deadline),
            options=described_options(bot_class.__init__),
            label=bot_class.version_label(**options),
            prepares=prepares,
        )
    )
    if concurrent:
        from plyhouse.bots.process import async_turns  # late: importing asyncio is slow

        async_turns.run(make, wire, prepares=prepares)
    else:
        child.run(make, wire, prepares=prepares)
    with contextlib.suppress(Exception):  # the process ends in any case
        bot_class.unload()
    # A bot may have left threads behind that would keep the process alive.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
