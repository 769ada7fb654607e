// The elements of a scene beside boards: cards, dice, coins, counters, trays of pieces, tables.
// `by` is the drawing that asks: it knows colours and words, and what choosing means.

import { chips } from "./chips.js";
import { html, minus, svg } from "./dom.js";
import { SUITS, piece } from "./figures.js";

/** @typedef {import("./scene.js").Drawing} Drawing */

/** A spot on which nothing stands. @type {Scenes.Cell} */
const NOTHING = { text: "", owner: null, shape: "", action: null, label: "", highlight: false, name: "", face: "" };

/** Where the pips of a die are. @type {Record<number, [number, number][]>} */
const PIPS = {
  1: [[1, 1]], 2: [[0, 0], [2, 2]], 3: [[0, 0], [1, 1], [2, 2]],
  4: [[0, 0], [2, 0], [0, 2], [2, 2]], 5: [[0, 0], [2, 0], [1, 1], [0, 2], [2, 2]],
  6: [[0, 0], [2, 0], [0, 1], [2, 1], [0, 2], [2, 2]],
};

/** A die with its pips, or the number if it has more. @type {(value: number, x: number) => SVGElement[]} */
export function die(value, x) {
  const face = svg("rect", { class: "card", x, y: 3, width: 68, height: 68, rx: 12 });
  const marks = PIPS[value]
    ? PIPS[value].map(([px, py]) => svg("circle", { class: "pip", cx: x + 14 + px * 20, cy: 17 + py * 20, r: 7 }))
    : [svg("text", { class: "piece", x: x + 34, y: 38, "font-size": 40 }, value)];
  return [face, ...marks];
}

/** Dice as they lie. @type {(element: Scenes.Dice, by: Drawing, index: number) => HTMLElement} */
export function drawDice(element, by, index) {
  const values = element.values ?? [];
  const title = html("div", { class: "soft" }, by.words(element.label));
  if (!values.length) return html("div", { class: "dice" }, title, html("div", { class: "none" }, "not rolled"));
  const parts = values.map((value, at) => svg("g", { class: "die", "data-die": `${index},${at}` }, die(value, at * 80 + 3)));
  const drawing = svg("svg", { viewBox: `0 0 ${values.length * 80} 76`, role: "img", "aria-label": `${by.words(element.label)}: ${values.join(", ")}` }, parts);
  return html("div", { class: "dice" }, title, drawing);
}

/**
 * How the things of a hand look: width of each, and its drawing.
 * @type {Record<string, {step: number, width: number, height: number, draw: (card: Scenes.Card, x: number) => SVGElement[]}>}
 */
const LOOKS = {
  dice: { step: 80, width: 76, height: 76, draw: (card, x) => (card.text === null
    ? [svg("rect", { class: "back", x, y: 3, width: 68, height: 68, rx: 12 }), svg("text", { class: "unknown", x: x + 34, y: 38 }, "?")]
    : die(Number(card.text), x)) },
  coins: { step: 72, width: 72, height: 76, draw: (card, x) => (card.shape && card.text !== null ? piece({ ...NOTHING, text: card.text, shape: card.shape, faint: card.faint }, "", { x: x + 33, y: 38 }, 72) : card.text === null
    ? [svg("rect", { class: "back", x, y: 5, width: 66, height: 66, rx: 33 }), svg("text", { class: "unknown", x: x + 33, y: 39 }, "?")]
    : [svg("rect", { class: "coin", x, y: 5, width: 66, height: 66, rx: 33 }), svg("rect", { class: "coin-rim", x: x + 7, y: 12, width: 52, height: 52, rx: 26 }),
      ...(card.text.length > 1 ? [svg("text", { class: "coin-text", x: x + 33, y: 39, "font-size": Math.min(26, 76 / card.text.length) }, card.text)] : [])]) },
  "": { step: 70, width: 68, height: 92, draw: (card, x) => [
    svg("rect", { class: card.text === null ? "back" : "card", x, y: 3, width: 60, height: 84, rx: 6 }), ...face(card, x)] },
};

const MOST = 8; // coins side by side: each is as wide as a thumb on a phone
const LONG = 7;

/** The drawing of a card. @type {(card: Scenes.Card, x: number) => SVGElement[]} */
function face(card, x) {
  if (card.text !== null && card.shape) {
    return [...piece({ ...NOTHING, text: card.text, shape: card.shape }, "", { x: x + 30, y: 39 }, 54), svg("text", { class: "card-name", x: x + 30, y: 75 }, card.text)];
  }
  if (card.text === null) return [svg("path", { class: "back-lines", d: `M${x + 8} 11h44v68h-44zM${x + 8} 45L${x + 30} 11L${x + 52} 45L${x + 30} 79z` })];
  const suit = SUITS[card.suit ?? ""];
  if (suit) {
    /** @type {(size: number, left: number, top: number) => SVGElement} */
    const sign = (size, left, top) => svg("path", { class: `suit ${card.suit}`, d: suit, transform: `translate(${x + left} ${top}) scale(${size / 100})` });
    const rank = card.rank || card.text;
    const narrow = rank.length > 1 ? { textLength: 23, lengthAdjust: "spacingAndGlyphs" } : {};
    return [svg("text", { class: `rank ${card.suit}`, x: x + 15, y: 22, ...narrow }, rank), sign(15, 7.5, 34), sign(36, 19, 44)];
  }
  const { length } = card.text;
  return [svg("text", { class: "piece", x: x + 30, y: 46, "font-size": length > 1 ? Math.min(34, 92 / length) : 44, ...(length > 4 ? { textLength: 52, lengthAdjust: "spacingAndGlyphs" } : {}) }, card.text)];
}

/** Cards and the like before a seat, or on the table. @type {(element: Scenes.Hand, by: Drawing, index: number) => HTMLElement} */
export function drawHand(element, by, index) {
  const all = element.cards ?? [];
  const pile = element.look === "pile";
  const cards = pile ? all.slice(-1) : all;
  const look = LOOKS[element.look ?? ""] ?? LOOKS[""];
  const label = by.words(element.label);
  const title = html("div", { class: "soft" }, by.swatch(element.seat), pile && all.length ? `${label} (${all.length})` : label);
  const called = `hand ${element.label}`;
  if (!cards.length) return html("div", { class: `hand ${element.look ?? ""}`.trim(), "data-element": called }, title, html("div", { class: "none" }, "none"));
  const active = by.choose && cards.some((card) => card.action !== null && card.action !== undefined);
  const under = pile ? Math.min(4, all.length - 1) : 0;
  /** @type {SVGElement[]} */
  const parts = [];
  for (let at = 0; at < under; at += 1) parts.push(svg("rect", { class: "back", x: 3 + at * 4, y: 3, width: 60, height: 84, rx: 8 }));
  // A long hand of cards takes two lines on phones, where its cards would be too small to hit.
  const most = element.look === "coins" ? MOST : !element.look && matchMedia("(max-width: 45rem), (max-height: 30rem)").matches ? LONG : cards.length;
  const columns = Math.min(cards.length, most);
  const lines = Math.ceil(cards.length / columns);
  cards.forEach((card, at) => {
    const left = at % columns * look.step + 3 + under * 4;
    const drawn = look.draw(card, left);
    if (card.highlight) drawn.push(svg("rect", { class: "counts", x: left, y: 3, width: look.width - 8, height: look.height - 8, rx: 8 }));
    const down = Math.floor(at / columns) * look.height;
    const place = { "data-place": `${index},0,${at}`, ...(down ? { transform: `translate(0 ${down})` } : {}) };
    const { action } = card;
    if (!active || action === null || action === undefined) {
      parts.push(svg("g", place, drawn));
      return;
    }
    const name = by.words(card.label || card.text || action);
    const node = svg("g", { ...place, class: "spot open start", role: "button", tabindex: 0, "aria-label": name, "data-spot": action }, drawn, svg("title", {}, name));
    node.addEventListener("click", () => by.send(action));
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      by.send(action);
    });
    parts.push(node);
  });
  const spoken = cards.map((card) => (card.text === null ? "face down" : card.label || card.text)).join(", ");
  const width = Math.max(look.width, columns * look.step + under * 4);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${look.height * lines}`, role: active ? "group" : "img", "aria-label": `${label}: ${spoken}` }, parts);
  if (lines > 1) drawing.style.setProperty("--lines", String(lines));
  const long = lines > 1 && !element.look ? " long" : "";
  return html("div", { class: `hand ${element.look ?? ""}${long}`.trim(), "data-element": called }, title, drawing);
}

const number = (/** @type {number} */ value) => minus(Number.isInteger(value) ? String(value) : value.toFixed(2));

/** A number with its name. @type {(element: Scenes.Counter, by: Drawing) => HTMLElement} */
export function drawCounter(element, by) {
  const label = by.words(element.label);
  const value = html("strong", {}, number(element.value));
  const colour = by.colour(element.seat);
  if (element.look === "chips") {
    return html("div", { class: element.value ? "counter heap" : "counter heap empty", "data-element": `counter ${element.label}` },
      chips(element.value), html("span", { class: "amount" }, html("span", { class: "called" }, `${label}: `), value));
  }
  if (!element.target) {
    return html("div", { class: "counter plain-counter" }, html("span", {}, by.swatch(element.seat), `${label}: `, value));
  }
  const part = Math.max(0, Math.min(1, element.value / element.target));
  const bar = svg("svg", { viewBox: "0 0 300 12", role: "presentation", preserveAspectRatio: "none" },
    svg("rect", { class: "bar", width: 300, height: 12, rx: 6 }),
    svg("rect", { class: colour || "pip", width: 300 * part, height: 12, rx: 6 }));
  return html("div", { class: "counter" }, by.swatch(element.seat), `${label}: `, value, ` / ${element.target}`, bar);
}

/** A line of prose; that of a seat lies before it and needs no name. @type {(element: Scenes.Text, by: Drawing) => HTMLElement} */
export function drawText({ text, seat }, by) {
  const lead = seat === null || seat === undefined ? "" : `${by.names[seat]}: `;
  if (!lead) return html("div", { class: "words" }, by.words(text));
  return html("div", { class: "words did" }, text.startsWith(lead) ? text.slice(lead.length) : by.words(text));
}

const PIECE = 40;

/** Pieces beside the board. @type {(element: Scenes.Tray, by: Drawing) => HTMLElement} */
export function drawTray(element, by) {
  const label = by.words(element.label);
  const pieces = element.pieces ?? [];
  /** @type {SVGElement[]} */
  const shown = [];
  let x = 0;
  for (const cell of pieces) {
    shown.push(svg("g", {}, piece(cell, by.colour(cell.owner), { x: x + PIECE / 2, y: PIECE / 2 }, PIECE)));
    x += PIECE;
    if ((cell.count ?? 0) > 1) {
      shown.push(svg("text", { class: "times", x: x - 2, y: PIECE / 2 }, `\u00d7${cell.count}`));
      x += PIECE * 0.75;
    }
  }
  const spoken = pieces.map((cell) => `${(cell.count ?? 0) > 1 ? `${cell.count} ` : ""}${cell.label || cell.text}`).join(", ") || "none";
  return html("div", { class: "tray" }, html("span", { class: "soft" }, by.swatch(element.seat), label),
    pieces.length ? svg("svg", { viewBox: `0 0 ${x} ${PIECE}`, width: x * 0.75, height: PIECE * 0.75, role: "img", "aria-label": `${label}: ${spoken}` }, shown)
      : html("span", { class: "none" }, "\u2013"));
}

/** What the first and the second seat get, as a cell of a table. */
const PAYOFFS = /^(-?[\d.]+),(-?[\d.]+)$/;

/** Rows and columns of text; a cell with an action is a button. @type {(element: Scenes.Grid, by: Drawing) => HTMLElement} */
export function drawTable(element, by) {
  const rows = element.rows ?? [];
  const heads = element.column_labels ?? [];
  const names = element.row_labels ?? [];
  const content = (/** @type {Scenes.Cell} */ cell) => {
    const { action } = cell;
    const text = minus(cell.text).replaceAll(",", ", ");
    const [, ...gets] = PAYOFFS.exec(cell.text) ?? [];
    if (gets.length) return html("span", { class: "payoffs" }, gets.map((each, seat) => html("span", { class: `for-${seat}` }, minus(each))).flatMap((each, at) => (at ? [", ", each] : [each])));
    if (!by.choose || action === null || action === undefined) return html("span", {}, text);
    const button = html("button", { type: "button", "data-spot": action, "data-action": action, "aria-label": by.words(cell.label || cell.text) }, text);
    button.addEventListener("click", () => by.send(action));
    return button;
  };
  const body = rows.map((row, y) => html("tr", {},
    names.length ? html("th", { scope: "row" }, by.words(names[y] ?? "")) : null,
    row.map((cell) => html("td", { class: [cell.highlight && "mark", cell.won && "won"].filter(Boolean).join(" ") || null, title: by.words(cell.label) || null }, content(cell)))));
  const head = heads.length ? html("thead", {}, html("tr", {}, names.length ? html("td", {}) : null, heads.map((label) => html("th", { scope: "col" }, label)))) : null;
  const payoffs = rows.length > 0 && rows.every((row) => row.every((cell) => PAYOFFS.test(cell.text)));
  return html("div", { class: payoffs ? "grid table both" : "grid table" }, html("table", {}, html("caption", {}, by.words(element.label)), head, html("tbody", {}, body)));
}
