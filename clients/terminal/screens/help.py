"""The keys of a screen, over it."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

SIGNS: Final = {" ": "space", "ArrowUp": "up", "ArrowDown": "down"} | {
    "ArrowLeft": "left",
    "ArrowRight": "right",
}
"""The names of keys."""

MATCH_KEYS: Final = """\
KEYS

arrow keys      move over the board (step, where nothing is to be chosen)
Enter, space    choose what is under the cursor; a click does, too
Esc             give up what was chosen so far
/               type an action, or part of its name; Enter plays it
Tab             board, field, list of actions
f               flip the board
, .             one ply back or forward
Home, End       first and last position
p               play by itself, and stop
+ -             faster, slower
D               offer a draw, or accept the one on offer
R               resign (asks once more)
m               hide or show what others say
n               another match, after this one
q               leave
?               this list

Marks: (x) the last action, *x* what decided the game,
<x> where the chosen piece can go, {x} what was chosen, [x] the cursor.
Keys of the game's own, such as r in pig, stand beside the actions."""


class HelpScreen(ModalScreen[None]):
    """A text that goes away with the next key."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll {
        width: 66; max-width: 95%; height: auto; max-height: 95%; padding: 0 2;
        background: $surface; border: round $primary;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter,space", "dismiss", "Close"),
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """The text."""
        with VerticalScroll():
            yield Static(self._text, markup=False)
