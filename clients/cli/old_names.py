"""Names that commands had in version 0.1, translated to the current ones.

Remove this module, its call in `main` and its tests in the version after the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["RENAMED", "renamed"]

RENAMED: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ("new-bot",): ("bot", "new"),
    ("check",): ("bot", "check"),
    ("bot", "version"): ("bot", "versions"),
    ("bot", "disable"): ("admin", "bot", "disable"),
    ("bot", "enable"): ("admin", "bot", "enable"),
    ("bot", "reinstate"): ("admin", "bot", "reinstate"),
    ("player",): ("admin", "player"),
    ("player", "token"): ("token", "create"),
    ("player", "tokens"): ("token", "list"),
    ("player", "revoke"): ("token", "revoke"),
    ("void",): ("admin", "void"),
    ("audit",): ("admin", "audit"),
    ("db",): ("admin", "db"),
    ("student", "code"): ("code", "create"),
    ("student", "codes"): ("code", "list"),
    ("student", "revoke-code"): ("code", "revoke"),
    ("competition", "board"): ("competition", "standings"),
    ("competition", "rounds"): ("competition", "pairings"),
    ("competition", "dress-rehearsal"): ("competition", "rehearse"),
    ("output",): ("submission", "logs"),
}
"""Old words and new ones; the longest match counts.  Three more names are in `renamed`."""


def renamed(arguments: Sequence[str]) -> tuple[list[str], str]:
    """Translate an old name of a command; returns the arguments, and a notice or "".

    >>> renamed(["--debug", "new-bot", "my.py"])[0]
    ['--debug', 'bot', 'new', 'my.py']
    """
    start = 0
    while start < len(arguments) and arguments[start].startswith("-"):
        start += 1
    options, words = list(arguments[:start]), list(arguments[start:])
    for length in (2, 1):
        old = tuple(words[:length])
        if len(old) < length:
            continue
        if old in RENAMED:
            new, rest = RENAMED[old], words[length:]
            sub = rest[:1] if old in (("player",), ("db",)) else []
            return [*options, *new, *rest], _notice([*old, *sub], [*new, *sub])
        if old == ("submissions",):
            verb, rest = _submission(words[1:])
            return [*options, "submission", verb, *rest], _notice(old, ["submission", verb])
        if old == ("lobby",):
            asks = any(word.partition("=")[0] == "--server" for word in words)
            rest = words[1:] if asks else ["--server", *words[1:]]
            return [*options, "play", *rest], _notice(old, ["play", "--server"])
    return [*options, *words], ""


def _submission(words: Sequence[str]) -> tuple[str, list[str]]:
    """The subcommand that ``plyhouse submissions`` stood for, and what is left for it."""
    verbs = {"--remove": "remove", "--play": "open", "--no-play": "close"}
    for flag, verb in verbs.items():
        if flag in words:
            return verb, [word for word in words if word != flag]
    return "show" if any(word.isdecimal() for word in words) else "list", list(words)


def _notice(old: Sequence[str], new: Sequence[str]) -> str:
    return (
        f"plyhouse: `{' '.join(('plyhouse', *old))}` is now `{' '.join(('plyhouse', *new))}`; "
        "the old name stops working in the next version."
    )
