"""The visibility of boards and baselines, by the text of a competition file.

`plyhouse.server.competition_rules.file_reader.read_competition` refuses a file whose game or
built-in bot is not installed any more.  That must not change who sees the matches of its final, so
this module reads the keys about visibility alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from plyhouse.server.competition_rules.file import VISIBILITIES, shown_baselines
from plyhouse.server.competition_rules.file_sections import read_baselines
from plyhouse.server.competition_rules.file_table import (
    InvalidCompetition,
    Mistake,
    Table,
    read_document,
)

CONCERNED: Final = ("board", "baselines", "bot", "hidden", "twin_of")
"""The keys that decide; mistakes in others do not matter here."""


@dataclass(frozen=True, slots=True)
class FileVisibility:
    """The rules of a competition file about who sees what."""

    board: str
    """One of `plyhouse.server.competition_rules.file.VISIBILITIES`."""
    named: frozenset[str]
    """All baselines of the file, ``player/bot`` in small letters."""
    shown: frozenset[str]
    """Those that everybody may know.

    All others are hidden, also those that the file does not name (any more).
    """


def read_board(table: Table) -> str:
    """Return the visibility of the board; mistakes are noted in the table."""
    board = table.text("board", "class", 32)
    if board is not None and board not in VISIBILITIES:
        quoted = [repr(name) for name in VISIBILITIES]
        table.bad("board", f"must be {', '.join(quoted[:-1])} or {quoted[-1]}, not {board!r}")
    return board or "class"


def read_visibility(text: str) -> FileVisibility:
    """Read who sees what; raises `InvalidCompetition` if one of the keys about it has a mistake.

    >>> text = 'board = "public"; games = ["lost"]; [[baselines]]; bot = "Staff/a"; hidden = true'
    >>> read_visibility(text.replace("; ", chr(10))).shown
    frozenset()
    """
    mistakes: list[Mistake] = []
    table = Table(read_document(text), "", mistakes)
    board, baselines = read_board(table), read_baselines(table)
    wrong = [each for each in mistakes if _concerns(each)]
    if wrong:
        raise InvalidCompetition(wrong)
    named = frozenset(each.bot.lower() for each in baselines)
    return FileVisibility(board, named, shown_baselines(baselines))


def _concerns(mistake: Mistake) -> bool:
    """Return whether a mistake is in a key that decides, or in a baseline as a whole."""
    return mistake.key.rpartition(".")[2].partition("[")[0] in CONCERNED
