// The elements of a scene beside boards: cards, dice, coins, counters, trays of pieces, tables.
// `by` is the drawing that asks: it knows colours and words, and what choosing means.

import { chips } from "./chips.js";
import { smallDeed } from "./deeds.js";
import { html, minus, svg } from "./dom.js";
import { piece } from "./figures.js";
import { NOTHING, drawCards, walk } from "./hands.js";
import { cardsInWords } from "./speak.js";

/** @typedef {import("./scene.js").Drawing} Drawing */

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

const FACES = "\u2680\u2681\u2682\u2683\u2684\u2685";

/** Digits for the faces of dice, as they are read aloud. @param {string} text */
export const spoken = (text) => text.replace(/[\u2680-\u2685]+/g, (faces) => [...faces].map((face) => FACES.indexOf(face) + 1).join(" and "));

/** A text with its dice drawn. @param {string} text */
export function withDice(text) {
  return text.split(/([\u2680-\u2685])/).filter(Boolean).map((part) => (FACES.includes(part)
    ? svg("svg", { viewBox: "0 0 74 74", class: "rolled", "aria-hidden": "true" }, die(FACES.indexOf(part) + 1, 3)) : part));
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
};

const MOST = 8; // coins side by side: each is as wide as a thumb on a phone

/** Dice or coins side by side. @type {(element: Scenes.Hand, by: Drawing, index: number) => SVGElement} */
function drawThings(element, by, index) {
  const cards = element.cards ?? [];
  const look = LOOKS[element.look ?? ""];
  const active = by.choose && cards.some((card) => card.action !== null && card.action !== undefined);
  const columns = Math.min(cards.length, element.look === "coins" ? MOST : cards.length);
  const lines = Math.ceil(cards.length / columns);
  const parts = cards.map((card, at) => {
    const left = at % columns * look.step + 3;
    const drawn = look.draw(card, left);
    if (card.highlight) drawn.push(svg("rect", { class: "counts", x: left, y: 3, width: look.width - 8, height: look.height - 8, rx: 8 }));
    const down = Math.floor(at / columns) * look.height;
    const place = { "data-place": `${index},0,${at}`, ...(down ? { transform: `translate(0 ${down})` } : {}) };
    const { action } = card;
    if (!active || action === null || action === undefined) return svg("g", place, drawn);
    const name = by.words(card.label || card.text || action);
    const node = svg("g", { ...place, class: "spot open start", role: "button", tabindex: 0, "aria-label": name, "data-spot": action }, drawn, svg("title", {}, name));
    node.addEventListener("click", () => by.send(action));
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      by.send(action);
    });
    return node;
  });
  const drawing = svg("svg", { viewBox: `0 0 ${columns * look.step} ${look.height * lines}`, role: active ? "group" : "img", "aria-label": by.words(`${element.label}: ${cardsInWords(element)}`) }, parts);
  if (lines > 1) drawing.style.setProperty("--lines", String(lines));
  if (active) drawing.addEventListener("keydown", walk);
  return drawing;
}

/** Cards and the like before a seat, or on the table. @type {(element: Scenes.Hand, by: Drawing, index: number) => HTMLElement} */
export function drawHand(element, by, index) {
  const all = element.cards ?? [];
  const pile = element.look === "pile";
  const label = by.words(element.label);
  const title = html("div", { class: "soft" }, by.swatch(element.seat), pile && all.length ? `${label} (${all.length})` : label);
  const attributes = { class: `hand ${element.look ?? ""}`.trim(), "data-element": `hand ${element.label}` };
  if (!all.length) return html("div", attributes, title, html("div", { class: "none" }, "none"));
  return html("div", attributes, title, LOOKS[element.look ?? ""] ? drawThings(element, by, index) : drawCards(element, pile ? all.slice(-1) : all, by, index));
}

const number = (/** @type {number} */ value) => minus(Number.isInteger(value) ? String(value) : value.toFixed(2));

/** A number with its name. @type {(element: Scenes.Counter, by: Drawing) => HTMLElement} */
export function drawCounter(element, by) {
  const label = by.words(element.label);
  const value = html("strong", {}, element.unit ?? "", number(element.value));
  const colour = by.colour(element.seat);
  if (element.look === "chips") {
    return html("div", { class: element.value ? "counter heap" : "counter heap empty", "data-element": `counter ${element.label}` },
      chips(element.value), html("span", { class: "amount" }, html("span", { class: "called" }, `${label}: `), value));
  }
  if (!element.target) {
    return html("div", { class: `counter plain-counter${element.look === "score" ? " score" : ""}` }, html("span", { class: "called" }, by.swatch(element.seat), `${label}: `), value);
  }
  const part = Math.max(0, Math.min(1, element.value / element.target));
  const bar = svg("svg", { viewBox: "0 0 300 12", role: "presentation", preserveAspectRatio: "none" },
    svg("rect", { class: "bar", width: 300, height: 12, rx: 6 }),
    svg("rect", { class: colour || "pip", width: 300 * part, height: 12, rx: 6 }));
  return html("div", { class: "counter" }, by.swatch(element.seat), `${label}: `, value, ` / ${element.target}`, bar);
}

/** A line of prose; that of a seat lies before it and needs no name. @type {(element: Scenes.Text, by: Drawing) => HTMLElement} */
export function drawText({ text, seat, look }, by) {
  const lead = seat === null || seat === undefined ? "" : `${by.names[seat]}: `;
  if (!lead) return html("div", { class: "words" }, by.words(text));
  if (look === "badge") return html("span", { class: `badge ${text.slice(lead.length).split(" ")[0]}` }, minus(text.slice(lead.length)));
  return html("div", { class: "words did" }, text.startsWith(lead) ? text.slice(lead.length) : by.words(text));
}

/** What happened last, the latest first. @type {(log: import("./scene.js").Happened[], by: Drawing) => HTMLElement} */
export function drawLog(log, by) {
  return html("ol", { class: "log" }, log.map(({ seat, text, gains }) => html("li", {}, by.swatch(seat), html("span", {}, withDice(by.words(text))),
    gains.map(({ seat: whose, by: gain }) => html("b", {}, whose === seat ? "" : by.swatch(whose), gain > 0 ? `+${gain}` : minus(String(gain)))))));
}

const PIECE = 40;

/** Pieces beside the board. @type {(element: Scenes.Tray, by: Drawing) => HTMLElement} */
export function drawTray(element, by) {
  const label = by.words(element.label);
  const pieces = element.pieces ?? [];
  const spoken = pieces.map((cell) => `${(cell.count ?? 0) > 1 ? `${cell.count} ` : ""}${cell.label || cell.text}`).join(", ") || "none";
  const title = html("span", { class: "soft" }, by.swatch(element.seat), label);
  if (pieces.some(({ ground }) => ground)) { // each a drawing of its own, so that many of them take several lines
    const deeds = pieces.map((cell) => svg("svg", { viewBox: `0 0 ${PIECE} ${PIECE}`, "aria-hidden": "true" }, smallDeed(cell, { x: 0, y: 0, width: PIECE, height: PIECE })));
    return html("div", { class: "tray" }, title, html("div", { class: "deeds", role: "img", "aria-label": `${label}: ${spoken}` }, deeds));
  }
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
  return html("div", { class: "tray" }, title,
    pieces.length ? svg("svg", { viewBox: `0 0 ${x} ${PIECE}`, preserveAspectRatio: "xMinYMid", width: x * 0.75, height: PIECE * 0.75, role: "img", "aria-label": `${label}: ${spoken}` }, shown)
      : html("span", { class: "none" }, "\u2013"));
}

const MOST_ROWS = 7; // of a table that stands upright also in a wide window

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
    row.map((cell) => html("td", { class: [cell.highlight && "mark", cell.won && "won", cell.ground && `ground-${cell.ground}`].filter(Boolean).join(" ") || null, title: by.words(cell.label) || null }, content(cell)))));
  const head = heads.length ? html("thead", {}, html("tr", {}, names.length ? html("td", {}) : null, heads.map((label) => html("th", { scope: "col" }, by.words(label))))) : null;
  const payoffs = rows.length > 0 && rows.every((row) => row.every((cell) => PAYOFFS.test(cell.text)));
  const table = html("table", {}, html("caption", {}, by.words(element.label)), head, html("tbody", {}, body));
  table.addEventListener("keydown", walk);
  const long = rows.length > MOST_ROWS && !names.length && !heads.length; // may lie on its side
  if (long) table.style.setProperty("--across", String(rows[0].length));
  return html("div", { class: ["grid table", payoffs && "both", long && "long"].filter(Boolean).join(" ") }, table);
}
