"""The fields of a game's observations, as their author describes them in the source.

A field's description is the text below it, as everywhere in this house::

    board: tuple[str, ...]
    \"\"\"Rows from the top: "x" for seat 0, "o" for seat 1, "." empty.\"\"\"

Both texts and types are read from the source, not from the class.  The classes of compiled games
have lost the texts, and an author's own game need not be imported twice.

>>> from plyhouse.games import get_game
>>> for field in observation_fields(get_game("nim")):
...     print(f"{field.name}: {field.type}")
seat: integer or null
to_move: integer
legal: array of string
heaps: array of integer
last: integer
misere: boolean
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import sys
import threading
from pathlib import Path
from typing import Any, Final, Literal

from plyhouse.games._compiled import module_name
from plyhouse.games.base import Game, Observation

__all__ = [
    "ObservationField",
    "observation_fields",
    "observation_schema",
    "source_file",
    "syntax_tree",
]

_PARSING: Final = threading.Lock()
_ATOMS: Final = {
    "bool": "boolean",
    "int": "integer",
    "float": "number",
    "str": "string",
    "None": "null",
}


@dataclasses.dataclass(frozen=True, slots=True)
class ObservationField:
    """One field of the observations of a game."""

    name: str
    type: str
    """Type on the wire, in words: "array of string", "integer or null"."""
    meaning: str
    """The author's description; empty if there is none."""
    schema: dict[str, Any]
    """Type on the wire, as JSON Schema (2020-12)."""


def observation_fields(game: Game) -> tuple[ObservationField, ...]:
    """Every field of the observations of ``game``, in the order in which they are sent."""
    kind: Any = game.observation_type
    return _fields(kind)


def observation_schema(game: Game) -> dict[str, Any]:
    """JSON Schema (2020-12) of the observations of ``game`` on the wire."""
    fields = observation_fields(game)
    return {
        "title": f"Observation of {game.info.name}",
        "type": "object",
        "properties": {
            field.name: {"description": field.meaning, **field.schema} for field in fields
        },
        "required": [field.name for field in fields],
    }


def source_file(kind: type[Any]) -> Path:
    """Return the file with the source of a class, also of a compiled one; perhaps it does not
    exist.
    """
    module = sys.modules.get(kind.__module__)
    where = Path(getattr(module, "__file__", None) or "nowhere.py")
    if where.parent.name == "__pycache__":  # a game file that `plyhouse compile` has compiled
        for source in where.parent.parent.glob("*.py"):
            if module_name(source) == kind.__module__:
                return source
    package = sys.modules.get(kind.__module__.rpartition(".")[0])
    folders = list(getattr(package, "__path__", []))
    if not where.is_file() and folders:
        # mypyc misplaces modules that a compiled module of the same game was first to import.
        where = Path(folders[0], where.name)
    # Beside a compiled module, name.cpython-311-x86_64-linux-gnu.so, lies its source, name.py.
    return where.with_name(where.name.partition(".")[0] + ".py")


@functools.lru_cache(maxsize=256)
def _fields(kind: type[Any]) -> tuple[ObservationField, ...]:
    told: dict[str, tuple[ast.expr, str]] = {}
    for each in reversed(kind.__mro__):
        if issubclass(each, Observation):
            told |= _told(each)
    found = []
    for field in dataclasses.fields(kind):
        annotation, meaning = told.get(field.name) or (_parsed(field.type), "")
        schema = _schema(annotation)
        found.append(ObservationField(field.name, _words(schema), meaning, schema))
    return tuple(found)


def syntax_tree(source: str | bytes, mode: Literal["exec", "eval"] = "exec") -> Any:
    """Return the syntax tree of a source; raises what `ast.parse` raises.

    One thread parses at a time: in CPython, the depth of the tree under construction is one number
    for all threads, so that one of two would get a SystemError.
    """
    with _PARSING:
        return ast.parse(source, mode=mode)


def _told(kind: type[Observation]) -> dict[str, tuple[ast.expr, str]]:
    """Annotation and description of every field in the body of a class; empty without source."""
    try:
        body: list[ast.stmt] = syntax_tree(source_file(kind).read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return {}
    for name in kind.__qualname__.split("."):
        found = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        body = list(found[-1].body) if found else []
    told = {}
    for node, below in zip(body, [*body[1:], None], strict=False):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            meaning = ""
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                meaning = " ".join(inspect.cleandoc(str(below.value.value)).split())
            told[node.target.id] = node.annotation, meaning.replace("``", "`")
    return told


def _parsed(annotation: object) -> ast.expr:
    """Parse the annotation of a field whose source is not available."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    try:
        found: ast.expr = syntax_tree(text, "eval").body
    except SyntaxError:
        return ast.Name("Any")
    return found


def _schema(annotation: ast.expr) -> dict[str, Any]:
    """Return the values of an annotation on the wire; any value for what is not known here."""
    match annotation:
        case ast.Name(id=name) if name in _ATOMS:
            return {"type": _ATOMS[name]}
        case ast.Constant(value=None):
            return {"type": "null"}
        case ast.Constant(value=str(text)):  # "int | None", in quotes
            return _schema(_parsed(text))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            one, other = _schema(left), _schema(right)
            return {"anyOf": [*one.get("anyOf", [one]), *other.get("anyOf", [other])]}
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[each, last])) if (
            isinstance(last, ast.Constant) and last.value is ...
        ):
            return {"type": "array", "items": _schema(each)}
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=elements)):
            count = len(elements)
            parts = [_schema(element) for element in elements]
            bounds = {"minItems": count, "maxItems": count}
            if all(part == parts[0] for part in parts):
                return {"type": "array", "items": parts[0], **bounds}
            return {"type": "array", "prefixItems": parts, **bounds}
    return {}


def _words(schema: dict[str, Any]) -> str:
    """Return a schema made here, in words.

    >>> _words(_schema(_parsed("tuple[tuple[str, str], ...]")))
    'array of arrays of 2 strings'
    """
    if "anyOf" in schema:
        return " or ".join(_words(option) for option in schema["anyOf"])
    if schema.get("type") != "array":
        return str(schema.get("type", "anything"))
    if "prefixItems" in schema:
        return f"array of {', '.join(_words(part) for part in schema['prefixItems'])}"
    items = schema["items"]
    if "maxItems" in schema:
        return f"array of {schema['maxItems']} {_plural(items)}"
    if items.get("type") == "array":
        return f"array of {_plural(items)}"
    inner = _words(items)
    return f"array of ({inner})" if " or " in inner else f"array of {inner}"


def _plural(schema: dict[str, Any]) -> str:
    """Return the plural of a schema in words, such as "integers"."""
    words = _words(schema)
    if schema.get("type") == "array":
        return words.replace("array", "arrays", 1)
    if "anyOf" in schema:
        return f"({words})"
    return words if words in ("anything", "null") else f"{words}s"
