"""Pages for people, made on the server: they work without a script and load nothing from others.

`front_page`, `matches_page` and the like show what is played; `ReferencePage` renders the OpenAPI
description, so that it can be read offline.  The usual viewers for it (Swagger UI, ReDoc, Scalar)
load megabytes of script from a CDN, and the packages that bundle them are larger than this server.

Style and scripts are files of the web client under ``/web``: pages have none inline, as the
content security policy of `plyhouse.server.web.site` demands.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from litestar import Request
from litestar.openapi.plugins import OpenAPIRenderPlugin

from plyhouse.games.errors import GameError
from plyhouse.games.registry import game_names, get_game
from plyhouse.server.house.hub import Hub, server_version
from plyhouse.server.results.leaderboards import Line
from plyhouse.storage.rows import MatchRow

__all__ = [
    "ReferencePage",
    "board_page",
    "front_page",
    "match_page",
    "matches_page",
    "missing_page",
    "play_page",
    "web_client",
]

NAVIGATION = (("/", "Leaderboards"), ("/matches", "Matches"), ("/play", "Play"), ("/api", "API"))


def page(title: str, body: str, *, here: str = "", script: str = "") -> str:
    """A whole HTML page; ``body`` is HTML already, ``script`` names a module of the web client."""
    links = "".join(
        f'<a href="{path}"{" aria-current=page" if path == here else ""}>{name}</a>'
        for path, name in NAVIGATION
    )
    module = f'<script type="module" src="/web/{script}"></script>' if script else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{html.escape(title)}</title>"
        '<link rel="stylesheet" href="/web/style.css">'
        f'<link rel="icon" href="/web/icon.svg" type="image/svg+xml">{module}</head><body>'
        '<header><a class="brand" href="/"><img src="/web/icon.svg" alt="" width="32" height="32">'
        f'Plyhouse</a><nav aria-label="Pages">{links}</nav>'
        '<p id="state" role="status"></p></header>'
        f"<main>{body}</main></body></html>"
    )


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: int, minor: Sequence[int] = ()
) -> str:
    """A table of HTML cells; the last ``numbers`` columns hold numbers.

    The columns ``minor`` give way where there is no room for them.
    """
    first = len(heads) - numbers
    kinds = []
    for index in range(len(heads)):
        names = " ".join((["n"] if index >= first else []) + (["minor"] if index in minor else []))
        kinds.append(f' class="{names}"' if names else "")

    def line(tag: str, cells: Sequence[str], scope: str = "") -> str:
        parts = (
            f"<{tag}{scope}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)
        )
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return (
        f'<div class="scroll"><table><thead>{line("th", heads, " scope=col")}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def web_client() -> Path | None:
    """The folder of the web client, if it is installed."""
    folder = Path(__file__).resolve().parents[2] / "clients" / "web"
    return folder if (folder / "index.html").is_file() else None


def front_page(
    hub: Hub, boards: Sequence[tuple[str, Sequence[Line]]], recent: Sequence[MatchRow]
) -> str:
    """Leaderboards, the latest results, and where to go from here."""
    parts = [
        "<h1>Leaderboards</h1>",
        f'<p class="soft">{_count(len(hub.online()), "bot")} connected · '
        f'<a href="/matches">{_count(len(hub.runner.live), "match", "es")} running</a> · '
        f"{_count(len(hub.lobby), 'seek')} open · {html.escape(server_version())}</p>",
    ]
    for game, board in boards:
        link = f"/leaderboards/{quote(game, safe='')}"
        title = f'<h2><a href="{link}">{_title(game)}</a></h2>'
        parts.append(f"<section>{title}{_board(board)}</section>")
    if not boards:
        parts.append("<p>No rated match has been played yet.</p>")
    if recent:
        parts.append(f"<section><h2>Latest results</h2>{_results(recent)}</section>")
    return page("Plyhouse", "".join(parts), here="/")


def board_page(game: str, board: Sequence[Line]) -> str:
    """The whole leaderboard of a game."""
    link = f"/api/v1/leaderboards/{quote(game, safe='')}"
    shown = _board(board) if board else "<p>No rated match has been played yet.</p>"
    note = f'<p class="soft">{html.escape(game)} · <a href="{link}">as JSON</a></p>'
    return page(f"{game} - Plyhouse", f"<h1>{_title(game)}</h1>{note}{shown}")


def matches_page(hub: Hub, finished: Sequence[MatchRow], *, before: str | None, full: bool) -> str:
    """Running matches and the finished ones; ``full`` if older ones are left."""
    running = [
        (
            _match_link(live.id, [holder.name for holder in live.holders]),
            _title(live.match.game.spec),
            html.escape(str(live.match.config.time_control)),
            str(live.match.ply),
        )
        for live in sorted(hub.runner.live.values(), key=lambda live: live.id, reverse=True)[:200]
    ]
    heads = ("match", "game", "time control", "plies")
    parts = ["<h1>Matches</h1>"]
    if before is None:
        shown = table(heads, running, 1, (2,)) if running else '<p class="soft">None now.</p>'
        parts.append(
            f'<section><h2>Running</h2><div id="running" data-live>{shown}</div></section>'
        )
    shown = _results(finished) if finished else '<p class="soft">None yet.</p>'
    older = ""
    if full:
        older = f'<p><a href="/matches?before={quote(finished[-1].id)}">Older matches</a></p>'
    live = "" if before else " data-live"
    parts.append(
        f'<section><h2>Finished</h2><div id="finished"{live}>{shown}{older}</div></section>'
    )
    return page("Matches - Plyhouse", "".join(parts), here="/matches", script="live.js")


def match_page(row: MatchRow) -> str:
    """One match: who plays, how it stands, and the place in which the web client draws it."""
    names = [_seat_name(seat.player, seat.bot) for seat in row.seats]
    title = html.escape(" - ".join(names))
    rated = "rated" if row.rated else "casual"
    seats = "".join(
        f"<li>{html.escape(name)}"
        + (f" <b>{_signed(row.returns[index])}</b>" if len(row.returns) > index else "")
        + "</li>"
        for index, name in enumerate(names)
    )
    outcome = " ".join(filter(None, (_ending(row.termination), row.reason)))
    link = f"/api/v1/matches/{row.id}"
    record = f' · <a href="{link}/record">Record</a>' if row.status == "finished" else ""
    about = (
        f"{html.escape(row.game)} · {html.escape(row.time_control)} · {rated} · match {row.id}"
        f'<span id="record">{record}</span>'
    )
    return page(
        f"{' - '.join(names)}, {row.game}",
        f'<h1>{_title(row.game)}</h1><p class="soft">{about}</p>'
        f'<div id="match" data-match="{html.escape(row.id)}"{_draws(row.game)}>'
        f'<ol class="plain">{seats}</ol><p>{html.escape(outcome)}</p>'
        f"<noscript><p>With JavaScript this page shows the position and every ply of {title}; "
        "without, the record has them.</p></noscript></div>",
        script="match.js",
    )


def play_page(hub: Hub) -> str:
    """The form with which a person gets into a match; the web client does the rest."""
    games = "".join(f'<option value="{html.escape(name)}">' for name in game_names())
    others = "".join(f'<option value="{html.escape(name)}">' for name in sorted(hub.online())[:200])

    def field(name: str, label: str, note: str, more: str) -> str:
        return (
            f'<p><label for="{name}">{label}</label><input id="{name}" name="{name}" {more} '
            f'aria-describedby="{name}-note"><span class="soft" id="{name}-note">{note}</span></p>'
        )

    body = "".join(
        (
            '<h1>Play</h1><form id="play" hidden>',
            field(
                "token",
                "Your token",
                "The organiser gives it to you; this tab forgets it when it is closed.",
                'type="password" autocomplete="off" required maxlength="256"',
            ),
            field(
                "game",
                "Game",
                "With parameters if you like: go(size=9).",
                'list="games" value="tic_tac_toe" required maxlength="256" spellcheck="false"',
            ),
            field(
                "time",
                "Time control",
                "total:300+5 is five minutes each, and five seconds more after every action.",
                'value="total:300+5" required maxlength="64" spellcheck="false"',
            ),
            field(
                "opponent",
                "Opponent",
                "Nobody named: whoever seeks the same.",
                'list="others" maxlength="129" spellcheck="false"',
            ),
            '<p><label><input type="checkbox" name="rated" value="1"> Rated</label></p>',
            "<p><button>Play</button></p>",
            f'<datalist id="games">{games}</datalist><datalist id="others">{others}</datalist>',
            '</form><div id="waiting" aria-live="polite"></div>',
            "<noscript><p>To play here needs JavaScript; <code>plyhouse play</code> plays in a "
            "terminal.</p></noscript>",
        )
    )
    return page("Play - Plyhouse", body, here="/play", script="play.js")


def missing_page(text: str) -> str:
    """What is shown instead of a page that is not there."""
    return page("Not found - Plyhouse", f"<h1>Not found</h1><p>{html.escape(text)}</p>")


def _results(rows: Sequence[MatchRow]) -> str:
    """A table of finished matches."""
    lines = []
    for row in rows:
        ended = ""
        if row.finished_ms is not None:
            when = datetime.fromtimestamp(row.finished_ms / 1000, UTC)
            ended = f'<time datetime="{when:%Y-%m-%dT%H:%M:%SZ}">{when:%Y-%m-%d %H:%M} UTC</time>'
        lines.append(
            (
                _match_link(row.id, [_seat_name(seat.player, seat.bot) for seat in row.seats]),
                _title(row.game),
                html.escape(_ending(row.termination)),
                ended,
                str(row.ply),
                " : ".join(_signed(value) for value in row.returns) or "&ndash;",
            )
        )
    return table(("match", "game", "ended by", "when", "plies", "result"), lines, 2, (2, 3, 4))


def _match_link(match: str, names: Sequence[str]) -> str:
    shown = " &ndash; ".join(html.escape(name) for name in names)
    return f'<a href="/matches/{quote(match, safe="")}">{shown}</a>'


def _draws(spec: str) -> str:
    """Tells the web client of a game in which draws may be offered."""
    try:
        return " data-draws" if get_game(spec).info.draw_offers else ""
    except GameError:
        return ""


def _title(spec: str) -> str:
    """The title of a game as HTML, with its parameters; its spec if it is not installed."""
    try:
        game = get_game(spec)
    except GameError:
        return html.escape(spec)
    name, _, parameters = game.spec.partition("(")
    shown = f' <span class="soft">({html.escape(parameters)}</span>' if parameters else ""
    return html.escape(game.info.title or name) + shown


def _seat_name(player: str, bot: str) -> str:
    """A seat's holder; a person plays under the player's own name."""
    return player if not bot or bot.lower() == player.lower() else f"{player}/{bot}"


def _ending(termination: str) -> str:
    """A termination in words; nothing for the usual end."""
    return "" if termination == "normal" else termination.replace("_", " ")


def _signed(value: float) -> str:
    """A return with its sign, and none on zero."""
    return f"{value:+g}".replace("-", "\u2212") if value else "0"


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun if number == 1 else noun + plural}"


def _board(lines: Sequence[Line]) -> str:
    """A leaderboard: with points, or with the mean return where the game is scored by it."""
    by_return = any(line.mean_return is not None for line in lines)
    rows = []
    for line in lines:
        row = [
            str(line.rank),
            html.escape(f"{line.player}/{line.bot}"),
            "&ndash;" if line.rating is None else f"{line.rating:.0f}",
            _range(line.low, line.high, "{:.0f}"),
        ]
        if by_return:
            row.append("&ndash;" if line.mean_return is None else f"{line.mean_return:+.2f}")
            row.append(_range(line.mean_low, line.mean_high, "{:+.2f}"))
        else:
            row.append(f"{line.score:g}")
        row += [str(line.games), f"{line.wins}&ndash;{line.draws}&ndash;{line.losses}"]
        rows.append(row)
    points = ("return per match", "95 %") if by_return else ("score",)
    heads = ("#", "bot", "rating", "95 %", *points, "games", "won&ndash;drawn&ndash;lost")
    return table(heads, rows, len(heads) - 2, (3, 5, 7) if by_return else (3, 6))


def _range(low: float | None, high: float | None, form: str) -> str:
    """An interval as text; nothing if there is none."""
    return "" if low is None or high is None else f"{form.format(low)} … {form.format(high)}"


class ReferencePage(OpenAPIRenderPlugin):
    """The OpenAPI description as one plain page."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Render the page."""
        schema = json.loads(self.render_json(request, openapi_schema))
        parts = [
            f"<h1>{html.escape(schema['info']['title'])} API</h1>",
            f"<p>{html.escape(schema['info'].get('description') or '')}</p>",
            '<p><a href="/api/openapi.json">openapi.json</a></p>',
            "<p>Errors are JSON with <code>status</code>, <code>code</code> (stable) and "
            "<code>detail</code> (a sentence).</p>",
        ]
        for path, methods in schema["paths"].items():
            for method, operation in methods.items():
                if isinstance(operation, dict):
                    parts.append(_operation(path, method, operation))
        parts.append("<h2>Types</h2>")
        for name, definition in sorted(schema.get("components", {}).get("schemas", {}).items()):
            parts.append(_type(name, definition))
        return page("Plyhouse API", "".join(parts), here="/api").encode()


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    text = operation.get("description") or operation.get("summary") or ""
    parts = [
        f"<section><h3><code>{method.upper()} {html.escape(path)}</code></h3>",
        f"<p>{html.escape(text)}</p>",
    ]
    parameters = [
        (
            f"<code>{html.escape(each['name'])}</code>",
            html.escape(each["in"]),
            _kind(each.get("schema", {})),
            html.escape(each.get("description") or ""),
        )
        for each in operation.get("parameters", ())
    ]
    if parameters:
        parts.append(table(("parameter", "in", "type", ""), parameters, 0))
    body = operation.get("requestBody", {}).get("content", {})
    parts += [f"<p>Body: {_kind(each.get('schema', {}))}</p>" for each in body.values()]
    for status, answer in operation.get("responses", {}).items():
        if status.startswith("2"):
            parts += [
                f"<p>Answer {status}: {_kind(each.get('schema', {}))}</p>"
                for each in answer.get("content", {}).values()
            ]
    return "".join(parts) + "</section>"


def _type(name: str, definition: dict[str, Any]) -> str:
    title = definition.get("title", name)
    required = set(definition.get("required", ()))
    fields = [
        (
            f"<code>{html.escape(field)}</code>",
            _kind(schema),
            "" if field in required else "may be left out",
        )
        for field, schema in definition.get("properties", {}).items()
    ]
    text = html.escape(definition.get("description") or "")
    return (
        f'<section id="{html.escape(name)}"><h3>{html.escape(title)}</h3><p>{text}</p>'
        + (table(("field", "type", ""), fields, 0) if fields else "")
        + "</section>"
    )


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a few words, with links to named types."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        short = name.rsplit("_", 1)[-1]
        return f'<a href="#{html.escape(name)}">{html.escape(short)}</a>'
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " or ".join(_kind(each) for each in schema[key])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if "enum" in schema:
        return " or ".join(f"<code>{html.escape(str(each))}</code>" for each in schema["enum"])
    kind = schema.get("type", "anything")
    return html.escape(" or ".join(kind) if isinstance(kind, list) else str(kind))
