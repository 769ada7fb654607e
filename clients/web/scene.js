// Draws a scene, the plain data that describes what one may see: it knows no game.
// Elements of a kind that is not known here are left out, so that newer servers can be watched.

import { html, svg } from "./dom.js";

const CELL = 80;
const MARGIN = 36;
const COLOURS = 6;

const seatClass = (seat) => (seat === null || seat === undefined ? "" : `seat-${seat % COLOURS}`);

/** Whether what stands on a spot is new: it is marked as the last move. */
const changed = (cell, before) => Boolean(before)
  && (cell.text !== before.text || cell.owner !== before.owner || cell.shape !== before.shape);

function grid(element, previous) {
  const rows = element.rows ?? [];
  const columns = Math.max(1, ...rows.map((row) => row.length));
  const left = element.row_labels?.length ? MARGIN : 0;
  const below = element.column_labels?.length ? MARGIN : 0;
  const width = left + columns * CELL;
  const height = rows.length * CELL + below;
  const parts = [];
  rows.forEach((row, y) => {
    if (left) {
      const at = { class: "label", x: left / 2, y: (y + 0.5) * CELL };
      parts.push(svg("text", at, element.row_labels[y] ?? ""));
    }
    row.forEach((cell, x) => parts.push(
      gridCell(cell, left + x * CELL, y * CELL, changed(cell, previous?.rows?.[y]?.[x]))));
  });
  if (below) {
    element.column_labels.forEach((label, x) => {
      const at = { class: "label", x: left + (x + 0.5) * CELL, y: height - below / 2 };
      parts.push(svg("text", at, label));
    });
  }
  const spoken = rows.flat().filter((cell) => cell.text).map((cell) => cell.label || cell.text);
  const name = [element.label, spoken.join("; ") || "empty"].filter(Boolean).join(": ");
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name }, parts);
  return html("div", { class: "grid" }, drawing);
}

function gridCell(cell, x, y, last) {
  const square = svg("rect", {
    class: cell.highlight || last ? "cell mark" : "cell", x, y, width: CELL, height: CELL, rx: 10,
  });
  const parts = [square];
  const centre = { x: x + CELL / 2, y: y + CELL / 2 };
  if (cell.shape === "disc" && cell.text) {
    parts.push(svg("circle", { class: seatClass(cell.owner), cx: centre.x, cy: centre.y, r: CELL * 0.38 }));
  } else if (cell.text) {
    parts.push(svg("text", { class: `piece ${seatClass(cell.owner)}`, ...centre }, cell.text));
  }
  if (cell.label) parts.push(svg("title", {}, cell.label));
  return svg("g", {}, parts);
}

/** The colour of a seat before what belongs to it. */
const swatch = (seat) => (seatClass(seat) ? html("span", { class: `swatch ${seatClass(seat)}` }) : null);

function hand(element) {
  const cards = element.cards ?? [];
  const parts = cards.map((card, index) => {
    const x = index * 70 + 3;
    const face = svg("rect", { class: card.text === null ? "back" : "card", x, y: 3, width: 60, height: 84, rx: 8 });
    if (card.text === null) return face;
    return svg("g", {}, face, svg("text", { class: "piece", x: x + 30, y: 46 }, card.text));
  });
  const spoken = cards.map((card) => card.text ?? "face down").join(", ") || "none";
  const width = Math.max(70, cards.length * 70);
  const drawing = svg("svg", { viewBox: `0 0 ${width} 90`, role: "img", "aria-label": `${element.label}: ${spoken}` }, parts);
  return html("div", { class: "hand" }, html("div", { class: "soft" }, swatch(element.seat), element.label), drawing);
}

const PIPS = {
  1: [[1, 1]], 2: [[0, 0], [2, 2]], 3: [[0, 0], [1, 1], [2, 2]],
  4: [[0, 0], [2, 0], [0, 2], [2, 2]], 5: [[0, 0], [2, 0], [1, 1], [0, 2], [2, 2]],
  6: [[0, 0], [2, 0], [0, 1], [2, 1], [0, 2], [2, 2]],
};

function dice(element) {
  const values = element.values ?? [];
  const parts = values.map((value, index) => {
    const x = index * 80 + 3;
    const face = svg("rect", { class: "card", x, y: 3, width: 68, height: 68, rx: 12 });
    const marks = PIPS[value]
      ? PIPS[value].map(([px, py]) => svg("circle", { class: "pip", cx: x + 14 + px * 20, cy: 17 + py * 20, r: 7 }))
      : [svg("text", { class: "piece", x: x + 34, y: 38 }, value)];
    return svg("g", {}, face, marks);
  });
  const width = Math.max(80, values.length * 80);
  const drawing = svg("svg", { viewBox: `0 0 ${width} 76`, role: "img", "aria-label": `${element.label}: ${values.join(", ") || "none"}` }, parts);
  return html("div", { class: "dice" }, html("div", { class: "soft" }, element.label), drawing);
}

function counter(element) {
  const number = Number.isInteger(element.value) ? String(element.value) : element.value.toFixed(2);
  const text = element.target ? `${element.label}: ${number} / ${element.target}` : `${element.label}: ${number}`;
  if (!element.target) return html("div", {}, swatch(element.seat), text);
  const part = Math.max(0, Math.min(1, element.value / element.target));
  const bar = svg("svg", { viewBox: "0 0 300 12", role: "presentation", preserveAspectRatio: "none" },
    svg("rect", { class: "bar", width: 300, height: 12, rx: 6 }),
    svg("rect", { class: seatClass(element.seat) || "pip", width: 300 * part, height: 12, rx: 6 }));
  return html("div", { class: "counter" }, swatch(element.seat), text, bar);
}

const KINDS = {
  grid, hand, dice, counter,
  text: (element) => html("div", {}, element.text),
};

/** The scene as one HTML element; what differs from the `previous` one is marked. */
export function drawScene(scene, previous = null) {
  const parts = (scene.elements ?? []).map((element, index) => {
    const before = previous?.elements?.[index];
    return KINDS[element.kind]?.(element, before?.kind === element.kind ? before : null) ?? null;
  });
  const status = html("div", { class: "status" }, scene.status ?? "");
  return html("div", { class: "scene" }, parts, status);
}
