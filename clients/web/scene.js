// Draws a scene, the plain data that describes what one may see: it knows no game.
// Elements of a kind that is not known here are left out, so that newer servers can be watched.
// Boards are drawn by grid.js, all else by things.js; what can be chosen is in choosing.js.

import { diceOnBoard } from "./board_dice.js";
import { Choosing } from "./choosing.js";
import { seatClass } from "./colours.js";
import { html, minus, svg } from "./dom.js";
import { drawGrid } from "./grid.js";
import { keysOf } from "./keys.js";
import { stillRack } from "./placing.js";
import { withHolders, yourTurn } from "./speak.js";
import { drawCounter, drawDice, drawHand, drawLog, drawText, drawTray } from "./scene_items.js";
import { layTable } from "./table.js";

/**
 * @typedef {object} Options
 * @property {string[]} [holders] names of the players, by seat
 * @property {number | null} [you] the seat of the viewer, if it is the one to move
 * @property {boolean} [premove] whether the viewer may choose a move for the next turn
 * @property {((seat: number) => HTMLElement)} [taken] where the pieces that a seat has taken are shown; in the scene if it is not given
 * @property {Happened[]} [log] what happened last, the latest first
 * @property {boolean} [silent] whether it is a mere picture: nobody hears it, and it says no more than it shows
 */

const FLIP = "M6 2l4 5H7.2v9H4.8V7H2zM14 18l-4-5h2.8V4h2.4v9H18z";

/** True if boards are flipped; this page remembers it from one drawing to the next. */
let flipped = false;

/** True if an element is a board. @type {(element: Scenes.Element) => element is Scenes.Grid} */
const isBoard = (element) => element.kind === "grid" && element.look !== "table";

/** Looks of boards with room for dice in their middle. */
const OPEN = new Set(["points", "circuit"]);

/** True if a scene has no board: then all lies on a table of felt. @param {Scenes.Scene | undefined} scene */
export const onTable = (scene) => Boolean(scene) && !(scene?.elements ?? []).some(isBoard);

/** True if the players have sides of a board. @param {Scenes.Grid} element */
const sided = (element) => element.bottom !== null && element.bottom !== undefined;

/** The seat to which an element belongs, if it does to one. @param {Scenes.Element} element */
const seatOf = (element) => ("seat" in element ? element.seat ?? null : null);

/** True if a page may show an element beside the name of its seat. @param {Scenes.Element} element */
const besideName = ({ kind, ...rest }) => kind === "tray" || kind === "text" || (kind === "counter" && "look" in rest && rest.look === "score");

/** The seat that sits below the board of a drawing: the first one, if nothing says otherwise. @param {HTMLElement} scene */
export function sideBelow(scene) {
  /** @type {HTMLElement | null} */
  const drawn = scene.querySelector("[data-below]");
  return Number(drawn?.dataset.below ?? 0);
}

/**
 * @typedef {{seat: number, text: string, gains: {seat: number, by: number}[]}} Happened what a seat did, and what each seat got by it
 * @typedef {{index: number, board: import("./grid.js").Board, node: HTMLElement, together: HTMLElement}} Kept
 */

/** Draws one scene; `choose(action)` is called with what a person chooses, if anything can be. */
export class Drawing {
  /**
   * @param {Scenes.Scene} scene
   * @param {Scenes.Scene | null} previous
   * @param {((action: string) => void) | null} choose
   * @param {Options} options
   */
  constructor(scene, previous, choose, options) {
    this.scene = scene;
    this.previous = previous;
    this.choose = choose;
    this.options = options;
    this.names = scene.seats ?? [];
    this.silent = Boolean(options.silent);
    /** By the number of their element. @type {Map<number, import("./grid.js").Board>} */
    this.boards = new Map();
    /** Tables beside boards, which stand with the words. @type {HTMLElement[]} */
    this.tables = [];
    /** The drawing of each element, if any. @type {(HTMLElement | null)[]} */
    this.nodes = [];
    /** The board of the drawing before, where it stays in the page. @type {Kept | null} */
    this.kept = null;
    this.choosing = choose || options.premove
      ? new Choosing(scene, choose, (text) => this.words(text), (element) => this.turned(element)) : null;
  }

  /** The class with the colour of a seat. @param {number | null | undefined} seat */
  colour(seat) {
    return seatClass(seat, this.names);
  }

  /** The colour of a seat before what belongs to it. @param {number | null | undefined} seat */
  swatch(seat) {
    const colour = this.colour(seat);
    return colour ? html("span", { class: `swatch ${colour}` }) : null;
  }

  /** Words of a scene with the names of those who play. @param {string} text */
  words(text) {
    return minus(withHolders(text, this.options.holders ?? [], this.names));
  }

  /** An action was chosen where it is one thing: a card, a cell of a table. @param {string} action */
  send(action) {
    this.choosing?.send(action);
  }

  draw() {
    const boards = (this.scene.elements ?? []).filter(isBoard);
    if (this.silent) {
      const around = boards.length === 1 && OPEN.has(boards[0].look ?? "");
      const classes = ["scene", boards.length && "on-boards", around && "dice-inside"].filter(Boolean).join(" ");
      return html("div", { class: classes, "aria-hidden": "true" }, this.parts(boards.length > 1));
    }
    const status = html("div", { class: "status" }, this.swatch(this.scene.seat_to_move), this.said());
    const prompt = html("div", { class: "prompt" }, status); // words and buttons, which a page may show elsewhere
    const whole = html("div", { class: "scene" }, this.parts(boards.length > 1), prompt);
    if (boards.length) prompt.append(...this.tables);
    const [board] = boards.filter(sided);
    if (board) {
      status.append(this.flipper(whole));
      // The seat whose side of the board is below; other scenes have none, or the viewer.
      whole.setAttribute("data-below", String(this.turned(board) ? 1 - (board.bottom ?? 0) : board.bottom));
    } else if (typeof this.scene.viewer === "number") whole.setAttribute("data-below", String(this.scene.viewer));
    if (this.choosing) this.choosing.attach(whole, prompt);
    else keysOf(whole);
    return whole;
  }

  /**
   * Draw an element; null for buttons, which choosing.js draws, and for unknown kinds.
   * @param {Scenes.Element} element
   * @param {number} index
   * @param {boolean} several whether there are several boards
   * @returns {HTMLElement | null}
   */
  element(element, index, several) {
    switch (element.kind) {
      case "grid": return drawGrid(element, this, index, several);
      case "hand": return drawHand(element, this, index);
      case "dice": return diceOnBoard(this.scene) && !this.silent ? null : drawDice(element, this, index);
      case "counter": return drawCounter(element, this);
      case "tray": return drawTray(element, this);
      case "text": return this.choosing?.laying ? null : drawText(element, this);
      case "placing": return this.choosing?.placing?.node ?? stillRack(element, this.words(element.label));
      default: return null;
    }
  }

  /**
   * Draws the elements from top to bottom, with boards together and the elements of each seat together.
   * A scene without a board is a table.
   * @param {boolean} several whether there are several boards
   */
  parts(several) {
    if (onTable(this.scene)) {
      this.nodes = (this.scene.elements ?? []).map((element, index) => this.element(element, index, several));
      return [layTable(this.scene, this.nodes, this.options.taken)];
    }
    /** @type {HTMLElement[]} */
    const parts = [];
    /** The elements before each seat. @type {Map<number, HTMLElement>} */
    const places = new Map();
    const before = html("div", { class: "places" });
    /** @type {HTMLElement[]} */
    const boards = [];
    const together = this.kept?.together ?? html("div", { class: "boards" });
    (this.scene.elements ?? []).forEach((element, index) => {
      if (this.kept?.index === index) {
        this.follows(this.kept, element);
        parts.push(together);
        return;
      }
      const drawn = this.nodes[index] = this.element(element, index, several);
      if (!drawn) return;
      const seat = seatOf(element);
      const { ring } = this;
      if (element.kind === "grid" && !isBoard(element)) this.tables.push(drawn);
      else if (ring && element.kind === "text" && seat === null && !this.silent) ring.inside.append(drawn);
      else if (seat !== null && !several && this.options.taken && besideName(element)) {
        this.options.taken(seat).append(drawn);
      } else if (element.kind === "placing") parts.push(drawn);
      else if (isBoard(element)) {
        if (!boards.length) parts.push(together);
        boards.push(html("div", { class: "board" }, drawn));
      } else if (several && boards.length && (element.kind === "counter" || element.kind === "tray")) {
        boards.at(-1)?.append(drawn); // what is said of one board of several
      } else if (seat !== null) {
        if (!places.size) parts.push(before);
        const place = places.get(seat) ?? html("div", { class: seat === this.scene.viewer ? "place mine" : "place" });
        places.set(seat, place);
        place.append(drawn);
      } else if (element.kind === "counter" && places.size) places.set(-1 - index, html("div", { class: "place" }, drawn));
      else parts.push(drawn);
    });
    const { ring } = this;
    if (ring && this.options.log && !this.silent) ring.inside.append(drawLog(this.options.log, this));
    before.append(...places.values());
    together.append(...boards);
    return parts;
  }

  /** The board with room inside for words, if there is one. */
  get ring() {
    return [...this.boards.values()].find(({ shape }) => shape.hole);
  }

  /**
   * A board of the previous scene.
   * @param {number} index
   */
  before(index) {
    const grids = (/** @type {Scenes.Element[]} */ elements) => elements.filter((each) => each.kind === "grid");
    const at = grids((this.scene.elements ?? []).slice(0, index)).length; // dice before a board come and go
    return grids(this.previous?.elements ?? [])[at] ?? null;
  }

  /**
   * Take over a board that stays in the page, as it is now.
   * @param {Kept} kept
   * @param {Scenes.Element} element
   */
  follows({ index, board, node }, element) {
    if (element.kind !== "grid") return;
    this.boards.set(index, board);
    this.nodes[index] = node;
    board.by = this;
    board.follow(element, this.before(index));
  }

  /**
   * Show a scene with the same single board and other things beside it, without drawing the board again.
   * @param {Scenes.Scene} scene
   * @param {Scenes.Scene | null} previous
   * @param {HTMLElement} whole what this drawing has drawn
   * @returns {Drawing | null} null if its board is another one
   */
  successor(scene, previous, whole) {
    const [now, old] = [scene, this.scene].map(({ elements = [] }) => elements.flatMap((each, at) => (isBoard(each) ? [at] : [])));
    const board = this.boards.get(old[0]);
    const node = this.nodes[old[0]];
    const together = node?.closest(".boards");
    if (now.length !== 1 || old.length !== 1 || !board || !node || !(together instanceof HTMLElement)) return null;
    if (String(scene.seats) !== String(this.scene.seats) || shape(scene.elements[now[0]]) !== shape(this.scene.elements[old[0]])) return null;
    const next = new Drawing(scene, previous, null, this.options);
    next.kept = { index: now[0], board, node, together };
    const parts = next.parts(false);
    for (const each of [...whole.children]) if (each !== together) each.remove();
    together.before(...parts.slice(0, parts.indexOf(together)));
    together.after(...parts.slice(parts.indexOf(together) + 1));
    return next;
  }

  /**
   * Shows the next scene of the same form; only differences are drawn again.
   * @param {Scenes.Scene} scene
   * @param {Scenes.Scene | null} previous
   */
  follow(scene, previous) {
    const old = this.scene;
    [this.scene, this.previous] = [scene, previous];
    (scene.elements ?? []).forEach((element, index) => {
      const [board, node] = [this.boards.get(index), this.nodes[index]];
      if (board && element.kind === "grid") board.follow(element, this.before(index));
      else if (node && JSON.stringify(element) !== JSON.stringify(old.elements[index])) {
        this.nodes[index] = this.element(element, index, false);
        node.replaceWith(this.nodes[index] ?? "");
      }
    });
  }

  /** How it stands; names of players are written as they are. */
  said() {
    const { you = null, holders = [] } = this.options;
    if (you !== null) return html("span", { class: "said" }, minus(yourTurn(this.scene.status ?? "", you, holders, this.names)));
    const text = this.words(this.scene.status ?? "");
    const named = (this.options.holders ?? []).some((each) => each && text.startsWith(each));
    return html("span", { class: named ? "said named" : "said" }, text);
  }

  // -------------------------------------------------------------------------- the side

  /** True if a board is turned by half: the viewer's side is below, unless flipped. @param {Scenes.Grid} element */
  turned(element) {
    if (!sided(element)) return false;
    const { viewer } = this.scene;
    const theirs = viewer !== null && viewer !== undefined && viewer !== element.bottom;
    return theirs !== flipped;
  }

  /** The button that flips boards. @param {HTMLElement} whole the drawing */
  flipper(whole) {
    const icon = svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: FLIP }));
    const button = html("button", { type: "button", class: "flip", "aria-label": "Flip the board", "aria-pressed": String(flipped), title: "Flip the board" }, icon);
    button.addEventListener("click", () => {
      flipped = !flipped;
      const other = new Drawing(this.scene, this.previous, this.choose, this.options).draw();
      const flip = /** @type {HTMLElement | null} */ (other.querySelector(".flip"));
      whole.replaceWith(other);
      other.dispatchEvent(new Event("flipped", { bubbles: true })); // a page may put the button elsewhere
      flip?.focus();
    });
    return button;
  }
}

/**
 * A key that is equal for two scenes if one can be shown by changing the drawing of the other.
 * @param {Scenes.Scene} scene
 */
function form({ elements = [], seats }) {
  return JSON.stringify([seats, elements.map(shape)]);
}

/** The same for one element. @param {Scenes.Element} element */
function shape(element) {
  if (element.kind !== "grid") return `${element.kind} ${seatOf(element)}`;
  const { look, theme, bottom, rows, ends, label, row_labels: names, column_labels: heads } = element;
  const walls = look === "maze" && rows.map((row) => row.map((cell) => cell.shape === "wall")); // they join
  return JSON.stringify([look, theme, bottom, label, rows.map((row) => row.length), ends?.length, names, heads, walls]);
}

/** A picture of scenes that follow each other: nothing can be chosen in it, and it is not heard. */
export class Film {
  constructor() {
    /** @type {Drawing | null} */
    this.drawing = null;
    this.form = "";
    /** The picture; another element when a scene of another form has come. @type {HTMLElement | null} */
    this.node = null;
  }

  /**
   * Show a scene; what differs from the `previous` one is marked.
   * @param {Scenes.Scene} scene
   * @param {Scenes.Scene | null} previous
   */
  show(scene, previous) {
    const found = form(scene);
    if (this.drawing && found === this.form) {
      this.drawing.follow(scene, previous);
      return;
    }
    this.form = found;
    const next = this.node && this.drawing?.successor(scene, previous, this.node);
    if (next) {
      this.drawing = next;
      return;
    }
    this.drawing = new Drawing(scene, previous, null, { silent: true });
    const made = this.drawing.draw();
    this.node?.replaceWith(made);
    this.node = made;
  }
}

/**
 * The scene as one HTML element; what differs from the `previous` one is marked.
 * With `choose`, spots and buttons can be chosen: it is called with the action meant.
 * @param {Scenes.Scene} scene
 * @param {Scenes.Scene | null} previous
 * @param {((action: string) => void) | null} choose
 * @param {Options} options
 */
export function drawScene(scene, previous = null, choose = null, options = {}) {
  return new Drawing(scene, previous, choose, options).draw();
}
