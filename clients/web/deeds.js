// Fields of a ring that seats may own: names, prices, buildings, owners, and the tokens on them.

import { svg } from "./dom.js";
import { disc } from "./figures.js";

/** @typedef {import("./boards.js").Box} Box */

const HOUSE = "M2 9L8 3L14 9V15H2Z";
const BAND = 24; // how deep the colour of a group is
const STRIP = 13; // and that of the owner
const NARROW = 0.56; // width of a letter as a share of its size

/** Words in lines of so many letters. @type {(text: string, most: number) => string[]} */
function wrapped(text, most) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A line of text that is no wider than its field. @type {(text: string, kind: string, x: number, y: number, size: number, width: number) => SVGElement} */
function line(text, kind, x, y, size, width) {
  const tight = text.length * size * NARROW > width ? { textLength: width, lengthAdjust: "spacingAndGlyphs" } : {};
  return svg("text", { class: kind, x, y, "font-size": size, ...tight }, text);
}

/** The edge of a field on a side of the ring: inner or outer, and so deep. @type {(box: Box, side: Side, inner: boolean, deep: number) => Box} */
function edge({ x, y, width, height }, side, inner, deep) {
  const first = (side === "top" || side === "left") !== inner; // at the upper or the left end of the field
  if (side === "top" || side === "bottom") return { x, y: first ? y : y + height - deep, width, height: deep };
  return { x: first ? x : x + width - deep, y, width: deep, height };
}

/** Houses, or a hotel, side by side on the band of a group. @type {(face: string, band: Box) => SVGElement[]} */
function buildings(face, band) {
  const count = Number(face) || 1;
  const hotel = face === "H";
  const across = band.width > band.height;
  const step = Math.min(hotel ? 26 : 20, (across ? band.width : band.height) / count);
  const size = hotel ? 24 : Math.min(18, step);
  return Array.from({ length: count }, (_, at) => {
    const along = (at - (count - 1) / 2) * step;
    const [x, y] = [band.x + band.width / 2 + (across ? along : 0), band.y + band.height / 2 + (across ? 0 : along)];
    return svg("path", { class: hotel ? "hotel" : "house", d: HOUSE, transform: `translate(${x - size / 2} ${y - size / 2}) scale(${size / 16})` });
  });
}

/** @typedef {"top" | "bottom" | "left" | "right" | ""} Side which side of the ring; "" for a corner */

/** The side of a ring on which a field lies. @type {(y: number, x: number, rows: number, columns: number) => Side} */
export function ringSide(y, x, rows, columns) {
  const [row, column] = [y === 0 ? "top" : y === rows - 1 ? "bottom" : "", x === 0 ? "left" : x === columns - 1 ? "right" : ""];
  return row && column ? "" : /** @type {Side} */ (row || column);
}

/**
 * A field: the band of its group with its buildings, its name and price, the colour of its owner, and tokens.
 * @param {Scenes.Cell} cell
 * @param {string} colour class of the owner's colour
 * @param {Box} box
 * @param {Side} side
 * @param {boolean} printed whether it has its whole name
 */
export function deed(cell, colour, box, side, printed) {
  /** @type {SVGElement[]} */
  const parts = [];
  const upright = side === "top" || side === "bottom";
  const grouped = side && cell.ground && cell.ground !== "plain";
  const band = edge(box, side, true, grouped ? BAND : 4);
  const strip = edge(box, side, false, STRIP);
  if (colour) parts.push(svg("rect", { class: `owned ${colour}`, ...box }), svg("rect", { class: `strip ${colour}`, ...strip }));
  if (grouped) parts.push(svg("rect", { class: `band ground-${cell.ground}`, ...band }));
  const face = cell.face === "m" ? "" : cell.face;
  if (face && grouped) parts.push(...buildings(face, band));
  const [name = "", note = ""] = cell.lines ?? [];
  const inset = (colour ? STRIP : 0) + (grouped ? BAND : 0);
  const width = box.width - (upright ? 0 : inset) - 8;
  const short = printed ? note : note.replace(/^(rent|pay|collect) /, "").replace("mortgaged", "m");
  const lines = (printed ? wrapped(name, Math.floor(width / (15 * NARROW))) : [cell.corner ?? ""]).map((text) => ({ text, kind: "deed-name" }));
  if (short) lines.push({ text: short, kind: "deed-note" });
  const size = printed ? Math.min(15, (box.height - 6) / lines.length / 1.06) : 25;
  const first = side === "top" || side === "left"; // its outer edge is above or left
  const shift = ((grouped ? BAND : 0) - (colour ? STRIP : 0)) / 2 * (first ? -1 : 1);
  const centre = { x: box.x + box.width / 2 + (upright || !side ? 0 : shift), y: box.y + box.height / 2 + (upright ? shift : 0) };
  lines.forEach(({ text, kind }, at) => {
    const y = centre.y + (at - (lines.length - 1) / 2) * size * 1.06;
    parts.push(line(text, `${kind}${cell.face === "m" ? " faded" : ""}`, centre.x, y, kind === "deed-note" && !printed ? size * 0.8 : size, width));
  });
  parts.push(...tokens(cell.tokens ?? [], box, side, printed));
  return parts;
}

/** Tokens inside the ring at their field, so that they hide no word; in a corner below its name. @type {(seats: readonly number[], box: Box, side: Side, printed: boolean) => SVGElement[]} */
function tokens(seats, box, side, printed) {
  const across = side !== "left" && side !== "right";
  const room = side ? (across ? box.width : box.height) : box.width * 0.9;
  const size = Math.min(printed ? 54 : 62, room * 1.25 / Math.max(1, seats.length));
  const { x, y, width, height } = edge(box, side || "top", true, 0);
  const inwards = { top: [0, 1], bottom: [0, -1], left: [1, 0], right: [-1, 0], "": [0, -1] }[side];
  const deep = size * (side ? 0.28 : 0.45);
  return seats.flatMap((seat, at) => {
    const along = (at - (seats.length - 1) / 2) * size * 0.8;
    const place = { x: x + width / 2 + inwards[0] * deep + (across ? along : 0), y: y + height / 2 + inwards[1] * deep + (across ? 0 : along) };
    return [svg("g", { class: "token" }, disc(`seat-${seat}`, place, size))];
  });
}

/** A deed among others of its owner: its short name on the colour of its group, and what stands on it. @type {(cell: Scenes.Cell, box: Box) => SVGElement[]} */
export function smallDeed({ ground, lines, face, text, faint }, { x, y, width, height }) {
  return [svg("rect", { class: `small-deed ground-${ground}`, x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 4 }),
    line(lines?.[0] ?? text, `deed-name${faint ? " faded" : ""}`, x + width / 2, y + height * (face ? 0.3 : 0.5), 14, width - 6),
    ...(face && face !== "m" ? buildings(face, { x, y: y + height * 0.5, width, height: height * 0.45 }) : []),
    ...(face === "m" ? [line("mortg.", "deed-note", x + width / 2, y + height * 0.72, 11, width - 6)] : [])];
}
