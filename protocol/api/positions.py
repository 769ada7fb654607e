"""Reviews, search trees and outcomes of chance of a match, as the HTTP API answers them."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from plyhouse.protocol.api.rows import NOTEBOOK, Row


class ReviewedPly(Row, frozen=True):
    """One ply of the reviewed seat: its value, and its time on the clock."""

    ply: int
    action: str
    """The action; empty if the match ended before one was played."""
    played: float | None
    """Expected return of the seat after it; None if the judge cannot tell."""
    best_action: str
    best: float
    drop: float
    """Loss of value: ``best - played``, never negative."""
    certainty: str
    """Quality of the values, such as ``exact``, ``depth 6`` or ``equilibrium within 0.001``."""
    exact: bool
    lost: bool
    """True if this ply lost the value; see `Review.rule`."""
    thought_ms: float
    """Time from writing the ``turn`` frame to reading the action."""
    lag_ms: float
    """Part refunded for the round trip."""
    stall_ms: float
    """Part that the server itself caused."""
    charged_ms: float
    remaining_ms: float
    """Time on the clock after the ply."""
    refused: tuple[str, ...] = ()
    """Illegal actions tried before this one."""


class Review(Row, frozen=True):
    """Review of a match from one seat: the ply that lost it, if one did."""

    match: str
    game: str
    time_control: str
    seat: int
    player: str
    returned: float | None
    """The seat's return; None if the match is void."""
    termination: str
    at_fault: bool
    """True if the seat ended the match by a forfeit, such as flag fall or a crash."""
    method: str
    """The method that judged the plies."""
    rule: str
    """The rule by which a value counts as lost, in words."""
    verdict: str
    """The conclusion, in sentences."""
    lost_at: int | None
    """The first ply after which the value was lost; None if there is none."""
    losses: tuple[int, ...]
    """All plies that lost value; an opponent may have given it back in between."""
    command: str
    """A command that asks a bot about that ply again, on your machine."""
    seconds: float
    """Duration of the review."""
    plies: list[ReviewedPly] = []
    unit: str = ""
    """Unit in which pages and commands show values: ``%`` for a chance of winning, which is
    ``50 * (value + 1)``; elsewhere that of returns, such as ``points``."""

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.verdict)}</p>{NOTEBOOK.table(self.plies)}"

    def row(self, ply: int) -> ReviewedPly:
        """The row of a ply; raises `LookupError` if the seat did not play it."""
        for each in self.plies:
            if each.ply == ply:
                return each
        raise LookupError(f"seat {self.seat} did not play ply {ply} of match {self.match}")


class ValueLost(Row, frozen=True):
    """The value that a bot lost per ply in matches of one game."""

    game: str
    method: str
    """The method that judged the plies."""
    matches: int
    plies: int
    """Plies that were judged."""
    unjudged: int
    """Plies of which the method cannot tell what they were worth; they are left out."""
    exact: int
    """Plies whose values are those of perfect play."""
    mean: float | None
    """Returns lost per ply: 0 is perfect play.  None if no ply was judged."""
    interval: tuple[float, float] | None
    """95 % interval of the mean over matches, each of which counts as one observation."""
    more: float | None
    """Returns lost per ply beyond those in the same game with its usual parameters, which is among
    the others; None if it is not.  A bot that knows the game by heart loses more in a variant."""
    more_interval: tuple[float, float] | None
    """95 % interval of ``more``; None without it, or with a single match of one of the two."""
    range: float
    """The greatest possible loss of a match: the range of the game's returns."""
    faults: dict[str, int]
    """Matches that the bot ended by a fault of its own, such as ``flag_fall``, by termination."""
    unit: str = ""
    """As in `Review`."""


class BotReview(Row, frozen=True):
    """Review of a bot: the value that it lost per ply, game by game."""

    bot: str
    """``PLAYER/BOT``."""
    seconds: float
    """Duration of the review."""
    games: list[ValueLost]
    """In the order of the first match; empty if no match is there."""

    def _repr_html_(self) -> str:
        return NOTEBOOK.table(self.games)


class TreeNode(Row, frozen=True):
    """One position of a search tree, with its value."""

    kind: str
    """``max``, ``min``, ``seat``, ``chance``, ``model``, ``terminal`` or ``estimate``."""
    mover: int
    """The seat to act; negative for chance and in terminal positions."""
    position: str
    """The position as text, in the notation of the game."""
    action: str = ""
    """The action or outcome that leads here; empty at the root."""
    probability: float | None = None
    """Probability by chance or an opponent model; None after a choice."""
    value: float | None = None
    """Value for the searching seat; None in max^n and for infinite values."""
    bound: str = ""
    """``"≤"`` or ``"≥"`` if a cutoff left only a bound of the value."""
    values: list[float] | None = None
    """Value for every seat, in max^n."""
    alpha: float | None = None
    beta: float | None = None
    """The search window; None for an open side, and for searches without a window."""
    best: int | None = None
    """Index of the child that the seat to act chooses."""
    pruned: list[str] = []
    """Actions or outcomes that the search cut off."""
    left_out: int = 0
    """Number of actions left out because there are too many."""
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
        """Iterate over the node and its descendants, in preorder."""
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
    """The played and the best action of a position, judged by a deeper search."""

    best_action: str
    best: float
    played: float
    """Value of the played action for its seat."""
    certainty: str
    """Quality of the values: ``exact``, ``depth 6``, ..."""


class Tree(Row, frozen=True):
    """The search tree of a position of a match; a notebook shows it as an expandable list."""

    game: str
    search: str
    searches: list[str]
    """The searches available for the position."""
    depth: int | None
    complete: bool
    """True if every line reaches a terminal position."""
    larger: bool
    """True if a deeper tree would be too large to show."""
    wins: bool
    """True if a value is a chance of winning: 1 for a win, -1 for a loss."""
    estimated: bool
    """True if the game has an evaluation function for the depth limit."""
    seat: int
    """The searching seat; values are from its view."""
    seats: list[str]
    nodes: int
    best: str | None
    """The best action; None at a chance node."""
    played: str
    """The played action; empty at the end, and after actions outside the match."""
    judged: Judged | None
    """None if no action was played, or if the search ran out of time."""
    title: str
    root: TreeNode
    unit: str = ""
    """As in `Review`."""

    def line(self) -> list[TreeNode]:
        """Return the nodes of the principal variation from the root; it ends at chance."""
        found = [self.root]
        while found[-1].best is not None:
            found.append(found[-1].children[found[-1].best])
        return found

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.title)}</p><ul>{self.root._html()}</ul>"


class Possible(Row, frozen=True):
    """A possible outcome of a chance event."""

    text: str
    """The outcome, in the notation of records."""
    probability: float


class Chances(Row, frozen=True):
    """The chance nodes of a match, in the order in which they came."""

    match: str
    game: str
    tables: list[list[Possible]]
    """The distinct lists of outcomes, in the fixed order of the game."""
    nodes: list[int]
    """For each chance node, the index of its table."""
    counters: list[int]
    """For each chance node, its counter in the stream of the seed; see ``docs/chance.md``."""

    def outcomes(self, place: int) -> list[Possible]:
        """Return the possible outcomes of a chance node; raise `IndexError` for an unknown one.

        >>> table = [Possible("1", 0.5), Possible("2", 0.5)]
        >>> found = Chances("m1", "pig", [table], [0, 0], [0, 1])
        >>> [each.text for each in found.outcomes(1)]
        ['1', '2']
        """
        if place < 0:
            raise IndexError(f"chance nodes count from 0, not {place}")
        return self.tables[self.nodes[place]]
