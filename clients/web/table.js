// A table for scenes without a board: others' cards and dice above, the middle, one's own below.
// Elements of a seat lie before it: its hand at the rim, its bets towards the middle.

import { html } from "./dom.js";

const HELD = new Set(["hand", "dice"]);

/** The seat to which an element belongs, if it does to one. @param {Scenes.Element} element */
const seatOf = (element) => ("seat" in element ? element.seat ?? null : null);

/** @param {string} kind */
function place(kind) {
  const [held, front] = [html("div", { class: "held" }), html("div", { class: "front" })];
  return { node: html("div", { class: kind }, held, front), held, front };
}

/**
 * The table with all that lies on it. The viewer sits below, the first seat if nobody does.
 * @param {Scenes.Scene} scene
 * @param {(HTMLElement | null)[]} nodes what is drawn of each element
 */
export function layTable({ elements = [], viewer }, nodes) {
  const near = viewer ?? 0;
  /** @type {Map<number, ReturnType<typeof place>>} */
  const seats = new Map();
  const middle = html("div", { class: "middle" });
  elements.forEach((element, index) => {
    const node = nodes[index];
    if (!node) return;
    const seat = seatOf(element);
    if (seat === null) {
      middle.append(node);
      return;
    }
    const there = seats.get(seat) ?? place(seat !== near ? "place" : seat === viewer ? "place near mine" : "place near");
    seats.set(seat, there);
    (HELD.has(element.kind) ? there.held : there.front).append(node);
  });
  // In the order of play from the viewer, as around a table.
  const order = [...seats.keys()].sort((one, other) => (one < near ? one + seats.size : one) - (other < near ? other + seats.size : other));
  const others = order.filter((seat) => seat !== near).map((seat) => seats.get(seat)?.node ?? "");
  const common = elements.filter((element, index) => nodes[index] && seatOf(element) === null);
  // Styles give what is held the room that the middle leaves.
  const bare = !common.some(({ kind }) => kind === "grid" || HELD.has(kind)) && "bare";
  const charted = common.some(({ kind }) => kind === "grid") && "charted";
  return html("div", { class: ["table-top", others.length > 1 && "many", bare, charted].filter(Boolean).join(" ") },
    others.length ? html("div", { class: "places" }, others) : null, middle, seats.get(near)?.node ?? null);
}
