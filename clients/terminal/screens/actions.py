"""The legal actions, to be found by typing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from plyhouse.clients.terminal.line_reader import matching_action

MOST: Final = 400
"""Actions that are listed at once; typing finds the others."""


def found(text: str, actions: Mapping[str, str]) -> list[str]:
    """The actions that a text fits, the best first: by what they are or how they are called.

    >>> found("nf", {"g1f3": "Nf3", "g1h3": "Nh3", "nf": ""})
    ['nf', 'g1f3']
    """
    wanted = text.strip().casefold()
    if not wanted:
        return list(actions)

    def rank(action: str) -> int:
        names = (action.casefold(), actions[action].casefold())
        if wanted in names:
            return 0
        if any(name.startswith(wanted) for name in names):
            return 1
        return 2 if any(wanted in name for name in names) else 3

    fitting = [action for action in actions if rank(action) < 3]
    return sorted(fitting, key=rank)


class ActionList(Vertical):
    """A field to type in, and the actions that fit; Enter plays the marked one."""

    DEFAULT_CSS = """
    ActionList { height: 1fr; min-height: 4; }
    ActionList > Input { height: 1; border: none; padding: 0 1; }
    ActionList > Input:focus { border: none; }
    ActionList > OptionList { height: 1fr; border: none; padding: 0; }
    ActionList > OptionList:focus { border: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back to the board", key_display="Esc"),
    ]

    class Chosen(Message):
        """An action was chosen."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    class Unknown(Message):
        """Something was typed that is no legal action."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """Somebody wants back to the board."""

    def __init__(self) -> None:
        super().__init__()
        self.actions: dict[str, str] = {}
        self._shown: list[str] = []

    def compose(self) -> ComposeResult:
        """The field and the list."""
        yield Input(placeholder="press / to type an action", compact=True)
        yield OptionList(markup=False, compact=True)

    @property
    def field(self) -> Input:
        """Where one types."""
        return self.query_one(Input)

    @property
    def options(self) -> OptionList:
        """What fits."""
        return self.query_one(OptionList)

    def offer(self, legal: Sequence[str], labels: Mapping[str, str]) -> None:
        """List these actions; an empty list when there is nothing to choose."""
        actions = {action: labels.get(action, "") for action in legal}
        if list(actions.items()) == list(self.actions.items()):  # in the same order, too
            return
        self.actions = actions
        self.field.value = ""
        self._list()

    def _list(self) -> None:
        self._shown = found(self.field.value, self.actions)[:MOST]
        options = self.options
        options.clear_options()
        options.add_options(Option(self._called(action)) for action in self._shown)
        if self._shown:
            options.highlighted = 0

    def _called(self, action: str) -> str:
        label = self.actions[action]
        if not label or label.casefold().startswith(action.casefold()):
            return label or action
        return label if len(action) > 24 else f"{label}  ({action})"

    def on_input_changed(self) -> None:
        """Narrow the list down."""
        self._list()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Play what was typed, or the first that fits."""
        event.stop()
        text = event.value
        exact = matching_action(text, list(self.actions))
        if exact is not None:
            self.post_message(self.Chosen(exact))
        elif text.strip() and self._shown:
            at = self.options.highlighted or 0
            self.post_message(self.Chosen(self._shown[at]))
        elif text.strip():
            self.post_message(self.Unknown(text.strip()))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Play it."""
        event.stop()
        self.post_message(self.Chosen(self._shown[event.option_index]))

    def on_key(self, event: events.Key) -> None:
        """Arrow keys of the field move in the list below it."""
        if event.key in ("up", "down") and self.field.has_focus:
            if event.key == "down":
                self.options.action_cursor_down()
            else:
                self.options.action_cursor_up()
            event.stop()

    def action_leave(self) -> None:
        """Back to the board."""
        self.field.value = ""
        self.post_message(self.Left())
