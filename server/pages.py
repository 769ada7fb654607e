"""Pages for people, made on the server: no script, no build step, nothing from other hosts.

`front_page` shows leaderboards and matches; `ReferencePage` renders the OpenAPI description, so
that it can be read offline.  The usual viewers for it (Swagger UI, ReDoc, Scalar) load megabytes
of script from a CDN, and the packages that bundle them are larger than this server.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from litestar import Request
from litestar.openapi.plugins import OpenAPIRenderPlugin

from plyhouse.server.hub import Hub, server_version
from plyhouse.server.leaderboards import Line
from plyhouse.storage.rows import MatchRow

__all__ = ["ReferencePage", "front_page", "web_client"]

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #888; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.soft { color: var(--soft); } code, pre { font-family: ui-monospace, monospace; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--line); border-radius: .4rem; }
section > h3 code { font-size: 1.05rem; } a:focus-visible { outline: 3px solid; }
"""


def page(title: str, body: str) -> str:
    """A whole HTML page; ``body`` is HTML already."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>"
        f"<body>{body}</body></html>"
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: int) -> str:
    """A table of HTML cells; the last ``numbers`` columns hold numbers."""
    first = len(heads) - numbers

    def line(tag: str, cells: Sequence[str]) -> str:
        parts = (
            f"<{tag}{' class=n' if index >= first else ''}>{cell}</{tag}>"
            for index, cell in enumerate(cells)
        )
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', heads)}</thead><tbody>{body}</tbody></table>"


def web_client() -> Path | None:
    """The folder of the web client, if it is installed."""
    folder = Path(__file__).resolve().parent.parent / "clients" / "web"
    return folder if (folder / "index.html").is_file() else None


def front_page(
    hub: Hub, boards: Sequence[tuple[str, Sequence[Line]]], recent: Sequence[MatchRow]
) -> str:
    """Leaderboards, running and latest matches, and where to go from here."""
    parts = [
        "<h1>Plyhouse</h1>",
        f"<p class=soft>{html.escape(server_version())} · {len(hub.online())} bots connected · "
        f"{len(hub.runner.live)} matches running · {len(hub.lobby)} seeks open</p>",
        '<nav><a href="/api">API</a> · <a href="/api/v1/matches">matches</a> · '
        '<a href="/api/v1/competitions">competitions</a>'
        + (' · <a href="/web/">watch</a>' if web_client() is not None else "")
        + "</nav>",
    ]
    for game, board in boards:
        link = f"/api/v1/leaderboards/{quote(game, safe='')}"
        parts.append(f'<h2><a href="{link}">{html.escape(game)}</a></h2>{_board(board)}')
    if not boards:
        parts.append("<p>No rated match has been played yet.</p>")
    running = [
        (
            f'<a href="/api/v1/matches/{live.id}">{live.id}</a>',
            html.escape(live.match.game.spec),
            " &ndash; ".join(html.escape(holder.name) for holder in live.holders),
            str(live.match.ply),
        )
        for live in list(hub.runner.live.values())[:50]
    ]
    parts.append("<h2>Running matches</h2>")
    parts.append(
        table(("match", "game", "seats", "ply"), running, 1) if running else "<p>None.</p>"
    )
    if recent:
        results = [
            (
                f'<a href="/api/v1/matches/{row.id}/record">{row.id}</a>',
                html.escape(row.game),
                " &ndash; ".join(html.escape(f"{seat.player}/{seat.bot}") for seat in row.seats),
                html.escape(row.termination),
                " : ".join(f"{value:g}" for value in row.returns),
            )
            for row in recent
        ]
        heads = ("record", "game", "seats", "ended by", "returns")
        parts.append(f"<h2>Latest results</h2>{table(heads, results, 1)}")
    return page("Plyhouse", "".join(parts))


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
    return table(heads, rows, len(heads) - 2)


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
            '<p><a href="/api/openapi.json">openapi.json</a> · <a href="/">front page</a></p>',
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
        return page("Plyhouse API", "".join(parts)).encode()


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
