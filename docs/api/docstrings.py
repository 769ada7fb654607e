"""Turn docstrings into Markdown for the Python API pages (an extension of griffe).

Docstrings are prose with doctests, literal blocks (``::``) and lists of fields (``name: text``).
Markdown would show a doctest as a quotation and a list of fields as one paragraph.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

LITERAL = re.compile(r"::\n\n((?:(?: {4}.*)?\n)*(?: {4}.*))")
DOCTEST = re.compile(r"(?:^|(?<=\n\n))>>> .*(?:\n.+)*")
FIELD = re.compile(r"^([a-z_]+): (.*(?:\n {4}.*)*)$", re.M)


def markdown(text: str) -> str:
    """Return a docstring as Markdown."""

    def literal(found: re.Match[str]) -> str:
        block = re.sub(r"^ {4}", "", found[1], flags=re.M)
        return f":\n\n```python\n{block}\n```"

    text = LITERAL.sub(literal, text)
    text = DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
    return "\n\n".join(
        FIELD.sub(r"- `\1`: \2", part) if FIELD.match(part) else part for part in text.split("\n\n")
    )


class Docstrings(griffe.Extension):
    """Rewrites the docstring of everything that is loaded."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
