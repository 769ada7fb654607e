"""What holds for every test."""

from __future__ import annotations

import signal

# A shell starts background jobs with SIGINT ignored, and Python, like every child of ours,
# would inherit that: tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
