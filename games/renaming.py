r"""Variants of games with other names for pieces, squares and moves, against memorised games.

``tic_tac_toe(renamed=7)`` is tic-tac-toe in which letters have been exchanged in pairs by the seed
7, in all actions, boards and fields.  In games whose moves are words, each word is exchanged for an
invented one.  Columns and houses get letters for numbers, and numbers of squares are exchanged.
`coins`, `nim` and `matrix` have no such variant, because their moves are amounts or rows of a
parameter, nor has `scrabble`, because its words are those of a dictionary.  States, actions and the
game tree stay as they are, so results compare with those of the usual game.

Every exchange is its own inverse on any text.  So one function serves to write and to read.

>>> from plyhouse.games import get_game
>>> pig = get_game("pig(renamed=7)")
>>> state = pig.initial_state()
>>> [pig.format(state, action) for action in state.actions()]
['budus']
>>> pig.parse(state, "budus") == get_game("pig").parse(state, "roll")
True
"""

from __future__ import annotations

import dataclasses
import functools
import random
import re
import string
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Final, cast

from plyhouse.games.base import ChanceKind, Game, GameType, Observation, Parameter, ParameterValue
from plyhouse.games.errors import AmbiguousAction, IllegalAction, InvalidAction, InvalidParameter
from plyhouse.games.info import OTHER_NAMES
from plyhouse.games.rules import rules_text
from plyhouse.games.scene import Button, Card, Cell, Grid, Hand, Placing, Scene, Text, Tray

__all__ = ["LETTERS", "NUMBERS", "WORDS", "Renamed", "renamed"]

LETTERS: Final = frozenset(
    {
        *("battleship", "breakthrough", "bridge", "chess", "einstein", "go", "hearts", "hexapawn"),
        *("othello", "tic_tac_toe"),
    }
)
"""Games whose letters are exchanged: those of squares, pieces and cards."""
NUMBERS: Final[Mapping[str, int]] = {"checkers": 32, "connect_four": 10, "kalah": 10}
"""Games whose numbers of squares, columns or houses have other names, with the highest one."""
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "backgammon": ("pass", "bar", "off"),
    "coin_guess": ("penny", "nickel", "lincoln", "jefferson"),
    "kuhn_poker": ("check", "bet", "fold", "call"),
    "leduc_poker": ("check", "call", "raise", "fold"),
    "liars_dice": ("liar",),
    "monopoly": (
        *("mediterranean", "baltic", "reading", "oriental", "vermont", "connecticut", "charles"),
        *("electric", "states", "virginia", "pennsylvania", "james", "tennessee", "york"),
        *("kentucky", "indiana", "illinois", "atlantic", "ventnor", "water", "marvin", "pacific"),
        *("carolina", "short", "park", "boardwalk"),
    ),
    "pacman": ("north", "south", "east", "west", "stop"),
    "pig": ("roll", "hold"),
    "prisoners_dilemma": ("deny", "accept"),
    "rock_paper_scissors": ("rock", "paper", "scissors"),
    "texas_holdem": ("fold", "check", "call", "bet", "raise"),
}
"""Games whose words are exchanged, with the words."""
_SEED: Final = Parameter(OTHER_NAMES, 0, "seed of the other names", minimum=1, maximum=999_999)
_WORD: Final = re.compile("[A-Za-z]+|[0-9]+")
_PLAIN: Final = "abcdefghjkmnpqrstuvwyz"
"""Letters that look like no digit and are no disc of connect four."""
_SYLLABLES: Final = tuple(a + b for a in "bdgklmnprstvz" for b in "aeiou")


def renamed(kind: type[Game]) -> type[Renamed]:
    """Return the class of the variants of a game, which has the parameter ``renamed``.

    Raises `InvalidParameter` for a game without other names.
    """
    name = kind.info.name
    games = LETTERS | NUMBERS.keys() | WORDS.keys()
    if name not in games:
        known = ", ".join(sorted(games))
        expected = f"only these games have other names: {known}"
        raise InvalidParameter(name, OTHER_NAMES, "a seed", expected)
    return _class_of(kind)


@functools.cache
def _class_of(kind: type[Game]) -> type[Renamed]:
    info = dataclasses.replace(kind.info, parameters=(*kind.info.parameters, _SEED))
    says = {"usual": kind, "info": info, "exploration_scale": kind.exploration_scale}
    says["observation_type"] = kind.observation_type
    return cast("type[Renamed]", GameType(f"Renamed{kind.__name__}", (Renamed,), says))


def _made(kind: type[Game], parameters: dict[str, ParameterValue]) -> Game:
    """Make a variant again from what was pickled."""
    return renamed(kind)(**parameters)


class Renamed(Game):
    """A game that reads and writes other names, and plays as the one within."""

    usual: ClassVar[type[Game]]
    """Class of the game with the usual names."""

    def __init__(self, **parameters: ParameterValue) -> None:
        super().__init__(**parameters)
        inner = dict(self._parameters)
        seed = inner.pop(OTHER_NAMES)
        self.original = self.usual(**inner)
        """The game with the usual names."""
        name = self.info.name
        rng = random.Random(f"{name} {seed}")
        self._words = name in WORDS
        if self._words:
            self._pairs = _invented(WORDS[name], rng)
        elif name == "checkers":  # letters would run together with the "x" of a jump
            self._pairs = _paired(_numbers(name), rng)
        elif name in NUMBERS:  # the law of numbers forbids to write one for another
            numbers = _numbers(name)
            self._pairs = dict(zip(numbers, rng.sample(_PLAIN, len(numbers)), strict=True))
        else:
            self._pairs = _paired(string.ascii_lowercase, rng)
        self._other = self._pairs | {new: old for old, new in self._pairs.items()}
        upper = {old.upper(): new.upper() for old, new in self._other.items()}
        self._letters = str.maketrans(self._other | upper if name in LETTERS else {})

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.usual, dict(self._parameters))

    def __getattr__(self, name: str) -> Any:
        """Return what only the game within has."""
        if name.startswith("_") or name == "original":
            raise AttributeError(name)
        return getattr(self.original, name)

    # Names

    def other(self, text: str) -> str:
        """Return a text with its names exchanged; twice gives the text back."""
        return text.translate(self._letters) if self._letters else _WORD.sub(self._word, text)

    def _word(self, found: re.Match[str]) -> str:
        said = found[0]
        new = self._other.get(said.lower(), said.lower())
        for style in (str.lower, str.upper, str.capitalize):
            if said == style(said):
                return style(new)
        return said

    @property
    def names(self) -> str:
        """The names in words, for rules and notation."""
        pairs = ", ".join(f"{new} for {old}" for old, new in self._pairs.items())
        if self._letters:
            return f"in this variant, letters are exchanged, capitals as well: {pairs}, and back"
        if self.info.name == "checkers":
            return f"in this variant, numbers of squares are exchanged: {pairs}, and back"
        return f"in this variant, write {pairs}"

    @property
    def action_notation(self) -> str:  # type: ignore[override]
        """Notation of the usual game, and the names that differ."""
        return f"{self.original.action_notation}; {self.names}"

    @property
    def rules_in_words(self) -> str:
        """Rules of the usual game, and the names that differ."""
        names = f"{self.names[0].upper()}{self.names[1:]}."
        return f"{rules_text(self.original)}\n\nThese are the usual names. {names}"

    # Text

    def format(self, state: Any, action: Any) -> str:
        """Text of an action, with the names of the variant."""
        return self.other(self.original.format(state, action))

    def parse(self, state: Any, text: str) -> Any:
        """Return the action that a text with the names of the variant means."""
        try:
            return self.original.parse(state, self.other(text))
        except IllegalAction as error:
            legal = [self.other(each) for each in error.legal]
            raise IllegalAction(text, error.position, legal, self._prose(error.rule)) from error
        except AmbiguousAction as error:
            candidates = [self.other(each) for each in error.candidates]
            raise AmbiguousAction(text, error.position, candidates) from error
        except InvalidAction as error:
            reason = self._prose(error.reason)
            raise InvalidAction(text, reason, self.action_notation) from error

    def display(self, state: Any, action: Any) -> str:
        """Text of an action as people write it, with the names of the variant."""
        return self.other(self.original.display(state, action))

    def display_part(self, seen: str) -> str:
        """Text of what a viewer sees of an action, with the names of the variant."""
        return self.other(self.original.display_part(self.other(seen)))

    def format_chance(self, state: Any, outcome: Any) -> str:
        """Text of a chance outcome, with the names of the variant."""
        return self.other(self.original.format_chance(state, outcome))

    def parse_chance(self, state: Any, text: str) -> Any:
        """Return the chance outcome that a text means."""
        try:
            return self.original.parse_chance(state, self.other(text))
        except IllegalAction as error:
            legal = [self.other(each) for each in error.legal]
            raise IllegalAction(text, error.position, legal) from error

    def visible(self, state: Any, action: Any, viewer: int | None) -> str | None:
        """Text of an action as a viewer may see it."""
        shown = self.original.visible(state, action, viewer)
        return None if shown is None else self.other(shown)

    def describe(self, state: Any) -> str:
        """Full position as text, for referees: with the usual names."""
        return self.original.describe(state)

    def _prose(self, text: str) -> str:
        """Exchange words; letters and numbers of prose stay."""
        return self.other(text) if self._words else text

    # Views

    def observe(self, state: Any, seat: int | None) -> Observation:
        """Return all that a seat may see, with the names of the variant."""
        return self._observation(self.original.observe(state, seat))

    def _observation(self, seen: Observation) -> Observation:
        """Exchange the names in an observation."""
        fields = {name: _mapped(value, self.other) for name, value in seen.fields().items()}
        return type(seen)(**fields)

    def sample_state(self, observation: Any, rng: random.Random) -> Any:
        """Return a full state consistent with what the observer knows."""
        return self.original.sample_state(self._observation(observation), rng)

    def information_state(self, state: Any, seat: int) -> Hashable:
        """Return all that a seat has seen so far."""
        return self.original.information_state(state, seat)

    def scene(self, observation: Any) -> Scene:
        """Return the scene of the usual game, with the names of the variant."""
        scene = self.original.scene(self._observation(observation))
        elements = tuple(self._element(each) for each in scene.elements)
        return dataclasses.replace(scene, elements=elements, status=self._prose(scene.status))

    def _element(self, element: Any) -> Any:
        """Exchange the names in an element of a scene."""
        other, prose = self.other, self._prose
        match element:
            case Grid():
                return dataclasses.replace(
                    element,
                    rows=tuple(tuple(map(self._cell, row)) for row in element.rows),
                    ends=tuple(map(self._cell, element.ends)),
                    row_labels=tuple(map(other, element.row_labels)),
                    column_labels=tuple(map(other, element.column_labels)),
                    label=prose(element.label),
                )
            case Hand():
                return dataclasses.replace(element, cards=tuple(map(self._card, element.cards)))
            case Tray():
                return dataclasses.replace(element, pieces=tuple(map(self._cell, element.pieces)))
            case Button():
                label = element.label
                named = self._words or label.casefold() == element.action.casefold()
                return dataclasses.replace(
                    element,
                    action=other(element.action),
                    label=other(label) if named or re.search(r"\d", label) else label,
                    via=tuple(map(other, element.via)),
                )
            case Text():
                return dataclasses.replace(element, text=prose(element.text))
            case Placing():
                return dataclasses.replace(
                    element,
                    pieces=tuple(map(self._cell, element.pieces)),
                    actions=tuple(map(other, element.actions)),
                    placed=tuple(map(other, element.placed)),
                    spots=tuple(map(other, element.spots)),
                    give=other(element.give),
                )
            case _:
                return element

    def _cell(self, cell: Cell) -> Cell:
        action = cell.action
        return dataclasses.replace(
            cell,
            text=self.other(cell.text) if self._words or self._letters else cell.text,
            action=None if action is None else self.other(action),
            name=self.other(cell.name),
            label=self.other(cell.label) if self._words else "",
            lines=tuple(map(self._prose, cell.lines)),
        )

    def _card(self, card: Card) -> Card:
        action, text = card.action, card.text
        changes: dict[str, Any] = {} if self._words else {"rank": "", "suit": "", "label": ""}
        return dataclasses.replace(
            card,
            text=None if text is None else self.other(text),
            action=None if action is None else self.other(action),
            **changes,
        )

    # Rules

    @property
    def seats(self) -> int:
        """Number of seats."""
        return self.original.seats

    @property
    def chance_kind(self) -> ChanceKind:
        """Kind of chance."""
        return self.original.chance_kind

    @property
    def return_bounds(self) -> tuple[float, float]:
        """Least and greatest return of a seat."""
        return self.original.return_bounds

    def team(self, seat: int) -> int:
        """Return the team of a seat."""
        return self.original.team(seat)

    def seat_name(self, seat: int) -> str:
        """Return the name of a seat."""
        return self.original.seat_name(seat)

    def initial_state(self) -> Any:
        """Return the position in which a match starts."""
        return self.original.initial_state()

    def chance_number(self, state: Any, drawn: int) -> int:
        """Return the number of a chance node in its match."""
        return self.original.chance_number(state, drawn)

    def listed_actions(self, state: Any) -> Sequence[Any]:
        """Return legal actions, for observations and errors."""
        return self.original.listed_actions(state)

    def lists_all(self, state: Any) -> bool:
        """Return whether `listed_actions` has all legal actions."""
        return self.original.lists_all(state)

    def some_action(self, state: Any) -> Any:
        """Return a legal action."""
        return self.original.some_action(state)

    def random_action(
        self, state: Any, rng: random.Random, stop: Callable[[], bool] | None = None
    ) -> Any:
        """Draw a legal action."""
        return self.original.random_action(state, rng, stop)

    def can_win(self, state: Any, seat: int) -> bool:
        """Return False if a seat cannot win from here."""
        return self.original.can_win(state, seat)

    def abstraction(self) -> Game:
        """Return the game in which searches look for an action."""
        smaller = self.original.abstraction()
        return self if smaller is self.original else self._with(smaller)

    def restarted(self, state: Any, seat: int) -> Game | None:
        """Return the game that begins in a position."""
        game = self.original.restarted(state, seat)
        return None if game is None else self._with(game)

    def _with(self, game: Game) -> Game:
        return renamed(type(game))(**game.parameters, renamed=self._parameters[OTHER_NAMES])


def _numbers(name: str) -> list[str]:
    return [str(number + 1) for number in range(NUMBERS[name])]


def _paired(names: Sequence[str], rng: random.Random) -> dict[str, str]:
    """Return pairs of an even number of names, each under the first of the two."""
    shuffled = rng.sample(names, len(names))
    pairs = [
        sorted(each, key=names.index) for each in zip(shuffled[::2], shuffled[1::2], strict=True)
    ]
    return dict(sorted(pairs, key=lambda pair: names.index(pair[0])))


def _invented(words: Sequence[str], rng: random.Random) -> dict[str, str]:
    """Return an invented word for each word."""
    found: dict[str, str] = {}
    for word in words:
        while (new := "".join(rng.choices(_SYLLABLES, k=2)) + rng.choice("kmnprstz")) in (
            *found.values(),
            *words,
        ):
            pass
        found[word] = new
    return found


def _mapped(value: Any, other: Callable[[str], str]) -> Any:
    """Exchange the names in nested tuples."""
    if isinstance(value, str):
        return other(value)
    return tuple([_mapped(each, other) for each in value]) if isinstance(value, tuple) else value
