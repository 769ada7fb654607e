"""Plain English: documentation, docstrings and comments without words and forms that slow readers.

The word list has no exceptions.  If a sentence needs one of these words, say what happens instead:
name the actor, then the action.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "bots",
    "clients",
    "examples",
    "games",
    "learning",
    "protocol",
    "search",
    "server",
    "storage",
)
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "ARCHITECTURE.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
MOST_WORDS = 30
"""Words of the longest sentence of a page or docstring."""
LONGEST_PAGE = 1600
"""Words of a page that is not a generated reference; split a longer one by kind of document."""
REFERENCES = {
    "docs/commands.md",
    "docs/games/monopoly.md",
    "docs/games/scrabble.md",
    "docs/games/texas_holdem.md",
    "docs/protocol/messages.md",
    "docs/protocol/errors.md",
}
"""Generated references; the pages of Monopoly, Scrabble and hold'em list hundreds of actions."""

WORDS = {
    "anew": "again",
    "forthwith": "at once",
    "hand in": "submit",
    "handed in": "submitted",
    "hands in": "submits",
    "likewise": "also, in the same way",
    "mended": "fixed",
    "shall": "must, should, will",
    "thereby": "so",
    "thereof": "of it",
    "whatever": "every, any",
    "whoever": "anyone who, the viewer, the caller",
}
WORD = re.compile(rf"\b({'|'.join(WORDS)})\b", re.I)
SUBJECT = re.compile(r"^(Who|Whom|Whose|What|Of)\b(?!.*\?$)")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text without code, links and markup."""
    text = re.sub(r"`+[^`]*`+", "Code", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*[-*#|>]|\s*\d+\. )", text):
        for part in re.split(r"(?<=[.!?:])\s+(?=[A-Z(*])", " ".join(block.split())):
            yield part.strip("#*->|_ ")


def length(sentence: str) -> int:
    """Count the words of a sentence; a table of probabilities has none."""
    return sum(any(sign.isalpha() for sign in word) for word in sentence.split())


def running_text(docstring: str) -> str:
    """Return a docstring without examples and tables, with a paragraph for each described field."""
    lines: list[str] = []
    in_example = False
    for line in docstring.split("\n"):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        is_row = re.search(r"\S {3,}\S|^ *``[^`]+``  \S", line) or re.match(r" *[=+|-]{3,}", line)
        if in_example or is_row:
            lines.append("")
            continue
        if re.match(r"\s*(``)?[\w*]+(``)?(, \w+)*: ", line):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def mistakes(text: str) -> list[str]:
    found = []
    for sentence in sentences(text):
        if word := WORD.search(sentence):
            found.append(f"{word[0]!r} (say: {WORDS[word[0].lower()]}): {sentence}")
        elif SUBJECT.match(sentence) and len(sentence.split()) > 3:
            found.append(f"begin with the actor: {sentence}")
    return found


def prose(page: Path) -> str:
    """Return a page without its code; table cells are sentences of their own."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"<!--.*?-->", "", text, flags=re.S).replace("|", "\n\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_has_plain_short_sentences(page: Path) -> None:
    text = prose(page)
    long = [each for each in sentences(text) if length(each) > MOST_WORDS]
    assert not mistakes(text) + [f"longer than {MOST_WORDS} words: {each}" for each in long]


def test_page_of_documentation_is_short() -> None:
    words = {
        page.relative_to(ROOT).as_posix(): len(page.read_text(encoding="utf-8").split())
        for page in PAGES
        if page.is_relative_to(ROOT / "docs")
    }
    assert {name for name in words if words[name] > LONGEST_PAGE} == REFERENCES


@pytest.mark.parametrize("package", PACKAGES)
def test_package_has_plain_docstrings(package: str) -> None:
    found = []
    for file in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                text = node.value.value
                if isinstance(text, str):
                    wrong = mistakes(text)
                    for each in sentences(running_text(text)):
                        if length(each) > MOST_WORDS:
                            wrong.append(f"longer than {MOST_WORDS} words: {each}")
                    found += [f"{file.relative_to(ROOT)}: {each}" for each in wrong]
    assert not found


def test_old_word_is_found() -> None:
    assert mistakes("The server\nmakes the file anew.") == [
        "'anew' (say: again): The server makes the file anew."
    ]
    assert mistakes("What is played counts.") == ["begin with the actor: What is played counts."]
    assert [length(each) for each in sentences(running_text("a: one, two.\nb: three.\n"))] == [3, 2]
    assert not running_text("code   a row of a table\n>>> example\n1").strip()
    assert not mistakes("What is a ply? `whoever` asks, see [whom](whatever.md).")
