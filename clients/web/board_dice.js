// Dice that lie on a board of points, in the half of the seat that rolled them, used ones dimmed.
// On a ring they lie in the middle; on other boards the dice of a seat lie at the right, on its side.

import { CELL } from "./boards.js";
import { svg } from "./dom.js";
import { die } from "./scene_items.js";

const SIZE = 80; // of a die as it is drawn, with the gap to the next one
const SCALE = 1.25;
const RING = { printed: 1.1, short: 1.4 };

/**
 * The dice that lie on the board of a scene: on points, in a ring, or of a seat on a single other board.
 * @param {Scenes.Scene} scene
 * @returns {{dice: Scenes.Dice, index: number} | null}
 */
export function diceOnBoard({ elements = [] }) {
  const boards = elements.flatMap((element) => (element.kind === "grid" && element.look !== "table" ? [element] : []));
  const index = elements.findIndex((element) => element.kind === "dice");
  const dice = elements[index];
  if (boards.length !== 1 || dice?.kind !== "dice") return null;
  const sided = dice.seat !== null && dice.seat !== undefined && boards[0].bottom !== null && boards[0].bottom !== undefined;
  return boards[0].look === "points" || boards[0].look === "circuit" || sided ? { dice, index } : null;
}

/**
 * The dice as they lie on the board.
 * @param {Scenes.Scene} scene
 * @param {import("./boards.js").Plan} shape
 * @param {number | null | undefined} near the seat that sits below
 * @param {boolean} grid whether the board is a grid for screen readers
 */
export function boardDice(scene, shape, near, grid) {
  const found = diceOnBoard(scene);
  if (!found || !found.dice.values.length) return null;
  const { dice: { values, seat, label }, index } = found;
  const own = seat === null || seat === undefined || seat === near;
  const scale = shape.look === "points" ? SCALE : shape.hole ? RING[shape.printed ? "printed" : "short"] : 1;
  /** @type {(x: number, y: number) => SVGElement} */
  const lying = (x, y) => {
    const dice = svg("g", { class: "board-dice", role: grid ? "gridcell" : "img", "aria-label": `${label}: ${values.join(", ")}`, transform: `translate(${x} ${y}) scale(${scale})` },
      values.map((value, at) => svg("g", { class: "die", "data-die": `${index},${at}` }, die(value, at * SIZE + 3))));
    return grid ? svg("g", { role: "row" }, dice) : dice; // a grid has rows only
  };
  if (shape.hole) return lying(shape.hole.x + (shape.hole.width - values.length * SIZE * scale) / 2, shape.hole.y + SIZE / 4);
  if (shape.look !== "points") {
    const x = shape.left + shape.inner.width + (shape.width - shape.left - shape.inner.width - SIZE) / 2 + 3;
    return lying(x, shape.above + (own ? shape.inner.height - CELL * 1.5 : CELL / 2));
  }
  const columns = own ? [7, 12] : [0, 5]; // the right half is that of the seat below
  const middle = [0, 1].map((side) => shape.middle(0, shape.turned ? 13 - columns[side] : columns[side]).x);
  const x = (middle[0] + middle[1]) / 2 - values.length * SIZE * SCALE / 2;
  const y = shape.above + shape.inner.height / 2 - CELL * SCALE / 2;
  return lying(x, y);
}

/** The room inside a ring below its dice. @type {(shape: import("./boards.js").Plan) => import("./boards.js").Box} */
export function belowDice({ hole, printed }) {
  const { x, y, width, height } = hole ?? { x: 0, y: 0, width: 0, height: 0 };
  const above = SIZE * (RING[printed ? "printed" : "short"] + 0.4);
  const rim = SIZE * 0.6; // where tokens stand
  return { x: x + rim, y: y + above, width: width - 2 * rim, height: height - above - rim };
}

/**
 * Which dice a path of pairs has used; a double is used twice.
 * @param {import("./choose.js").Move | undefined} move a way that begins with the path
 * @param {string[]} path
 * @param {readonly number[]} values
 * @returns {boolean[]} by die
 */
export function usedDice(move, path, values) {
  let used = 0;
  const open = new Set((move?.dice ?? []).keys());
  for (let at = 0; move && at + 1 < path.length; at += 2) {
    const pair = [...open].find((each) => move.via[2 * each] === path[at] && move.via[2 * each + 1] === path[at + 1]);
    if (pair === undefined) continue;
    open.delete(pair);
    used |= move.dice?.[pair] ?? 0;
  }
  const bits = [...used.toString(2)].filter((bit) => bit === "1").length;
  const double = values.length > 1 && values.every((value) => value === values[0]);
  return values.map((_, at) => (double ? bits >= 2 * (at + 1) : Boolean(used & (1 << at))));
}
