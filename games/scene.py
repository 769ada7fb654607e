"""Scenes: how a person sees an observation, and which spots or buttons mean which action.

A scene is plain data, so that the web page and the terminal can draw any game without
knowing its rules.  It is built from an observation only and so can show nothing more.
Every legal action of the observer is the ``action`` of at least one cell, card or button.

Some actions are one spot: the column to drop into.  Others are several in a row: the piece and
where it goes.  Such an action is a button whose ``via`` has the names of its spots in order.
Clients that know ``via`` let people choose spot after spot.  They show the button's label only if
several actions have the same spots, as for a promotion.  Other clients show the button.
`scene_faults` says whether the spots of a scene fit together.

Fields that came later are sent only where they are used (`scene_fields`), so that scenes of plain
games stay small.  Readers of scenes take the default of a missing field.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, ClassVar, Final

__all__ = [
    "FIGURES",
    "GROUNDS",
    "SUITS",
    "THEMES",
    "Button",
    "Card",
    "Cell",
    "Counter",
    "Dice",
    "Element",
    "Grid",
    "Hand",
    "Laying",
    "Placing",
    "Scene",
    "Text",
    "Tray",
    "scene_actions",
    "scene_faults",
    "scene_fields",
    "scene_spots",
]

FIGURES: Final = (
    "king", "queen", "rook", "bishop", "knight", "pawn", "crowned", "pacman", "ghost", "ship",
    "hit", "sunk", "miss", "cross", "ring", "rock", "paper", "scissors", "penny", "nickel",
    "match", "deny", "accept",
)  # fmt: skip
"""Shapes that are pictures; "crowned" is a disc with a crown."""
SUITS: Final = ("hearts", "diamonds", "clubs", "spades")
THEMES: Final = ("wood", "felt", "paper", "slate", "sea", "night")
GROUNDS: Final = (
    "sky", "azure", "rose", "crimson", "brown", "orange", "yellow", "green", "plain",
)  # fmt: skip
"""Colours of single squares: light and dark blue, light and dark red, and so on."""
LATER: Final = MappingProxyType({"later": True})
"""Marks fields that were added when scenes had been in use."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One spot of a grid."""

    text: str = ""
    """Content as text, at most two character cells wide."""
    owner: int | None = None
    """Seat whose colour the content has; None for no seat's."""
    shape: str = ""
    """How to draw the content:

    * "": the text.
    * "disc", "dot": a filled circle, large or small.
    * "block": a filled spot.
    * "seeds": ``count`` small circles.
    * "wall": part of a wall.
    * "star": a point on an empty crossing of lines.
    * "tile": a square piece with its ``face``, blank if that is empty, and ``corner``.
    * "deed": a field that a seat may own: its ``ground`` and short name (``corner``), a band of its
      owner with the ``face``, and the ``tokens`` on it.
    * A name of `FIGURES`: that figure.

    Clients draw the text for a shape that they do not know.
    """
    action: str | None = None
    """Action meant by choosing this spot."""
    label: str = ""
    """Spoken description, e.g. "b2, empty"."""
    highlight: bool = False
    """True for the last action or a winning line."""
    name: str = ""
    """Name by which a button's ``via`` refers to this spot; unique in the scene."""
    face: str = ""
    """Text on the shape, if there is one: a number, or the crown of a king."""
    count: int = dataclasses.field(default=0, metadata=LATER)
    """How many lie there, one on another or side by side; 0 if that is not counted."""
    won: bool = dataclasses.field(default=False, metadata=LATER)
    """True for what decided the game: the winning line, the mated king."""
    joins: str = dataclasses.field(default="", metadata=LATER)
    """Directions in which the figure goes on into the next spot, of "n", "e", "s" and "w", as the
    parts of a ship do."""
    faint: bool = dataclasses.field(default=False, metadata=LATER)
    """True for a figure that is gone: clients draw it faintly or leave it out.  Its text is blank,
    so that it is no part of the position."""
    ground: str = dataclasses.field(default="", metadata=LATER)
    """Colour of the square itself: one of `GROUNDS`, or "" for that of the board.  Clients that
    show it leave out the ``text`` of a cell without ``shape``."""
    corner: str = dataclasses.field(default="", metadata=LATER)
    """Small text in the lower right corner of a tile, such as its points."""
    tokens: tuple[int, ...] = dataclasses.field(default=(), metadata=LATER)
    """Seats whose tokens stand on a deed."""
    lines: tuple[str, ...] = dataclasses.field(default=(), metadata=LATER)
    """Words printed on the spot itself, for clients with room for them: "TW" on a square that
    triples a word, name and price of a deed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Grid:
    """A board; ``rows`` from the top as drawn, all of the same length."""

    kind: ClassVar[str] = "grid"
    rows: tuple[tuple[Cell, ...], ...]
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()
    label: str = ""
    look: str = ""
    """How to draw the board:

    * "": separate squares.
    * "checkered": light and dark squares, light in the upper left.
    * "lines": a net of lines with a point for each spot.
    * "wells": round holes in an upright panel.
    * "pits": round pits.
    * "points": two rows of triangles.
    * "maze": corridors between walls.
    * "hex": hexagons; each row is shifted to the right by half a spot.
    * "heaps": a heap in each row, on a table without squares.
    * "table": rows and columns of text.
    * "circuit": a ring of fields around the middle; clients may show dice of no seat in there.
    """
    theme: str = dataclasses.field(default="", metadata=LATER)
    """Colours of the board: one of `THEMES`, or "" for plain ones."""
    bottom: int | None = dataclasses.field(default=None, metadata=LATER)
    """Seat whose side the last row is; clients may turn the board for the others by half a turn.
    None if the board has no sides."""
    ends: tuple[Cell, ...] = dataclasses.field(default=(), metadata=LATER)
    """Two spots as high as the board, left and right of it: stores, goals.  Tell what is in them
    in another element, too: some clients leave them out."""


@dataclasses.dataclass(frozen=True, slots=True)
class Card:
    """One card; ``text`` None is drawn face down."""

    text: str | None
    action: str | None = None
    label: str = ""
    rank: str = dataclasses.field(default="", metadata=LATER)
    """Rank of a card with a suit: "Q", "10"; clients may draw the text instead."""
    suit: str = dataclasses.field(default="", metadata=LATER)
    """One of `SUITS`, or "" for none."""
    shape: str = dataclasses.field(default="", metadata=LATER)
    """One of `FIGURES` that is drawn instead of the text, or "" for none."""
    highlight: bool = dataclasses.field(default=False, metadata=LATER)
    """True for what counts: the dice of the bid that was called, the better hand."""
    faint: bool = dataclasses.field(default=False, metadata=LATER)
    """True for what is gone, such as a coin that was taken; see `Cell`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Hand:
    """Cards (or coins, tiles) of one seat, or of the table when ``seat`` is None."""

    kind: ClassVar[str] = "hand"
    label: str
    cards: tuple[Card, ...]
    seat: int | None = None
    look: str = dataclasses.field(default="", metadata=LATER)
    """Kind of the items:

    * "": cards.
    * "pile": a pile of cards with the last one on top.
    * "suits": open cards in the order of their suits.
    * "trick": what the seat has played to the middle; elements come in the order of play.  Hidden
      cards are a stack: each has the same label, which says what all of them are.
    * "dice", "coins".
    """


@dataclasses.dataclass(frozen=True, slots=True)
class Dice:
    """Dice as they lie; empty before the first roll."""

    kind: ClassVar[str] = "dice"
    label: str
    values: tuple[int, ...]
    seat: int | None = dataclasses.field(default=None, metadata=LATER)
    """Seat that rolled them; clients may draw them on its half of a board."""


@dataclasses.dataclass(frozen=True, slots=True)
class Counter:
    """A number with a name: a score, a pot, a clock of plies; ``target`` draws it as a bar."""

    kind: ClassVar[str] = "counter"
    label: str
    value: float
    target: float | None = None
    seat: int | None = None
    look: str = dataclasses.field(default="", metadata=LATER)
    """Form of the number: "" is the number alone.  "chips" puts stacks of chips beside it, as for
    the pot.  "score" lets clients show it beside the seat's name."""
    unit: str = dataclasses.field(default="", metadata=LATER)
    """Sign before the number, such as "$"; clients may leave it out."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tray:
    """Pieces beside the board, such as those that were captured."""

    kind: ClassVar[str] = "tray"
    label: str
    pieces: tuple[Cell, ...]
    """Drawn like what stands on spots; their actions do not count."""
    seat: int | None = None
    """Seat that has them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Button:
    """An action that belongs to no single spot."""

    kind: ClassVar[str] = "button"
    label: str
    action: str
    via: tuple[str, ...] = ()
    """Names of the cells that, chosen in this order, mean the action; () for none."""
    pairs: bool = dataclasses.field(default=False, metadata=LATER)
    """True if ``via`` is pairs, from and to, that may be chosen in any order of pairs."""
    dice: tuple[int, ...] = dataclasses.field(default=(), metadata=LATER)
    """For each of these pairs the dice that it uses: bit i for die i; of a double, whose dice are
    used twice, a bit for each use."""
    key: str = dataclasses.field(default="", metadata=LATER)
    """A key of the keyboard that means it, as the web calls it: "ArrowUp", "h"."""
    shape: str = dataclasses.field(default="", metadata=LATER)
    """One of `FIGURES` that is drawn beside the label, or "" for none."""
    aside: bool = dataclasses.field(default=False, metadata=LATER)
    """True for an unusual choice, such as an odd size of a bet: clients may keep it in a list that
    people open."""
    place: int = dataclasses.field(default=0, metadata=LATER)
    """Third of a row of buttons, 1 to 3, in which the button is in every turn; 0 for no such place.
    Buttons with one place are never legal together, as check and call."""
    amount: int = dataclasses.field(default=0, metadata=LATER)
    """Number by which it differs from the other buttons with an amount, such as the size of a bet;
    0 for none.  Clients may offer one field for all of them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Placing:
    """Pieces that one puts on named cells, where there are too many actions for buttons."""

    kind: ClassVar[str] = "placing"
    label: str
    pieces: tuple[Cell, ...]
    """The pieces that one has.  One with the text "?" may stand for any letter, which is then
    written small."""
    actions: tuple[str, ...]
    placed: tuple[str, ...]
    """For each action the pieces that it puts on cells, as ``name=text``, sorted and with spaces
    between them: ``H8=A H9=t``.  A piece that is given away has no name: ``=A =?``."""
    worth: tuple[int, ...] = ()
    """For each action its points; () if they have none, or may not be known."""
    seat: int | None = None
    """Seat that has the pieces."""
    give: str = dataclasses.field(default="", metadata=LATER)
    """Verb for giving pieces away, such as Exchange; "" if no action does."""
    spots: tuple[str, ...] = dataclasses.field(default=(), metadata=LATER)
    """Sets of cells that any pieces may cover, as ``H8 H9``; the placement is then the action, and
    perhaps illegal.  () if only those of ``placed`` are legal."""


@dataclasses.dataclass(frozen=True, slots=True)
class Laying:
    """Straight pieces that a seat lays on the board above, one by one, each by a button.

    The ``via`` of that button are the ends of the piece.  Clients may let people arrange all pieces
    first and then choose the actions in turn; pieces must not cover each other.
    """

    kind: ClassVar[str] = "laying"
    label: str
    """Word for a piece: "ship"."""
    lengths: tuple[int, ...]
    """Length of each piece in cells; the actions lay the first one."""
    seat: int | None = None
    """Seat that lays them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Text:
    """A line of prose."""

    kind: ClassVar[str] = "text"
    text: str
    seat: int | None = dataclasses.field(default=None, metadata=LATER)
    """Seat that said or did this: "first: raise".  Clients may draw it before that seat."""
    look: str = dataclasses.field(default="", metadata=LATER)
    """"" for a line, "badge" for what a seat is or has: "first: dealer".  Clients may draw it
    beside the name of the seat."""


Element = Grid | Hand | Dice | Counter | Tray | Button | Placing | Laying | Text


@dataclasses.dataclass(frozen=True, slots=True)
class Scene:
    """A drawing, from top to bottom, and one line with the state of the game."""

    elements: tuple[Element, ...]
    status: str
    seat_to_move: int | None
    """Seat to move; None at a chance node and after the end."""
    seats: tuple[str, ...] = ()
    """Names of the seats, such as White and Black; the server fills this in."""
    viewer: int | None = dataclasses.field(default=None, metadata=LATER)
    """Seat that sees this; None for spectators; the server fills this in."""


def scene_spots(scene: Scene) -> Iterator[Cell | Card | Button]:
    """Return every place of a scene that can carry an action."""
    for element in scene.elements:
        if isinstance(element, Grid):
            for row in element.rows:
                yield from row
            yield from element.ends
        elif isinstance(element, Hand):
            yield from element.cards
        elif isinstance(element, Button):
            yield element


def scene_actions(scene: Scene) -> frozenset[str]:
    """Return all actions that can be chosen in the scene.

    >>> scene = Scene((Button("Roll the die", "roll"), Grid(((Cell(action="b2"), Cell()),))), "", 0)
    >>> sorted(scene_actions(scene))
    ['b2', 'roll']
    """
    found = {spot.action for spot in scene_spots(scene) if spot.action is not None}
    for element in scene.elements:
        if isinstance(element, Placing):
            found |= set(element.actions)
    return frozenset(found)


def scene_faults(scene: Scene) -> list[str]:
    """Return the faults of a scene's spots, one sentence each; empty if they fit together.

    Names of cells must be unique, ``via`` must name existing cells, and buttons with the same
    ``via`` must differ in their labels.  A `Placing` must have one meaning for the same pieces on
    the same cells, and use only its pieces and existing cells.
    """
    faults: list[str] = []
    names: set[str] = set()
    for spot in scene_spots(scene):
        if isinstance(spot, Cell) and spot.name:
            if spot.name in names:
                faults.append(f"two cells have the name {spot.name!r}")
            names.add(spot.name)
    for element in scene.elements:
        if isinstance(element, Placing):
            faults += _placing_faults(element, names)
    meanings: dict[tuple[tuple[str, ...], str], str] = {}
    for spot in scene_spots(scene):
        if not isinstance(spot, Button) or not spot.via:
            continue
        faults += [
            f"button {spot.action!r} goes via {name!r}, which names no cell"
            for name in spot.via
            if name not in names
        ]
        other = meanings.setdefault((spot.via, spot.label), spot.action)
        if other != spot.action:
            faults.append(
                f"buttons {other!r} and {spot.action!r} have the same spots and the same label"
            )
    return faults


def _placing_faults(placing: Placing, names: set[str]) -> Iterator[str]:
    """Yield what is wrong with the actions of a `Placing`, a sentence each."""
    if len(placing.placed) != len(placing.actions):
        yield f"{len(placing.placed)} placements mean {len(placing.actions)} actions"
    if len(set(placing.placed)) != len(placing.placed):
        yield "the same placement means two actions"
    for spot in {spot for spots in placing.spots for spot in spots.split(" ")} - names:
        yield f"spot {spot!r} names no cell"
    pieces = [piece.text for piece in placing.pieces]
    for placed in placing.placed:
        left = list(pieces)
        for part in placed.split(" "):
            name, _, text = part.partition("=")
            if name not in names and (name or not placing.give):
                yield f"placement {placed!r} uses {name!r}, which names no cell"
            wanted = text if text in left else "?"
            if wanted not in left:
                yield f"placement {placed!r} uses a piece {text!r} that is not there"
            else:
                left.remove(wanted)


_LEAVES: Final = frozenset({str, int, bool, float, type(None)})


@functools.cache
def _layout(kind: Any) -> tuple[str | None, tuple[tuple[str, bool, Any], ...]] | None:
    """Tag, and name of each field, whether it came later, and its default; asked for every spot.

    None of what is no dataclass.
    """
    if not dataclasses.is_dataclass(kind):
        return None
    fields = [(each.name, bool(each.metadata), each.default) for each in dataclasses.fields(kind)]
    return getattr(kind, "kind", None), tuple(fields)


def _plain(value: Any) -> Any:
    """Dataclasses as dicts, tuples as lists of plain values.

    Leaves are tested first because most of the thousand values of a board are leaves.
    """
    if type(value) in _LEAVES:
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    kind: Any = type(value)
    layout = _layout(kind)
    if layout is None:
        return value
    tag, known = layout
    fields: dict[str, Any] = {} if tag is None else {"kind": tag}
    for name, later, default in known:
        content = getattr(value, name)
        if not later or content != default:
            fields[name] = content if type(content) in _LEAVES else _plain(content)
    return fields


def scene_fields(scene: Scene) -> dict[str, Any]:
    """Return the scene as dicts, lists, strings and numbers; each element is tagged by "kind".

    Later fields that have their default are left out.
    """
    fields: dict[str, Any] = _plain(scene)
    return fields
