"""Leaderboards and tables of competitions, with intervals drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import DataTable, Footer, OptionList, Static

from plyhouse.clients.terminal.interfaces import Board, Boards, Refusal
from plyhouse.clients.terminal.screens.help import HelpScreen

if TYPE_CHECKING:
    from plyhouse.clients.terminal.screens.app import TerminalApp

WIDE: Final = 24
"""Cells in which intervals are drawn."""

HELP: Final = """\
KEYS

arrow keys      choose a board; in the table, go through it
Tab             boards, table
r               look again
ctrl+t          light or dark
q               leave
?               this list

The bar of a line is the 95 % interval of its rating, on one scale
for the whole table; the mark in it is the rating."""


def bars(board: Board, *, unicode: bool = True, width: int = WIDE) -> list[str]:
    """The interval of each row on one scale; "" for a row without one.

    >>> spans = ((0.0, 50.0, 100.0), None, (0.0, 0.0, 50.0))
    >>> bars(Board("", (), (), "", spans), unicode=False, width=9)
    ['|---O---|', '', 'O---|    ']
    """
    known = [span for span in board.spans if span is not None]
    if not known:
        return ["" for _ in board.rows]
    low, high = min(span[0] for span in known), max(span[2] for span in known)
    left, dash, right, knob = "\u251c\u2500\u2524\u25cf" if unicode else "|-|O"

    def place(value: float) -> int:
        return round((width - 1) * (value - low) / (high - low)) if high > low else 0

    drawn = []
    for span in board.spans:
        if span is None:
            drawn.append("")
            continue
        begin, middle, end = map(place, span)
        line = [dash if begin <= at <= end else " " for at in range(width)]
        line[begin], line[end] = left, right
        line[middle] = knob
        drawn.append("".join(line))
    return drawn


class StandingsScreen(Screen[None]):
    """A list of boards, and the table of one."""

    DEFAULT_CSS = """
    StandingsScreen #title { height: 1; text-style: bold; background: $panel; padding: 0 1; }
    StandingsScreen #boards { height: 1fr; }
    StandingsScreen OptionList { width: 24; height: 1fr; border: none; padding: 0 1; }
    StandingsScreen OptionList:focus { border: none; }
    StandingsScreen DataTable { height: 1fr; }
    StandingsScreen #notes { height: auto; max-height: 4; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "look", "Look again"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "leave", "Leave"),
    ]

    def __init__(self, boards: Boards, first: str | None) -> None:
        super().__init__()
        self.boards = boards
        self.first = first
        self.names: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        """The names, and the table."""
        yield Static(id="title", markup=False)
        with Horizontal(id="boards"):
            yield OptionList(markup=False, compact=True)
            with Vertical():
                yield DataTable(cursor_type="row", zebra_stripes=True)
                yield Static(id="notes", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Ask which boards there are."""
        self.query_one("#title", Static).update("Leaderboards")
        self.run_worker(self._begin())

    async def _begin(self) -> None:
        try:
            self.names = await self.boards.names()
        except Refusal as error:
            self.query_one("#notes", Static).update(str(error))
            return
        options = self.query_one(OptionList)
        if self.first is not None and self.first not in (key for key, _ in self.names):
            self.names.insert(0, (self.first, self.first))
        options.add_options(title for _, title in self.names)
        if not self.names:
            self.query_one("#notes", Static).update("There are no results yet.")
            return
        keys = [key for key, _ in self.names]
        options.highlighted = keys.index(self.first) if self.first in keys else 0
        options.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show that board."""
        self.run_worker(self.show(self.names[event.option_index][0]), exclusive=True)

    async def show(self, key: str) -> None:
        """Fetch and show a board."""
        table, notes = self.query_one(DataTable), self.query_one("#notes", Static)
        try:
            board = await self.boards.board(key)
        except Refusal as error:
            table.clear(columns=True)
            notes.update(str(error))
            return
        unicode = cast("TerminalApp", self.app).ink.unicode
        drawn = bars(board, unicode=unicode)
        wide = any(drawn)
        self.query_one("#title", Static).update(board.title)
        table.clear(columns=True)
        columns, align = list(board.columns), list(board.align)
        rows = [list(row) for row in board.rows]
        if wide:
            at = next((i + 1 for i, name in enumerate(columns) if name.startswith("95 %")), 3)
            columns.insert(at, "interval")
            align.insert(at, "l")
            for row, bar in zip(rows, drawn, strict=True):
                row.insert(at, bar)
        for name in columns:
            table.add_column(name)
        for row in rows:
            table.add_row(
                *(
                    Text(cell, justify="right" if side in "rR" else "left")
                    for cell, side in zip(row, align, strict=True)
                )
            )
        notes.update("\n".join(board.notes) if board.rows else "No rated matches yet.")

    def action_look(self) -> None:
        """Look again."""
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.run_worker(self.show(self.names[at][0]), exclusive=True)

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(HelpScreen(HELP))

    def action_leave(self) -> None:
        """Leave."""
        self.dismiss(None)
