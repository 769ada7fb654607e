"""Manifests and requirements that were written to exhaust the program that reads them.

Each comes with the code of its refusal, without ``submission/``.
"""

from __future__ import annotations

from typing import Final

__all__ = ["MANIFESTS", "REQUIREMENTS"]

MANIFESTS: Final[dict[str, tuple[str, str]]] = {
    "dotted key": ("a" + ".a" * 50_000 + "=1", "too_large"),
    "dotted key in one line": ("a" + ".a" * 8_000 + "=1", "manifest"),
    "many dotted keys": (("a" + ".a" * 990 + "=1\n") * 8, "manifest"),
    "many dotted tables": ("".join(f"[b{n}{'.a' * 990}]\n" for n in range(8)), "manifest"),
    "long table declared twice": (f"[a{'.a' * 990}]\n" * 2, "manifest"),
    "long key": ("[bot]\n" + "a" * 1_900 + " = 1", "manifest"),
    "long file": ('[bot]\nbot = "' + "a" * 990 + '.py"', "manifest"),
    "long program": ('[bot]\nrun = ["' + "a" * 990 + '"]', "manifest"),
    "nested arrays": ("a = " + "[" * 900 + "]" * 900, "manifest"),
    "5,000 nested arrays": ("a = [\n" + "[\n" * 2_500 + "]\n" * 2_501, "manifest"),
    "nested inline tables": ("a = " + "{a=" * 490 + "1" + "}" * 490, "manifest"),
    "integer of 5,000,000 digits": ("a = " + "9" * 5_000_000, "too_large"),
    "integer of 1,990 digits": ("[bot]\nname = " + "9" * 1_980, "manifest"),
    "invalid date": ("a = 2020-99-99", "manifest"),
}

REQUIREMENTS: Final[dict[str, tuple[str, str]]] = {
    "nested marker": ('numpy; ("' + "(" * 1_500 + ")" * 1_500, "requirement"),
    "marker of 2,000 open parentheses": ("numpy; " + "(" * 2_000, "requirement"),
    "marker in 900 parentheses": (
        "numpy; " + "(" * 900 + 'python_version > "3"' + ")" * 900,
        "requirement",
    ),
    "million specifiers": ("numpy" + ">1," * 1_000_000 + ">1", "too_large"),
    "thousand specifiers": ("torch" + ">1," * 1_000 + ">1", "requirement"),
    "thousand lines": ("numpy\n" * 500, "too_large"),
}
