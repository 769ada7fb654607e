// The pieces on spots: discs, counts of them, and figures. Every figure is drawn in a box of 100.

import { svg } from "./dom.js";

const FOOT = "M22 90v-7q0-7 7-7h42q7 0 7 7v7z";

/** Outlines, and what is drawn on them. */
/** @type {Record<string, [body: string, lines?: string]>} */
const FIGURES = {
  pawn: [`M50 17a14 14 0 0 1 9 25l6 3v6h-8q1 13 12 22H31q11-9 12-22h-8v-6l6-3a14 14 0 0 1 9-25z${FOOT}`],
  rook: [`M25 18h13v8h7v-8h10v8h7v-8h13v19l-9 8v21l6 7H28l6-7V45l-9-8z${FOOT}`, "M34 45h32M34 66h32"],
  bishop: [`M50 7a6 6 0 0 1 5 9q17 14 17 29q0 10-8 16l7 12H29l7-12q-8-6-8-16q0-15 17-29a6 6 0 0 1 5-9z${FOOT}`, "M50 30v20M40 40h20M36 61h28"],
  knight: [`M28 73q1-15 17-26q-5-2-9 2q-6 7-13 4q-6-4-2-11q7-13 16-19l1-12q8 2 12 8q25 5 26 35q1 11-3 19z${FOOT}`, "M39 29v1M58 26q10 12 9 34"],
  queen: [`M50 8a6 6 0 0 1 3 11l8 23l14-17a6 6 0 1 1 6 3l-10 32l4 13H25l4-13l-10-32a6 6 0 1 1 6-3l14 17l8-23a6 6 0 0 1 3-11z${FOOT}`, "M30 60q20-7 40 0"],
  king: [`M46 7h8v8h8v8h-8v9q24-7 27 11q1 10-11 19v11H30V62q-12-9-11-19q3-18 27-11v-9h-8v-8h8z${FOOT}`, "M50 34v22M31 62q19-7 38 0"],
  ghost: ["M17 88V47a33 33 0 0 1 66 0v41l-11-11l-11 11l-11-11l-11 11l-11-11z"],
  pacman: ["M50 50L85 29A41 41 0 1 0 85 71z"],
  rock: ["M14 64L24 36L46 20L70 26L86 50L80 74L58 84H26z", "M24 36L44 48L46 20M44 48L58 84M44 48L86 50M70 26L44 48"],
  paper: ["M24 10h36l18 18v62H24z", "M60 10v18h18M34 44h34M34 56h34M34 68h24"],
  deny: ["M12 14h76q6 0 6 6v44q0 6-6 6H52L32 90V70H12q-6 0-6-6V20q0-6 6-6z", "M34 26l32 32M66 26L34 58"],
  accept: ["M12 14h76q6 0 6 6v44q0 6-6 6H52L32 90V70H12q-6 0-6-6V20q0-6 6-6z", "M28 42l16 16L74 26"],
  scissors: ["M30 62a13 13 0 1 0 .1 0zM70 62a13 13 0 1 0 .1 0zM36 68L68 8l7 9L48 66zM64 68L32 8l-7 9L52 66z"],
};
const GHOST = "M37 35a9 11 0 1 1-.1 0zM65 35a9 11 0 1 1-.1 0z";
const PUPILS = "M40 42a5 5 0 1 1-.1 0zM68 42a5 5 0 1 1-.1 0z";
/** Heads on coins, and what they are worth. @type {Record<string, {head: string, worth: string}>} */
const COINS = {
  penny: { head: "M36 82q3-9-1-15q-13-9-9-27q5-19 24-19q17 0 20 15l6 13l-6 3q2 9-3 19q-5 7-12 4q-2 3 0 7z", worth: "1\u00a2" },
  nickel: { head: "M62 82q-3-8 1-13q5-2 8 5q7-6 4-14q-3-4-3-8q6-24-15-30q-24-5-29 14l-5 13l5 3l-1 6q1 8 10 8q5 1 4 16z", worth: "5\u00a2" },
};
const CROWN = "M29 64l-5-28l14 11l12-18l12 18l14-11l-5 28z";

/** Signs of suits. @type {Record<string, string>} */
export const SUITS = {
  hearts: "M50 86C20 62 8 48 8 32a21 21 0 0 1 42-6a21 21 0 0 1 42 6c0 16-12 30-42 54z",
  diamonds: "M50 8L84 50L50 92L16 50z",
  clubs: "M50 8a19 19 0 0 1 17 28a19 19 0 1 1-10 35q1 12 10 19H33q9-7 10-19a19 19 0 1 1-10-35A19 19 0 0 1 50 8z",
  spades: "M50 8C76 32 90 44 90 58a19 19 0 0 1-33 13q1 12 10 19H33q9-7 10-19a19 19 0 0 1-33-13C10 44 24 32 50 8z",
};

/** @typedef {{x: number, y: number}} Point */

/** The kinds of numbers of each path command: x and y are moved and scaled, s is scaled, k is kept. @type {Record<string, string>} */
const NUMBERS = { M: "xy", L: "xy", H: "x", V: "y", C: "xyxyxy", S: "xyxy", Q: "xyxy", T: "xy", A: "sskkkxy", Z: "" };

/**
 * A path with its commands moved and scaled. A transform would do the same, but browsers keep a record of each
 * one in every frame, which costs a wall of chess boards more than all that is drawn.
 * @param {string} d
 * @param {number} left
 * @param {number} top
 * @param {number} scale
 */
function placed(d, left, top, scale) {
  return d.replace(/([a-z])([^a-z]*)/gi, (_, /** @type {string} */ command, /** @type {string} */ text) => {
    const kinds = NUMBERS[command.toUpperCase()];
    const still = command !== command.toUpperCase();
    const numbers = (text.match(/-?(?:\d+\.?\d*|\.\d+)/g) ?? []).map((each, at) => {
      const kind = kinds[at % kinds.length];
      if (kind === "k") return each; // an angle, or a flag of an arc
      const offset = still || kind === "s" ? 0 : kind === "x" ? left : top;
      return String(Math.round((Number(each) * scale + offset) * 100) / 100);
    });
    return command + numbers.join(" ");
  });
}

/**
 * A path of the box of 100, in a box of `size` around a point.
 * @param {string} d
 * @param {Point} centre
 * @param {number} size
 * @param {import("./dom.js").Attributes} attributes
 * @param {number} stroke its width in the box of 100, if it has any
 */
function outline(d, centre, size, attributes, stroke = 0) {
  const scale = size / 100;
  const path = placed(d, centre.x - size / 2, centre.y - size / 2, scale);
  return svg("path", { ...attributes, d: path, "stroke-width": stroke ? Math.round(stroke * scale * 100) / 100 : null });
}

/**
 * Draws seeds side by side.
 * @param {number} count
 * @param {Point} centre
 * @param {number} size
 */
function seeds(count, centre, size) {
  const shown = Math.min(count, 48);
  const most = size * 0.4;
  const radius = Math.max(size * 0.05, Math.min(size * 0.1, most / Math.sqrt(Math.max(shown, 1)) * 0.62));
  const parts = [];
  for (let seed = 0; seed < shown; seed += 1) { // like those of a sunflower
    const angle = seed * 2.39996;
    const far = shown === 1 ? 0 : Math.sqrt((seed + 0.5) / shown) * (shown < 7 ? size * 0.22 : most * 0.82);
    parts.push(svg("ellipse", { class: `seed tone-${seed % 3}`, cx: centre.x + far * Math.cos(angle), cy: centre.y + far * Math.sin(angle), rx: radius, ry: radius }));
  }
  return parts;
}

/** Seats whose discs have notches, so that discs differ by more than their colour. */
const NOTCHED = new Set(["seat-1", "seat-3", "seat-5"]);

/**
 * @param {string} colour
 * @param {Point} centre
 * @param {number} size
 */
export function disc(colour, centre, size) {
  const around = { cx: centre.x, cy: centre.y, rx: size * 0.355, ry: size * 0.355 };
  const step = 2 * Math.PI * around.rx / 16;
  return [svg("circle", { class: `disc ${colour}`, cx: centre.x, cy: centre.y, r: size * 0.4 }),
    ...(NOTCHED.has(colour) ? [svg("ellipse", { class: "notches", ...around, "stroke-width": size * 0.07, "stroke-dasharray": `${step} ${step}` })] : []),
    svg("ellipse", { class: "rim", cx: centre.x, cy: centre.y, rx: size * 0.29, ry: size * 0.29 })];
}

/** A coin with the head on it. @type {(shape: string, centre: Point, size: number) => SVGElement[]} */
function coin(shape, centre, size) {
  const { head, worth } = COINS[shape];
  return [svg("circle", { class: `coin ${shape}`, cx: centre.x, cy: centre.y, r: size * 0.45 }),
    svg("circle", { class: `coin-rim ${shape}`, cx: centre.x, cy: centre.y, r: size * 0.385 }),
    outline(head, { x: centre.x - size * 0.08, y: centre.y }, size * 0.66, { class: `coin-head ${shape}` }),
    svg("text", { class: "coin-text", x: centre.x + size * 0.25, y: centre.y + size * 0.02, "font-size": size * 0.19 }, worth)];
}

/** A part of a ship: its bow, its stern, or what is between them. @type {(cell: Scenes.Cell, centre: Point, size: number) => SVGElement[]} */
function hull({ joins = "", shape }, centre, size) {
  const upright = joins.includes("n") || joins.includes("s");
  const [behind, ahead] = upright ? [joins.includes("n"), joins.includes("s")] : [joins.includes("w"), joins.includes("e")];
  const bow = ahead ? "L50-28V28" : "L12-28Q40-22 46 0Q40 22 12 28";
  const stern = behind ? "L-50 28V-28Z" : "L-26 28Q-42 26-42 12V-12Q-42-26-26-28Z";
  const transform = `translate(${centre.x} ${centre.y}) scale(${size / 100})${upright ? " rotate(90)" : ""}`;
  return [svg("path", { class: `hull ${shape}`, d: `M${behind ? "-50" : "-26"}-28${bow}${stern}`, transform }),
    svg("path", { class: "deck", d: `M${behind ? "-50" : "-30"} 0H${ahead ? "50" : "24"}`, transform }),
    svg("circle", { class: "turret", cx: centre.x, cy: centre.y, r: size * 0.13 })];
}

/** A match that stands on end. @type {(centre: Point, size: number) => SVGElement[]} */
function match(centre, size) {
  const wide = size * 0.13;
  return [svg("rect", { class: "stick", x: centre.x - wide / 2, y: centre.y - size * 0.32, width: wide, height: size * 0.77, rx: 2 }),
    svg("ellipse", { class: "tip", cx: centre.x, cy: centre.y - size * 0.31, rx: wide * 0.8, ry: wide * 1.05 })];
}

/** A figure as a small picture, in the colour of a seat if it has one. @type {(shape: string, colour?: string) => SVGElement} */
export function icon(shape, colour = "") {
  const cell = { text: shape, owner: null, shape, action: null, label: "", highlight: false, name: "", face: "" };
  return svg("svg", { class: "icon", viewBox: "0 0 100 100", "aria-hidden": "true" }, piece(cell, colour, { x: 50, y: 50 }, 100));
}

/**
 * The figure on a spot.
 * @param {Scenes.Cell} cell the spot
 * @param {string} colour class of the colour that it has
 * @param {Point} centre
 * @param {number} size of the spot
 * @returns {SVGElement[]}
 */
export function piece(cell, colour, centre, size) {
  return cell.faint ? [svg("g", { class: "faint" }, shown(cell, colour, centre, size))] : shown(cell, colour, centre, size);
}

/** @type {typeof piece} */
function shown(cell, colour, centre, size) {
  const text = cell.face || cell.text;
  const whose = colour || "plain";
  const around = { cx: centre.x, cy: centre.y };
  const face = () => (cell.face ? [svg("text", { class: `face on-${whose}`, ...centre, "font-size": size * (cell.face.length > 1 ? 0.38 : 0.46) }, cell.face)] : []);
  const block = (/** @type {string} */ kind) => svg("rect", { class: `${kind} ${whose}`, x: centre.x - size / 2 + 3, y: centre.y - size / 2 + 3, width: size - 6, height: size - 6, rx: size * 0.12 });
  const cross = (/** @type {string} */ kind, /** @type {number} */ part) => svg("path", { class: kind, d: `M${centre.x - size * part} ${centre.y - size * part}l${size * part * 2} ${size * part * 2}m0 ${-size * part * 2}l${-size * part * 2} ${size * part * 2}` });
  if (cell.shape === "seeds") return seeds(cell.count ?? 0, centre, size);
  switch (cell.text && cell.shape) {
    case "disc":
      return [...disc(whose, centre, size), ...face()];
    case "crowned":
      return [...disc(whose, centre, size), outline(CROWN, centre, size * 0.62, { class: `crown on-${whose}` }, 4)];
    case "dot":
      return [svg("circle", { class: `dot ${whose}`, ...around, r: size * 0.12 })];
    case "block":
      return [block("block"), ...face()];
    case "tile":
      return tile(cell, centre, size);
    case "ship":
      return hull(cell, centre, size);
    case "sunk":
      return [...hull(cell, centre, size), cross("struck", 0.2)];
    case "hit":
      return [...(cell.joins ? hull(cell, centre, size) : [svg("circle", { class: "fire", ...around, r: size * 0.3 })]), cross("struck", 0.2)];
    case "miss":
      return [svg("ellipse", { class: "missed", ...around, rx: size * 0.15, ry: size * 0.15 })];
    case "cross":
      return [cross(`stroke ${colour}`, 0.27)];
    case "ring":
      return [svg("circle", { class: `stroke ${colour}`, ...around, r: size * 0.3 })];
    case "match":
      return match(centre, size);
    case "wall":
      return [];
    case "penny":
    case "nickel":
      return coin(cell.shape, centre, size);
    default:
  }
  if (cell.text && Object.hasOwn(FIGURES, cell.shape)) {
    const [body, lines] = FIGURES[cell.shape];
    const parts = [outline(body, centre, size * 0.94, { class: `figure ${whose}` }, 4)];
    if (lines) parts.push(outline(lines, centre, size * 0.94, { class: `figure-lines ${whose}` }, 3.5));
    if (cell.shape === "ghost") {
      parts.push(outline(GHOST, centre, size * 0.94, { class: "eyes" }), outline(PUPILS, centre, size * 0.94, { class: "pupils" }));
    }
    return parts;
  }
  if (!text.trim() || cell.ground) return [];
  const long = Math.min(size * 0.62, size * 0.92 / (text.length * 0.6)); // one line, as wide as the spot
  return [svg("text", { class: `piece ${colour}`, ...centre, "font-size": text.length > 2 ? long : size * 0.62 }, text)];
}

/** A tile with a letter and its points. @type {(cell: Scenes.Cell, centre: Point, size: number) => SVGElement[]} */
function tile(cell, centre, size) {
  const half = size / 2 - 3;
  /** @type {SVGElement[]} */
  const parts = [svg("rect", { class: "tile-body", x: centre.x - half, y: centre.y - half, width: 2 * half, height: 2 * half, rx: size * 0.1 })];
  const kind = cell.text !== cell.text.toUpperCase() ? "tile-letter blank" : "tile-letter";
  if (cell.face) parts.push(svg("text", { class: kind, x: centre.x - (cell.corner ? size * 0.05 : 0), y: centre.y, "font-size": size * 0.6 }, cell.face));
  if (cell.corner) parts.push(svg("text", { class: "tile-points", x: centre.x + half - size * 0.06, y: centre.y + half - size * 0.07, "font-size": size * (cell.corner.length > 1 ? 0.22 : 0.26) }, cell.corner));
  return parts;
}

/**
 * Checkers of a point, one beside the other from the rim inwards; what is hidden is counted.
 * @param {Scenes.Cell} cell
 * @param {string} colour
 * @param {Point} centre
 * @param {number} size
 * @param {number} rim where they begin
 * @param {1 | -1} inwards
 * @returns {SVGElement[]}
 */
export function stack(cell, colour, centre, size, rim, inwards) {
  const count = cell.count || 1;
  const shown = Math.min(count, 5);
  /** @type {SVGElement[]} */
  const parts = [];
  for (let at = 0; at < shown; at += 1) {
    const place = { x: centre.x, y: rim + inwards * size * (0.5 + at * 0.98) };
    parts.push(...disc(colour || "plain", place, size * 1.16));
    if (at === shown - 1 && count > shown) {
      parts.push(svg("text", { class: `face on-${colour}`, ...place, "font-size": size * 0.5 }, count));
    }
  }
  return parts;
}
