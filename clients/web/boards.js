// Where the spots of a board are and what lies under them. It knows looks of boards, and no game.

import { svg } from "./dom.js";

export const CELL = 80;
const LABEL = 22;
const EDGE = 10; // of the frame, where no labels are
const DEEP = 5.4; // spots from the rim of a point board to its middle
const HEX = 0.866;
const ASIDE = CELL * 1.2; // beside a board, for a die
const PIT = { lying: CELL * 1.6, upright: CELL * 2.5 }; // across the board: seeds lie outside, their count inside

const SQUARE = new Set(["checkered", "lines", "wells", "maze"]);
const FRAMED = new Set(["checkered", "lines", "wells", "pits", "points", "heaps"]);
const CROP = 20; // of the cells at the rim of a maze, beyond their walls

/** Fields of a ring: how wide and high those along its sides are, and how deep; printed ones have their whole names. */
const RINGS = { printed: { wide: 96, high: 68, left: 132, top: 116 }, short: { wide: 80, high: 80, left: 104, top: 104 } };

/** True where the fields of a ring have room for their names. */
export const ROOMY = matchMedia("(min-width: 45rem) and (min-height: 30.01rem)");

/** True where a long board with ends stands upright, so that its spots are as wide as a thumb. */
export const UPRIGHT = matchMedia("(max-width: 30rem) and (orientation: portrait)");

/**
 * @typedef {ReturnType<typeof plan>} Plan
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/**
 * The plan of a board.
 * @param {Scenes.Grid} element
 * @param {boolean} turned whether it is shown by half a turn
 * @param {boolean} small whether there is less room than a whole board needs
 * @param {{upright?: boolean, aside?: boolean, printed?: boolean}} more whether it stands upright, has room for dice on the right, and shows whole names
 */
export function plan(element, turned, small, { upright = false, aside = false, printed = false } = {}) {
  const rows = element.rows ?? [];
  const columns = Math.max(1, ...rows.map((row) => row.length));
  const look = element.look ?? "";
  const scale = Math.max(1, columns / 9, rows.length / 9) * (small ? 1.4 : 1); // labels stay readable
  const font = LABEL * scale;
  const labels = { rows: look === "pits" ? [] : element.row_labels ?? [], columns: element.column_labels ?? [] };
  const double = labels.columns.some((label) => label.includes("/"));
  const widest = Math.max(1, ...labels.columns.map((label) => label.length));
  const narrow = Math.min(font, (CELL - 6) / ((double ? 2 : widest) * 0.6));
  const longest = Math.max(0, ...labels.rows.map((label) => label.length));
  const edge = FRAMED.has(look) || (element.theme && look !== "maze") ? EDGE : 0;
  const ends = element.ends?.length === 2 ? CELL * (upright ? 1 : 1.25) : 0;
  const beside = labels.columns.length ? font * 1.55 : edge; // labels of columns
  const crop = look === "maze" ? -CROP : 0;
  const left = upright ? beside : (labels.rows.length ? Math.max(font * 1.5, longest * font * 0.62 + 14) : edge) + ends + crop;
  const right = upright ? beside : edge + ends + (aside ? ASIDE : 0) + crop;
  const below = upright ? edge + ends : beside + crop;
  const above = upright ? edge + ends : (double ? beside : edge) + crop;
  const ring = look !== "circuit" ? null : printed ? RINGS.printed : RINGS.short;
  /** Where fields begin along an axis of a ring: the first and the last are deep. @type {(at: number, deep: number, step: number) => number} */
  const along = (at, deep, step) => (at === 0 ? 0 : deep + (at - 1) * step);
  const high = look === "points" ? CELL * DEEP : look === "hex" ? CELL * HEX : look === "pits" ? PIT[upright ? "upright" : "lying"] : CELL;
  const lying = ring ? {
    width: along(columns - 1, ring.left, ring.wide) + ring.left, height: along(rows.length - 1, ring.top, ring.high) + ring.top,
  } : {
    width: columns * CELL + (look === "hex" ? (rows.length - 1) * CELL / 2 : 0),
    height: rows.length * high + (look === "hex" ? CELL * (1 / HEX - HEX) : 0),
  };
  const inner = upright ? { width: lying.height, height: lying.width } : lying;
  const width = left + inner.width + right;
  const height = above + inner.height + below;
  /** A field of a ring. @type {(y: number, x: number) => Box} */
  const ringBox = (y, x) => {
    const { left: deep, top, wide, high: tall } = ring ?? RINGS.short;
    return { x: left + along(x, deep, wide), y: above + along(y, top, tall), width: x % (columns - 1) ? wide : deep, height: y % (rows.length - 1) ? tall : top };
  };
  /** The middle of a spot. @type {(y: number, x: number) => import("./figures.js").Point} */
  const middle = (y, x) => {
    if (ring) {
      const { x: beginX, y: beginY, width: w, height: h } = ringBox(y, x);
      return { x: beginX + w / 2, y: beginY + h / 2 };
    }
    const at = { x: (x + 0.5) * CELL + (look === "hex" ? y * CELL / 2 : 0), y: (y + 0.5) * high + (look === "hex" ? CELL * (1 / HEX - HEX) / 2 : 0) };
    if (turned) Object.assign(at, { x: lying.width - at.x, y: lying.height - at.y });
    if (upright) Object.assign(at, { x: lying.height - at.y, y: at.x }); // the right end is below
    return { x: left + at.x, y: above + at.y };
  };
  const upper = (/** @type {number} */ y) => (y === 0) !== turned;
  /** A point of a spot that is so far from its middle towards the rim of a board of pits. @type {(y: number, x: number, far: number) => import("./figures.js").Point} */
  const towardsRim = (y, x, far) => {
    const centre = middle(y, x);
    if (look !== "pits") return centre;
    return upright ? { x: centre.x + (upper(y) ? far : -far), y: centre.y } : { x: centre.x, y: centre.y - (upper(y) ? far : -far) };
  };
  const rounded = (/** @type {number} */ number) => Math.round(number * 10) / 10;
  return {
    look, columns, printed,
    /** What a ring encloses. @type {Box | null} */
    hole: ring && { x: left + ring.left, y: above + ring.top, width: lying.width - 2 * ring.left, height: lying.height - 2 * ring.top },
    left, above, high, inner, font, ends, turned, upright, aside,
    width: rounded(width), height: rounded(height), middle,
    /** The middle of what stands on a spot. */
    figure: (/** @type {number} */ y, /** @type {number} */ x) => towardsRim(y, x, (high - CELL) / 2),
    /** The middle of the count of a pit. */
    count: (/** @type {number} */ y, /** @type {number} */ x) => towardsRim(y, x, -CELL * (upright ? 0.5 : 0.45)),
    /** The box of a spot. @type {(y: number, x: number) => Box} */
    box(y, x) {
      if (ring) return ringBox(y, x);
      const centre = middle(y, x);
      if (upright) return { x: centre.x - high / 2, y: centre.y - CELL / 2, width: high, height: CELL };
      return { x: centre.x - CELL / 2, y: centre.y - high / 2, width: CELL, height: high };
    },
    /** Return whether a row is shown at the upper rim. */
    upper,
    /** Coordinates at the edges. */
    labels() {
      const parts = labels.rows.map((label, y) => svg("text", { class: "label", x: (left - ends) / 2, y: middle(y, 0).y, "font-size": font }, label));
      labels.columns.forEach((label, x) => {
        const at = middle(0, x).x + (look === "hex" && !turned ? (rows.length - 1) * CELL / 2 : 0);
        const [first, last] = double && label.includes("/") ? label.split("/") : [double ? label : "", label];
        const [top, bottom] = turned && double ? [last, first] : [first, last];
        if (upright) {
          const { y } = middle(0, x);
          parts.push(svg("text", { class: "label", x: left / 2, y, "font-size": narrow }, bottom));
          if (double) parts.push(svg("text", { class: "label", x: width - right / 2, y, "font-size": narrow }, top));
          return;
        }
        if (double) parts.push(svg("text", { class: "label", x: at, y: above / 2, "font-size": narrow }, top));
        parts.push(svg("text", { class: "label", x: at, y: height - below / 2, "font-size": narrow }, bottom));
      });
      return parts;
    },
    /** The ground under all spots. */
    ground() {
      if (look === "maze") return [svg("rect", { class: "field", x: 0, y: 0, width, height })];
      if (!edge) return [];
      const parts = [svg("rect", { class: "frame", x: 0, y: 0, width, height, rx: 14 })];
      if (look !== "pits") parts.push(svg("rect", { class: look ? "field" : "field gaps", x: left - ends, y: above, width: inner.width + 2 * ends, height: inner.height, rx: look === "wells" ? 8 : 2 }));
      return parts;
    },
    /** The box of a store: 0 is left and 1 right, until the board is turned. @type {(side: number) => Box} */
    end(side) {
      const first = (side === 0) !== turned;
      if (upright) return { x: left + 3, y: (first ? above - ends : above + inner.height) + 3, width: inner.width - 6, height: ends - 6 };
      const at = first ? left - ends : left + inner.width;
      return { x: at + 8, y: above + 6, width: ends - 16, height: inner.height - 12 };
    },
  };
}

/**
 * Lines through a point, which end at the border of the board.
 * @param {Scenes.Grid} element
 * @param {Plan} shape
 * @param {number} y
 * @param {number} x
 * @returns {SVGElement[]}
 */
function crossing(element, shape, y, x) {
  const half = CELL / 2;
  const centre = shape.middle(y, x);
  const sign = shape.turned ? -1 : 1;
  const before = { x: x ? half * sign : 0, y: y ? half * sign : 0 };
  const after = { x: x < element.rows[y].length - 1 ? half * sign : 0, y: y < element.rows.length - 1 ? half * sign : 0 };
  const d = `M${centre.x - before.x} ${centre.y}H${centre.x + after.x}M${centre.x} ${centre.y - before.y}V${centre.y + after.y}`;
  const star = element.rows[y][x].shape === "star" ? [svg("ellipse", { class: "star", cx: centre.x, cy: centre.y, rx: 7, ry: 7 })] : [];
  return [svg("path", { class: "line", d }), ...star];
}

/**
 * A wall, which goes over into those beside it.
 * @param {Scenes.Grid} element
 * @param {Plan} shape
 * @param {number} y
 * @param {number} x
 */
function wall(element, shape, y, x) {
  const is = (/** @type {number} */ row, /** @type {number} */ column) => element.rows[row]?.[column]?.shape === "wall";
  const centre = shape.middle(y, x);
  const sign = shape.turned ? -1 : 1;
  let d = `M${centre.x} ${centre.y}h0`;
  if (is(y, x + 1)) d += `M${centre.x} ${centre.y}h${CELL * sign}`;
  if (is(y + 1, x)) d += `M${centre.x} ${centre.y}v${CELL * sign}`;
  return [svg("path", { class: "wall", d })];
}

/**
 * The drawing of an empty spot; its first element is the spot itself.
 * @param {Scenes.Grid} element
 * @param {Plan} shape
 * @param {number} y
 * @param {number} x
 * @param {string} mark the classes that say what happened there
 * @returns {SVGElement[]}
 */
export function spot(element, shape, y, x, mark) {
  const cell = element.rows[y][x];
  const box = shape.box(y, x);
  const centre = shape.middle(y, x);
  const classes = (more = "") => ["cell", more, mark].filter(Boolean).join(" ");
  switch (shape.look) {
    case "wells":
      return [svg("rect", { class: classes("well"), x: box.x + 5, y: box.y + 5, width: CELL - 10, height: CELL - 10, rx: CELL / 2 })];
    case "pits":
      return [svg("rect", { class: classes("pit"), x: box.x + 3, y: box.y + 3, width: box.width - 6, height: box.height - 6, rx: CELL / 2 })];
    case "hex": {
      const [w, h] = [CELL / 2, CELL / HEX / 2];
      const d = `M${centre.x} ${centre.y - h}l${w} ${h / 2}v${h}l${-w} ${h / 2}l${-w} ${-h / 2}v${-h}z`;
      return [svg("path", { class: classes("hexagon"), d })];
    }
    case "points": {
      const up = shape.upper(y);
      /** @type {SVGElement[]} */
      const parts = [svg("rect", { class: classes("bed"), ...box })];
      const label = element.column_labels?.[x] ?? "";
      if (/\d/.test(label)) {
        const rim = up ? box.y : box.y + box.height;
        const tip = rim + (up ? 1 : -1) * box.height * 0.86;
        parts.push(svg("path", { class: `point ${(x + y) % 2 ? "odd" : "even"}`, d: `M${box.x + 2} ${rim}H${box.x + CELL - 2}L${centre.x} ${tip}z` }));
      } else parts.push(svg("rect", { class: "rail", ...box }));
      return parts;
    }
    case "heaps":
      return [svg("rect", { class: classes(), x: box.x + 4, y: box.y + 4, width: CELL - 8, height: CELL - 8, rx: 10 })];
    case "maze":
      return [svg("rect", { class: classes(), ...box }), ...(cell.shape === "wall" ? wall(element, shape, y, x) : [])];
    case "lines":
      return [svg("rect", { class: classes(), ...box }), ...crossing(element, shape, y, x)];
    default: {
      if (cell.text === " " && !cell.action && !cell.name && shape.look !== "checkered") return [svg("rect", { class: "cell gap", ...box })];
      const dark = shape.look === "checkered" && (x + y) % 2 ? "dark" : cell.shape === "deed" ? "ground-plain" : cell.ground ? `ground-${cell.ground}` : "";
      const printed = cell.shape ? "" : cell.lines?.[0];
      return [svg("rect", { class: classes(dark), ...box, rx: SQUARE.has(shape.look) ? 0 : 10 }),
        ...(printed ? [svg("text", { class: `printed on-${cell.ground}`, ...centre, "font-size": CELL * 0.36 }, printed)] : [])];
    }
  }
}
