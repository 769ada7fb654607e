// A table for scenes without a board: seats around it in the order of play, the viewer's below.
// A seat's cards lie at the rim and its bets before it; what it plays to a trick lies in the middle,
// towards it. Words about the whole table stand in a corner.

import { html } from "./dom.js";

const HELD = new Set(["hand", "dice"]);
const THINGS = new Set(["dice", "coins"]);
const LONG = 5; // cards: games with longer hands play tricks
const LETTER = /^(North|East|South|West)$/; // seats that a compass names

/** The seat to which an element belongs, if it does to one. @param {Scenes.Element} element */
const seatOf = (element) => ("seat" in element ? element.seat ?? null : null);

/** True if an element is a card that was played to the middle. @param {Scenes.Element} element */
const inTrick = (element) => element.kind === "hand" && element.look === "trick";

/** True if an element may stand beside the name of its seat. @param {Scenes.Element} element */
const besideName = (element) => (element.kind === "counter" && element.look === "score") || (element.kind === "text" && element.look === "badge");

/**
 * Where a seat sits: the side of the table, and its place among those of the upper side.
 * The next one in the order of play sits at the left.
 * @param {number} seat
 * @param {number} near the seat that sits below
 * @param {number} count of seats
 * @returns {{side: "s" | "w" | "n" | "e", at: number}}
 */
function sideOf(seat, near, count) {
  const step = (seat - near + count) % count;
  if (step === 0) return { side: "s", at: 0 };
  if (count === 2) return { side: "n", at: 0 };
  if (step === 1) return { side: "w", at: 0 };
  return step === count - 1 ? { side: "e", at: 0 } : { side: "n", at: step - 2 };
}

/** Put something where its seat sits. @type {(node: HTMLElement, seat: number, near: number, count: number) => void} */
export function seatAt(node, seat, near, count) {
  const { side, at } = sideOf(seat, near, count);
  node.dataset.side = side;
  node.style.setProperty("--at", String(at));
}

/** Give a table the columns that so many seats need. @type {(table: HTMLElement, count: number) => void} */
export function columns(table, count) {
  const upper = Math.max(1, count - 3);
  table.style.setProperty("--north", String(upper));
  table.style.setProperty("--mid", upper > 1 ? "1fr" : "2fr");
}

/** @param {string} kind */
function place(kind) {
  const [held, front] = [html("div", { class: "held" }), html("div", { class: "front" })];
  return { node: html("div", { class: kind }, held, front), held, front };
}

/**
 * The middle of a table on which tricks are played: a card of each seat towards it.
 * @param {Scenes.Scene} scene
 * @param {number} near
 * @param {number} count
 */
function trickOf({ seats = [], seat_to_move: mover }, near, count) {
  const trick = html("div", { class: "trick-box" });
  for (let seat = 0; seat < count; seat += 1) {
    const name = seats[seat] ?? "";
    const mark = html("span", { class: mover === seat ? "toMove" : null, "aria-hidden": "true" }, LETTER.test(name) ? name[0] : "");
    seatAt(mark, seat, near, count);
    trick.append(mark);
  }
  return trick;
}

/**
 * The table with all that lies on it. The viewer sits below, the first seat if nobody does.
 * @param {Scenes.Scene} scene
 * @param {(HTMLElement | null)[]} nodes what is drawn of each element
 * @param {((seat: number) => HTMLElement)} [beside] what stands beside the name of a seat, where a page shows names
 */
export function layTable(scene, nodes, beside) {
  const { elements = [], viewer } = scene;
  const near = viewer ?? 0;
  const known = elements.map(seatOf).filter((seat) => seat !== null);
  const count = Math.max(scene.seats?.length ?? 0, ...known.map((seat) => seat + 1));
  /** @type {Map<number, ReturnType<typeof place>>} */
  const seats = new Map();
  const [middle, info] = [html("div", { class: "middle" }), html("div", { class: "info" })];
  /** @type {HTMLElement | null} */
  let trick = null;
  const long = elements.some((element) => element.kind === "hand" && !THINGS.has(element.look ?? "") && element.cards.length > LONG);
  const taken = elements.some((element) => element.kind === "grid" || (element.kind === "hand" && seatOf(element) === null));
  if (elements.some(inTrick) || (long && !taken && count > 2)) middle.append(trick = trickOf(scene, near, count));
  elements.forEach((element, index) => {
    const node = nodes[index];
    if (!node) return;
    const seat = seatOf(element);
    if (seat === null || (element.kind === "counter" && element.label === "Pot")) {
      (element.kind === "text" || (element.kind === "counter" && element.look !== "chips") ? info : middle).append(node);
      return;
    }
    if (trick && inTrick(element)) {
      seatAt(node, seat, near, count);
      trick.append(node);
      return;
    }
    if (beside && besideName(element)) {
      beside(seat).append(node);
      return;
    }
    const there = seats.get(seat) ?? place(seat !== near ? "place" : seat === viewer ? "place near mine" : "place near");
    seats.set(seat, there);
    (HELD.has(element.kind) ? there.held : there.front).append(node);
  });
  for (const [seat, { node }] of seats) seatAt(node, seat, near, count);
  // Seats in the order of play from the viewer's left, as around a table.
  const order = [...seats.keys()].sort((one, other) => (one - near + count) % count - (other - near + count) % count);
  const others = order.filter((seat) => seat !== near).map((seat) => seats.get(seat)?.node ?? "");
  const charted = elements.some(({ kind }, index) => nodes[index] && kind === "grid");
  const bare = !middle.querySelector(".hand, .grid, .dice, .trick-box") && "bare";
  const top = html("div", { class: ["table-top", `of-${count}`, trick && "tricks", bare, charted && "charted"].filter(Boolean).join(" ") },
    others.length ? html("div", { class: "places" }, others) : null, info, middle, seats.get(near)?.node ?? null);
  columns(top, count);
  return top;
}
