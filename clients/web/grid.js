// Draws boards: their spots with what stands there, and their ends. Where spots are is in boards.js.
// `by` is the drawing that asks: it knows colours and words, and what choosing means.

import { belowDice, boardDice, diceOnBoard } from "./board_dice.js";
import { CELL, ROOMY, UPRIGHT, plan, spot } from "./boards.js";
import { spotName } from "./choosing.js";
import { deed, ringSide } from "./deeds.js";
import { html, svg, write } from "./dom.js";
import { piece, stack } from "./figures.js";
import { drawTable } from "./scene_items.js";

/** @typedef {import("./scene.js").Drawing} Drawing */

const ROUND = new Set(["wells", "pits", "hex", "lines"]);

/** Fields of a cell that decide the look of its figure. */
const LOOKS = /** @type {const} */ (["text", "owner", "shape", "face", "count", "joins", "faint", "ground", "corner", "tokens", "lines"]);

/** True if the figure on a spot is new: then it is marked as the last move. @type {(cell: Scenes.Cell, before: Scenes.Cell | undefined) => boolean} */
const changed = (cell, before) => before !== undefined && cell.shape !== "dot" // counted points at the end of a game
  && (cell.text !== before.text || cell.owner !== before.owner || (cell.text !== "" && cell.shape !== before.shape));

/** True if a spot has the same figure as before. @type {(cell: Scenes.Cell, other: Scenes.Cell) => boolean} */
const alike = (cell, other) => cell === other || LOOKS.every((look) => String(cell[look]) === String(other[look]));

/** A key of the look of an empty spot. @param {Scenes.Cell} cell */
const ground = (cell) => `${cell.text === " "}${cell.shape === "star"}${cell.shape === "wall"}${Boolean(cell.action)}${cell.name}${cell.shape ? "" : cell.lines ?? ""}`;

/**
 * A board.
 * @param {Scenes.Grid} element
 * @param {Drawing} by
 * @param {number} index of the element in its scene
 * @param {boolean} several whether it is one of several
 */
export function drawGrid(element, by, index, several) {
  if (element.look === "table") return drawTable(element, by);
  const board = new Board(element, by, index, several);
  by.boards.set(index, board);
  return board.draw(by.before(index));
}

/** One board as it is drawn. */
export class Board {
  /**
   * @param {Scenes.Grid} element
   * @param {Drawing} by
   * @param {number} index of the element in its scene
   * @param {boolean} several
   */
  constructor(element, by, index, several) {
    this.element = element;
    this.by = by;
    this.index = index;
    this.several = several;
    this.shape = plan(element, by.turned(element), several, {
      upright: element.look === "pits" && !by.silent && !several && UPRIGHT.matches,
      printed: !by.silent && !several && ROOMY.matches,
      aside: element.look !== "points" && element.look !== "circuit" && !by.silent && diceOnBoard(by.scene) !== null,
    });
    this.choosing = by.choosing?.onBoards ? by.choosing : null;
    /** Cells as they are drawn. @type {SVGElement[][]} */
    this.nodes = [];
    /** The figures on them, in it. @type {SVGElement[][]} */
    this.holders = [];
    /** How they are marked. @type {string[][]} */
    this.marks = [];
    /** @type {SVGElement[]} */
    this.ends = [];
    /** What is said inside a ring. */
    this.inside = html("div", { class: "inside" });
  }

  /** @param {Scenes.Grid | null} previous the same board before; what differs is marked */
  draw(previous) {
    const { element, by, shape, several, choosing } = this;
    const rows = element.rows ?? [];
    /** @type {SVGElement[]} */
    const parts = [...shape.ground(), ...(by.silent ? [] : shape.labels())];
    this.marks = rows.map((row, y) => row.map((cell, x) => this.mark(cell, previous?.rows?.[y]?.[x])));
    this.holders = rows.map(() => []);
    this.nodes = rows.map((row, y) => row.map((_, x) => this.cell(y, x)));
    for (const cells of this.nodes) parts.push(svg("g", choosing ? { role: "row" } : {}, cells));
    if (shape.ends) {
      this.ends = (element.ends ?? []).map((cell, side) => this.end(cell, side));
      parts.push(svg("g", choosing ? { role: "row" } : {}, this.ends));
    }
    const dice = (shape.look === "points" || shape.look === "circuit" || shape.aside) && !by.silent ? boardDice(by.scene, shape, element.bottom === null || element.bottom === undefined ? null : shape.turned ? 1 - element.bottom : element.bottom, Boolean(choosing)) : null;
    if (dice) parts.push(dice);
    if (shape.hole && !by.silent) parts.push(svg("foreignObject", belowDice(shape), this.inside));
    if (dice && choosing && shape.look === "points") {
      choosing.values = diceOnBoard(by.scene)?.dice.values ?? [];
      choosing.dim = (used) => dice.querySelectorAll(".die").forEach((node, at) => node.classList.toggle("used", used[at]));
    }
    const size = shape.columns <= 4 ? "small" : shape.width > shape.height * 1.6 ? "wide" : "";
    const classes = ["grid", size, shape.upright && "upright", shape.printed && "printed-names", element.look, element.theme && `theme-${element.theme}`].filter(Boolean).join(" ");
    return html("div", { class: classes },
      several && element.label ? html("div", { class: "soft" }, by.words(element.label)) : null,
      svg("svg", { viewBox: `0 0 ${shape.width} ${shape.height}`, ...(by.silent ? {} : this.role()) }, parts));
  }

  /** The board's description for screen readers: all its figures, unless the reader walks over the board. */
  role() {
    const { element, by, choosing } = this;
    const label = by.words(element.label);
    if (choosing) return { role: "grid", "aria-label": label || "Board" };
    const cells = [...(element.rows ?? []).flat(), ...(element.ends ?? [])];
    const spoken = cells.filter((cell) => cell.text.trim()).map((cell) => cell.label || cell.text);
    return { role: "img", "aria-label": [label, spoken.join("; ") || "empty"].filter(Boolean).join(": ") };
  }

  /**
   * Shows the current board; only differences from the previous one are drawn again.
   * Only for boards on which nothing is chosen, and which nobody hears.
   * @param {Scenes.Grid} element
   * @param {Scenes.Grid | null} previous
   */
  follow(element, previous) {
    const old = this.element;
    this.element = element;
    element.rows.forEach((row, y) => row.forEach((cell, x) => {
      this.followCell(y, x, cell, old.rows[y][x], this.mark(cell, previous?.rows?.[y]?.[x]));
    }));
    this.ends.forEach((node, side) => {
      const [now, before] = [element.ends?.[side], old.ends?.[side]];
      if (!now || (before && alike(now, before))) return;
      this.ends[side] = this.end(now, side);
      node.replaceWith(this.ends[side]);
    });
  }

  /**
   * @param {number} y
   * @param {number} x
   * @param {Scenes.Cell} cell
   * @param {Scenes.Cell} old
   * @param {string} mark
   */
  followCell(y, x, cell, old, mark) {
    const node = this.nodes[y][x];
    const marked = mark !== this.marks[y][x];
    this.marks[y][x] = mark;
    if (ground(cell) !== ground(old)) {
      this.nodes[y][x] = this.cell(y, x);
      node.replaceWith(this.nodes[y][x]);
      return;
    }
    if (marked) node.firstElementChild?.setAttribute("class", spot(this.element, this.shape, y, x, mark)[0].getAttribute("class") ?? "");
    if (alike(cell, old)) return;
    const holder = this.holders[y][x];
    for (const each of [...holder.children]) each.remove();
    holder.append(...this.standing(cell, y, x));
    if (this.shape.look === "pits" && holder.nextElementSibling) write(holder.nextElementSibling, cell.text);
  }

  /** The classes of a cell that say what happened there. @type {(cell: Scenes.Cell, before?: Scenes.Cell) => string} */
  mark(cell, before) {
    return [(cell.highlight || changed(cell, before)) && "mark", cell.won && "won"].filter(Boolean).join(" ");
  }

  /** The figure on a spot. @type {(cell: Scenes.Cell, y: number, x: number) => SVGElement[]} */
  standing(cell, y, x) {
    const { shape } = this;
    const centre = shape.figure(y, x);
    const colour = this.by.colour(cell.owner);
    if (cell.shape === "deed") return deed(cell, colour, shape.box(y, x), ringSide(y, x, this.element.rows.length, shape.columns), shape.printed);
    if (shape.look !== "points" || !cell.count) return piece(cell, colour, centre, CELL);
    const up = shape.upper(y);
    const box = shape.box(y, x);
    return stack(cell, colour, centre, CELL * 0.84, up ? box.y : box.y + box.height, up ? 1 : -1);
  }

  /** The same, with where it is for those who move it. @type {(cell: Scenes.Cell, y: number, x: number) => SVGElement[]} */
  stone(cell, y, x) {
    const centre = this.shape.figure(y, x);
    const parts = this.standing(cell, y, x);
    if (!parts.length || this.by.silent) return parts;
    return [svg("g", { class: "stone", "data-place": `${this.index},${y},${x}`, "data-x": centre.x, "data-y": centre.y }, parts)];
  }

  /** A spot with what stands on it. @type {(y: number, x: number) => SVGElement} */
  cell(y, x) {
    const { element, shape, by, choosing } = this;
    const cell = element.rows[y][x];
    const box = shape.box(y, x);
    const centre = shape.middle(y, x);
    const parts = spot(element, shape, y, x, this.marks[y][x]);
    if (!by.silent && cell.name && cell.shape !== "deed" && !element.row_labels?.length && !element.column_labels?.length) {
      parts.push(svg("text", { class: `corner${(x + y) % 2 ? " dark" : ""}`, x: box.x + 5, y: box.y + 17 }, cell.name));
    }
    const holder = svg("g", by.silent ? { class: "stone" } : {}, this.stone(cell, y, x));
    this.holders[y][x] = holder;
    parts.push(holder);
    if (shape.look === "pits") parts.push(svg("text", { class: "count", ...shape.count(y, x) }, cell.text));
    if (cell.label && !by.silent) parts.push(svg("title", {}, by.words(cell.label)));
    if (!choosing) return svg("g", {}, parts);
    const at = shape.look === "points" ? { x: centre.x, y: centre.y + (shape.upper(y) ? 1 : -1) * box.height * 0.36 } : centre;
    parts.push(svg("circle", { class: "hole", cx: at.x, cy: at.y, r: CELL * 0.16 }));
    const inset = ROUND.has(shape.look) ? 2 : 4;
    parts.push(svg("rect", { class: "ring", x: box.x + inset, y: box.y + inset, width: box.width - 2 * inset, height: box.height - 2 * inset, rx: ROUND.has(shape.look) ? CELL / 2 : 6 }));
    const name = spotName(cell, this.index, y, x);
    const node = choosing.open(cell, name, svg("g", { tabindex: x || y ? -1 : 0, "data-at": `${y},${x}` }, parts));
    node.addEventListener("keydown", (event) => choosing.walk(event, element, this.index, shape.upright));
    if (shape.look === "points") choosing.stacks.push([name, this.restack(cell, holder, y, x)]);
    return node;
  }

  /**
   * On points, what was chosen in pairs of from and to is shown as moved already.
   * @param {Scenes.Cell} cell
   * @param {SVGElement} holder
   * @param {number} y
   * @param {number} x
   * @returns {(name: string, path: string[]) => void}
   */
  restack(cell, holder, y, x) {
    const { choosing, by } = this;
    return (name, path) => {
      if (!choosing?.choice?.left[0]?.pairs) return;
      let { count = 0, owner } = cell;
      const mover = by.scene.seat_to_move;
      for (let at = 0; at + 1 < path.length; at += 2) {
        if (path[at] === name) count -= 1;
        if (path[at + 1] === name) {
          count = owner === mover ? count + 1 : 1; // one of the other seat's was hit
          owner = mover;
        }
      }
      if (holder.dataset.count === `${count},${owner}`) return;
      if (holder.dataset.count === undefined && count === (cell.count ?? 0) && owner === cell.owner) return;
      holder.dataset.count = `${count},${owner}`;
      holder.replaceChildren(...(count > 0 ? this.stone({ ...cell, text: cell.text || "o", shape: "disc", count, owner }, y, x) : []));
    };
  }

  /** A store beside the board. @type {(cell: Scenes.Cell, side: number) => SVGElement} */
  end(cell, side) {
    const { shape, by, choosing, index } = this;
    const box = shape.end(side);
    const [middle, rx] = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }, Math.min(box.width, box.height) / 2];
    const [centre, count] = shape.upright ? [{ x: middle.x - CELL, y: middle.y }, { x: middle.x + CELL / 2, y: middle.y }] : [{ x: middle.x, y: middle.y - CELL * 0.6 }, { x: middle.x, y: middle.y + CELL * 0.75 }];
    const what = svg("g", { class: "stone", "data-place": `${index},-1,${side}`, "data-x": centre.x, "data-y": centre.y }, piece(cell, by.colour(cell.owner), centre, CELL * (shape.upright ? 0.9 : 1)));
    /** @type {SVGElement[]} */
    const parts = [svg("rect", { class: "cell pit store", ...box, rx }), what,
      svg("text", { class: "count", ...count }, cell.text)];
    if (!by.silent) parts.push(svg("title", {}, by.words(cell.label)));
    if (!choosing) return svg("g", {}, parts);
    parts.push(svg("rect", { class: "ring", ...box, rx }));
    const name = spotName(cell, index, -1, side);
    const node = choosing.open(cell, name, svg("g", { tabindex: -1, "data-at": `-1,${side}` }, parts));
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") choosing.pick(name);
    });
    return node;
  }
}
