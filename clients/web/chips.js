// Stacks of chips of one, five, 25 and 100, for the value of a counter.

import { svg } from "./dom.js";

/** Kinds of chips with their values. @type {[kind: string, worth: number][]} */
const KINDS = [["hundred", 100], ["quarter", 25], ["five", 5], ["one", 1]];
const HIGH = 4; // chips of one stack
const WIDE = 44; // from one stack to the next
const THICK = 7;
const SCALE = 0.65; // pixels to a unit of the drawing
const MOST = 8; // stacks that are drawn; the number beside them says how many chips there are

/** One chip, seen from above at a slant. @type {(x: number, y: number, kind: string) => SVGElement[]} */
function chip(x, y, kind) {
  const [rx, ry] = [19, 8];
  return [
    svg("path", { class: `chip-edge ${kind}`, d: `M${x - rx} ${y}v${THICK}a${rx} ${ry} 0 0 0 ${2 * rx} 0v${-THICK}z` }),
    svg("path", { class: "chip-marks", d: `M${x - 11} ${y + 6.4}v${THICK}M${x} ${y + 8}v${THICK}M${x + 11} ${y + 6.4}v${THICK}` }),
    svg("ellipse", { class: `chip-top ${kind}`, cx: x, cy: y, rx, ry }),
    svg("ellipse", { class: "chip-ring", cx: x, cy: y, rx: rx * 0.62, ry: ry * 0.62 }),
  ];
}

/** How high each stack is, and of which chips. @param {number} count */
function stacks(count) {
  let whole = Math.max(0, Math.round(count));
  /** @type {{kind: string, high: number}[]} */
  const found = [];
  for (const [kind, worth] of KINDS) {
    for (let left = Math.floor(whole / worth); left > 0 && found.length < MOST; left -= HIGH) found.push({ kind, high: Math.min(left, HIGH) });
    whole %= worth;
  }
  return found;
}

/**
 * Chips worth a number, in stacks side by side.
 * @param {number} count
 */
export function chips(count) {
  const all = stacks(count);
  const height = 18 + (HIGH + 1) * THICK; // also of one chip: nothing moves when more come
  const parts = all.flatMap(({ kind, high }, at) => Array.from({ length: high }, (_, up) => chip(22 + at * WIDE, height - 10 - (up + 1) * THICK, kind)).flat());
  return svg("svg", { class: "chips", viewBox: `0 0 ${Math.max(1, all.length) * WIDE} ${height}`, width: Math.max(1, all.length) * WIDE * SCALE, height: height * SCALE, "aria-hidden": "true" }, parts);
}
