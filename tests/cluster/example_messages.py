"""Write an example of each message between servers: ``python -m tests.cluster.example_messages``.

``messages/next.json`` has the examples of this version, and each file beside it those of a release.
Tests decode all of them, as servers of two successive versions work together.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from msgspec import inspect

from plyhouse.server.cluster.member_messages import MemberMessage, encode

__all__ = ["FOLDER", "KINDS", "NEXT", "example", "examples_text"]

FOLDER: Final = Path(__file__).resolve().parent / "messages"
NEXT: Final = FOLDER / "next.json"
KINDS: Final[tuple[type, ...]] = get_args(MemberMessage)


def example(kind: Any) -> Any:
    """Return a message of a kind, with a value for each field that may have one."""
    return msgspec.convert(_value(inspect.type_info(kind)), kind)


def _value(kind: inspect.Type) -> Any:
    """Return a value of a type, as the builtin types that msgspec converts."""
    match kind:
        case inspect.StructType():
            fields = {each.encode_name: _value(each.type) for each in kind.fields}
            if kind.array_like:
                return [*([kind.tag] if kind.tag_field is not None else []), *fields.values()]
            tag = {} if kind.tag_field is None else {kind.tag_field: kind.tag}
            return {**tag, **fields}
        case inspect.UnionType():
            return _value(next(each for each in kind.types if each != inspect.NoneType()))
        case inspect.DictType():
            return {_value(kind.key_type): _value(kind.value_type)}
        case inspect.TupleType():
            return [_value(each) for each in kind.item_types]
        case inspect.CollectionType():
            return [_value(kind.item_type)]
        case inspect.LiteralType():
            return kind.values[0]
        case inspect.BoolType():
            return True
        case inspect.IntType():
            return max(7, int(kind.ge or 0))
        case inspect.FloatType():
            return 0.5
        case inspect.StrType():
            return "x" * max(1, kind.min_length or 0)
        case inspect.Metadata():
            return _value(kind.type)
        case _:
            return "any"


def examples_text() -> str:
    """Return the file of examples: the bytes of each message as hexadecimal digits, by its kind."""
    shown = {kind.__name__: encode(example(kind)).hex() for kind in KINDS}
    return json.dumps(shown, indent=1) + "\n"


if __name__ == "__main__":
    NEXT.write_text(examples_text(), encoding="utf-8")
