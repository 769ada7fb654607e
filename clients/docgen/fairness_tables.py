"""Generator of tables about fairness: outcomes of chance, fields of records, ends of matches.

``python -m plyhouse.clients.docgen.fairness_tables --write docs``; a test compares them.
A table stands in its page between ``<!-- generated: NAME -->`` and ``<!-- end of generated -->``.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import msgspec

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import Outcome
from plyhouse.protocol.parts import Info
from plyhouse.protocol.schema import section
from plyhouse.server.match.terminations import TERMINATIONS, counts_word
from plyhouse.server.match.time_control import LagPolicy
from plyhouse.server.results.record import Record, RecordChance, RecordEvent, RecordSeat

PAGES: Final = {"chance.md": "outcomes", "record.md": "record", "endings.md": "endings"}
"""Pages and the names of their generated parts."""

SPECS: Final = (
    "backgammon",
    "bridge(boards=1)",
    "coin_guess(variant=bag)",
    "einstein",
    "hearts(deals=1)",
    "kuhn_poker",
    "kuhn_poker(seats=3)",
    "kuhn_poker(seats=4)",
    "leduc_poker",
    "liars_dice",
    "monopoly",
    "pacman(ghosts=random)",
    "pig",
    "scrabble",
    "texas_holdem(hands=1)",
)
"""Games whose outcomes are shown: every built-in one that has chance nodes."""
BY_COUNT: Final = ("scrabble",)
"""Games whose outcomes are drawn from a bag with several of a kind."""
MANY: Final = 1000
"""Chance nodes among which another set of outcomes would be found."""
LISTED: Final = 26
"""Most outcomes of a sentence: a pack of cards has two."""

PARTS: Final = (Record, RecordSeat, LagPolicy, RecordChance, RecordEvent, Info, Outcome)
MATCHES: Final = 40
"""Random matches in which the chance nodes of a game are collected."""
PLIES: Final = 300
MOST_NODES: Final = 40
"""With more different chance nodes, as of a bag of tiles, one row has all outcomes in order."""

Node = tuple[tuple[str, float], ...]
"""The outcomes of a chance node as text, with their probabilities."""


def fairness_tables(page: str, text: str) -> str:
    """Return the text of a page of `PAGES` with its table generated again.

    Raises ValueError if the text does not have the marks of the table exactly once.
    """
    name = PAGES[page]
    found = list(re.finditer(rf"(?s)<!-- generated: {name} -->\n(.*?)<!-- end of", text))
    if len(found) != 1:
        raise ValueError(f"{page} should have one part {name!r}, not {len(found)}")
    made = {"outcomes": _outcomes, "record": _record, "endings": _endings}[name]()
    return text[: found[0].start(1)] + made + text[found[0].end(1) :]


def write_fairness_tables(folder: Path) -> None:
    """Bring the pages in a folder up to date."""
    for page in PAGES:
        path = folder / page
        path.write_text(fairness_tables(page, path.read_text(encoding="utf-8")), encoding="utf-8")


def outcomes_in_order(game: Game) -> list[Node]:
    """Return the different chance nodes of a game that random play reaches.

    If the outcomes of every node are equally likely, or there are more than `MOST_NODES` nodes, it
    returns one node with all outcomes, in an order that every node follows.  Dice whose rolls are
    not equally likely stay apart from cards that are.
    """
    found: dict[Node, None] = {}
    uneven: dict[Node, None] = {}
    for node in _nodes(game):
        found[node] = None
        if not _even(node):
            uneven[node] = None
        if len(uneven) > MOST_NODES:
            break
    if len(found) == 1 or (uneven and len(found) <= MOST_NODES):
        return list(found)
    apart = list(uneven) if len(uneven) <= MOST_NODES else []
    order = _common_order([[text for text, _ in node] for node in found if node not in apart])
    return [*apart, tuple((text, 1 / len(order)) for text in order)]


def _even(node: Node) -> bool:
    """Return whether all outcomes of a chance node are equally likely."""
    return len({share for _, share in node}) == 1


def _endings() -> str:
    """Return the table of endings of matches."""
    lines = [
        "| termination | means | whose fault | counts | how a bot gets there |",
        "|" + "---|" * 5,
    ]
    for each in TERMINATIONS.values():
        cells = each.meaning, each.fault.value, counts_word(each), each.examples
        lines.append(f"| `{each.name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _nodes(game: Game) -> Iterator[Node]:
    """The chance nodes of some random matches."""
    for number in range(MATCHES):
        rng = random.Random(number)
        state: Any = game.initial_state()
        for _ in range(PLIES):
            if state.to_move == TERMINAL:
                break
            if state.to_move == CHANCE:
                outcomes = state.chance_outcomes()
                yield tuple((game.format_chance(state, each), share) for each, share in outcomes)
                action = rng.choice(outcomes)[0]
            else:
                action = rng.choice(state.actions())
            state = state.after(action)


def _common_order(lists: list[list[str]]) -> list[str]:
    """One list of which all these are parts in the same order; ValueError if there is none."""
    left = dict.fromkeys(text for each in lists for text in each)
    order: list[str] = []
    while left:
        later = {text for each in lists for text in [one for one in each if one in left][1:]}
        first = next((text for text in left if text not in later), None)
        if first is None:
            raise ValueError(f"the chance nodes have no common order: {lists}")
        order.append(first)
        del left[first]
    return order


def _outcomes() -> str:
    lines = ["| game | outcomes in their order | probability |", "|---|---|---|"]
    for spec in SPECS:
        game = get_game(spec)
        rows = outcomes_in_order(game)
        for node in rows:
            shares = [Fraction(share).limit_denominator(1000) for _, share in node]
            texts = [f"`{text}`" for text, _ in node]
            if len(set(shares)) > 1:
                texts = [f"{text} {share}" for text, share in zip(texts, shares, strict=True)]
                how = "as shown"
            elif spec in BY_COUNT:
                how = "in proportion to the number of each that is left"
            elif sum(map(_even, set(itertools.islice(_nodes(game), MANY)))) > len(rows):
                how = "1/n each, of the n that are possible then"
            else:
                how = f"{shares[0]} each"
            parts = [", ".join(texts[at : at + LISTED]) for at in range(0, len(texts), LISTED)]
            lines.append(f"| `{spec}` | {'. Then '.join(parts)} | {how} |")
    return "\n".join([*lines, ""])


def _record() -> str:
    _, defs = msgspec.json.schema_components(PARTS, ref_template="#/$defs/{name}")
    return "".join(section(part, defs, part.__name__) for part in PARTS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Bring the tables about fairness up to date.")
    parser.add_argument("--write", metavar="FOLDER", type=Path, required=True)
    write_fairness_tables(parser.parse_args().write)
