"""The name of the program and the addresses that its package states."""

from __future__ import annotations

import importlib.metadata
from email.message import Message

import pytest

from plyhouse.server.version import project_links


def test_project_links_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Message()
    for line in ("Changelog, https://a.example/c", "Source, https://a.example/s"):
        facts["Project-URL"] = line
    facts["Project-URL"] = "Documentation, https://a.example/d"
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: facts)
    assert project_links() == [
        ("Documentation", "https://a.example/d"),
        ("Source", "https://a.example/s"),
    ]


def test_package_without_addresses_has_no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: Message())
    assert project_links() == []
