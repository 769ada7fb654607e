// The start page: running matches and the leaderboards, refreshed while the page is seen.

import { holder, html, signed } from "./dom.js";

const EVERY = 5000;
const byId = (id) => document.getElementById(id);

async function fetched(path) {
  const response = await fetch(`/api/v1/${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

function table(caption, heads, rows) {
  const head = heads.map(([name, kind]) => html("th", { scope: "col", class: kind }, name));
  const body = rows.map((row) =>
    html("tr", {}, row.map((cell, index) => html("td", { class: heads[index][1] }, cell))));
  return html("div", { class: "scroll" },
    html("table", {}, html("caption", {}, caption),
      html("thead", {}, html("tr", {}, head)), html("tbody", {}, body)));
}

function board({ game, standings }) {
  const byReturns = standings.some((line) => line.mean_return !== null && line.mean_return !== undefined);
  const heads = [["#", ""], ["bot", "text"], ["player", "text"], ["rating", ""], ["95 %", ""],
    [byReturns ? "per game" : "score", ""], ["games", ""], ["W-D-L", ""]];
  const rows = standings.map((line) => [
    String(line.rank), line.bot, line.player,
    line.rating === null ? "\u2013" : line.rating.toFixed(0),
    line.rating === null ? "\u2013" : `${line.low.toFixed(0)}\u2026${line.high.toFixed(0)}`,
    byReturns ? signed(line.mean_return ?? 0, 2) : String(line.score),
    String(line.games), `${line.wins}-${line.draws}-${line.losses}`,
  ]);
  return table(game, heads, rows);
}

function matchRow(match) {
  const link = html("a", { href: `match.html?id=${encodeURIComponent(match.match)}` },
    match.seats.map(holder).join(" \u2013 "));
  return [link, match.game, match.time_control, String(match.ply)];
}

async function refresh() {
  try {
    const running = await fetched("matches?status=running&limit=50");
    const heads = [["players", "text"], ["game", "text"], ["time", "text"], ["plies", ""]];
    byId("running").replaceChildren(running.length
      ? table("", heads, running.map(matchRow))
      : html("p", { class: "soft" }, "None now."));
    const games = await fetched("leaderboards");
    const boards = await Promise.all(
      games.map((game) => fetched(`leaderboards/${encodeURIComponent(game)}?limit=20`)));
    byId("boards").replaceChildren(...boards.map(board));
    if (!boards.length) byId("boards").textContent = "No rated match has been played yet.";
    byId("state").textContent = "";
  } catch (error) {
    byId("state").textContent = `The server does not answer (${error.message}).`;
  }
}

refresh();
setInterval(() => { if (!document.hidden) refresh(); }, EVERY);
