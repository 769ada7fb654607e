"""The modules of a page of the web client as one script, and the style sheets as one sheet.

A page then makes two requests instead of seventy, which matters on a network where each takes a
third of a second.  The client's own style makes this short: modules import names of modules beside
them at their top, and export functions, classes and constants where they define them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";[ \t]*(?://.*)?$', re.MULTILINE)
LATER: Final = re.compile(r'\bimport\("\./([\w.]+)"\)')
"""An import that waits until it is needed."""
EXPORT: Final = re.compile(
    r"^export (?=(?:(?:async )?function\*?|class|const) (\w+))", re.MULTILINE
)
COMMENT: Final = re.compile(
    r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/[ \t]*\n|//[^\n]*\n)", re.MULTILINE | re.DOTALL
)
"""A comment with its line to itself."""

BEGIN: Final = """\
"use strict";
(() => {
const begun = new Map();
function $load(name) {
  if (!begun.has(name)) {
    begun.set(name, null);
    begun.set(name, modules[name]());
  }
  const module = begun.get(name);
  if (!module) throw new Error(`${name} imports itself`);
  return module;
}
const modules = {
"""


def script(modules: Mapping[str, str], run: Sequence[str]) -> str:
    """Return a classic script that runs some modules, with all that they need.

    ``modules`` are texts by file name.  A module runs when the first one needs it, and once.
    """
    needed = list(run)
    parts = []
    for name in needed:  # which grows meanwhile
        imported, body = _translated(modules.get(name, ""))
        needed += [each for each in imported if each not in needed]
        parts.append(f'"{name}"() {{\n{body}}},\n')
    return "".join([BEGIN, *parts, "};\n", *(f'$load("{name}");\n' for name in run), "})();\n"])


@functools.lru_cache(maxsize=256)  # most modules are in the scripts of several pages
def _translated(text: str) -> tuple[tuple[str, ...], str]:
    """Return what a module imports, and it as the body of a function that returns its exports."""
    text = COMMENT.sub("", text if text.endswith("\n") else text + "\n")
    imported = [each[1] for each in IMPORT.findall(text)] + LATER.findall(text)
    exported = EXPORT.findall(text)
    text = EXPORT.sub("", text)
    text = IMPORT.sub(_needed, text)
    text = LATER.sub(r'Promise.resolve().then(() => $load("\1"))', text)
    return tuple(dict.fromkeys(imported)), f"{text}return {{ {', '.join(exported)} }};\n"


def _needed(found: re.Match[str]) -> str:
    names = found[1].replace(" as ", ": ").strip()
    return f'const {{ {names} }} = $load("{found[2]}");'


def sheet(sheets: Iterable[str]) -> str:
    """Return the rules of all sheets in their order."""
    return "\n".join(sheets)
