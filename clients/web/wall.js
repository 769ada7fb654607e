// Many running matches at once, over one connection. Boards are drawn three times a second if there
// is something new to see: a board that is played faster than eyes skips positions.

import { Connection, endpoint } from "./connection.js";
import { byId, clockText, holder, html, say } from "./dom.js";
import { fit, outline } from "./fit.js";
import { drawScene, seatClass } from "./scene.js";
import { sentence } from "./words.js";

const MOST = 64; // boards
const EVERY = 3000; // ms between two looks for new matches
const STAY = 8000; // ms that a board stays after its match is over
const LEAST = 300; // ms that positions are shown, so that they can be seen
const BUDGET = 40; // ms that drawing them may take at once; what is left comes first the next time

const wall = byId("wall");
const empty = html("p", {}, "No match is running now: boards appear here by themselves.");
/** @type {Map<string, Tile>} */
const tiles = new Map();
const write = (node, text) => { if (node.textContent !== text) node.textContent = text; };

/** Make a drawing that is in the page like a new one, and leave what is the same untouched. */
function become(old, made) {
  if (old.isEqualNode(made)) return;
  const alike = old.nodeType === Node.ELEMENT_NODE && old.childNodes.length === made.childNodes.length
    && old.cloneNode(false).isEqualNode(made.cloneNode(false));
  if (!alike) {
    old.replaceWith(made);
    return;
  }
  const parts = [...made.childNodes]; // those that are taken over leave the list
  [...old.childNodes].forEach((child, index) => become(child, parts[index]));
}

/** One board with its players and clocks. */
class Tile {
  constructor(match) {
    this.id = match.match;
    this.seats = match.seats;
    this.names = [];
    this.scene = null;
    this.before = null; // the position before, by which the last action is marked
    this.drawn = null;
    this.drawnAt = 0;
    this.clocks = [];
    this.clocksAt = 0;
    this.outcome = null;
    this.overAt = 0;
    this.ply = match.ply ?? 0;
    this.field = html("div", { class: "field" });
    this.players = html("div", { class: "players" }, this.seats.flatMap((seat) => [
      html("span", { class: "swatch" }), html("span", { class: "who" }, holder(seat)), html("span", { class: "clock" })]));
    this.foot = html("div", { class: "foot" });
    const game = html("span", { class: "unseen" }, match.game);
    this.node = html("a", { class: "tile", href: `/matches/${encodeURIComponent(this.id)}`, "data-match": this.id }, this.field, game, this.players, this.foot);
  }

  /** A position has come; it is drawn when it is this tile's turn. */
  position(scene, ply, clocks, mover) {
    if (scene) {
      if (this.ply !== ply) this.before = this.scene;
      this.scene = scene;
      this.ply = ply;
      if (scene.seats?.length) this.names = scene.seats;
    }
    if (clocks?.length) {
      const runs = clocks.some((clock) => clock.running);
      this.clocks = runs ? clocks : clocks.map((clock) => ({ ...clock, running: (clock.seat ?? 0) === mover }));
      this.clocksAt = performance.now();
    }
  }

  due() {
    return this.scene !== this.drawn;
  }

  draw(now) {
    const { scene, drawn } = this;
    const made = drawScene(scene, this.before);
    // A picture: what is in it is said by the link, and its match has the words.
    for (const node of made.querySelectorAll("[role], title")) node.removeAttribute("role");
    made.setAttribute("aria-hidden", "true");
    if (!this.outcome) write(this.foot, `ply ${this.ply} \u00b7 ${scene.status ?? ""}`);
    if (this.field.firstElementChild) become(this.field.firstElementChild, made);
    else this.field.append(made);
    if (!drawn || outline(drawn) !== outline(scene)) this.room();
    this.drawn = scene;
    this.drawnAt = now;
    const seats = this.players.children;
    this.seats.forEach((_, seat) => {
      seats[3 * seat].setAttribute("class", `swatch ${seatClass(seat, this.names)}`);
      seats[3 * seat + 1].classList.toggle("toMove", scene.seat_to_move === seat && !this.outcome);
    });
  }

  room() {
    if (this.field.firstElementChild) fit(this.field, this.field.clientHeight);
  }

  tick(now) {
    for (const clock of this.clocks) {
      const node = this.players.children[3 * (clock.seat ?? 0) + 2];
      if (node) write(node, clockText((clock.remaining_ms ?? 0) - (clock.running ? now - this.clocksAt : 0)));
    }
  }

  over(outcome) {
    if (this.outcome) return;
    this.outcome = outcome;
    this.overAt = performance.now();
    this.clocks = this.clocks.map((clock) => ({ ...clock, running: false }));
    this.node.classList.add("over");
    write(this.foot, sentence({ ...outcome, reason: "" }, this.seats.map(holder)));
    for (const who of this.players.querySelectorAll(".toMove")) who.classList.remove("toMove");
  }
}

/** As many columns as make the boards largest, taken as squares with two lines below them. */
function arrange() {
  const [width, height] = [wall.clientWidth, Math.max(200, wall.clientHeight)];
  let best = [1, 0];
  const count = Math.max(1, tiles.size);
  for (let columns = 1; columns <= count; columns += 1) {
    const size = Math.min(width / columns, height / Math.ceil(count / columns) - 50);
    if (size > best[1]) best = [columns, size];
  }
  if (matchMedia("(max-width: 45rem)").matches) best = [width < 380 ? 1 : 2, 0];
  wall.style.setProperty("--columns", String(best[0]));
  for (const tile of tiles.values()) tile.room();
}

let painted = 0; // when boards were drawn last

/**
 * Draw what is new on all boards together: where no graphics card helps, painting a frame costs
 * nearly the same for one board as for all, so that few such frames leave most of the time free.
 */
function frame(now) {
  if (now - painted >= LEAST) {
    painted = now;
    const until = performance.now() + BUDGET;
    const due = [...tiles.values()].filter((tile) => tile.due()).sort((a, b) => a.drawnAt - b.drawnAt);
    for (const tile of due) {
      tile.draw(now);
      if (performance.now() > until) break;
    }
    for (const tile of tiles.values()) tile.tick(now);
  }
  requestAnimationFrame(frame);
}

// ------------------------------------------------------------------------- the server

function onMessage(message) {
  const tile = tiles.get(message.match || message.snapshot?.match);
  switch (message.type) {
    case "welcome":
      for (const each of tiles.values()) if (!each.outcome) connection.send({ type: "watch", match: each.id });
      look();
      break;
    case "match": {
      const found = message.snapshot;
      tile?.position(found.scene, found.ply ?? 0, found.clocks, found.scene?.seat_to_move);
      if (found.outcome) tile?.over(found.outcome);
      break;
    }
    case "update":
      tile?.position(message.scene, message.ply ?? 0, message.clocks, message.scene?.seat_to_move);
      break;
    case "finished":
      tile?.over(message.outcome);
      break;
    case "error":
      if (message.fatal) say(message.message);
      else if (message.code === "match/unknown") tile?.over({ termination: "aborted", returns: [] });
      break;
    default:
      break;
  }
}

/** @type {number | undefined} */
let timer;
/** Take new matches up, and those down that are over for a while. */
async function look() {
  clearTimeout(timer);
  timer = setTimeout(look, EVERY);
  const { game, competition } = wall.dataset;
  const wanted = new URLSearchParams({ status: "running", limit: String(MOST) });
  if (competition) wanted.set("competition", competition);
  if (game) wanted.set("game", game);
  let found = null;
  try {
    const response = await fetch(`/api/v1/matches?${wanted}`);
    found = await response.json();
    if (!response.ok) {
      say(found.detail ?? "");
      return;
    }
  } catch {
    return; // the connection says that the server is gone
  }
  const now = performance.now();
  const before = tiles.size;
  const running = new Set(found.map((each) => each.match));
  const come = found.filter((each) => !tiles.has(each.match));
  for (const [id, tile] of tiles) {
    if (!tile.outcome && !running.has(id) && now - tile.clocksAt > STAY) tile.over({ termination: "aborted", returns: [], reason: "over" });
    if (!tile.outcome || now - tile.overAt < STAY) continue;
    const next = come.pop();
    if (next) replace(tile, next); // where one looks at a board, there comes the next
    else tile.node.remove();
    tiles.delete(id);
  }
  for (const match of come.reverse()) {
    if (tiles.size >= MOST) break;
    wall.append(take(match).node);
  }
  if (tiles.size) empty.remove();
  else wall.replaceChildren(empty);
  if (tiles.size !== before) arrange();
}

function take(match) {
  const tile = new Tile(match);
  tiles.set(tile.id, tile);
  connection.send({ type: "watch", match: tile.id });
  return tile;
}

function replace(tile, match) {
  tile.node.replaceWith(take(match).node);
}

const connection = new Connection(endpoint(), onMessage, say);
wall.replaceChildren(empty);
new ResizeObserver(arrange).observe(document.documentElement);
requestAnimationFrame(frame);
