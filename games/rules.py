"""The rules of a game in words: the docstring of its module, as text and in parts for pages."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.observation_fields import source_file, syntax_tree
from plyhouse.games.scene import Button, Cell, Grid, Hand, Laying, Placing, Scene

__all__ = ["Block", "input_hints", "rules_blocks", "rules_text", "rules_without_summary"]

TERM: Final = re.compile(r"``([^`\n]+)``")
LOOKED_AT: Final = 60
"""Positions of a play whose scenes `input_hints` looks at."""


class Block(NamedTuple):
    """A paragraph of rules."""

    term: str
    """The term of a definition; empty for a plain paragraph."""
    spans: tuple[str, ...]
    """The text; every second span, beginning with the second one, is literal."""


def rules_text(game: Game) -> str:
    """Return the rules of a game: its own ``rules_in_words``, else the docstring of its module or,
    without one, of its class.
    """
    own: str = getattr(game, "rules_in_words", "")
    if own:
        return own
    module = inspect.getmodule(type(game))
    # Compiled modules have no docstring.
    source = source_file(type(game))
    text = None
    with contextlib.suppress(OSError, SyntaxError, ValueError):
        text = ast.get_docstring(syntax_tree(source.read_bytes()))
    return inspect.cleandoc(text or inspect.getdoc(module) or inspect.getdoc(type(game)) or "")


def rules_without_summary(game: Game) -> str:
    """Return the rules without a first sentence that only repeats the game's summary."""
    text = rules_text(game)
    first, _, rest = text.partition("\n\n")
    repeats = first.casefold().endswith(game.info.summary.casefold())
    return rest if rest and repeats else text


def rules_blocks(text: str) -> list[Block]:
    r"""Split rules into paragraphs and definitions.

    >>> rules_blocks("Say ``go``\nor pass.")
    [Block(term='', spans=('Say ', 'go', ' or pass.'))]
    >>> rules_blocks("``bag``\n    Chance draws.")
    [Block(term='bag', spans=('Chance draws.',))]
    """
    return [block for paragraph in re.split(r"\n\s*\n", text) for block in _blocks(paragraph)]


def _blocks(paragraph: str) -> Iterator[Block]:
    term, words = "", list[str]()
    for line in paragraph.splitlines():
        defined = TERM.fullmatch(line.strip())
        if defined and not line.startswith(" "):
            if words:
                yield _block(term, words)
            term, words = defined.group(1), []
        else:
            words.append(line.strip())
    if words:
        yield _block(term, words)


def _block(term: str, words: list[str]) -> Block:
    return Block(term, tuple(" ".join(words).split("``")))


def input_hints(game: Game) -> list[str]:
    """Return how a person enters actions on a page: a sentence for each way that the game offers.

    The scenes of one play tell the ways, so a new game needs no words of its own.
    """
    ways: dict[str, None] = {}
    keys: dict[str, None] = {}
    state: Any = game.initial_state()
    for step in range(LOOKED_AT):
        if state.to_move == TERMINAL:
            break
        if state.to_move == CHANCE:
            outcomes = state.chance_outcomes()
            state = state.after(outcomes[step % len(outcomes)][0])
            continue
        scene = game.scene(game.observe(state, state.to_move))
        ways |= dict.fromkeys(_ways(scene))
        buttons = [each for each in scene.elements if isinstance(each, Button)]
        keys |= dict.fromkeys(button.key for button in buttons if button.key)
        actions = state.actions()
        state = state.after(actions[(7 * step) % len(actions)])
    hints = [sentence for way, sentence in HINTS.items() if way in ways]
    if keys:
        hints.append(f"Or press a key: {', '.join(KEYS.get(key, key) for key in keys)}.")
    return hints


HINTS: Final = {
    "move": "Click or tap what you want to move, then where it goes, or drag it there.",
    "lay": "Drag what you place, or let chance place all. Click or tap a piece twice to turn it.",
    "span": "Click or tap one end of what you place, then the other end.",
    "spot": "Click or tap a spot of the board.",
    "place": "Drag a piece to its square, or click or tap it and then the square. Then press Play.",
    "card": "Click or tap one of the cards.",
    "coin": "Click or tap one of the coins.",
    "button": "Press one of the buttons.",
}
"""Sentences for the ways into an action, the most common first."""
KEYS: Final = {"ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→", " ": "space"}


def _ways(scene: Scene) -> Iterator[str]:
    filled = set[str]()
    for element in scene.elements:
        if isinstance(element, Grid):
            filled |= {cell.name for cell in _cells(element) if cell.owner is not None}
            if any(cell.action is not None for cell in _cells(element)):
                # Clients show the actions of a table as buttons.
                yield "button" if element.look == "table" else "spot"
        elif isinstance(element, Hand) and any(card.action is not None for card in element.cards):
            yield "coin" if element.look == "coins" else "card"
        elif isinstance(element, Placing):
            yield "place"
        elif isinstance(element, Laying):
            yield "lay"
            return
    for element in scene.elements:
        if isinstance(element, Button):
            several = len(element.via) > 1
            moved = "move" if element.via and element.via[0] in filled else "span"
            yield moved if several else "spot" if element.via else "button"


def _cells(grid: Grid) -> Iterator[Cell]:
    for row in grid.rows:
        yield from row
    yield from grid.ends
