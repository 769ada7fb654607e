// Lets a person arrange straight pieces on a board, all of them, before they are laid one by one.
// `by` is the choosing that asks: it knows the spots, and plays the action of each piece in its turn.

import { html, svg } from "./dom.js";
import { piece } from "./figures.js";
import { walk } from "./hands.js";

/** @typedef {import("./choosing.js").Choosing} Choosing */
/** @typedef {{length: number, y: number, x: number, down: boolean}} Piece where its first cell is, and whether it goes down */

const TRIES = 400; // places at random for one piece, then all begin again
const ROUNDS = 40;

/** Ends of the pieces that a person has arranged and that are still to be laid: they outlive a drawing. @type {string[][]} */
let planned = [];

/** The pieces of a seat as they lie for now. */
export class Laying {
  /**
   * @param {Scenes.Laying} element
   * @param {Scenes.Grid} board
   * @param {Choosing} by
   */
  constructor(element, board, by) {
    this.element = element;
    this.by = by;
    this.rows = board.rows;
    /** @type {Piece[]} */
    this.pieces = [];
    /** The piece that is moved or turned. @type {number | null} */
    this.held = null;
    this.refused = false;
    const act = (/** @type {string} */ word, /** @type {string} */ kind, /** @type {() => void} */ does) => {
      const node = html("button", { type: "button", class: kind }, word);
      node.addEventListener("click", does);
      return node;
    };
    this.go = act(`Place ${element.lengths.length > 1 ? `${element.lengths.length} ${element.label}s` : `the ${element.label}`}`, "main lay", () => this.send());
    this.node = html("div", { class: "choices laying" }, this.go, act("At random", "random", () => this.scatter()), act("Turn", "turn", () => this.turn()));
    this.node.addEventListener("keydown", walk);
    if (!this.resume()) this.scatter();
  }

  /** Go on with what was arranged in an earlier turn; true if that is possible. */
  resume() {
    const plan = planned;
    planned = [];
    const action = plan.length === this.element.lengths.length ? this.actionOf(plan[0]) : undefined;
    if (action === undefined) return false;
    planned = plan.slice(1);
    setTimeout(() => this.by.send(action), 0);
    this.pieces = plan.flatMap((ends) => this.pieceOf(ends) ?? []);
    return true;
  }

  /** The action that lays a piece with these ends. @param {string[]} ends */
  actionOf(ends) {
    const found = this.by.scene.elements.find((each) => each.kind === "button" && String(each.via) === String(ends));
    return found?.kind === "button" ? found.action : undefined;
  }

  /** The piece between two cells, by their names. @param {string[]} ends */
  pieceOf(ends) {
    const places = ends.map((name) => this.at(name));
    const [first, last] = [places[0], places.at(-1)];
    if (!first || !last) return null;
    return { length: Math.max(last[0] - first[0], last[1] - first[1]) + 1, y: first[0], x: first[1], down: last[0] > first[0] };
  }

  /** Row and column of a cell. @param {string} name @returns {[number, number] | null} */
  at(name) {
    for (const [y, row] of this.rows.entries()) {
      const x = row.findIndex((cell) => cell.name === name);
      if (x >= 0) return [y, x];
    }
    return null;
  }

  /** The cells of a piece. @param {Piece} piece @returns {[number, number][]} */
  cells({ length, y, x, down }) {
    return Array.from({ length }, (_, at) => (down ? [y + at, x] : [y, x + at]));
  }

  /** True if a piece may lie where it is: inside, and clear of all but itself. @type {(piece: Piece, index: number) => boolean} */
  fits(piece, index) {
    const taken = new Set(this.pieces.flatMap((other, at) => (at === index ? [] : this.cells(other).map(String))));
    return this.cells(piece).every((cell) => {
      const found = this.rows[cell[0]]?.[cell[1]];
      return found !== undefined && !found.shape && !taken.has(String(cell));
    });
  }

  /** Let chance place all pieces. */
  scatter() {
    const [high, wide] = [this.rows.length, this.rows[0].length];
    const chosen = (/** @type {number} */ below) => Math.floor(Math.random() * below);
    for (let round = 0; round < ROUNDS; round += 1) {
      this.pieces = [];
      for (const length of this.element.lengths) {
        for (let tries = 0; tries < TRIES && this.pieces.length < this.element.lengths.length; tries += 1) {
          const piece = { length, y: chosen(high), x: chosen(wide), down: chosen(2) > 0 };
          if (!this.fits(piece, -1)) continue;
          this.pieces.push(piece);
          break;
        }
      }
      if (this.pieces.length === this.element.lengths.length) break;
    }
    this.held = null;
    this.by.refresh();
  }

  /** The piece on a cell, or -1. @param {[number, number]} cell */
  indexAt(cell) {
    return this.pieces.findIndex((each) => this.cells(each).some((own) => String(own) === String(cell)));
  }

  /** A spot was chosen: a piece is taken up, turned, or put there. @param {string} name */
  pick(name) {
    const cell = this.at(name);
    if (!cell) return;
    const index = this.indexAt(cell);
    if (index >= 0 && index === this.held) this.turn(cell);
    else if (index >= 0) this.held = index;
    else if (this.held !== null) this.put(this.held, { ...this.pieces[this.held], y: cell[0], x: cell[1] });
    this.by.refresh();
  }

  /** Take up the piece on a cell: it goes where the pointer goes. @param {string} from @returns {import("./drag.js").Put | null} */
  drag(from) {
    const start = this.at(from);
    const index = start ? this.indexAt(start) : -1;
    if (!start || index < 0) return null;
    const piece = this.pieces[index];
    this.held = index;
    const over = (/** @type {string} */ to) => {
      const end = this.at(to);
      if (end) this.put(index, { ...piece, y: piece.y + end[0] - start[0], x: piece.x + end[1] - start[1] });
      this.by.refresh();
    };
    return Object.assign(() => this.by.refresh(), { over });
  }

  /** Turn the piece that is held about a cell, or its first one. @param {[number, number]} [cell] */
  turn(cell) {
    const index = this.held ?? 0;
    const piece = this.pieces[index];
    if (!piece) return;
    this.held = index;
    const [y, x] = cell ?? [piece.y, piece.x];
    const back = Math.max(y - piece.y, x - piece.x); // as many cells of it are before this one
    this.put(index, piece.down ? { ...piece, down: false, y, x: x - back } : { ...piece, down: true, y: y - back, x });
    this.by.refresh();
  }

  /** Put a piece where it should be, or as near as it fits along its line. @type {(index: number, piece: Piece) => void} */
  put(index, piece) {
    const steps = Array.from({ length: piece.length * 2 }, (_, at) => (at % 2 ? (at + 1) / 2 : -at / 2));
    const found = steps.map((step) => ({ ...piece, ...(piece.down ? { y: piece.y + step } : { x: piece.x + step }) })).find((each) => this.fits(each, index));
    this.refused = !found;
    if (found) this.pieces[index] = found;
  }

  /** Lay the first piece now, and the others in the turns that follow. */
  send() {
    const plan = this.pieces.map((each) => {
      const cells = this.cells(each).map(([y, x]) => this.rows[y][x].name);
      return cells.length > 1 ? [cells[0], cells[cells.length - 1]] : cells;
    });
    const action = this.actionOf(plan[0]);
    if (action === undefined) return;
    planned = plan.slice(1);
    this.by.send(action);
  }

  /** Show the pieces where they lie for now. */
  refresh() {
    for (const [name, node] of this.by.spots) {
      node.querySelector(".laid")?.remove();
      const cell = this.at(name);
      const index = cell ? this.indexAt(cell) : -1;
      node.setAttribute("class", ["spot open", index >= 0 && "start holds", index >= 0 && index === this.held && "chosen"].filter(Boolean).join(" "));
      const what = index >= 0 ? `${name}, ${this.element.label} of ${this.pieces[index].length}${index === this.held ? ", chosen" : ""}` : this.by.called(name);
      node.setAttribute("aria-label", what);
      node.setAttribute("aria-selected", String(index >= 0 && index === this.held));
      node.setAttribute("aria-disabled", "false");
      if (cell && index >= 0) node.append(this.drawn(node, cell, this.pieces[index]));
    }
  }

  /** What to do next, in words. */
  hint() {
    if (this.refused) return `There is no room for the ${this.element.label}.`;
    return this.held === null ? `Drag a ${this.element.label}, or choose it and then its place.` : `Choose it again to turn it, or its place.`;
  }

  /** A part of a piece on its spot. @type {(node: SVGElement, cell: [number, number], whole: Piece) => SVGElement} */
  drawn(node, [y, x], { length, y: top, x: left, down }) {
    const ring = node.querySelector(".ring");
    const [left0, top0, width, height] = ["x", "y", "width", "height"].map((each) => Number(ring?.getAttribute(each)));
    const at = down ? y - top : x - left;
    const joins = (at > 0 ? (down ? "n" : "w") : "") + (at < length - 1 ? (down ? "s" : "e") : "");
    const cell = { text: "s", owner: null, shape: "ship", action: null, label: "", highlight: false, name: "", face: "", joins };
    return svg("g", { class: "laid stone" }, piece(cell, "", { x: left0 + width / 2, y: top0 + height / 2 }, 80));
  }
}
