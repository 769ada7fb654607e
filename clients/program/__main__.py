"""``python -m plyhouse``: the same as the command ``plyhouse``.

setup.py installs this folder as the top of the namespace package ``plyhouse``.
"""

from __future__ import annotations

import sys

from plyhouse.clients.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
