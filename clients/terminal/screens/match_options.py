"""The questions before a match: number of players, opponents, terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label, OptionList

from plyhouse.protocol.api.people import OFFERED_TIMES

TIMES: Final = tuple([each.control for each in OFFERED_TIMES])

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class Terms:
    """A match that is wanted: alone, with a level of the built-in bots, opponents, or anybody."""

    game: str
    time_control: str = TIMES[0]
    level: str = ""
    opponent: str = ""
    others: tuple[str, ...] = ()
    """More opponents, in a game for three or more."""
    rated: bool = False
    players: int = 2
    hosted: bool = False
    """True if the opponent is a submitted bot, which the server has to start."""

    def awaited(self) -> str:
        """The awaited opponent, and the game."""
        if self.players == 1:
            return self.game
        if self.level:
            many = f" ({self.players - 1} of them)" if self.players > 2 else ""
            return f"house/{self.level}{many} in {self.game}"
        if self.opponent:
            return f"{', '.join((self.opponent, *self.others))} in {self.game}"
        anybody = "an opponent" if self.players == 2 else f"{self.players - 1} opponents"
        return f"{anybody} in {self.game}"


class Question(ModalScreen[AnswerT | None], Generic[AnswerT]):
    """A list to choose from; None to go back."""

    DEFAULT_CSS = """
    Question { align: center middle; }
    Question > Vertical {
        width: 60; max-width: 95%; height: auto; padding: 0 2; background: $surface;
        border: round $primary;
    }
    Question OptionList { height: auto; max-height: 10; border: none; }
    Question OptionList:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Back")]

    def __init__(self, heading: str, answers: Sequence[AnswerT], texts: Sequence[str]) -> None:
        super().__init__()
        self._heading = heading
        self.answers = list(answers)
        self._texts = texts

    def compose(self) -> ComposeResult:
        """The question, and the answers there are."""
        with Vertical():
            yield Label(self._heading, markup=False)
            yield OptionList(*self._texts, markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """That one."""
        self.dismiss(self.answers[event.option_index])


class Players(Question[int]):
    """How many play."""

    def __init__(self, title: str, counts: Sequence[int]) -> None:
        texts = ["1  alone" if each == 1 else f"{each}  players" for each in counts]
        super().__init__(f"{title}: how many play?", counts, texts)


class Opponents(Question[str]):
    """Against whom: a level of the built-in bots, ``player/bot``, or "" for anyone."""

    SAID: ClassVar[dict[str, str]] = {
        "easy": "plays any legal action",
        "medium": "looks a little ahead, and slips",
        "hard": "plays as well as it can in a second",
    }

    def __init__(
        self,
        title: str,
        time_control: str,
        levels: Sequence[str],
        count: int,
        hosted: Sequence[str] = (),
    ) -> None:
        named = [f"{each:<8} {self.SAID.get(each, 'a built-in bot')}" for each in levels]
        whom = "whom" if count == 1 else f"which {count}"
        heading = f"{title}, {time_control}: against {whom}?"
        anybody = "anyone   the first player who seeks the same"
        started = [f"{each}  submitted; the server starts it" for each in hosted]
        super().__init__(heading, [*levels, "", *hosted], [*named, anybody, *started])
