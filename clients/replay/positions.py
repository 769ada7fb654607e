"""The positions of a record as one viewer may see them, also as one page.

Everything goes through the server's own choke point (`plyhouse.server.match.views`), as in the
replays of a server (`plyhouse.server.web.replay`), so a seat's replay shows what the seat saw.

A page of HTML needs nothing else: no server, no network.  It draws with the web client's own
modules.  The page holds them as ``data:`` addresses, and an import map gives these names.  Relative
imports do not work from such addresses, so the sources are rewritten to use the names.
"""

from __future__ import annotations

import base64
import html
import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from plyhouse.clients.shared.errors import CommandError
from plyhouse.clients.shared.match_text import event_text
from plyhouse.clients.shared.output import signed
from plyhouse.clients.terminal.interfaces import Position
from plyhouse.clients.web import FOLDER
from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position as Played
from plyhouse.protocol.messages import Event, Outcome
from plyhouse.protocol.parts import ending_words
from plyhouse.server.match.views import Views
from plyhouse.server.results.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plyhouse.games.base import Game
    from plyhouse.server.results.record import Record

__all__ = ["Position", "holders", "positions_of"]


def positions_of(record: Record, game: Game, viewer: int | None) -> list[Position]:
    """All positions; ``viewer`` is a seat, or None for spectators.

    Raises `CommandError` if the record does not fit the game.
    """
    views = Views(game, game.seats)
    played = Played(game)
    found: list[Position] = []
    told = 0

    def draw() -> None:
        nonlocal told
        happened = tuple(_words(game, event) for event in views.events(viewer, told))
        told = views.length
        found.append(Position(played.ply, happened, views.drawn(played.state, viewer)[1]))

    if played.mover != CHANCE:
        draw()
    try:
        for row in record.events:
            if row.kind not in ("action", "chance"):
                continue
            before = played.state
            action = played.apply(row.seat, row.text)
            charged = row.charged_ns if row.kind == "action" else None
            views.record(before, action, row.text, row.seat, row.ply, charged)
            if played.mover != CHANCE:
                draw()
    except GameError as error:
        raise CommandError(
            f"Match {record.match} cannot be played again as {game.spec}: {error}"
        ) from error
    if played.mover == CHANCE:  # not dealt yet, or cut short before the roll
        draw()
    last = found[-1]
    scene = last.scene
    if record.outcome is not None and played.mover != TERMINAL:
        scene = views.stopped(played.state, viewer)[1]
    ending = _ending(game, record.outcome)
    if record.void_reason is not None:
        ending += f" Void, it counts nowhere: {record.void_reason}"
    found[-1] = Position(last.ply, last.told, scene, ending)
    return found


def holders(record: Record) -> list[str]:
    """The holder of each seat: ``alice/mybot (label of its version)``; a person's name alone."""
    return [
        f"{each.player}{each.bot and f'/{each.bot}'}{each.version and f' ({each.version})'}"
        for each in record.seats
    ]


def _words(game: Game, event: Event) -> str:
    who = "chance" if event.seat < 0 else game.seat_name(event.seat)
    time = "" if event.ms is None else f" in {event.ms / 1000:g} s"
    return f"{who}: {event_text(event)}{time}"


def _ending(game: Game, outcome: Outcome | None) -> str:
    if outcome is None:
        return "The match was not over when this was recorded."
    returns = ", ".join(
        f"{game.seat_name(seat)} {signed(value, 2)}" for seat, value in enumerate(outcome.returns)
    )
    why = ending_words(outcome.termination)
    reason = f" {outcome.reason[:1].upper()}{outcome.reason[1:]}" if outcome.reason else ""
    return f"Result: {returns or 'void'} ({why}).{reason}"


SCRIPT: Final = "scene"
"""The module that draws a position."""
IMPORT: Final = re.compile(r'from "\./(\w+)\.js"')
STYLES: Final = ("style", "boards", "tables")

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
#replay {{ max-width: 46rem; margin: 0 auto; padding: 1rem; }}
#replay .steps {{ display: flex; gap: .5rem; align-items: center; margin: .75rem 0; }}
#replay input {{ flex: 1; }}
</style>
<script type="importmap">{imports}</script>
</head>
<body>
<main id="replay">
<h1>{heading}</h1>
<p>{players}</p>
<div id="scene"></div>
<div class="steps">
<button id="back" type="button">Back</button>
<button id="play" type="button">Play</button>
<button id="forward" type="button">Forward</button>
<input id="at" type="range" min="0" max="{last}" value="0" aria-label="Position">
</div>
<p id="told" role="status"></p>
<p id="end"></p>
<noscript>This page draws with JavaScript.</noscript>
</main>
<script type="application/json" id="positions">{positions}</script>
<script type="module">
import {{ drawScene }} from "plyhouse/scene";
const positions = JSON.parse(document.getElementById("positions").textContent);
const at = document.getElementById("at");
let timer = null;
function show() {{
  const index = Number(at.value);
  const position = positions[index];
  document.getElementById("scene").replaceChildren(
    drawScene(position.scene, positions[index - 1]?.scene ?? null, null));
  document.getElementById("told").textContent =
    `Ply ${{position.ply}} of ${{positions.at(-1).ply}}. ${{position.told.join("; ")}}`;
  document.getElementById("end").textContent = position.end;
}}
function go(to) {{
  at.value = Math.max(0, Math.min(positions.length - 1, to));
  show();
}}
function play() {{
  if (timer !== null) {{
    clearInterval(timer);
    timer = null;
  }} else {{
    if (Number(at.value) === positions.length - 1) go(0);
    timer = setInterval(() => {{
      go(Number(at.value) + 1);
      if (Number(at.value) === positions.length - 1) play();
    }}, 1000);
  }}
  document.getElementById("play").textContent = timer === null ? "Play" : "Stop";
}}
at.addEventListener("input", show);
document.getElementById("back").addEventListener("click", () => go(Number(at.value) - 1));
document.getElementById("forward").addEventListener("click", () => go(Number(at.value) + 1));
document.getElementById("play").addEventListener("click", play);
document.addEventListener("keydown", (event) => {{
  if (event.target === at) return;
  if (event.key === "ArrowLeft") go(Number(at.value) - 1);
  if (event.key === "ArrowRight") go(Number(at.value) + 1);
  if (event.key === "Home") go(0);
  if (event.key === "End") go(positions.length - 1);
}});
show();
</script>
</body>
</html>
"""


def replay_page(
    record: Record, game: Game, positions: Sequence[Position], viewer: int | None
) -> str:
    """The page."""
    players = [f"{game.seat_name(seat)}: {holder}" for seat, holder in enumerate(holders(record))]
    seen = "" if viewer is None else f", as {game.seat_name(viewer)} saw it"
    return _PAGE.format(
        title=html.escape(f"{game.info.title}, match {record.match}"),
        heading=html.escape(game.info.title),
        players=html.escape(f"{'; '.join(players)} ({record.time_control}){seen}"),
        style=styles(),
        imports=import_map(),
        positions=_inert(json.dumps([asdict(position) for position in positions])),
        last=len(positions) - 1,
    )


def styles() -> str:
    """Return the style sheets, escaped for a page."""
    sheets = [(FOLDER / f"{each}.css").read_text(encoding="utf-8") for each in STYLES]
    return "\n".join(sheets).replace("</", "<\\/")


def import_map() -> str:
    """The web client's modules by name, as the content of an import map's script element."""
    modules: dict[str, str] = {}
    missing = [SCRIPT]
    while missing:
        name = missing.pop()
        source = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
        modules[f"plyhouse/{name}"] = _address(IMPORT.sub(r'from "plyhouse/\1"', source))
        missing += [each for each in IMPORT.findall(source) if f"plyhouse/{each}" not in modules]
    return _inert(json.dumps({"imports": modules}))


def _address(source: str) -> str:
    """Return the address of a module that the page holds."""
    return f"data:text/javascript;base64,{base64.b64encode(source.encode()).decode()}"


def _inert(text: str) -> str:
    """JSON that nothing in it can end the script element of."""
    return text.replace("<", "\\u003c")
