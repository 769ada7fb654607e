"""The generated documentation is complete and up to date."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from plyhouse.protocol import schema
from plyhouse.protocol.codec import JSON
from plyhouse.protocol.diagram import arrows
from plyhouse.protocol.errors import ERRORS, RemoteProtocolError
from plyhouse.protocol.messages import CLIENT_TYPES, SERVER_TYPES, Event, Message
from plyhouse.protocol.transitions import CLIENT, SERVER, Input, State
from plyhouse.storage.errors import InvalidName
from plyhouse.storage.people import check_name

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "protocol"


def test_the_documentation_is_up_to_date() -> None:
    assert schema.stale(FOLDER) == [], (
        "run: python -m plyhouse.protocol.schema --write docs/protocol"
    )


def test_all_types_and_fields_are_described() -> None:
    definitions = schema.json_schema()["$defs"]
    for cls in {*CLIENT_TYPES.values(), *SERVER_TYPES.values()}:
        definition = definitions[cls.__name__]
        assert definition["description"]
        for name, field in definition["properties"].items():
            assert name == "type" or field["description"], (cls, name)


def test_every_reference_of_the_schema_has_a_target() -> None:
    document = schema.json_schema()

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if "$ref" in value else []
            return own + [ref for inner in value.values() for ref in references(inner)]
        if isinstance(value, list):
            return [ref for inner in value for ref in references(inner)]
        return []

    found = references(document)
    assert found
    assert {ref.removeprefix("#/$defs/") for ref in found} <= set(document["$defs"])


def test_pages_list_every_message_and_code() -> None:
    messages, errors = schema.messages_page(), schema.errors_page()
    for name in {**CLIENT_TYPES, **SERVER_TYPES}:
        assert f"### `{name}`\n" in messages
        assert f"(#{name})" in messages
    for code in ERRORS:
        assert f"| `{code}` |" in errors


def test_a_field_without_a_description_is_refused() -> None:
    class Silent(Message, frozen=True):
        """Says nothing.

        first: described.
        """

        first: int
        second: int

    with pytest.raises(ValueError, match="Silent has the fields"):
        schema.describe(Silent)


def test_descriptions_may_run_over_lines() -> None:
    about, fields = schema.describe(Event)
    assert about == "One thing that happened in a match, as this viewer may see it."
    assert fields["seat"] == "the seat that acted; -1 for chance."


def test_drawings_show_every_change_of_state() -> None:
    for name, table in (("server", SERVER), ("client", CLIENT)):
        text = (FOLDER / f"connection-{name}.svg").read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)
        labels = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert set(labels) >= {state.name for state in State}
        changes, everywhere = arrows(table)
        assert Input.LOST in everywhere
        for inputs in changes.values():
            for how in inputs:
                assert how.name.lower().replace("_", " ") in labels


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "docs"
    assert schema.main(["--check", str(folder)]) == 1
    assert "stale: " in capsys.readouterr().out
    assert schema.main(["--write", str(folder)]) == 0
    assert "errors.md" in capsys.readouterr().out
    assert schema.main(["--check", str(folder)]) == 0
    assert schema.main(["--write", str(folder)]) == 0
    assert capsys.readouterr().out == ""
    document = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    assert document["title"] == "Plyhouse protocol v1"


def example(shape: dict[str, Any]) -> Any:
    """Some value that a schema of a client's field allows."""
    if "enum" in shape:
        return shape["enum"][0]
    kind = shape["type"]
    if kind == "integer":
        return shape.get("exclusiveMinimum", shape.get("minimum", 1) - 1) + 1
    return {"boolean": True, "string": "a" * shape.get("minLength", 0), "array": []}[kind]


def beyond_and_within(shape: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Values just outside and just inside the bounds of a field."""
    if shape.get("type") == "integer":
        low = shape.get("minimum", shape.get("exclusiveMinimum", -1) + 1)
        high = shape.get("maximum", shape.get("exclusiveMaximum", 0) - 1)
        return [low - 1, high + 1], [low, high]
    if shape.get("type") == "string" and "enum" not in shape:
        least, most = shape.get("minLength", 0), shape["maxLength"]
        return ["a" * (most + 1), *([""] if least else [])], ["a" * least, "a" * most]
    if shape.get("type") == "array":
        most = shape["maxItems"]
        return [["a"] * (most + 1)], [["a"] * most]
    return [], []


@pytest.mark.parametrize("kind", CLIENT_TYPES)
def test_the_bounds_of_the_schema_are_those_of_the_server(kind: str) -> None:
    definition = schema.json_schema()["$defs"][CLIENT_TYPES[kind].__name__]
    shapes = definition["properties"]
    frame = {name: example(shapes[name]) for name in definition["required"] if name != "type"}
    frame["type"] = kind
    for name, shape in shapes.items():
        if name == "type":
            continue
        for option in shape.get("anyOf", [shape]):
            refused, taken = beyond_and_within(option)
            for value in taken:
                JSON.decode_client(json.dumps({**frame, name: value}))
            for value in refused:
                with pytest.raises(RemoteProtocolError) as caught:
                    JSON.decode_client(json.dumps({**frame, name: value}))
                assert caught.value.code == "protocol/bad_field", (kind, name, value)


@pytest.mark.parametrize("name", ["a", "A.b-c_9", "-a-", "9", "a" * 32, "ä", "Ольга", "山田-2"])
def test_the_schema_allows_the_names_that_the_server_allows(name: str) -> None:
    for pattern in name_patterns():
        assert re.search(pattern, name)
    assert check_name(name, "bot") == name


@pytest.mark.parametrize("name", ["...", "a b", "a/b", "a\n", "a" * 33, "_", "a@b", "a:b"])
def test_the_schema_refuses_the_names_that_the_server_refuses(name: str) -> None:
    for pattern in name_patterns():
        # The pattern $ of JSON Schema means the very end, which is \Z in Python.
        assert not re.search(pattern.replace("$", r"\Z"), name)
    with pytest.raises(InvalidName):
        check_name(name, "bot")


def name_patterns() -> list[str]:
    defs = schema.json_schema()["$defs"]
    return [
        defs["Hello"]["properties"]["bot"]["pattern"],
        defs["Register"]["properties"]["player"]["pattern"],
    ]


def test_numbers_that_have_bounds_show_them_on_the_page() -> None:
    page = schema.messages_page()
    assert "| `id` | integer > 0, < 2^53 |" in page
    assert "| `ply` | integer ≥ 0, < 2^31 |" in page
