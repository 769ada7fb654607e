"""The choice of an action spot by spot, for actions of several spots in a row.

It knows no game.  A `Move` is an action with the names of its spots in order (``via``), and a
`Choice` leads from spot to spot until a single action is left.  The rules are those of
docs/scenes-actions.md, and those of the web client.

>>> ways = ("e2", "e4"), ("e2", "e3"), ("a2", "a3")
>>> choice = Choice([Move("".join(way), way) for way in ways])
>>> sorted(choice.open())
['a2', 'e2']
>>> choice.pick("e2")
>>> sorted(choice.open())
['e3', 'e4']
>>> choice.pick("e4")
'e2e4'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Role: TypeAlias = Literal["start", "next", "end"]
"""The role of a spot: the first of an action, the next one, or a short cut to the last."""

END: Final = -1
"""The row of a store beside a board."""
HELD: Final = -2
"""The row of a card in a hand."""


@dataclass(frozen=True, slots=True)
class Move:
    """An action that the user chooses by spots of a board."""

    action: str
    via: tuple[str, ...]
    """Names of the spots that mean it, in their order."""
    label: str = ""
    pairs: bool = False
    """True if ``via`` is pairs, from and to, that may come in any order of pairs."""


def spot_name(cell: Mapping[str, Any], element: int, y: int, x: int) -> str:
    """Return the name of a cell in ``via``; one without a name gets a name that no scene has.

    ``element`` is the index of its element in the scene, ``y`` its row, `END` for a store beside
    the board, `HELD` for a card.
    """
    return str(cell.get("name") or f"\x00{element},{y},{x}")


def moves_of(scene: Mapping[str, Any]) -> list[Move]:
    """Return the actions of a scene that the user chooses by spots of boards."""
    found: list[Move] = []
    for index, element in enumerate(scene.get("elements", ())):
        if element.get("kind") == "button" and element.get("via"):
            found.append(
                Move(
                    element["action"],
                    tuple(element["via"]),
                    element.get("label", ""),
                    bool(element.get("pairs")),
                )
            )
        for y, x, cell in spots_of(element):
            if cell.get("action") is not None:
                name = spot_name(cell, index, y, x)
                found.append(Move(cell["action"], (name,), cell.get("label", "")))
    return found


def spots_of(element: Mapping[str, Any]) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield the possible spots of an element, with row and column: cells, stores, cards."""
    rows: list[tuple[int, Sequence[Mapping[str, Any]]]] = []
    if element.get("kind") == "grid":
        rows = [*enumerate(element.get("rows", ())), (END, element.get("ends") or ())]
    elif element.get("kind") == "hand":
        rows = [(HELD, element.get("cards", ()))]
    for y, row in rows:
        for x, cell in enumerate(row):
            yield y, x, cell


def labels_of(scene: Mapping[str, Any]) -> dict[str, str]:
    """Return every action that can be chosen in the scene, with its label there."""
    found: dict[str, str] = {}
    for element in scene.get("elements", ()):
        if element.get("kind") == "button":
            found[element["action"]] = element.get("label", "")
        if element.get("kind") == "placing":
            # With their points, where those may be known.
            worth = zip(element.get("actions", ()), element.get("worth", ()), strict=False)
            found |= {action: f"{action} for {points}" for action, points in worth if points}
        for _, _, spot in spots_of(element):
            if spot.get("action") is not None:
                found.setdefault(spot["action"], spot.get("label", ""))
    return found


def labels_from(scene: Mapping[str, Any], spot: str) -> dict[str, str]:
    """Return the actions that begin at a named spot, with their labels."""
    labels = labels_of(scene)
    found: dict[str, str] = {}
    for element in scene.get("elements", ()):
        via = element.get("via") if element.get("kind") == "button" else None
        if via and via[0].casefold() == spot.strip().casefold():
            found[element["action"]] = labels[element["action"]]
    return found


def placed_action(scene: Mapping[str, Any], text: str) -> str | None:
    """Return a typed placement such as ``H8=A H9=t``, if its pieces may lie on its spots.

    None if the scene has no `spots` for any pieces, or if a piece is missing.
    """
    for element in scene.get("elements", ()):
        parts = [part.partition("=") for part in text.split()]
        left = [str(piece["text"]) for piece in element.get("pieces", ())]
        for _, _, letter in parts:
            piece = "?" if letter.islower() else letter
            if not letter.isalpha() or piece not in left:
                break
            left.remove(piece)
        else:
            if " ".join(sorted(name.upper() for name, _, _ in parts)) in element.get("spots", ()):
                return " ".join(sorted(f"{name.upper()}={letter}" for name, _, letter in parts))
    return None


def plain_buttons(scene: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the buttons of actions that no spots stand for, in the order of the scene."""
    elements = scene.get("elements", ())
    return [each for each in elements if each.get("kind") == "button" and not each.get("via")]


def _following(move: Move, path: Sequence[str]) -> list[str] | None:
    """Return the spots that may follow the path; None if the move begins otherwise."""
    via = move.via
    if not move.pairs:
        if list(via[: len(path)]) != list(path):
            return None
        return [via[len(path)]] if len(via) > len(path) else []
    left = list(zip(via[::2], via[1::2], strict=False))
    for pair in zip(path[::2], path[1::2], strict=False):
        if pair not in left:
            return None
        left.remove(pair)
    # A piece that another pair brings to a spot leaves it only after that.
    ready = [
        (start, end)
        for at, (start, end) in enumerate(left)
        if not any(to == start for _, to in left[:at])
    ]
    if len(path) % 2 == 0:
        return [start for start, _ in ready]
    return [end for start, end in ready if start == path[-1]] or None


class Choice:
    """The choice of one action, spot by spot."""

    def __init__(self, moves: Iterable[Move]) -> None:
        self.moves = list(moves)
        self.clear()

    def clear(self) -> None:
        """Reset the choice."""
        self.path: list[str] = []
        self.left = self.moves
        self.asked: list[Move] = []
        """Moves between which only words can decide."""
        self._jumped = False

    def open(self) -> dict[str, Role]:
        """Return the spots that can be chosen next, with their roles."""
        found: dict[str, Role] = {}
        if self._jumped:
            return found
        depth = len(self.path)
        for move in self.left:
            if depth and not move.pairs and len(move.via) > depth:
                found.setdefault(move.via[-1], "end")
        for move in self.left:
            start = depth == 0 or (move.pairs and depth % 2 == 0)
            for spot in _following(move, self.path) or ():
                found[spot] = "start" if start else "next"
        return found

    def pick(self, spot: str) -> str | None:
        """Choose a spot; returns the action once there is only one that it can mean.

        Those between which only words can decide are then in `asked`.  A spot that cannot be chosen
        ends the choice, or begins another with this spot.
        """
        if spot not in self.open() and not self._again(spot):
            return None
        path = [*self.path, spot]
        following = [move for move in self.left if _following(move, path) is not None]
        self._jumped = not following  # straight to the end of a longer way
        self.left = following or [move for move in self.left if move.via[-1] == spot]
        self.path = path
        whole = (
            self.left
            if self._jumped
            else [move for move in self.left if len(move.via) == len(path)]
        )
        half = self.left[0].pairs and len(path) % 2 > 0  # who takes a checker puts it down, too
        if len({move.action for move in self.left}) == 1 and not half and (len(path) > 1 or whole):
            return self.left[0].action
        self.asked = whole
        return None

    def _again(self, spot: str) -> bool:
        """Give the choice up; whether the spot begins another one."""
        paired, half = bool(self.left and self.left[0].pairs), len(self.path) % 2
        last = self.path[-1 if paired and half else 0] if self.path else None
        kept = self.path[:-1] if paired and half else []
        self.clear()
        for each in kept:  # pairs that are complete stay
            self.pick(each)
        return last != spot and spot in self.open()
