"""Tables and notes: boxes in a terminal, plain aligned text when piped.

Results go to standard output, everything said about them to standard error, so that scripts can
read the former.  A table that is wider than its terminal is folded: texts are wrapped at blanks,
then columns go below the others under the same first ones.  Nothing is cut off.  ``NO_COLOR`` and
``TERM=dumb`` are respected: the first means no colours, the second no control characters at all.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TextIO

import click

if TYPE_CHECKING:
    from rich.table import Table

FEW: Final = 10
"""Entries that stand one below the other."""

NARROWEST: Final = 12
"""Characters that a text keeps at least, when it is wrapped."""


def is_terminal() -> bool:
    """Return whether standard output is a terminal that a person watches."""
    return sys.stdout.isatty()


def has_controls(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that understands control characters."""
    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def has_colour(stream: TextIO) -> bool:
    """Return whether a stream is a terminal on which colours are wanted."""
    return has_controls(stream) and not os.environ.get("NO_COLOR")


def note(message: str) -> None:
    """Say something on standard error that is no result."""
    click.echo(message, err=True)


def print_json(answer: object) -> None:
    """Write rows of the API as JSON."""
    import json

    import msgspec

    click.echo(json.dumps(msgspec.to_builtins(answer), indent=2))


def harmless(text: str) -> str:
    r"""Without what a terminal would obey: a bot may be somebody else's.

    >>> harmless("a\x1b[2Jb\rc")
    'a\\x1b[2Jb\\rc'
    """
    return "".join(
        each if each.isprintable() or each in "\t\n" else repr(each)[1:-1] for each in text
    )


def counted(number: int, one: str, many: str = "") -> str:
    """``1 match``, ``2 matches``; ``many`` is the noun with an s if not given.

    >>> counted(1, "match", "matches"), counted(1200, "game")
    ('1 match', '1200 games')
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def late_words(days: int, penalty: float) -> str:
    """Return how late an entry is and its penalty, in words.

    >>> late_words(2, 20.0)
    '2 days late, penalty 20 % of the points'
    """
    return f"{counted(days, 'day')} late, penalty {penalty:g} % of the points"


def signed(value: float, digits: int = 0) -> str:
    """A number for people with its sign, and no sign on what rounds to zero.

    >>> signed(35.2), signed(-0.5, 2), signed(-0.2)
    ('+35', '−0.50', '0')
    """
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def interval(low: float, high: float, digits: int = 0) -> str:
    """An interval as people write it.

    >>> interval(-12.3, 80.0)
    '[−12, +80]'
    """
    return f"[{signed(low, digits)}, {signed(high, digits)}]"


def in_columns(entries: Sequence[str]) -> list[str]:
    """Entries one below the other; many of them beside each other, as the terminal allows.

    >>> in_columns(["roll", "hold"])
    ['roll', 'hold']
    """
    if len(entries) <= FEW:
        return list(entries)
    each = max(map(len, entries)) + 3
    beside = max(1, (shutil.get_terminal_size().columns - 2 + 3) // each)
    height = -(-len(entries) // beside)
    return [
        "".join(entry.ljust(each) for entry in entries[line::height]).rstrip()
        for line in range(height)
    ]


def plain_table(columns: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """Aligned columns, two spaces apart, as wide as they come out.

    ``align`` has one letter per column: ``"r"`` aligns right (numbers), ``"l"`` left, ``"w"``
    left as well, and may be wrapped in a narrow terminal (sentences).  ``"R"`` is ``"r"`` for a
    column that belongs to the one before it, such as its interval, and stays beside it.

    >>> print(plain_table(["bot", "games"], [["random", "200"], ["mcts", "40"]], "lr"))
    bot     games
    random    200
    mcts       40
    """
    table = [list(columns), *(list(row) for row in rows)]
    return _aligned(table, _widths(table), align)


def minute(milliseconds: int, zone: str = "") -> str:
    """Return a wall-clock time in ms since 1970, with its zone.

    ``zone`` is that of the competition whose date it is; without it, the zone of this machine.
    """
    from datetime import UTC, datetime

    if zone:
        from plyhouse.server.competition_rules.dates import in_words

        return in_words(datetime.fromtimestamp(milliseconds / 1000, UTC), zone)
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], align: str, keys: int = 1
) -> None:
    """Print a titled table to standard output; see `plain_table` for ``align``.

    ``keys``: so many of the first columns say what a row is about; a folded table repeats them.
    """
    from plyhouse.protocol.text import minus

    rows = [
        [minus(cell) if side in "rR" else cell for cell, side in zip(row, align, strict=True)]
        for row in rows
    ]
    if not is_terminal():
        click.echo(title)
        click.echo(plain_table(columns, rows, align))
        return
    boxed = has_controls(sys.stdout)
    width = shutil.get_terminal_size().columns
    blocks = folded(columns, rows, align, keys, width, 3 if boxed else 2, 1 if boxed else -2)
    if not boxed:
        click.echo(title)
        click.echo("\n\n".join(_aligned(b.table, b.widths, b.align) for b in blocks))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.print(Text(title, style="bold"), soft_wrap=True)  # a title is longer than some tables
    for block in blocks:
        console.print(_rich_table(block))


@dataclass(frozen=True)
class Block:
    """Return some columns of a table, padded to their widths."""

    table: list[list[str]]
    """The heads, then the rows."""
    widths: list[int]
    align: str


def folded(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    align: str,
    keys: int,
    width: int,
    each: int = 2,
    more: int = -2,
) -> list[Block]:
    """The columns in blocks that fit into ``width`` characters, the first ``keys`` in each.

    A line needs ``each`` characters per column beside its texts, and ``more`` in all.
    """
    table = [list(columns), *(list(row) for row in rows)]
    natural = _widths(table)
    least = [
        min(full, NARROWEST) if side == "w" else full
        for full, side in zip(natural, align, strict=True)
    ]

    def needed(chosen: Sequence[int]) -> int:
        return sum(least[i] + each for i in chosen) + more

    blocks, chosen = [], list(range(keys))
    for group in _groups(range(keys, len(columns)), align):
        if len(chosen) > keys and needed([*chosen, *group]) > width:
            blocks.append(chosen)
            chosen = list(range(keys))
        chosen.extend(group)
    blocks.append(chosen)
    made = []
    for chosen in blocks:
        widths = [least[i] for i in chosen]
        spare = width - needed(chosen)
        for place, column in enumerate(chosen):
            given = max(0, min(spare, natural[column] - widths[place]))
            widths[place] += given
            spare -= given
        cells = [[row[i] for i in chosen] for row in table]
        made.append(Block(cells, widths, "".join(align[i] for i in chosen)))
    return made


def _groups(columns: Iterable[int], align: str) -> list[list[int]]:
    """The columns, each with those that belong to it."""
    groups: list[list[int]] = []
    for column in columns:
        if groups and align[column] == "R":
            groups[-1].append(column)
        else:
            groups.append([column])
    return groups


def _widths(table: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(cell) for cell in column) for column in zip(*table, strict=True)]


def _aligned(table: Sequence[Sequence[str]], widths: Sequence[int], align: str) -> str:
    """The rows as lines; what is wider than its column takes several."""
    lines = []
    for row in table:
        cells = [
            (textwrap.wrap(cell, width) or [""]) if len(cell) > width and side == "w" else [cell]
            for cell, width, side in zip(row, widths, align, strict=True)
        ]
        for index in range(max(map(len, cells))):
            texts = [cell[index] if index < len(cell) else "" for cell in cells]
            placed = (
                text.rjust(width) if side in "rR" else text.ljust(width)
                for text, width, side in zip(texts, widths, align, strict=True)
            )
            lines.append("  ".join(placed).rstrip())
    return "\n".join(lines)


def _rich_table(block: Block) -> Table:
    """The block in a box."""
    from rich.box import ROUNDED
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=ROUNDED)
    for column, width, side in zip(block.table[0], block.widths, block.align, strict=True):
        table.add_column(
            escape(column),
            justify="right" if side in "rR" else "left",
            width=width if side == "w" else None,
            overflow="fold",  # never dots instead of data, however narrow the terminal
        )
    for row in block.table[1:]:
        table.add_row(*(escape(cell) for cell in row))
    return table
