"""The base of all answers of the HTTP API, lists of them, and how a notebook draws them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar

from msgspec import Struct

RowT = TypeVar("RowT")


class _DataclassFields:
    """The fields of a row where `dataclasses` and pandas look for them."""

    def __get__(self, row: Row | None, kind: type[Row]) -> dict[str, dataclasses.Field[Any]]:
        return _fields(kind)


@functools.cache  # bounded: by the kinds of rows
def _fields(kind: type[Row]) -> dict[str, dataclasses.Field[Any]]:
    fields = dataclasses.fields(dataclasses.make_dataclass(kind.__name__, kind.__struct_fields__))
    return {field.name: field for field in fields}


class Row(Struct, frozen=True):
    """An answer, or a part of one.

    The functions of `dataclasses` take rows, and ``pandas.DataFrame`` takes a list of them.  Rows
    are structs all the same: a hundred dataclasses would add 70 ms to the start of every program.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]] = _DataclassFields()  # type: ignore[assignment]


class Notebook:
    """How a notebook draws rows; `plyhouse.clients.api` puts the functions of its drawings here."""

    scene: Callable[[Mapping[str, Any]], str] = staticmethod(lambda scene: "")
    """Draws a scene as SVG."""
    table: Callable[[Sequence[Any]], str] = staticmethod(lambda rows: "")
    """Draws rows as an HTML table."""


NOTEBOOK: Final = Notebook()


class Rows(list[RowT]):
    """A list of rows; a notebook draws it as a table."""

    def _repr_html_(self) -> str:
        return NOTEBOOK.table(self)
