"""Pacman as a grid world: eat all dots and keep clear of the ghosts.

The first player is Pacman.  In turn Pacman moves one step (or stops), then every ghost.  A ghost
never stops, and turns back only in a dead end.  Scoring is Berkeley's: each move of Pacman costs
1, a dot is worth 10, clearing the maze 500, and being caught costs 500.  The match ends when the
maze is cleared, when Pacman is caught, or after ``steps`` moves of Pacman.  There are no
capsules.

With ``ghosts=adversary`` every ghost is a seat; the ghosts are a team, and each one's return
is the negative score.  With ``ghosts=random`` ghosts are moved by chance, every direction
alike, and Pacman is the only seat.

Actions, and chance outcomes, are ``north``, ``south``, ``east``, ``west`` and ``stop``.  A
``layout`` is a name (small, trapped, duel, gamble) or rows of text separated by ``/``: ``%`` is
wall, ``.`` a dot, ``P`` Pacman, ``G`` a ghost, a blank an empty spot.  After the "Pac-Man projects"
of J. DeNero and D. Klein (Berkeley CS188).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Button, Cell, Counter, Element, Grid, Scene
from plyhouse.games.stochastic.pacman.maze import LAYOUTS, NAMES, STOP, Maze, maze_of

if TYPE_CHECKING:
    import random

__all__ = ["PACMAN", "Pacman", "PacmanObservation", "PacmanState"]

PACMAN: Final = 0

STEP: Final = -1
DOT: Final = 10
CLEAR: Final = 500
CAUGHT: Final = -500

MAX_STEPS: Final = 2000
MOST: Final = 8500.0
"""Bound of all scores: 800 cells of dots, clearing, and the most steps."""

_STANDARD: Final = maze_of(LAYOUTS["small"])
_NO_HEADINGS: Final[tuple[int, ...]] = (STOP,) * len(_STANDARD.ghosts)


@final
@mypyc_attr(free_list_len=1)
class PacmanState(BoardState):
    """Where all are, the dots left as a mask, the score and Pacman's moves left.

    ``turn`` is 0 for Pacman and i for the i-th ghost; ``chance`` says who moves the ghosts.
    """

    __slots__ = ("chance", "dots", "ghosts", "headings", "maze", "pacman", "score", "steps", "turn")

    maze: Maze
    pacman: int
    ghosts: tuple[int, ...]
    headings: tuple[int, ...]
    dots: int
    score: int
    steps: int
    turn: int
    chance: bool

    def __init__(
        self,
        to_move: int = PACMAN,
        maze: Maze = _STANDARD,
        pacman: int = _STANDARD.pacman,
        ghosts: tuple[int, ...] = _STANDARD.ghosts,
        headings: tuple[int, ...] = _NO_HEADINGS,
        dots: int = _STANDARD.full,
        score: int = 0,
        steps: int = 300,
        turn: int = 0,
        chance: bool = False,
    ) -> None:
        self.to_move = to_move
        self.maze = maze
        self.pacman = pacman
        self.ghosts = ghosts
        self.headings = headings
        self.dots = dots
        self.score = score
        self.steps = steps
        self.turn = turn
        self.chance = chance

    def __reduce__(self) -> tuple[Any, ...]:
        return PacmanState, (
            self.to_move,
            self.maze,
            self.pacman,
            self.ghosts,
            self.headings,
            self.dots,
            self.score,
            self.steps,
            self.turn,
            self.chance,
        )

    def with_ghosts(self, chance: bool) -> PacmanState:
        """Return the same position with ghosts moved by chance, or by seats."""
        to_move: int = self.to_move
        if to_move != TERMINAL and self.turn > 0:
            to_move = CHANCE if chance else self.turn
        return PacmanState(
            to_move,
            self.maze,
            self.pacman,
            self.ghosts,
            self.headings,
            self.dots,
            self.score,
            self.steps,
            self.turn,
            chance,
        )

    def _way(self) -> int:
        """Index into the maze's tables of the moves of the ghost on turn."""
        ghost: int = self.turn - 1
        return self.headings[ghost] * self.maze.cells + self.ghosts[ghost]

    def actions(self) -> tuple[Any, ...]:
        """Directions without a wall; Pacman may stop, a ghost may not turn back."""
        if self.to_move < 0:
            return ()
        if self.turn == 0:
            return self.maze.ways[self.pacman]
        return self.maze.turns[self._way()]

    def after(self, action: Any) -> PacmanState:
        """Return the state after a step of Pacman or of a ghost."""
        choice: int = action
        maze = self.maze
        pacman: int = self.pacman
        ghosts = self.ghosts
        headings = self.headings
        dots: int = self.dots
        score: int = self.score
        steps: int = self.steps
        turn: int = self.turn
        over: bool = False
        if turn == 0:
            pacman = maze.step[choice * maze.cells + pacman]
            score += STEP
            steps -= 1
            bit: int = maze.bits[pacman]
            if dots & bit != 0:
                dots ^= bit
                score += DOT
            if dots == 0:
                score += CLEAR
                over = True
            elif pacman in ghosts:
                score += CAUGHT
                over = True
        else:
            places: list[int] = list(ghosts)
            ways: list[int] = list(headings)
            to: int = maze.step[choice * maze.cells + places[turn - 1]]
            places[turn - 1] = to
            ways[turn - 1] = choice
            ghosts = tuple(places)
            headings = tuple(ways)
            if to == pacman:
                score += CAUGHT
                over = True
        following: int = turn + 1
        if following > len(ghosts):
            following = 0
            if steps == 0:
                over = True
        to_move: int = following
        if over:
            to_move = TERMINAL
        elif following > 0 and self.chance:
            to_move = CHANCE
        return PacmanState(
            to_move, maze, pacman, ghosts, headings, dots, score, steps, following, self.chance
        )

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return where a ghost may go."""
        if self.to_move != CHANCE:
            return ()
        return self.maze.chances[self._way()]

    def _shared(self, value: float) -> tuple[float, ...]:
        """Return a value of Pacman's for every seat: the ghosts are a team against it."""
        if self.chance:
            return (value,)
        if len(self.ghosts) == 1:
            return (value, -value)
        return (value, *[-value for _ in range(len(self.ghosts))])

    def returns(self) -> tuple[float, ...]:
        """Return the score for Pacman, the negative score for every ghost."""
        return self._shared(float(self.score))

    def key(self) -> tuple[Any, ...]:
        """Return the whole position."""
        return (
            self.to_move,
            self.turn,
            self.pacman,
            self.ghosts,
            self.headings,
            self.dots,
            self.score,
            self.steps,
            self.chance,
        )

    def heuristic(self) -> tuple[float, ...]:
        """Return the score, less for dots left and for the way to the nearest; ghosts near are
        trouble.
        """
        if self.to_move == TERMINAL:
            return self.returns()
        maze = self.maze
        far = maze.distances(self.pacman)
        nearest: int = maze.cells
        left: int = 0
        dots: int = self.dots
        for cell in maze.dots:
            bit: int = maze.bits[cell]
            if dots & bit != 0:
                left += 1
                nearest = min(nearest, far[cell])
        value: float = float(self.score) - 3.0 * float(left) - float(nearest)
        for ghost in self.ghosts:
            near: int = far[ghost]
            if near < 4:
                value -= 40.0 * float(4 - near)
        return self._shared(max(-MOST, min(MOST, value)))

    def noisy_actions(self) -> tuple[Any, ...]:
        """Steps that catch Pacman."""
        if self.to_move <= 0:
            return ()
        maze = self.maze
        place: int = self.ghosts[self.turn - 1]
        return tuple(
            [
                way
                for way in self.maze.turns[self._way()]
                if maze.step[way * maze.cells + place] == self.pacman
            ]
        )

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random steps of all to the end."""
        maze = self.maze
        cells: int = maze.cells
        pacman: int = self.pacman
        places: list[int] = list(self.ghosts)
        ways: list[int] = list(self.headings)
        count: int = len(places)
        dots: int = self.dots
        score: int = self.score
        steps: int = self.steps
        turn: int = self.turn
        over: bool = self.to_move == TERMINAL
        while not over:
            if turn == 0:
                options = maze.ways[pacman]
                way: int = options[int(rng.random() * len(options))]
                pacman = maze.step[way * cells + pacman]
                score += STEP
                steps -= 1
                bit: int = maze.bits[pacman]
                if dots & bit != 0:
                    dots ^= bit
                    score += DOT
                if dots == 0:
                    score += CLEAR
                    over = True
                elif pacman in places:
                    score += CAUGHT
                    over = True
            else:
                place: int = places[turn - 1]
                heading: int = ways[turn - 1]
                turns = maze.turns[heading * cells + place]
                choice: int = turns[int(rng.random() * len(turns))]
                place = maze.step[choice * cells + place]
                places[turn - 1] = place
                ways[turn - 1] = choice
                if place == pacman:
                    score += CAUGHT
                    over = True
            turn += 1
            if turn > count:
                turn = 0
                if steps == 0:
                    over = True
        return self._shared(float(score))


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class PacmanObservation(Observation):
    """Everything: the game has perfect information."""

    maze: tuple[str, ...]
    """Rows from the top, each from the left: walls ``%``, dots left ``.``, Pacman ``P``, ghosts
    ``G``, and blanks."""
    pacman: tuple[int, int]
    """Row and column of Pacman, from 0 in the upper left."""
    ghosts: tuple[tuple[int, int], ...]
    """Row and column of every ghost, the first one first."""
    headings: tuple[str, ...]
    """Where each ghost went last, in the words of the actions; "stop" before its first step."""
    dots: tuple[tuple[int, int], ...]
    """Row and column of every dot left, by rows."""
    score: int
    """Points so far; the return of Pacman if the match ended now."""
    steps: int
    """Moves that Pacman has left."""
    turn: int
    """Figure to move: 0 for Pacman, i for the i-th ghost."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Pacman(Game[PacmanState, int, PacmanObservation]):
    """Pacman against ghosts that are adversaries or chance.

    >>> game = Pacman(layout="duel")
    >>> print(game.describe(game.initial_state()))
    %%%%%%%%%
    %.  %  G%
    % %   % %
    % % % % %
    %P  %  .%
    %%%%%%%%%
    score 0, 300 moves left, turn 0, Pacman at 4,1, headings of ghosts: stop
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="pacman",
        title="Pacman",
        summary="Eat all dots in a maze before a ghost, adversary or random, catches you.",
        min_seats=1,
        max_seats=5,
        chance=ChanceKind.STOCHASTIC,
        information=Information.PERFECT,
        utility=Utility.TEAM,
        min_return=-MOST,
        max_return=MOST,
        max_plies=5 * MAX_STEPS,
        parameters=(
            Parameter("layout", "small", "name of a layout, or rows of text apart by /"),
            Parameter(
                "ghosts", "adversary", "who moves the ghosts", choices=("adversary", "random")
            ),
            Parameter("steps", 300, "moves of Pacman at most", 1, MAX_STEPS),
        ),
    )
    observation_type: ClassVar[type[Observation]] = PacmanObservation
    action_pattern: ClassVar[str] = "north|south|east|west|stop"
    action_notation: str = "north, south, east, west, or from Pacman stop"

    def check_parameters(self) -> None:
        """Read the layout."""
        text = self.text_parameter("layout")
        self.maze = maze_of(LAYOUTS.get(text, text))
        self.chance = self.text_parameter("ghosts") == "random"

    @property
    def seats(self) -> int:
        """Pacman, and the ghosts of the layout if they are adversaries."""
        return 1 if self.chance else 1 + len(self.maze.ghosts)

    @property
    def chance_kind(self) -> ChanceKind:
        """Only random ghosts are chance."""
        random_ghosts = self.chance and len(self.maze.ghosts) > 0
        return ChanceKind.STOCHASTIC if random_ghosts else ChanceKind.DETERMINISTIC

    def team(self, seat: int) -> int:
        """All ghosts play together."""
        return PACMAN if seat == PACMAN else 1

    def seat_name(self, seat: int) -> str:
        """Pacman, or the ghost's number."""
        return "Pacman" if seat == PACMAN else f"ghost {seat}"

    def initial_state(self) -> PacmanState:
        """Return the layout; Pacman to move."""
        maze = self.maze
        return PacmanState(
            PACMAN,
            maze,
            maze.pacman,
            maze.ghosts,
            (STOP,) * len(maze.ghosts),
            maze.full,
            0,
            self.int_parameter("steps"),
            0,
            self.chance,
        )

    def format(self, state: PacmanState, action: int) -> str:
        """Return the direction."""
        return NAMES[action]

    def format_chance(self, state: PacmanState, outcome: int) -> str:
        """Return the direction."""
        return NAMES[outcome]

    def display(self, state: PacmanState, action: int) -> str:
        """Return the direction, and which ghost takes it."""
        if state.turn == PACMAN:
            return NAMES[action]
        return f"{self.seat_name(state.turn)} {NAMES[action]}"

    def _place(self, cell: int) -> tuple[int, int]:
        return cell // self.maze.columns, cell % self.maze.columns

    def _cell(self, place: tuple[int, int]) -> int:
        return place[0] * self.maze.columns + place[1]

    def _drawn(self, position: PacmanState) -> tuple[str, ...]:
        """Return the maze as rows of text; ghosts are drawn over everything."""
        maze = self.maze
        marks = ["%" if mark == "%" else " " for mark in maze.marks]
        for cell in maze.dots:
            if position.dots & maze.bits[cell]:
                marks[cell] = "."
        marks[position.pacman] = "P"
        for cell in position.ghosts:
            marks[cell] = "G"
        width = maze.columns
        return tuple(
            ["".join(marks[row * width : row * width + width]) for row in range(maze.rows)]
        )

    def observe(self, state: PacmanState, seat: int | None) -> PacmanObservation:
        """Return the maze and all in it."""
        maze = self.maze
        return PacmanObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            maze=self._drawn(state),
            pacman=self._place(state.pacman),
            ghosts=tuple([self._place(cell) for cell in state.ghosts]),
            headings=tuple([NAMES[heading] for heading in state.headings]),
            dots=tuple([self._place(c) for c in maze.dots if state.dots & maze.bits[c]]),
            score=state.score,
            steps=state.steps,
            turn=state.turn,
        )

    def sample_state(self, observation: PacmanObservation, rng: random.Random) -> PacmanState:
        """Return the position that was observed."""
        return PacmanState(
            observation.to_move,
            self.maze,
            self._cell(observation.pacman),
            tuple([self._cell(place) for place in observation.ghosts]),
            tuple([NAMES.index(name) for name in observation.headings]),
            sum([self.maze.bits[self._cell(place)] for place in observation.dots]),
            observation.score,
            observation.steps,
            observation.turn,
            self.chance,
        )

    def scene(self, observation: PacmanObservation) -> Scene:
        """Return the maze, in which one chooses the next cell, and a button per direction."""
        maze = self.maze
        mover = self._cell(
            observation.ghosts[observation.turn - 1] if observation.turn else observation.pacman
        )
        targets = {
            maze.step[NAMES.index(name) * maze.cells + mover]: name for name in observation.legal
        }
        words = {"%": "wall", ".": "dot", " ": "empty", "P": "Pacman", "G": "ghost"}
        texts = {"%": "#", ".": "·", " ": "", "P": "P", "G": "G"}
        shapes = {"%": "wall", ".": "dot", " ": "", "P": "pacman", "G": "ghost"}
        rows: list[tuple[Cell, ...]] = []
        for row, text in enumerate(observation.maze):
            cells: list[Cell] = []
            for column, mark in enumerate(text):
                place = row * maze.columns + column
                owner = None
                if mark == "P":
                    owner = PACMAN
                elif mark == "G" and not self.chance:
                    owner = 1 + observation.ghosts.index((row, column))
                label = f"row {row + 1}, column {column + 1}, {words[mark]}"
                action, face = targets.get(place), mark if mark in "PG" else ""
                cells.append(Cell(texts[mark], owner, shapes[mark], action, label, face=face))
            rows.append(tuple(cells))
        elements: list[Element] = [
            Grid(tuple(rows), (), (), "Maze", "maze", "night"),
            Counter("Score", observation.score, None, PACMAN),
            Counter("Dots left", len(observation.dots)),
            Counter("Moves left", observation.steps),
        ]
        keys = {"north": "ArrowUp", "south": "ArrowDown", "east": "ArrowRight", "west": "ArrowLeft"}
        elements += [
            Button(name.capitalize(), name, key=keys.get(name, " ")) for name in observation.legal
        ]
        name = "Pacman" if observation.turn == 0 else f"ghost {observation.turn}"
        if observation.to_move != TERMINAL:
            status = f"{name} to move"
        elif not observation.dots:
            status = f"Pacman clears the maze with {observation.score} points"
        elif observation.pacman in observation.ghosts:
            status = f"Pacman is caught with {observation.score} points"
        else:
            status = f"Pacman has no moves left, {observation.score} points"
        return Scene(tuple(elements), status, observation.seat_to_move)

    def describe(self, state: PacmanState) -> str:
        """Return the maze, and a line with score, moves left, turn and headings of ghosts."""
        ways = " ".join(NAMES[heading] for heading in state.headings) or "none"
        place = ",".join(str(part) for part in self._place(state.pacman))
        line = (
            f"score {state.score}, {state.steps} moves left, turn {state.turn}, "
            f"Pacman at {place}, headings of ghosts: {ways}"
        )
        return "\n".join([*self._drawn(state), line])
