// The bots' reported thoughts, under the board of a replay: a graph of what each seat
// expected, and the words that go with the ply that is shown.

import { seatClass } from "./colours.js";
import { html, signed, svg } from "./dom.js";
import { place } from "./state.js";
import { chance, valueText } from "./values.js";

const WIDE = 600;
const HIGH = 72;

/**
 * @typedef {Answers.Info} Info
 * @typedef {{at: number, seat: number, info: Info}} Thought `at`: the position that the ply led to
 */

/**
 * The graph's scale: what is drawn at the upper and, negated, at the lower edge.
 * @param {Thought[]} thoughts
 */
export function scale(thoughts) {
  const sizes = thoughts.map(({ info }) => Math.abs(info.value ?? 0));
  return Math.max(1, ...sizes);
}

/**
 * The points of one seat's line, as SVG has them.
 * @param {Thought[]} thoughts of one seat
 * @param {number} last position of the match
 * @param {number} most see `scale`
 */
export function points(thoughts, last, most) {
  return thoughts.flatMap(({ at, info }) => {
    const { value } = info;
    if (value === undefined || value === null) return [];
    const x = (at / Math.max(1, last)) * WIDE;
    const y = (HIGH / 2) * (1 - value / most);
    return [`${x.toFixed(1)},${y.toFixed(1)}`];
  });
}

/**
 * The unit of the bots' values; empty if they are not returns of the game, as they are larger.
 * @param {number} most see `scale`
 */
export function unitOf(most) {
  const { values = "" } = place.dataset;
  return values === "%" && most > 1 ? "" : values;
}

/** A value as a bot reports it. @type {(value: number, unit: string) => string} */
function expected(value, unit) {
  if (unit === "%") return `sees a chance of ${chance(value)}`;
  return `expects ${unit ? valueText(value, unit) : signed(value, 2)}`;
}

/**
 * The thoughts of a bot in words.
 * @param {Info} info
 * @param {string} unit
 */
export function inWords({ value, depth, nodes, pv = [], text = "" }, unit) {
  const parts = [
    value === undefined || value === null ? "" : expected(value, unit),
    depth ? `${depth} ${depth === 1 ? "ply" : "plies"} deep` : "",
    nodes ? `${nodes.toLocaleString("en")} positions` : "",
    pv.length ? `plays on ${pv.join(" ")}` : "",
  ].filter(Boolean);
  return [parts.join(", "), text].filter(Boolean).join(". ");
}

/** The graph and the words; hidden as long as nobody said anything. */
export class Thoughts {
  /**
   * @param {(seat: number) => string} name of a seat's holder
   * @param {(at: number) => void} go to a position
   */
  constructor(name, go) {
    this.name = name;
    /** @type {Thought[]} */
    this.found = [];
    this.last = 0;
    this.graph = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img" });
    this.line = svg("line", { y1: 0, y2: HIGH, class: "here", "vector-effect": "non-scaling-stroke" });
    this.words = html("p", { class: "said" });
    this.who = html("ul", { class: "who" });
    this.values = html("div", { class: "values", "aria-hidden": "true" });
    this.ends = html("div", { class: "ends", "aria-hidden": "true" });
    this.caption = html("figcaption", { class: "soft" });
    this.node = html("figure", { id: "thoughts", class: "thoughts", hidden: true }, this.caption, this.who,
      html("div", { class: "graph" }, this.values, this.graph, this.ends), this.words);
    // For the mouse only: keys and the slider lead everywhere as well.
    this.graph.addEventListener("click", (event) => {
      const { left, width } = this.graph.getBoundingClientRect();
      go(Math.round(((/** @type {MouseEvent} */ (event)).clientX - left) / width * this.last));
    });
  }

  /**
   * Show what was said in a whole match.
   * @param {Thought[]} found
   * @param {number} last position of the match
   * @param {string[]} names what the game calls the seats
   */
  show(found, last, names) {
    this.found = found;
    this.last = last;
    this.node.hidden = found.length === 0;
    const most = scale(found);
    const seats = [...new Set(found.map((each) => each.seat))].sort((one, other) => one - other);
    const lines = seats.flatMap((seat) => {
      const own = points(found.filter((each) => each.seat === seat), last, most);
      return own.length ? [svg("polyline", { class: `line ${seatClass(seat, names)}`, points: own.join(" "), "vector-effect": "non-scaling-stroke" })] : [];
    });
    this.graph.toggleAttribute("hidden", lines.length === 0);
    this.who.replaceChildren(...seats.map((seat) => html("li", {}, html("span", { class: `swatch ${seatClass(seat, names)}` }), this.name(seat))));
    const wins = unitOf(most) === "%";
    this.caption.textContent = `${wins ? "Chances of winning that each bot saw; a draw counts half." : "What each bot expected to get."} Click to go to a ply.`;
    /** At the edge of the graph. @type {(value: number, digits: number) => string} */
    const label = (value, digits) => (wins ? chance(value) : signed(value, value ? digits : 0));
    const digits = most < 10 ? 1 : 0; // after the point
    this.values.replaceChildren(...[most, 0, -most].map((value) => html("span", {}, lines.length ? label(value, digits) : "")));
    this.ends.replaceChildren(html("span", {}, "start"), html("span", {}, `ply ${last}`));
    this.graph.setAttribute("aria-label", `Values from ${label(-most, 0)} to ${label(most, 0)} over ${last} plies, a line for each bot: ${seats.map(this.name).join(", ")}`);
    this.graph.replaceChildren(
      svg("line", { x1: 0, x2: WIDE, y1: HIGH / 2, y2: HIGH / 2, class: "zero", "vector-effect": "non-scaling-stroke" }),
      ...lines, this.line);
  }

  /**
   * Show one more, of a match that runs.
   * @param {Thought} thought
   * @param {number} last position that is known
   * @param {string[]} names what the game calls the seats
   */
  add(thought, last, names) {
    this.show([...this.found.filter(({ at }) => at !== thought.at), thought].sort((one, other) => one.at - other.at), last, names);
  }

  /**
   * Mark a position, and say what the bot that led to it thought.
   * @param {number} at
   */
  mark(at) {
    const x = (at / Math.max(1, this.last)) * WIDE;
    this.line.setAttribute("x1", String(x));
    this.line.setAttribute("x2", String(x));
    const here = this.found.find((each) => each.at === at);
    const text = here ? `${this.name(here.seat)} ${inWords(here.info, unitOf(scale(this.found)))}` : "\u00a0";
    if (this.words.textContent !== text) this.words.textContent = text;
  }
}
