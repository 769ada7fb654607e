"""One file format for everything that is solved once and used often.

A file begins with a line of JSON (what it is, for which game, which arrays follow, their
digest) and goes on with the arrays, compressed.  Reading checks everything, and says what is
wrong with a file that does not fit.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import Game
from plyhouse.search.files import InvalidFile, write_atomically

__all__ = ["InvalidTable", "TableFile", "read_table"]

FORMAT: Final = "plyhouse table"
VERSION: Final = 1
LONGEST_HEADER: Final = 1 << 20


class InvalidTable(InvalidFile):
    """A file that is not the table that was asked for; ``str()`` says why."""


@dataclass(frozen=True)
class TableFile:
    """The contents of a file: ``kind`` of table, spec of the game, facts, named arrays."""

    kind: str
    game: str
    facts: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]

    def save(self, path: str | Path) -> None:
        """Write the file, in one step: who reads meanwhile finds the old one or the new."""
        data = b"".join(
            [np.ascontiguousarray(_little(array)).tobytes() for array in self.arrays.values()]
        )
        payload = zlib.compress(data, 6)
        header = {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "game": self.game,
            "facts": dict(self.facts),
            "arrays": [
                [name, _little(array).dtype.str, array.size] for name, array in self.arrays.items()
            ],
        }
        header["sha256"] = _digest(header, payload)
        line = json.dumps(header, sort_keys=True).encode() + b"\n"
        write_atomically(path, line + payload)


def read_table(path: str | Path, kind: str, game: Game) -> TableFile:
    """Read a table of that kind for that game.

    Raises `InvalidTable` for a file that is damaged, of another kind or version, or for
    another game, and `OSError` for one that cannot be read.
    """
    with Path(path).open("rb") as file:
        line = file.readline(LONGEST_HEADER)
        payload = file.read()
    try:
        header = json.loads(line)
        known = header["format"] == FORMAT
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise InvalidTable(path, "this is not a table of Plyhouse, or its beginning is damaged")
    if header.get("version") != VERSION:
        raise InvalidTable(
            path, f"it has version {header.get('version')!r}, this Plyhouse reads {VERSION}"
        )
    if header.get("sha256") != _digest(header, payload):
        raise InvalidTable(
            path, "its content does not fit its checksum: it is damaged, make or copy it again"
        )
    if header["kind"] != kind:
        raise InvalidTable(path, f"it holds {header['kind']!r}, not {kind!r}")
    if header["game"] != game.spec:
        raise InvalidTable(path, f"it is for {header['game']}, not for {game.spec}")
    data = zlib.decompress(payload)
    arrays: dict[str, NDArray[Any]] = {}
    at = 0
    for name, dtype, size in header["arrays"]:
        array = np.frombuffer(data, np.dtype(dtype), size, at)
        at += array.nbytes
        arrays[name] = array.astype(array.dtype.newbyteorder("="), copy=True)
    return TableFile(kind, header["game"], header["facts"], arrays)


def _little(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _digest(header: Mapping[str, Any], payload: bytes) -> str:
    """Covers the header, too, but for the digest itself."""
    rest = {name: value for name, value in header.items() if name != "sha256"}
    text = json.dumps(rest, sort_keys=True).encode()
    return hashlib.sha256(text + b"\n" + payload).hexdigest()
