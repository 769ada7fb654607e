"""Tables and notes: rich in a terminal, plain aligned text when piped.

Results go to standard output, everything said about them to standard error, so that
scripts can read the former.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "interval",
    "is_terminal",
    "note",
    "plain_table",
    "print_table",
    "rich_table",
    "signed",
]


def is_terminal() -> bool:
    """Whether standard output is a terminal that a person watches."""
    return sys.stdout.isatty()


def note(message: str) -> None:
    """Say something on standard error that is no result."""
    click.echo(message, err=True)


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign, and no sign on what rounds to zero.

    >>> signed(35.2), signed(-0.5, 2), signed(-0.2)
    ('+35', '-0.50', '0')
    """
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def interval(low: float, high: float, digits: int = 0) -> str:
    """An interval as people write it.

    >>> interval(-12.3, 80.0)
    '[-12, +80]'
    """
    return f"[{signed(low, digits)}, {signed(high, digits)}]"


def plain_table(columns: Sequence[str], rows: Iterable[Sequence[str]], right: str) -> str:
    """Aligned columns, two spaces apart.

    ``right`` has one letter per column: ``"r"`` aligns right (numbers), others left.

    >>> print(plain_table(["bot", "games"], [["random", "200"], ["mcts", "40"]], "lr"))
    bot     games
    random    200
    mcts       40
    """
    table = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(columns))]

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, right, strict=True)
        )
        return "  ".join(cells).rstrip()

    return "\n".join(line(row) for row in table)


def rich_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: str
) -> Table:
    """The table for a terminal; see `plain_table` for ``right``."""
    from rich.box import ROUNDED
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), box=ROUNDED, title_justify="left", title_style="bold")
    for column, side in zip(columns, right, strict=True):
        table.add_column(column, justify="right" if side == "r" else "left")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    return table


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: str
) -> None:
    """Print a titled table to standard output; see `plain_table` for ``right``."""
    if not is_terminal():
        click.echo(title)
        click.echo(plain_table(columns, rows, right))
        return
    from rich.console import Console

    Console().print(rich_table(title, columns, rows, right))
