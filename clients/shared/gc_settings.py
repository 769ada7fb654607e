"""Settings of the garbage collector for our programs.

Little: most of what is alive there was imported and stays.  The collector would search it again and
again during the imports, and module after module at the end, although the system then gets the
memory anyway.  Together that was a fifth of a short command.
"""

from __future__ import annotations

import atexit
import gc


def collect_rarely() -> None:
    """Let the collector come rarely from now on, and find nothing to do at the end."""
    gc.set_threshold(20_000, 20, 50)
    atexit.unregister(gc.freeze)  # of an earlier call
    atexit.register(gc.freeze)
