"""Word lists as minimal automata, and the command that builds their files.

A list is a directed acyclic word graph (DAWG): Appel and Jacobson, "The world's fastest Scrabble
program" (1988).  It is a list of numbers, one for each edge.  The edges of a node follow each other
in the order of their letters.  An edge has its letter (1 for A to 26 for Z) in bits 0 to 4.  Bit 5
is set if a word ends with it, and bit 6 if it is the last one of its node.  From bit 7 on it has
the index of the first edge of the node to which it leads, or 0 if it leads nowhere.  Edge 0 belongs
to no node, and the edges of the root begin at 1.  The file holds these numbers as 32-bit
little-endian integers, compressed by zlib.

The file ``enable.bin`` is the ENABLE list of A. Beale and M. Cooper, which they placed in the
public domain; words of more than 15 letters are left out.  Build it, or one of your own, from a
text with one word a line::

    python -m plyhouse.games.hidden.scrabble.build_words enable1.txt enable.bin

Other lists are files ``NAME.bin`` in the folder that the environment variable
``PLYHOUSE_WORD_LISTS`` names.  A game names a list by letters, digits and ``_`` only, so that
nobody who proposes a match can make a server read other files.
"""

from __future__ import annotations

import array
import functools
import os
import re
import sys
import zlib
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, final

__all__ = ["FOLDER", "WordList", "build_words", "known_name", "packed", "word_list"]

FOLDER: Final = "PLYHOUSE_WORD_LISTS"
"""Environment variable with the folder of further word lists."""
BUILT_IN: Final = "enable"
LONGEST: Final = 15
"""Letters of the longest word that fits on the board."""

_NAME: Final = re.compile(r"[a-z0-9_]{1,40}")
_MOST_BYTES: Final = 1 << 25
"""Size of the largest list that is read: eight million edges."""


@final
class WordList:
    """The edges of a list of words; see the module."""

    def __init__(self, edges: list[int]) -> None:
        self.edges: list[int] = edges

    def __contains__(self, word: object) -> bool:
        """Return whether a word, in capitals, is in the list."""
        edges = self.edges
        at: int = 1
        final: bool = False
        if not isinstance(word, str) or len(edges) < 2:
            return False
        for letter in word:
            number: int = ord(letter) - 64
            if at == 0 or number < 1 or number > 26:
                return False
            edge: int = edges[at]
            while (edge & 31) != number:
                if edge & 64:
                    return False
                at += 1
                edge = edges[at]
            final = (edge & 32) != 0
            at = edge >> 7
        return final

    def words(self) -> list[str]:
        """Return all words in alphabetical order."""
        found: list[str] = []
        if len(self.edges) > 1:
            self._gather(1, "", found)
        return found

    def _gather(self, at: int, before: str, found: list[str]) -> None:
        while True:
            edge: int = self.edges[at]
            word: str = before + chr(64 + (edge & 31))
            if edge & 32:
                found.append(word)
            if edge >> 7:
                self._gather(edge >> 7, word, found)
            if edge & 64:
                return
            at += 1


def known_name(name: str) -> bool:
    """Return whether a list of this name can be read here."""
    if name == BUILT_IN:
        return True
    path = _path(name)
    return path is not None and path.is_file()


def _path(name: str) -> Path | None:
    """Return where a further list lies; None without a folder, or if the name is not plain."""
    folder = os.environ.get(FOLDER, "")
    if not folder or _NAME.fullmatch(name) is None:
        return None
    return Path(folder) / f"{name}.bin"


@functools.cache
def word_list(name: str) -> WordList:
    """Return a list of words by its name, read when it is first asked for.

    Raises `ValueError` if there is no such list, or if its file is damaged.
    """
    if name == BUILT_IN:
        data = files("plyhouse.games.hidden.scrabble").joinpath("enable.bin").read_bytes()
    else:
        path = _path(name)
        if path is None or not path.is_file():
            raise ValueError(f"There is no word list {name!r}: put {name}.bin into ${FOLDER}.")
        data = path.read_bytes()
    return _read(data, name)


def _read(data: bytes, name: str) -> WordList:
    """Return the list that a file holds; a damaged one must not lead a search out of the list."""
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(data, _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"The word list {name!r} is damaged: {error}; build it again.") from None
    numbers: Any = array.array("I")
    if numbers.itemsize != 4 or len(plain) % 4 or not unpacker.eof:
        raise ValueError(f"The word list {name!r} is incomplete or too large; build it again.")
    numbers.frombytes(plain)
    if sys.byteorder == "big":
        numbers.byteswap()
    edges: list[int] = numbers.tolist()
    # No index may lead out of the list, and the last node must end.
    if len(edges) < 2 or (max(edges) >> 7) >= len(edges) or not edges[-1] & 64:
        raise ValueError(f"The word list {name!r} is no word graph; build it again.")
    return WordList(edges)


def packed(words: WordList) -> bytes:
    """Return the file of a list."""
    numbers: Any = array.array("I", words.edges)
    if sys.byteorder == "big":
        numbers.byteswap()
    return zlib.compress(numbers.tobytes(), 9)


def build_words(lines: Iterable[str]) -> WordList:
    """Return the smallest graph of the words of two to 15 letters from A to Z; others are left out.

    Words are added in alphabetical order, and equal nodes are joined as soon as no word can be
    added to them: Daciuk and others, "Incremental construction of minimal acyclic finite-state
    automata" (2000).
    """
    wanted = {line.strip().upper() for line in lines}
    words = sorted([word for word in wanted if re.fullmatch(f"[A-Z]{{2,{LONGEST}}}", word)])
    known: dict[tuple[int, ...], int] = {}
    edges: list[int] = [0]
    # The open node after each letter of the last word: its edges without links to open nodes.
    path: list[list[int]] = [[]]
    last = ""
    for word in [*words, ""]:
        same = 0
        while same < min(len(word), len(last)) and word[same] == last[same]:
            same += 1
        while len(path) > same + 1:
            node = path.pop()
            if node:
                path[-1][-1] |= _joined(tuple(node), known, edges) << 7
        for place in range(same, len(word)):
            ends = 32 if place == len(word) - 1 else 0
            path[-1].append(ord(word[place]) - 64 | ends)
            path.append([])
        last = word
    # The root is written last, but read first: it has at most 26 edges, for which room is left.
    root = path[0]
    if not root:
        return WordList([0])
    shift = len(root)
    moved = [edge if edge >> 7 == 0 else edge + (shift << 7) for edge in edges[1:]]
    first = [edge if edge >> 7 == 0 else edge + (shift << 7) for edge in root]
    first[-1] |= 64
    return WordList([0, *first, *moved])


def _joined(node: tuple[int, ...], known: dict[tuple[int, ...], int], edges: list[int]) -> int:
    """Return where the edges of a node lie, which are added if no equal node is there."""
    found = known.get(node)
    if found is None:
        found = len(edges)
        known[node] = found
        edges.extend(node)
        edges[-1] |= 64
    return found
