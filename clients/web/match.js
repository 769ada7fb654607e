// Watches one match: positions as they come, clocks that run, and a way back through them.

import { Connection, endpoint } from "./connection.js";
import { clockText, holder, html } from "./dom.js";
import { drawScene } from "./scene.js";

const POLL = 1000;
let polling = false;
const byId = (id) => document.getElementById(id);
const id = new URL(location.href).searchParams.get("id") ?? "";

const shown = {
  players: [],
  scenes: [],
  at: 0,
  follow: true,
  events: [],
  clocks: [],
  clocksAt: 0,
  seatToMove: null,
};

function show() {
  const { scenes, at } = shown;
  if (scenes.length) byId("scene").replaceChildren(drawScene(scenes[at].scene));
  byId("where").textContent = scenes.length ? `position after ply ${scenes[at].ply}` : "";
  byId("first").disabled = byId("back").disabled = at <= 0;
  byId("forward").disabled = byId("live").disabled = at >= scenes.length - 1;
}

function step(to) {
  shown.at = Math.max(0, Math.min(shown.scenes.length - 1, to));
  shown.follow = shown.at === shown.scenes.length - 1;
  show();
}

function addScene(scene, ply) {
  if (!scene) return;
  const last = shown.scenes.at(-1);
  if (last && last.ply === ply) shown.scenes[shown.scenes.length - 1] = { scene, ply };
  else shown.scenes.push({ scene, ply });
  shown.seatToMove = scene.seat_to_move;
  if (shown.follow) shown.at = shown.scenes.length - 1;
  show();
}

function addEvents(events) {
  const list = byId("events");
  for (const event of events ?? []) {
    const who = event.seat >= 0 ? holder(shown.players[event.seat] ?? { player: `seat ${event.seat}` }) : "chance";
    const time = event.ms === undefined || event.ms === null ? "" : ` (${(event.ms / 1000).toFixed(2)} s)`;
    list.append(html("li", { value: event.ply + 1 }, `${who}: ${event.action ?? "hidden"}${time}`));
  }
  if (events?.length) list.lastElementChild?.scrollIntoView({ block: "nearest" });
}

function setClocks(clocks) {
  if (!clocks?.length) return;
  shown.clocks = clocks;
  shown.clocksAt = performance.now();
}

function showSeats() {
  const passed = performance.now() - shown.clocksAt;
  const items = shown.players.map((player, seat) => {
    const clock = shown.clocks.find((each) => (each.seat ?? 0) === seat);
    const left = clock ? clockText(clock.remaining_ms - (clock.running ? passed : 0)) : "";
    const rating = player.rating ? ` ${Math.round(player.rating)}` : "";
    return html("li", { "aria-current": String(shown.seatToMove === seat) },
      html("span", { class: `swatch seat-${seat % 6}` }),
      html("span", {}, holder(player), html("span", { class: "soft" }, rating)),
      html("span", { class: "clock" }, left));
  });
  byId("seats").replaceChildren(...items);
}

function showOutcome(outcome) {
  if (!outcome) return;
  shown.seatToMove = null;
  shown.clocks = shown.clocks.map((clock) => ({ ...clock, running: false }));
  const returns = outcome.returns?.join(" : ") ?? "";
  byId("outcome").textContent = `Over (${outcome.termination.replaceAll("_", " ")}). ${returns} ${outcome.reason ?? ""}`;
}

function snapshot(match, scenes = []) {
  shown.players = match.players ?? [];
  shown.scenes = scenes;
  byId("events").replaceChildren();
  byId("title").textContent = match.game;
  document.title = `${match.players.map(holder).join(" - ")}, ${match.game}`;
  byId("about").textContent =
    `${match.time_control}, ${match.rated ? "rated" : "casual"}, commitment ${(match.commitment ?? "").slice(0, 16)}\u2026`;
  addEvents(match.events);
  setClocks(match.clocks);
  addScene(match.scene, match.ply ?? 0);
  showOutcome(match.outcome);
}

function onMessage(message) {
  switch (message.type) {
    case "welcome":
      connection.send({ type: "watch", match: id });
      break;
    case "match":
      if (message.snapshot.match === id) snapshot(message.snapshot);
      break;
    case "update":
      if (message.match !== id) break;
      addEvents(message.events);
      setClocks(message.clocks);
      addScene(message.scene, message.ply ?? 0);
      break;
    case "finished":
      if (message.match !== id) break;
      addEvents(message.events);
      showOutcome(message.outcome);
      break;
    case "error":
      if (message.code.startsWith("auth/")) {
        connection.close();
        refused(message);
      } else if (message.code === "match/unknown") {
        connection.close(); // over for long, perhaps: the result is still known
        poll();
      }
      break;
    default:
      break;
  }
}

// Where the server lets nobody watch without an account, the page asks for the position instead.
async function poll() {
  polling = true;
  let over = false;
  try {
    const response = await fetch(`/api/v1/matches/${encodeURIComponent(id)}`);
    const view = await response.json();
    if (!response.ok) {
      byId("state").textContent = view.message ?? "There is no such match.";
      return;
    }
    over = view.status === "finished";
    if (view.snapshot) {
      const { scenes } = shown;
      snapshot(view.snapshot, scenes);
    } else {
      byId("title").textContent = view.game;
      shown.players = view.seats;
    }
    if (over && !view.snapshot?.outcome) {
      showOutcome({ ...view, returns: view.seats.map((seat) => seat.returned ?? 0) });
    }
    byId("state").textContent = "";
  } catch (error) {
    byId("state").textContent = `The server does not answer (${error.message}).`;
  }
  if (!over && polling) setTimeout(() => { if (polling) poll(); }, POLL);
}

byId("first").addEventListener("click", () => step(0));
byId("back").addEventListener("click", () => step(shown.at - 1));
byId("forward").addEventListener("click", () => step(shown.at + 1));
byId("live").addEventListener("click", () => step(Infinity));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches?.("input")) return;
  const targets = { ArrowLeft: shown.at - 1, ArrowRight: shown.at + 1, Home: 0, End: Infinity };
  if (event.key in targets) {
    step(targets[event.key]);
    event.preventDefault();
  }
});
setInterval(showSeats, 100);

function setState(text) {
  byId("state").textContent = text;
}

// A token is kept for this tab only.
const connect = () => new Connection(endpoint(), sessionStorage.getItem("token") ?? "", onMessage, setState);

function refused(message) {
  if (sessionStorage.getItem("token")) setState(message.message);
  sessionStorage.removeItem("token");
  byId("login").hidden = false;
  if (!polling) poll();
}

byId("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", byId("token").value.trim());
  byId("token").value = "";
  byId("login").hidden = true;
  polling = false;
  connection = connect();
});

let connection = connect();
