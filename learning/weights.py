"""Weights of networks: the steps of Adam, the points of learning curves, 16-bit files.

A file is TOML with a few sizes, and at its end the weights in base 64 after their checksum.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.search.files import InvalidFile

KEPT: Final = (0.9, 0.999)
"""Shares that Adam keeps of its mean gradient and mean square in a step."""
LEAST: Final = 1e-8
"""Keeps Adam from dividing by 0."""

Arrays = Sequence[NDArray[Any]]


def adam_step(
    weights: Arrays, slopes: Arrays, means: Arrays, squares: Arrays, number: int, rate: float
) -> None:
    """Take step ``number`` (from 1) of Adam (D. Kingma and J. Ba, ICLR 2015), in place."""
    rate *= (1 - KEPT[1] ** number) ** 0.5 / (1 - KEPT[0] ** number)
    for weight, slope, mean, square in zip(weights, slopes, means, squares, strict=True):
        mean += (1 - KEPT[0]) * (slope - mean)
        square += (1 - KEPT[1]) * (slope * slope - square)
        weight -= rate * mean / (np.sqrt(square) + LEAST)


def next_mark(last: int, least: int) -> int:
    """Return the first of 1, 2, 5, 10, 20 and so on that is above ``last``, and ``least`` at least.

    >>> next_mark(0, 100), next_mark(100, 100), next_mark(3000, 100)
    (100, 200, 5000)
    """
    marks = (digit * int(10**power) for power in itertools.count() for digit in (1, 2, 5))
    return next(mark for mark in marks if mark > last and mark >= least)


def weight_lines(weights: Arrays, layers: str) -> list[str]:
    """Return the last lines of a network's file; ``layers`` names the weights in their order."""
    data = b"".join([weight.astype("<f2").tobytes() for weight in weights])
    text = base64.b64encode(data).decode()
    return [
        f'sha256 = "{hashlib.sha256(data).hexdigest()}"',
        f"# 16-bit floats, little-endian: {layers}, each with its bias.",
        'weights = """\\',
        *[text[at : at + 100] + "\\" for at in range(0, len(text), 100)],
        '"""',
    ]


def read_fields(path: str | Path, form: str, kinds: Mapping[str, type]) -> dict[str, Any]:
    """Return the fields of a network's file; raises `InvalidFile` and `OSError`.

    ``kinds`` has the types of the fields that must be there, apart from the weights.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # also text that is not UTF-8
        raise InvalidFile(path, f"this is not a network: {error}") from error
    if content.get("format") != form:
        raise InvalidFile(path, f"this is not a network of format {form!r}")
    for name, kind in {**kinds, "weights": str}.items():
        if not isinstance(content.get(name), kind):
            raise InvalidFile(path, f"its {name} is missing or of the wrong type")
    return content


def read_weights(path: str | Path, content: Mapping[str, Any], weights: Arrays) -> None:
    """Fill the weights of a network from what `read_fields` returned; raises `InvalidFile`."""
    try:
        data = base64.b64decode(content["weights"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidFile(path, f"its weights cannot be decoded: {error}") from error
    wanted = sum(weight.size for weight in weights)
    if len(data) != 2 * wanted:
        raise InvalidFile(path, f"it has {len(data) / 2:g} weights, expected {wanted}")
    if content.get("sha256") != hashlib.sha256(data).hexdigest():
        raise InvalidFile(path, "its weights do not fit their checksum: it is damaged")
    found: NDArray[Any] = np.frombuffer(data, "<f2").astype(np.float32)
    if not np.isfinite(found).all():
        raise InvalidFile(path, "its weights are not finite")
    at = 0
    for weight in weights:
        weight[...] = found[at : at + weight.size].reshape(weight.shape)
        at += weight.size
