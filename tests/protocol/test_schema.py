"""The generated documentation is complete and up to date."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from plyhouse.protocol import schema
from plyhouse.protocol.diagram import arrows
from plyhouse.protocol.errors import ERRORS
from plyhouse.protocol.messages import CLIENT_TYPES, SERVER_TYPES, Event, Message
from plyhouse.protocol.transitions import CLIENT, SERVER, Input, State

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
    assert fields["seat"] == "who acted; -1 for chance."


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
