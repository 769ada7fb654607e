"""Reviews, search trees and outcomes of chance of a match, as the HTTP API answers them."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from plyhouse.protocol.api.rows import NOTEBOOK, Row

__all__ = ["Chances", "Judged", "Possible", "Review", "ReviewedPly", "Tree", "TreeNode"]


class ReviewedPly(Row, frozen=True):
    """One ply of the reviewed seat: what it was worth, and what it cost on the clock."""

    ply: int
    action: str
    """What was played; empty where the match ended before anything was."""
    played: float | None
    """What it is worth to the seat, in the game's returns; None if the judge cannot say."""
    best_action: str
    best: float
    drop: float
    """What the choice cost: ``best - played``, never negative."""
    certainty: str
    """How it is known: ``exact``, ``depth 6``, ``sampled 4,000``, ``equilibrium within 0.001``."""
    exact: bool
    lost: bool
    """Whether the value was lost here; see `Review.rule`."""
    thought_ms: float
    """From the write of the turn to the read of the action."""
    lag_ms: float
    """Part of it given back for the round trip."""
    stall_ms: float
    """Part of it in which the server was absent."""
    charged_ms: float
    remaining_ms: float
    """What the seat had until its next flag fall then."""
    refused: tuple[str, ...] = ()
    """Illegal actions that were tried before."""


class Review(Row, frozen=True):
    """A match gone through from one seat: where it was lost, if it was lost by a choice."""

    match: str
    game: str
    time_control: str
    seat: int
    player: str
    returned: float | None
    """What the seat got; None if the match was void."""
    termination: str
    at_fault: bool
    """Whether the seat itself ended the match otherwise than by the rules: flag, crash, ..."""
    method: str
    """How plies were judged."""
    rule: str
    """When a value counts as lost, in words."""
    verdict: str
    """What came of it, in sentences."""
    lost_at: int | None
    """The first ply after which the value was lost; None if there is none."""
    losses: tuple[int, ...]
    """All of them: what was lost can have been given back."""
    command: str
    """Asks a bot about that ply again, here."""
    seconds: float
    """What the review took."""
    plies: list[ReviewedPly] = []

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.verdict)}</p>{NOTEBOOK.table(self.plies)}"

    def row(self, ply: int) -> ReviewedPly:
        """The row of a ply; raises `LookupError` if the seat did not play it."""
        for each in self.plies:
            if each.ply == ply:
                return each
        raise LookupError(f"seat {self.seat} did not play ply {ply} of match {self.match}")


class TreeNode(Row, frozen=True):
    """One position of a search tree, and what it is worth."""

    kind: str
    """``max``, ``min``, ``seat``, ``chance``, ``model``, ``terminal`` or ``estimate``."""
    mover: int
    """Who is to move; negative for chance and at the end."""
    position: str
    """In the game's own words."""
    action: str = ""
    """What led here from the node above; empty at the root."""
    probability: float | None = None
    """How likely chance or a model comes here; None after a choice."""
    value: float | None = None
    """For the seat that searches; None in max^n, and where it is infinite."""
    bound: str = ""
    """``"≤"`` or ``"≥"`` where cuts left only a bound of the value."""
    values: list[float] | None = None
    """For every seat, in max^n."""
    alpha: float | None = None
    beta: float | None = None
    """The window with which it was searched; None where it is open, or the search has none."""
    best: int | None = None
    """Index of the child that the mover chooses."""
    pruned: list[str] = []
    """Actions or outcomes that were not looked at, as they cannot matter."""
    left_out: int = 0
    """How many actions were left out, as they are too many."""
    children: list[TreeNode] = []

    @property
    def worth(self) -> str:
        """The value as text: ``0.5``, ``≤ 1``, ``(1, -1, 0)``; empty if there is none.

        >>> TreeNode("max", 0, "...", value=1.0, bound="≤").worth
        '≤ 1'
        """
        if self.values is not None:
            return f"({', '.join(f'{each:.4g}' for each in self.values)})"
        return "" if self.value is None else f"{self.bound} {self.value:.4g}".strip()

    def all(self) -> Iterator[TreeNode]:
        """The node and all below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.all()

    def _html(self, best: bool = False) -> str:
        chance = "" if self.probability is None else f" ({self.probability:.3g})"
        text = escape(f"{self.action or 'position'}{chance}: {self.worth}")
        said = f"<strong>{text}</strong>" if best else text
        if not self.children:
            return f"<li>{said}</li>"
        below = "".join(
            child._html(index == self.best) for index, child in enumerate(self.children)
        )
        return f"<li><details><summary>{said}</summary><ul>{below}</ul></details></li>"


class Judged(Row, frozen=True):
    """What was played at a position beside what was best, by a search that looks further."""

    best_action: str
    best: float
    played: float
    """What the action that was played is worth to its seat."""
    certainty: str
    """How it is known: ``exact``, ``depth 6``, ..."""


class Tree(Row, frozen=True):
    """The search tree of a position of a match; a notebook shows it as a list to open."""

    game: str
    search: str
    searches: list[str]
    """Those that the position can be asked for."""
    depth: int | None
    complete: bool
    """Whether every line goes to the end of the game."""
    larger: bool
    """Whether it would be too large to look at if it were deeper."""
    estimated: bool
    """Whether the game has an estimate for positions where the depth ends."""
    seat: int
    """The seat that searches: values are its own."""
    seats: list[str]
    nodes: int
    best: str | None
    """The action to play; None at a chance node."""
    played: str
    """What was played there; empty at the end, and after actions that were not of the match."""
    judged: Judged | None
    """None where nothing was played, or nothing could be said of it in time."""
    title: str
    root: TreeNode

    def line(self) -> list[TreeNode]:
        """The nodes of the principal variation, the root first; it ends at chance."""
        found = [self.root]
        while found[-1].best is not None:
            found.append(found[-1].children[found[-1].best])
        return found

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.title)}</p><ul>{self.root._html()}</ul>"


class Possible(Row, frozen=True):
    """Something that chance could have done."""

    text: str
    """The outcome, as records have it."""
    probability: float


class Chances(Row, frozen=True):
    """The chance nodes of a match, in the order of their counters."""

    match: str
    game: str
    tables: list[list[Possible]]
    """The different lists of outcomes, in the fixed order of the game."""
    nodes: list[int]
    """For each chance node which table it has; its place in this list is its counter."""

    def outcomes(self, counter: int) -> list[Possible]:
        """What could have come at a chance node; raises `IndexError` if there were not so many.

        >>> found = Chances("m1", "pig", [[Possible("1", 0.5), Possible("2", 0.5)]], [0, 0])
        >>> [each.text for each in found.outcomes(1)]
        ['1', '2']
        """
        if counter < 0:
            raise IndexError(f"chance nodes count from 0, not {counter}")
        return self.tables[self.nodes[counter]]
