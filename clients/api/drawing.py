"""States as pictures and rows as HTML: how positions and tables look in a notebook."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from typing import Any, Final

from plyhouse.games.base import Game
from plyhouse.games.scene import scene_fields
from plyhouse.games.scene_svg import draw_svg

__all__ = ["Picture", "picture", "table_html"]

MOST_ROWS: Final = 200
"""Rows of a table that are drawn; a notebook is no place for a million."""


@dataclasses.dataclass(frozen=True, slots=True)
class Picture:
    """A drawing that a notebook shows."""

    svg: str
    text: str = ""
    """The same in one line, for those who do not see it."""

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture {self.text}>"


def picture(game: Game, state: Any, seat: int | None = None) -> Picture:
    """Draw a state as a seat sees it, or as spectators do.

    >>> from plyhouse.games import get_game
    >>> game = get_game("tic_tac_toe")
    >>> picture(game, game.initial_state())
    <Picture tic_tac_toe: X to move>
    """
    scene = game.scene(game.observe(state, seat))
    names = tuple([game.seat_name(each) for each in range(game.seats)])
    drawn = dataclasses.replace(scene, seats=names)
    return Picture(draw_svg(scene_fields(drawn)), f"{game.spec}: {scene.status}")


def table_html(rows: Sequence[Any]) -> str:
    """Draw rows of one kind as an HTML table; every value is escaped."""
    if not rows:
        return "<p>no rows</p>"
    names = [each.name for each in dataclasses.fields(rows[0])]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_shown(getattr(row, name))}</td>" for name in names) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>{len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple) and value and dataclasses.is_dataclass(value[0]):
        return ", ".join(escape(str(getattr(each, "name", each))) for each in value[:8])
    return escape(str(value))
