// Lets a person put pieces on the spots of a board, several in any order, and then play them.
// `by` is the choosing that asks: it knows the spots and plays the action.

import { html, svg } from "./dom.js";
import { drag } from "./drag.js";
import { piece } from "./figures.js";
import { middleOf, walk } from "./hands.js";

/** @typedef {import("./choosing.js").Choosing} Choosing */

const ANY = "?"; // a piece that may stand for any letter
const RACK = "\u0000rack"; // where pieces are put back
const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
/** Signs of buttons where there is no room for their words. */
const SIGNS = {
  back: "M10 2v10M5.5 8L10 12.5L14.5 8M3 17h14",
  mix: "M2 6h4l8 8h4M2 14h4l8-8h4M15 3l3 3-3 3M15 11l3 3-3 3",
  give: "M3 7h13M12 3l4 4-4 4M17 14H4M8 10l-4 4 4 4",
};

/** A button with a sign and a word. @type {(word: string, sign: string, act: () => void) => HTMLElement} */
function signed(word, sign, act) {
  const node = html("button", { type: "button", "aria-label": word, title: word },
    svg("svg", { class: "sign-icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: sign })), html("span", {}, word));
  node.addEventListener("click", act);
  return node;
}

/** A piece as it lies in a rack. @param {Scenes.Cell} cell @param {string} [kind] its class */
const picture = (cell, kind) => svg("svg", { viewBox: "0 0 80 80", class: kind, "aria-hidden": "true" }, piece(cell, "", { x: 40, y: 40 }, 80));

/**
 * The pieces of a seat where nothing can be done with them, in the same room.
 * @type {(element: Scenes.Placing, label: string) => HTMLElement}
 */
export function stillRack({ pieces = [] }, label) {
  const spoken = pieces.map((each) => each.label || each.text).join(", ") || "none";
  return html("div", { class: "placing" }, html("div", { class: "rack", role: "img", "aria-label": `${label}: ${spoken}` },
    pieces.map((each) => html("span", { class: "tile" }, picture(each)))), html("div", { class: "row" }));
}

/** The pieces that one has and those that lie on the board, until they are played. */
export class Placing {
  /**
   * @param {Scenes.Placing} element
   * @param {Choosing} by
   * @param {boolean} active whether it is the turn of who has them
   */
  constructor(element, by, active) {
    this.element = element;
    this.by = by;
    /** True if they can be put down now. */
    this.able = active && (element.actions.length > 0 || Boolean(element.spots?.length));
    /** Where each piece stands among the others. */
    this.order = element.pieces.map((_, index) => index);
    /** Spots with the piece on each and what it stands for. @type {Map<string, {index: number, text: string}>} */
    this.laid = new Map();
    /** The piece that is put down next. @type {number | null} */
    this.held = null;
    /** The spot of a piece whose letter is asked for. @type {string | null} */
    this.asking = null;
    /** The pieces that are given away; null while pieces are put on the board. @type {Set<number> | null} */
    this.given = null;
    /** Placement to the number of its action. */
    this.meanings = new Map(element.placed.map((placed, index) => [placed, index]));
    /** Spots that any pieces may cover, in order. */
    this.places = new Set(element.spots);
    this.rack = html("div", { class: "rack", "data-name": RACK, role: "group", "aria-label": by.words(element.label) });
    this.play = /** @type {HTMLButtonElement} */ (html("button", { type: "button", class: "main" }, "Play"));
    this.play.addEventListener("click", () => this.send());
    this.back = signed("Take back", SIGNS.back, () => this.clear());
    this.mix = signed("Shuffle", SIGNS.mix, () => this.shuffle());
    this.give = signed(element.give ?? "", SIGNS.give, () => this.clear(!this.given));
    this.letters = html("div", { class: "choices letters", role: "group", "aria-label": "Which letter?" });
    this.row = html("div", { class: "choices row" }, ...(this.able ? [this.play, this.back, this.mix, element.give ? this.give : null] : []));
    this.node = html("div", { class: "placing" }, this.rack, this.row, this.letters);
    for (const each of [this.rack, this.row, this.letters]) each.addEventListener("keydown", walk);
  }

  /** Take other buttons of the turn into the row, so that all stand below the board. @param {HTMLElement | null} choices */
  join(choices) {
    this.row.append(...(choices?.children ?? []));
    choices?.remove();
  }

  /** The pieces on the board or given away, as in `placed`. */
  get placed() {
    const placed = this.given
      ? [...this.given].map((index) => `=${this.element.pieces[index].text}`)
      : [...this.laid].map(([name, { text }]) => `${name}=${text}`);
    return placed.sort().join(" ");
  }

  /** The number of the listed action that this means, or undefined. Where any pieces may lie, only points show that one may know it. */
  get meaning() {
    return this.anything && !this.element.worth?.length ? undefined : this.meanings.get(this.placed);
  }

  /** True if any pieces may be put on the board, also such that no listed action does. */
  get anything() {
    return this.places.size > 0 && !this.given;
  }

  /** The action that this means, or undefined. */
  get action() {
    if (this.anything && this.meaning === undefined) {
      const whole = this.asking === null && this.places.has([...this.laid.keys()].sort().join(" "));
      return whole && ![...this.laid.values()].some(({ text }) => text === ANY) ? this.placed : undefined;
    }
    return this.meaning === undefined ? undefined : this.element.actions[this.meaning];
  }

  /** A spot was chosen: a piece is put there or taken back. @param {string} name */
  pick(name) {
    if (!this.able || !this.free(name) || this.given) return;
    const there = this.laid.get(name);
    if (there) {
      this.laid.delete(name);
      if (this.held === null) this.held = there.index;
    } else if (this.held !== null) {
      this.lay(this.held, name);
      return;
    } else return;
    if (this.asking !== null && !this.laid.has(this.asking)) this.asking = null;
    this.by.refresh();
  }

  /** Put a piece on a spot. @type {(index: number, name: string, text?: string) => void} */
  lay(index, name, text = this.element.pieces[index].text) {
    this.laid.set(name, { index, text });
    if (text === ANY) this.asking = name;
    this.held = null;
    this.by.refresh();
  }

  /** Take up a piece that lies on a spot, to drag it. @param {string} name @returns {import("./drag.js").Put | null} */
  take(name) {
    const there = this.laid.get(name);
    return there && this.able ? this.drag(there.index, name) : null;
  }

  /** Drag a piece to a spot, or back to the others. @type {(index: number, from?: string) => import("./drag.js").Put} */
  drag(index, from) {
    return Object.assign((/** @type {string | null} */ to, /** @type {number} */ x) => {
      if (to === RACK) this.move(index, x);
      if (to === from || (to !== null && to !== RACK && this.covers(to))) { // it stays where it was
        this.by.refresh();
        return;
      }
      const text = this.laid.get(from ?? "")?.text;
      this.laid.delete(from ?? "");
      if (this.asking !== null && !this.laid.has(this.asking)) this.asking = null;
      if (to !== null && to !== RACK) this.lay(index, to, text);
      else this.by.refresh();
    }, { loose: true });
  }

  /** True if a piece may lie on a spot: no other one lies there. @param {string} name */
  free(name) {
    return this.by.empty.has(name);
  }

  /** Take all pieces back, and let some be given away or none. */
  clear(giving = false) {
    this.laid.clear();
    this.given = giving ? new Set() : null;
    this.held = this.asking = null;
    this.by.refresh();
  }

  /** Show the pieces in another order. */
  shuffle() {
    for (let at = this.order.length - 1; at > 0; at -= 1) {
      const other = Math.floor(Math.random() * (at + 1));
      [this.order[at], this.order[other]] = [this.order[other], this.order[at]];
    }
    this.by.refresh();
  }

  /** Put a piece in its order before the first one that is right of a place. @param {number} index @param {number} x */
  move(index, x) {
    const tiles = /** @type {HTMLElement[]} */ ([...this.rack.children]);
    const next = tiles.find((tile) => Number(tile.dataset.index) !== index && middleOf(tile).x > x + 1)?.dataset.index;
    this.order = this.order.filter((each) => each !== index);
    this.order.splice(next === undefined ? this.order.length : this.order.indexOf(Number(next)), 0, index);
  }

  /** Play what lies on the board, if it is legal. */
  send() {
    const { action } = this;
    if (action !== undefined) this.by.send(action);
  }

  /** True if a piece lies on a spot, or may not. @param {string} name */
  covers(name) {
    return this.laid.has(name) || !this.free(name);
  }

  /**
   * Lay the piece that a key names on a spot, a blank for letters that are not there; Backspace takes the last
   * one back. Returns the spot where that happened; null if the key means nothing.
   * @type {(key: string, name: string) => string | null}
   */
  typed(key, name) {
    if (this.given || !this.able) return null;
    if (key === "Backspace" && this.laid.size) {
      const last = [...this.laid.keys()].at(-1) ?? "";
      this.laid.delete(last);
      this.by.refresh();
      return last;
    }
    const letter = key.toUpperCase();
    if (!LETTERS.includes(letter)) return null;
    const lying = new Set([...this.laid].filter(([spot]) => spot !== name).map(([, { index }]) => index));
    const left = this.order.filter((index) => !lying.has(index));
    const found = [letter, ANY].flatMap((text) => left.find((index) => this.element.pieces[index].text === text) ?? [])[0];
    if (found === undefined || !this.free(name)) return null;
    const blank = this.element.pieces[found].text === ANY;
    this.laid.delete(name);
    this.laid.set(name, { index: found, text: blank ? letter.toLowerCase() : letter });
    this.held = this.asking = null;
    this.by.refresh();
    return name;
  }

  /** Show the pieces where they are. */
  refresh() {
    const { element, by } = this;
    const lying = new Set([...this.laid.values()].map(({ index }) => index));
    this.rack.replaceChildren(...this.order.filter((index) => !lying.has(index)).map((index) => this.tile(index)));
    for (const [name, node] of by.spots) {
      node.querySelector(".laid")?.remove();
      const there = this.laid.get(name);
      node.classList.toggle("holds", Boolean(there));
      if (there) node.append(this.drawn(node, there));
    }
    const { meaning } = this;
    this.play.disabled = this.action === undefined;
    const worth = meaning === undefined ? undefined : element.worth?.[meaning];
    const what = this.given ? [...this.given].map((index) => element.pieces[index].text).join(" ") : meaning === undefined ? "" : element.actions[meaning];
    this.play.replaceChildren((this.given && element.give) || "Play", what ? html("span", { class: "what" }, ` ${what}`) : "", worth === undefined || this.given ? "" : ` for ${worth}`);
    this.back.toggleAttribute("disabled", !this.laid.size && !this.given);
    this.give.setAttribute("aria-pressed", String(this.given !== null));
    this.letters.replaceChildren(...(this.asking === null ? [] : LETTERS.map((letter) => this.letter(letter))));
  }

  /** What to do next, in words. */
  hint() {
    if (this.asking !== null) return "Choose the letter of the blank.";
    if (this.given) return this.given.size ? "" : "Choose the tiles.";
    if (this.held !== null) return `${this.element.pieces[this.held].label}: choose its square.`;
    if (!this.laid.size || !this.able) return "";
    return this.action === undefined ? "No legal play yet." : "";
  }

  /** A piece that is not on the board. @param {number} index */
  tile(index) {
    const cell = this.element.pieces[index];
    const node = html("button", { type: "button", class: "tile", disabled: !this.able, "data-piece": cell.text, "data-index": index, "aria-label": cell.label, "aria-pressed": String(this.held === index || Boolean(this.given?.has(index))) }, picture(cell, "stone"));
    node.addEventListener("pointerdown", (event) => drag.begin(event, node, RACK, () => (this.given ? null : this.drag(index))));
    node.addEventListener("click", () => {
      if (drag.over()) return;
      if (!this.given) this.held = this.held === index ? null : index;
      else if (!this.given.delete(index)) this.given.add(index);
      const at = [...this.rack.children].indexOf(node);
      this.by.refresh();
      /** @type {HTMLElement | undefined} */ (this.rack.children[at])?.focus();
    });
    return node;
  }

  /** A piece on a spot. @type {(node: SVGElement, there: {index: number, text: string}) => SVGElement} */
  drawn(node, { index, text }) {
    const ring = node.querySelector(".ring");
    const [x, y, width, height] = ["x", "y", "width", "height"].map((each) => Number(ring?.getAttribute(each)));
    const cell = { ...this.element.pieces[index], text, face: text === ANY ? "" : text.toUpperCase() };
    return svg("g", { class: "laid stone" }, piece(cell, "", { x: x + width / 2, y: y + height / 2 }, 80));
  }

  /** A button for the letter of a blank. @param {string} letter */
  letter(letter) {
    const node = html("button", { type: "button", "data-letter": letter }, letter);
    node.addEventListener("click", () => {
      const there = this.asking === null ? undefined : this.laid.get(this.asking);
      if (there) there.text = letter.toLowerCase();
      this.asking = null;
      this.by.refresh();
    });
    return node;
  }
}
