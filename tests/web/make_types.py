"""Writes the types of what the web client is sent: ``python -m tests.web.make_types``.

``clients/web/wire.d.ts`` follows from the protocol's JSON Schema, from the dataclasses of scenes
and from what the web API answers, and only serves to check the client (`make lint-web`); a test
holds it to them.  A field that may be left out when it has its default is optional there.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from pathlib import Path
from typing import Any, Final

import msgspec

from plyhouse.games import scene
from plyhouse.protocol.api.competitions import (
    ChangedKey,
    CompetitionCost,
    EndedFinal,
    Entry,
    Rehearsal,
)
from plyhouse.protocol.api.matches import Failure, Match, Replay
from plyhouse.protocol.api.people import Opponent, Person, Seek
from plyhouse.protocol.api.positions import BotReview, Chances, Review
from plyhouse.protocol.schema import json_schema
from plyhouse.server.results.record import Record

__all__ = ["TARGET", "types_text"]

TARGET: Final = Path(__file__).resolve().parents[2] / "clients" / "web" / "wire.d.ts"
HEAD: Final = """\
// Types of what comes over the wire, for checking alone: nothing of this is loaded by a page.
// Written by `python -m tests.web.make_types` from the protocol's schema and games/scene.py.
"""
SCALARS: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
PLAIN: Final = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
PARTS: Final = (
    scene.Cell, scene.Grid, scene.Card, scene.Hand, scene.Dice, scene.Counter, scene.Tray,
    scene.Placing, scene.Laying,
    scene.Button, scene.Text,
)  # fmt: skip
ANSWERS: Final = (
    Match,
    Replay,
    Record,
    BotReview,
    Review,
    Chances,
    Failure,
    Person,
    Seek,
    Opponent,
    Entry,
    EndedFinal,
    Rehearsal,
    CompetitionCost,
    ChangedKey,
)
"""The types of the web API that the client reads."""


def _of_schema(field: dict[str, Any], name: str = "") -> str:
    """The type that a part of the schema describes."""
    if name == "scene":
        return "Scenes.Scene | null" if "anyOf" in field else "Scenes.Scene"
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "enum" in field:
        return " | ".join(json.dumps(each) for each in field["enum"])
    if "anyOf" in field:
        return " | ".join(_of_schema(each) for each in field["anyOf"])
    kind = field.get("type")
    if kind == "array" and "prefixItems" in field:
        return f"[{', '.join(map(_of_schema, field['prefixItems']))}]"
    if kind == "array":
        item = _of_schema(field["items"])
        return f"({item})[]" if "|" in item else f"{item}[]"
    return SCALARS.get(str(kind), "null" if kind == "null" else "{ [key: string]: unknown }")


def _message(name: str, found: dict[str, Any]) -> list[str]:
    """The lines that declare a struct."""
    if "properties" not in found:
        return [f"  type {name} = {_of_schema(found)};"]
    required = set(found.get("required", ()))
    fields = [
        f"{field}{'' if field in required else '?'}: {_of_schema(of, field)}"
        for field, of in found["properties"].items()
    ]
    return [f"  interface {name} {{ {'; '.join(fields)} }}"]


def _of_hint(hint: Any) -> str:
    """The type that an annotation of a dataclass describes."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        item = _of_hint(args[0])
        return f"({item})[]" if "|" in item else f"{item}[]"
    if origin in (types.UnionType, typing.Union):
        if set(args) == set(typing.get_args(scene.Element)):
            return "Element"
        return " | ".join(_of_hint(each) for each in args)
    return PLAIN.get(hint) or str(hint.__name__)


def _part(kind: Any) -> str:
    hints = typing.get_type_hints(kind, vars(scene))
    fields = [f"kind: {json.dumps(kind.kind)}"] if hasattr(kind, "kind") else []
    fields += [
        f"{each.name}{'?' if each.metadata else ''}: {_of_hint(hints[each.name])}"
        for each in dataclasses.fields(kind)
    ]
    return f"  interface {kind.__name__} {{ {'; '.join(fields)} }}"


def types_text() -> str:
    """The text of the file."""
    lines = ["", "declare namespace Scenes {"]
    lines += [_part(each) for each in PARTS]
    kinds = " | ".join(each.__name__ for each in PARTS if hasattr(each, "kind"))
    lines.append(f"  type Element = {kinds};")
    lines += [_part(scene.Scene), "}"]
    messages = {name: _message(name, of) for name, of in json_schema()["$defs"].items()}
    _, defs = msgspec.json.schema_components(ANSWERS, ref_template="#/$defs/{name}")
    answers = {name: _message(name, of) for name, of in defs.items()}
    for name in answers.keys() & messages.keys():
        if answers[name] == messages[name]:
            answers[name] = [f"  type {name} = Messages.{name};"]
    for space, found in (("Messages", messages), ("Answers", answers)):
        lines += ["", f"declare namespace {space} {{"]
        lines += [line for name in sorted(found) for line in found[name]]
        lines.append("}")
    return HEAD + "\n".join([*lines, ""])


if __name__ == "__main__":
    TARGET.write_text(types_text(), encoding="utf-8")
