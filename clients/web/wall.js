// Many running matches at once, over one connection. Boards are drawn three times a second if there
// is something new to see: a board that is played faster than eyes skips positions. Boards that are
// scrolled out of sight are not drawn.

import { seatClass } from "./colours.js";
import { Connection, endpoint } from "./connection.js";
import { byId, clockText, holder, html, say, write } from "./dom.js";
import { fit, outline } from "./fit.js";
import { News } from "./competition_news.js";
import { Film } from "./scene.js";
import { score, sentence } from "./words.js";

const MOST = 64; // boards
const EVERY = 3000; // ms between two looks for new matches
const STAY = 8000; // ms that a board stays after its match is over
const LEAST = 300; // ms that positions are shown, so that they can be seen
const LEAST_WIDE = 250; // pixels of a tile in the window of a phone, which scrolls rather than show smaller ones
const SHARE = { one: 0.75, several: 0.44, low: 0.62 }; // of a phone's height: the most that a board takes, in a low window beside others
const TABLE = 1.35; // width to height of a table of felt
const TALL = 1.2; // height to width from which the sides of a table lie below its middle
const AT_ONCE = 6; // boards that are drawn in one frame, so that no frame takes long

const wall = byId("wall");
const phone = matchMedia("(max-width: 45rem), (max-height: 30rem)");
const news = new News(wall.dataset.competition ?? "");
const empty = html("p", {}, "No match is running now: boards appear here by themselves.");
/** @type {Map<string, Tile>} */
const tiles = new Map();

/** @typedef {{termination: string, returns?: number[], reason?: string}} Outcome */

/** One board with its players and clocks. */
class Tile {
  /** @param {Answers.Match} match */
  constructor(match) {
    this.id = match.match;
    this.pairing = match.pairing;
    this.seats = match.seats;
    /** The game's names of the seats. @type {string[]} */
    this.names = [];
    /** @type {Scenes.Scene | null} */
    this.scene = null;
    /** The position before, by which the last action is marked. @type {Scenes.Scene | null} */
    this.before = null;
    /** The scene on the page. @type {Scenes.Scene | null} */
    this.drawn = null;
    this.seen = true; // whether it is on the screen
    this.resized = false; // whether its field may have another size
    /** @type {Messages.ClockState[]} */
    this.clocks = [];
    this.clocksAt = 0;
    /** @type {Outcome | null} */
    this.outcome = null;
    this.overAt = 0;
    this.ply = match.ply ?? 0;
    this.asked = 0; // the number of the request to watch it
    this.film = new Film(); // a picture: its match has the words
    this.field = html("div", { class: "field" });
    this.rows = this.seats.map((seat) => ({
      shown: "", swatch: html("span", { class: "swatch" }), who: html("span", { class: "who" }, holder(seat)), clock: html("span", { class: "clock" }),
    }));
    this.players = html("div", { class: this.seats.length > 2 ? "players many" : "players" }, this.rows.flatMap(({ swatch, who, clock }) => [swatch, who, clock]));
    this.foot = html("div", { class: "foot" });
    const game = html("span", { class: "unseen" }, match.game);
    this.node = html("a", { class: "tile", href: `/matches/${encodeURIComponent(this.id)}`, "data-match": this.id }, this.field, game, this.players, this.foot);
  }

  /**
   * A position has come; it is drawn when it is this tile's turn.
   * @param {{ply: number, scene?: Scenes.Scene | null, clocks?: Messages.ClockState[]}} found
   */
  position({ scene, ply = 0, clocks }) {
    if (scene) {
      if (this.ply !== ply) this.before = this.scene;
      this.scene = scene;
      this.ply = ply;
      if (scene.seats?.length) this.names = scene.seats;
    }
    if (clocks?.length) {
      const runs = clocks.some((clock) => clock.running);
      this.clocks = runs ? clocks : clocks.map((clock) => ({ ...clock, running: (clock.seat ?? 0) === scene?.seat_to_move }));
      this.clocksAt = performance.now();
    }
  }

  /** Whether anything of it is to be drawn. @param {number} now */
  due(now) {
    return this.seen && (this.scene !== this.drawn || this.resized || this.clocks.some((clock) => this.rows[clock.seat ?? 0]?.shown !== this.time(clock, now)));
  }

  /** @param {number} now */
  draw(now) {
    this.tick(now);
    const { scene, drawn } = this;
    if (!scene) return;
    if (scene !== drawn) this.film.show(scene, this.before);
    if (!this.film.node?.isConnected) this.field.replaceChildren(this.film.node ?? "");
    if (!this.outcome) write(this.foot, `ply ${this.ply} \u00b7 ${scene.status ?? ""}`);
    if (this.resized || !drawn || outline(drawn) !== outline(scene)) this.room();
    this.drawn = scene;
    this.rows.forEach(({ swatch, who }, seat) => {
      const colour = `swatch ${seatClass(seat, this.names)}`;
      if (swatch.className !== colour) swatch.className = colour;
      who.classList.toggle("toMove", scene.seat_to_move === seat && !this.outcome);
    });
  }

  /** The height that the boards, or a table, need to be as wide as the tile. */
  wanted() {
    /** @type {NodeListOf<SVGSVGElement>} */
    const boards = this.field.querySelectorAll(".grid > svg");
    const shapes = [...boards].map(({ viewBox }) => viewBox.baseVal.width / viewBox.baseVal.height);
    return Math.ceil(this.field.clientWidth / (shapes.reduce((sum, each) => sum + each, 0) || TABLE)) + (this.field.querySelector(".dice, .counter") ? 40 : 4);
  }

  room() {
    this.resized = false;
    this.field.style.height = phone.matches && wall.style.getPropertyValue("--columns") === "1" ? `min(var(--most), ${this.wanted()}px)` : "";
    const { clientHeight: high, clientWidth: wide } = this.field;
    this.field.classList.toggle("tall", high > TALL * wide);
    this.field.style.setProperty("--high", `${high}px`);
    this.field.style.setProperty("--share", `${Math.min(high, wide) / 100}px`);
    if (this.field.firstElementChild) fit(this.field, high);
  }

  /** The time that is left on a clock, as text. @type {(clock: Messages.ClockState, now: number) => string} */
  time(clock, now) {
    return clockText((clock.remaining_ms ?? 0) - (clock.running ? now - this.clocksAt : 0));
  }

  /** Show the time that is left. @param {number} now */
  tick(now) {
    for (const clock of this.clocks) {
      const row = this.rows[clock.seat ?? 0];
      if (row) write(row.clock, row.shown = this.time(clock, now));
    }
  }

  /** The match has ended. @param {Outcome} outcome */
  over(outcome) {
    if (this.outcome) return;
    this.outcome = outcome;
    this.overAt = performance.now();
    this.node.classList.add("over");
    write(this.foot, sentence({ ...outcome, reason: "" }, this.seats.map(holder)));
    this.rows.forEach(({ who, clock }, seat) => {
      who.classList.remove("toMove");
      const got = outcome.returns?.[seat];
      if (got === undefined) return;
      who.classList.toggle("won", got > 0 && got === Math.max(...(outcome.returns ?? [])));
      write(clock, score(got));
    });
    this.clocks = [];
  }
}

/** As many columns as make the boards largest, taken as squares with two lines below them; on a phone as many as are wide enough. */
function arrange() {
  const [width, height] = [wall.clientWidth, Math.max(200, wall.clientHeight)];
  const count = Math.max(1, tiles.size);
  let best = [1, 0];
  for (let columns = 1; columns <= count; columns += 1) {
    const size = Math.min(width / columns, height / Math.ceil(count / columns) - 50);
    if (size > best[1]) best = [columns, size];
  }
  if (phone.matches) {
    best = [Math.max(1, Math.min(count, Math.floor(width / LEAST_WIDE))), 0];
    const share = innerWidth > innerHeight ? SHARE.low : count === 1 ? SHARE.one : SHARE.several;
    wall.style.setProperty("--most", `${Math.round(share * innerHeight)}px`);
  }
  wall.style.setProperty("--columns", String(best[0]));
  for (const tile of tiles.values()) tile.resized = true; // fitted a few in each frame
}

/** Boards that are to be drawn in this round, one after the other. @type {Tile[]} */
let round = [];
let begun = 0; // when the round began

/**
 * Draw new positions and times in rounds: a few neighbours in each frame until all are done, then no frame until
 * the next round. Without a graphics card even an empty frame has a cost, and what is drawn at one end of the
 * screen and at the other costs twice.
 * @param {number} now
 */
function frame(now) {
  if (!round.length) {
    begun = now;
    round = [...wall.children].flatMap((node) => tiles.get(/** @type {HTMLElement} */ (node).dataset.match ?? "") ?? []).filter((tile) => tile.due(now));
  }
  for (const tile of round.splice(0, AT_ONCE)) tile.draw(now);
  if (round.length) requestAnimationFrame(frame);
  else setTimeout(() => requestAnimationFrame(frame), Math.max(0, begun + LEAST - performance.now()));
}

/** Which boards are on the screen. */
const sight = new IntersectionObserver((found) => {
  for (const { target, isIntersecting } of found) {
    const tile = tiles.get(/** @type {HTMLElement} */ (target).dataset.match ?? "");
    if (tile) tile.seen = isIntersecting;
  }
}, { rootMargin: "50%" });

// ------------------------------------------------------------------------- the server

/** @param {import("./connection.js").Message} message */
function onMessage(message) {
  const tile = tiles.get(("snapshot" in message ? message.snapshot.match : "match" in message ? message.match : "") || "");
  switch (message.type) {
    case "welcome":
      for (const each of tiles.values()) if (!each.outcome) watch(each);
      look();
      break;
    case "match": {
      const found = message.snapshot;
      tile?.position(found);
      if (found.outcome) tile?.over(found.outcome);
      break;
    }
    case "update":
      tile?.position(message);
      break;
    case "finished":
      tile?.over(message.outcome);
      break;
    case "error":
      if (message.fatal) say(message.message);
      else if (message.code === "match/unknown") [...tiles.values()].find((each) => each.asked === message.re)?.over({ termination: "aborted", returns: [], reason: "over" });
      break;
    default:
      break;
  }
}

/** @type {number | undefined} */
let timer;
/** The latest matches of this wall; null if the server does not give them. @param {Record<string, string>} of @returns {Promise<Answers.Match[] | null>} */
async function matches(of) {
  const { game, competition } = wall.dataset;
  const wanted = new URLSearchParams({ ...of, limit: String(MOST) });
  if (competition) wanted.set("competition", competition);
  if (game) wanted.set("game", game);
  try {
    const response = await fetch(`/api/v1/matches?${wanted}`);
    const answer = await response.json();
    if (response.ok) return answer;
    say(answer.detail ?? "");
  } catch {
    // The connection says that the server is gone.
  }
  return null;
}

/** Take new matches up, and those down that are over for a while. */
async function look() {
  clearTimeout(timer);
  timer = setTimeout(look, EVERY);
  const found = await matches({ status: "running" });
  if (!found) return;
  const now = performance.now();
  const before = tiles.size;
  const running = new Set(found.map((each) => each.match));
  const come = found.filter((each) => !tiles.has(each.match));
  for (const [id, tile] of tiles) {
    if (!tile.outcome && (!tile.scene || !running.has(id)) && now - tile.clocksAt > STAY) watch(tile); // an answer was missed
    if (!tile.outcome || now - tile.overAt < STAY) continue;
    const next = come.pop();
    if (next) replace(tile, next); // where one looks at a board, there comes the next
    else tile.node.remove();
    sight.unobserve(tile.node);
    tiles.delete(id);
  }
  for (const match of come.reverse()) {
    if (tiles.size >= MOST) break;
    wall.append(take(match).node);
  }
  if (tiles.size) empty.remove();
  else if (!empty.isConnected) wall.prepend(empty);
  news.toggle(![...tiles.values()].some((tile) => tile.scene), wall);
  if (tiles.size !== before) arrange();
}

/** @param {Tile} tile */
function watch(tile) {
  tile.asked = connection.send({ type: "watch", match: tile.id });
}

/** Watch a match, too; returns its board. @param {Answers.Match} match */
function take(match) {
  const tile = new Tile(match);
  tiles.set(tile.id, tile);
  sight.observe(tile.node);
  watch(tile);
  return tile;
}

/** @type {(tile: Tile, match: Answers.Match) => void} */
function replace(tile, match) {
  tile.node.replaceWith(take(match).node);
}

const connection = new Connection(endpoint(), onMessage, say);
wall.replaceChildren(empty);
new ResizeObserver(arrange).observe(document.documentElement);
requestAnimationFrame(frame);
