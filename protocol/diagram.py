"""Pictures and tables of the connection, drawn from the transition tables."""

from __future__ import annotations

from html import escape
from typing import Final

from plyhouse.protocol.transitions import MEANINGS, STATES, Input, State, Step, Table

_BOX_WIDTH: Final = 150
_BOX_HEIGHT: Final = 44
_PITCH: Final = 250
_LEFT: Final = 20
_LINE: Final = 15

_STYLE: Final = """
    text { font: 13px sans-serif; fill: #1f2933; text-anchor: middle; }
    .state { font-weight: bold; }
    rect { fill: #eef3f8; stroke: #52606d; }
    .page { fill: #ffffff; stroke: none; }
    path { fill: none; stroke: #52606d; }
    marker path { fill: #52606d; stroke: none; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4e7eb; }
      rect { fill: #323f4b; stroke: #9aa5b1; }
      .page { fill: #1f2933; stroke: none; }
      path { stroke: #9aa5b1; }
      marker path { fill: #9aa5b1; }
    }
"""


def arrows(table: Table) -> tuple[dict[tuple[State, State], list[Input]], list[Input]]:
    """Return the changes of state, and apart from them what closes from every state."""
    living = [state for state in State if state is not State.CLOSED]
    everywhere = [
        how
        for how in sorted(table[State.OPEN])
        if all(table[state][how] is State.CLOSED for state in living)
    ]
    found: dict[tuple[State, State], list[Input]] = {}
    for state in living:
        for how, step in table[state].items():
            if isinstance(step, State) and step is not state and how not in everywhere:
                found.setdefault((state, step), []).append(how)
    return found, everywhere


def svg(table: Table, title: str) -> str:
    """Return a drawing of `table`: states in a row, arrows forward above, backward below."""
    found, everywhere = arrows(table)
    reach = max(abs(end - start) for start, end in found)
    top = 30 + 33 * reach
    width = _LEFT * 2 + _PITCH * (len(State) - 1) + _BOX_WIDTH
    lines = [f"any state to CLOSED: {', '.join(map(_label, everywhere))}"]
    height = top + _BOX_HEIGHT + 110
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(title)}">',
        f"  <title>{escape(title)}</title>",
        f"  <style>{_STYLE}  </style>",
        f'  <rect class="page" width="{width}" height="{height}"/>',
        '  <defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
    ]
    for state in State:
        x = _LEFT + _PITCH * state
        parts.append(
            f'  <rect x="{x}" y="{top}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="8"/>'
        )
        parts.append(
            f'  <text class="state" x="{x + _BOX_WIDTH // 2}" y="{top + 27}">{state.name}</text>'
        )
    for (start, end), inputs in found.items():
        parts += _arrow(start, end, inputs, top)
    parts += [
        f'  <text x="{width // 2}" y="{height - 14 - _LINE * row}">{escape(line)}</text>'
        for row, line in enumerate(reversed(lines))
    ]
    return "\n".join([*parts, "</svg>", ""])


def _arrow(start: State, end: State, inputs: list[Input], top: int) -> list[str]:
    step = end - start
    middle = _LEFT + _PITCH * (start + end) // 2 + _BOX_WIDTH // 2
    if step == 1:
        y = top + _BOX_HEIGHT // 2
        x1 = _LEFT + _PITCH * start + _BOX_WIDTH
        path = f"M{x1} {y} L{_LEFT + _PITCH * end} {y}"
        label_y = y - 8
    elif step > 0:  # an arc above, the higher the longer; arrows leave right and arrive left
        x1 = _LEFT + _PITCH * start + _BOX_WIDTH // 2 - 10 * step
        x2 = _LEFT + _PITCH * end + _BOX_WIDTH // 2 + 10 * step
        lift = top - 44 * step + 8
        path = f"M{x1} {top} C{x1} {lift} {x2} {lift} {x2} {top}"
        label_y = (top + 3 * lift) // 4 - 6
    else:
        y = top + _BOX_HEIGHT
        x1 = _LEFT + _PITCH * start + _BOX_WIDTH // 2
        x2 = _LEFT + _PITCH * end + _BOX_WIDTH // 2
        path = f"M{x1} {y} C{x1} {y + 44} {x2} {y + 44} {x2} {y}"
        label_y = y + 48
    drawn = [f'  <path d="{path}" marker-end="url(#tip)"/>']
    for row, how in enumerate(reversed(inputs)):
        drawn.append(f'  <text x="{middle}" y="{label_y - _LINE * row}">{_label(how)}</text>')
    return drawn


def _label(how: Input) -> str:
    """A short name for an arrow: ``GOT_HELLO`` is "got hello"."""
    return how.name.lower().replace("_", " ")


def table(data: Table) -> str:
    """Return `data` as a Markdown table: a row per input, a column per state."""
    states = list(data)
    rows = [
        "| input | " + " | ".join(state.name for state in states) + " |",
        "|---" * (len(states) + 1) + "|",
    ]
    for how in sorted(data[State.OPEN]):
        cells = [_cell(state, data[state][how]) for state in states]
        rows.append(f"| **{_label(how)}**: {MEANINGS[how]} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(state: State, step: Step) -> str:
    if not isinstance(step, State):
        return f"`{step}`"
    return "·" if step is state else step.name


def states() -> str:
    """Return the states as a Markdown list."""
    return "\n".join(f"- **{state.name}**: {meaning}" for state, meaning in STATES.items())
