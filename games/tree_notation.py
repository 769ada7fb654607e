"""Reads game trees that are written down, as lecturers do on a board.

::

    (4 2 7)                     a decision with three leaves; numbers are returns of seat 0
    ((4 2) (3 1))               seats take turns: seat 0 at the root, seat 1 below it
    ?(1/2:8 1/3:24 1/6:-12)     chance; each outcome with its probability before a colon
    ?(8 24)                     chance; outcomes without probabilities are equally likely
    (left:(4 2) right:3)        an action may have a name; otherwise it is its number, from 1
    ([1 2 6] [4 1 2])           leaves for more seats: one return for each
    max((4 2) max(3 1))         who decides, where it is not the next in turn: max is seat 0,
                                min is seat 1, s0, s1, s2 ... are seats

Blanks, line ends and commas separate; ``#`` begins a comment that runs to the end of the
line.  Several trees in a row, ``(4 2) (3 1)``, are the branches of one root.  A chance node
does not use up a turn.  Probabilities are fractions, decimals or percentages and sum to 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NoReturn

from plyhouse.games.base import CHANCE
from plyhouse.games.errors import InvalidTree

__all__ = ["Branches", "Leaf", "Node", "parse_tree"]

DEEPEST: Final = 200
"""Levels a written tree has at most: the searches and drawings of it are recursive."""

TOKEN: Final = re.compile(
    r"(?P<blank>(?:[\s,]+|\#[^\n]*)+)"
    r"|(?P<label>[^\s,()\[\]:?#]+):"
    r"|(?P<open>(?P<who>[A-Za-z]\w*|\?)?\()"
    r"|(?P<close>\))"
    r"|(?P<tuple>\[[^\[\]()]*\])"
    r"|(?P<number>[^\s,()\[\]:?#]+)"
)
TOLERANCE: Final = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end: what each seat gets."""

    returns: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Branches:
    """An inner node of a tree: a decision of a seat, or a chance node."""

    mover: int
    """The seat, or `CHANCE`."""
    names: tuple[str, ...]
    """Labels of the edges to the children: names of actions, or probabilities as written."""
    children: tuple[Node, ...]
    weights: tuple[float, ...] = ()
    """Probabilities of the children of a chance node."""


Node = Leaf | Branches


def parse_tree(text: str) -> tuple[Node, int]:
    """Read a tree; return it and the number of its seats.

    Raises `InvalidTree`, which names the place and what would be right.

    >>> root, seats = parse_tree("?(1/4:8 3/4:24)")
    >>> root.weights, root.children[1]
    ((0.25, 0.75), Leaf(returns=(24.0, -24.0)))
    """
    return Reader(text).tree()


@dataclass(frozen=True, slots=True)
class Written:
    """The content of a pair of parentheses or a leaf, before turns are known."""

    place: int
    label: str
    returns: tuple[float, ...] = ()
    who: str | None = None
    """None for a leaf; "" where nobody is named."""
    children: tuple[Written, ...] = ()


class Reader:
    """One text while it is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.seats = 0
        self.seats_from = ""

    def tree(self) -> tuple[Node, int]:
        """Read all of the text."""
        found: list[Written] = []
        while (written := self.item(0)) is not None:
            found.append(written)
        if self.place < len(self.text):
            self.wrong(self.place, "this ')' closes nothing; remove it, or open it before")
        if not found:
            self.wrong(0, "there is no tree; write one like ((4 2 7) (3 1))")
        if len(found) == 1 and not found[0].label:
            root = found[0]
        else:
            root = Written(0, "", who="", children=tuple(found))
        if root.who is None:
            self.wrong(root.place, "a leaf alone has no branches; write a tree like (4 2 7)")
        self.seats = self.seats or 2
        return self.node(root, 0), self.seats

    # From characters to what is written

    def item(self, depth: int) -> Written | None:
        """Read one subtree; None at the end of the text or before a closing parenthesis."""
        if depth > DEEPEST:
            self.wrong(self.place, f"the tree is deeper than {DEEPEST} levels")
        label = ""
        begin = -1
        while True:
            start = self.place
            found = TOKEN.match(self.text, start)
            if found is None:
                if start == len(self.text):
                    if label:
                        self.wrong(start, f"after {label}: there must be a tree or a number")
                    return None
                self.unreadable(start)
            kind = found.lastgroup if found.lastgroup != "who" else "open"
            if kind == "close":
                if label:
                    self.wrong(start, f"after {label}: there must be a tree or a number")
                return None
            self.place = found.end()
            if kind == "blank":
                continue
            if kind == "label":
                if label:
                    self.wrong(start, f"two names, {label}: and {found['label']}:, for one branch")
                label, begin = found["label"], start
                continue
            place = start if begin < 0 else begin
            if kind == "open":
                return self.inside(place, label, found["who"] or "", depth)
            elif kind == "tuple":
                numbers = [part for part in re.split(r"[\s,]+", found["tuple"][1:-1]) if part]
                if not numbers:
                    self.wrong(start, "[] is empty; write one return for each seat, like [1 2 6]")
                returns = tuple([self.number(start, part) for part in numbers])
                self.agree(start, len(returns), f"the leaf {found['tuple']}")
                return Written(place, label, returns)
            else:
                return Written(place, label, (self.number(start, found["number"]),))

    def inside(self, start: int, label: str, who: str, depth: int) -> Written:
        """Read the branches after an opening parenthesis, and the closing one."""
        children: list[Written] = []
        while (child := self.item(depth + 1)) is not None:
            children.append(child)
        if self.place == len(self.text):
            self.wrong(start, "this '(' is never closed; add a ')'")
        self.place += 1
        if not children:
            self.wrong(start, "() is empty; write its branches, like (4 2 7)")
        return Written(start, label, who=who, children=tuple(children))

    def number(self, start: int, text: str) -> float:
        """Read a return."""
        value = fraction(text)
        if value is None:
            self.wrong(start, f"{text!r} is not a number; leaves are numbers like 4, -0.5 or 1/2")
        return float(value)

    def unreadable(self, start: int) -> NoReturn:
        """Raise for a character that can begin nothing."""
        mark = self.text[start]
        meant = {
            "[": "this '[' is never closed; write leaves like [1 2 6]",
            "]": "this ']' closes nothing; remove it",
            "?": "after ? come the outcomes in parentheses, like ?(1/2:8 1/2:-3)",
            ":": "before ':' there must be a name or a probability",
        }
        self.wrong(start, meant.get(mark, f"{mark!r} cannot be read"))

    # From what is written to nodes

    def node(self, written: Written, turn: int) -> Node:
        """Build the node of a subtree; ``turn`` is the seat that moves unless it says who."""
        if written.who is None:
            return self.leaf(written)
        if written.who == "?":
            children = tuple([self.node(child, turn) for child in written.children])
            names, weights = self.outcomes(written)
            return Branches(CHANCE, names, children, weights)
        mover = self.seat(written, turn)
        following = (mover + 1) % self.seats
        names = tuple([child.label or str(n) for n, child in enumerate(written.children, 1)])
        for index, name in enumerate(names):
            if name in names[:index]:
                self.wrong(written.children[index].place, f"two branches here have the name {name}")
        return Branches(
            mover, names, tuple([self.node(child, following) for child in written.children])
        )

    def leaf(self, written: Written) -> Leaf:
        """Build a leaf; a single number is what seat 0 gets, and seat 1 loses."""
        returns = written.returns
        if len(returns) == 1 and self.seats == 2:
            return Leaf((returns[0], 0.0 - returns[0]))
        if len(returns) != self.seats:
            self.wrong(
                written.place,
                f"this leaf needs {self.seats} returns, like {self.seats_from}; it has "
                f"{len(returns)}",
            )
        return Leaf(returns)

    def seat(self, written: Written, turn: int) -> int:
        """Return the seat that decides."""
        who = written.who or ""
        if not who:
            return turn
        if who == "max":
            return 0
        if who == "min":
            if self.seats != 2:
                self.wrong(
                    written.place, f"min is for two seats; here are {self.seats}: write s0, s1, ..."
                )
            return 1
        if not re.fullmatch(r"s\d", who):
            self.wrong(written.place, f"{who!r} names nobody; write max, min, a seat like s0, or ?")
        seat = int(who[1:])
        if seat >= self.seats:
            self.wrong(written.place, f"there is no seat {seat}; leaves name {self.seats} seats")
        return seat

    def agree(self, start: int, seats: int, what: str) -> None:
        """Check that all leaves name the same number of seats."""
        if seats > 9 or seats < 1:
            self.wrong(start, f"{what} has {seats} returns; 1 to 9 seats are possible")
        if self.seats and self.seats != seats:
            self.wrong(start, f"{what} has {seats} returns, {self.seats_from} has {self.seats}")
        self.seats = seats
        self.seats_from = what.removeprefix("the leaf ")

    def outcomes(self, written: Written) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """Names and probabilities of a chance node's children."""
        children = written.children
        texts = [child.label for child in children]
        if not any(texts):
            texts = [str(Fraction(1, len(children)))] * len(children)
        weights: list[Fraction] = []
        for text, child in zip(texts, children, strict=True):
            weight = fraction(text)
            if weight is None:
                said = f"{text!r} is not a probability" if text else "its probability is missing"
                self.wrong(child.place, f"{said}; write it before a colon, like 1/2:8 or 30%:8")
            if not 0 < weight <= 1:
                self.wrong(child.place, f"the probability {text} is not above 0 and at most 1")
            weights.append(weight)
        total = sum(weights, Fraction(0))
        if abs(total - 1) > TOLERANCE:
            self.wrong(written.place, f"the probabilities of this ?(...) sum to {total}, not to 1")
        # Outcomes need names of their own: a prime tells equal ones apart.
        names = [text + "'" * texts[:index].count(text) for index, text in enumerate(texts)]
        return tuple(names), tuple([float(weight) for weight in weights])

    def wrong(self, place: int, reason: str) -> NoReturn:
        """Raise `InvalidTree` with the line and column of a place in the text."""
        line = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        several = "\n" in self.text.strip("\n")
        raise InvalidTree(line if several else None, column, reason)


def fraction(text: str) -> Fraction | None:
    """Return a number like ``4``, ``-0.5``, ``1/3`` or ``30%``; None for other texts."""
    number, percent, _ = text.partition("%")
    if not re.fullmatch(
        r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15}|\d{1,15}/0*[1-9]\d{0,14})", number
    ):
        return None
    if percent and not text.endswith("%"):
        return None
    value = Fraction(number)
    return value / 100 if percent else value
