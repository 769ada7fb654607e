"""Build the file of a word list: ``python -m plyhouse.games.hidden.scrabble.build_words FROM TO``.

FROM is a text with one word a line; TO is the file, as in ``enable.bin``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from plyhouse.games.hidden.scrabble.words import build_words, packed

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Build the file, and return the status of the process: 2 for wrong arguments."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m plyhouse.games.hidden.scrabble.build_words FROM TO\n")
        return 2
    lines = Path(arguments[0]).read_text(encoding="utf-8-sig").splitlines()
    words = build_words(lines)
    data = packed(words)
    Path(arguments[1]).write_bytes(data)
    count = len(words.words())
    sys.stdout.write(f"{count} words, {len(words.edges)} edges, {len(data)} bytes\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
