// Lets a person choose an action in a drawing: with spots, buttons and keys, by click, drag and
// arrows, and also in advance, before the turn. choose.js finds the action of a sequence of spots.

import { amountField } from "./amounts.js";
import { Choice } from "./choose.js";
import { html } from "./dom.js";
import { usedDice } from "./board_dice.js";
import { drag } from "./drag.js";
import { seatClass } from "./colours.js";
import { icon } from "./figures.js";
import { walk } from "./hands.js";
import { keysOf } from "./keys.js";
import { Laying } from "./laying.js";
import { Placing } from "./placing.js";
import { Premove } from "./premove.js";
import { listen } from "./swipe.js";
import { giveUp, undoButton } from "./undo.js";

const MANY = 12; // more buttons than these go into a list that can be opened
/** @typedef {import("./choose.js").Move} Move */

/** How keys are written. @type {Record<string, string>} */
const SIGNS = { ArrowUp: "\u2191", ArrowDown: "\u2193", ArrowLeft: "\u2190", ArrowRight: "\u2192", " ": "space" };
/** Where arrow keys lead: rows and columns. @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Spots chosen before the turn: they outlive the drawing in which they were chosen. */
const waiting = new Premove();

/** The name of a spot in `via`; spots without a name get one. @type {(cell: Scenes.Cell, element: number, y: number, x: number) => string} */
export const spotName = (cell, element, y, x) => cell.name || `\u0000${element},${y},${x}`;

/** The cells of a board and its ends, which are in row -1. @type {(element: Scenes.Grid, each: (cell: Scenes.Cell, y: number, x: number) => void) => void} */
function cells(element, each) {
  element.rows.forEach((row, y) => row.forEach((cell, x) => each(cell, y, x)));
  (element.ends ?? []).forEach((cell, side) => each(cell, -1, side));
}

/** The actions that are chosen on the boards of a scene. @param {Scenes.Scene} scene */
function movesOf(scene) {
  /** @type {Move[]} */
  const found = [];
  (scene.elements ?? []).forEach((element, index) => {
    if (element.kind === "button" && element.via?.length) found.push(element);
    if (element.kind !== "grid" || element.look === "table") return;
    cells(element, (cell, y, x) => {
      if (cell.action === null || cell.action === undefined) return;
      found.push({ action: cell.action, label: cell.label, via: [spotName(cell, index, y, x)] });
    });
  });
  return found;
}

/** The choice of one action in one drawing. */
export class Choosing {
  /**
   * @param {Scenes.Scene} scene
   * @param {((action: string) => void) | null} choose called with the action; null if one may only choose for the next turn
   * @param {(text: string) => string} words of a scene as they are shown
   * @param {(element: Scenes.Grid) => boolean} turned whether a board is shown by half a turn
   */
  constructor(scene, choose, words, turned) {
    this.scene = scene;
    this.choose = choose;
    this.words = words;
    this.turned = turned;
    this.sent = false;
    /** Name of a spot to its node. @type {Map<string, SVGElement>} */
    this.spots = new Map();
    /** And to what it is called. @type {Map<string, string>} */
    this.labels = new Map();
    /** An action to the spots that mean it. @type {Map<string, SVGElement[]>} */
    this.same = new Map();
    /** Values of the dice on the board, and what dims the used ones. @type {readonly number[]} */
    this.values = [];
    /** @type {((used: boolean[]) => void) | null} */
    this.dim = null;
    /** Counts that change while a move is chosen. @type {[name: string, redraw: (name: string, path: string[]) => void][]} */
    this.stacks = [];
    /** Where a line of typed letters leads. @type {[number, number]} */
    this.along = STEPS.ArrowRight;
    /** Names of spots on which something of the viewer stands. @type {Set<string>} */
    this.own = new Set();
    this.undo = undoButton(() => this.back());
    this.hint = html("div", { class: "hint soft", role: "status" });
    this.asked = html("div", { class: "choices", role: "group", "aria-label": "Which one?" });
    this.placeAgain = () => { if (this.asked.isConnected) this.placeAsked(); };
    /** Spots on which nothing stands. @type {Set<string>} */
    this.empty = new Set();
    const rack = (scene.elements ?? []).find((element) => element.kind === "placing");
    /** @type {Placing | null} */
    this.placing = rack?.kind === "placing" ? new Placing(rack, this, choose !== null) : null;
    const lines = choose ? (scene.elements ?? []).find((element) => element.kind === "laying") : undefined;
    const board = (scene.elements ?? []).find((element) => element.kind === "grid");
    /** @type {Laying | null} */
    this.laying = null;
    const moves = choose && lines?.kind !== "laying" ? movesOf(scene) : [];
    this.choice = moves.length ? new Choice(moves) : null;
    this.ahead = choose || this.placing ? null : waiting;
    if (lines?.kind === "laying" && board?.kind === "grid") this.laying = new Laying(lines, board, this);
    if (choose) this.fulfil(moves);
  }

  /** True if spots of boards can be chosen. */
  get onBoards() {
    return Boolean(this.choice || this.ahead || this.placing || this.laying);
  }

  /** Play what was chosen before the turn came, if it is legal now. @param {Move[]} moves */
  fulfil(moves) {
    const action = waiting.take(moves);
    waiting.learn(moves);
    if (action !== null) setTimeout(() => this.send(action), 0);
  }

  /** The drawing is whole: add what can be chosen beside its spots, and listen. @type {(whole: HTMLElement, prompt: HTMLElement) => void} */
  attach(whole, prompt) {
    const status = prompt.querySelector(".status");
    status?.querySelector(".said")?.after(this.hint); // in its place while something is chosen, so that nothing moves
    if (this.ahead || this.choice?.moves.some(({ via }) => via.length > 1)) {
      status?.insertBefore(this.undo, status.querySelector(".flip"));
    }
    if (this.laying) prompt.append(this.laying.node);
    else if (this.choose) prompt.append(this.asked, ...this.buttons());
    this.placing?.join(prompt.querySelector(":scope > .choices:not([aria-label])"));
    keysOf(whole, this.keys());
    listen(whole, this.keys());
    for (const part of [whole, prompt]) part.addEventListener("keydown", (event) => this.escape(event));
    this.refresh();
  }

  /** Escape gives up what was chosen so far. @param {KeyboardEvent} event */
  escape(event) {
    if (event.key !== "Escape") return;
    if (this.placing) this.placing.clear();
    else if (this.choice?.path.length) this.give();
    else if (this.ahead?.path.length) { this.ahead.clear(); this.refresh(); }
  }

  /** The keys that mean buttons. */
  keys() {
    /** @type {Map<string, () => void>} */
    const acts = new Map();
    if (!this.choose) return acts;
    for (const element of this.scene.elements ?? []) {
      if (element.kind === "button" && element.key) acts.set(element.key, () => this.send(element.action));
    }
    return acts;
  }

  // ------------------------------------------------------------------------- buttons

  /** A button for an action. @param {{label: string, action: string, key?: string, shape?: string, place?: number}} element */
  button({ label, action, key, shape, place }) {
    const sign = SIGNS[key ?? ""] ?? key;
    const notation = /\d/.test(label.split(" ")[0]); // such as "bxa8=Q+", whose first letter is no pawn as a capital
    const node = html("button", { type: "button", "data-action": action, "data-key": key || null, "aria-keyshortcuts": key || null, class: place ? `third-${place}` : null },
      shape ? icon(shape, seatClass(this.scene.seat_to_move, this.scene.seats)) : null, html("span", { class: notation ? "notation" : null }, this.words(label) || action),
      sign ? html("kbd", {}, sign) : null);
    node.addEventListener("click", () => this.send(action));
    return node;
  }

  /** Buttons for actions that no spot means, and a list of all others for whom words suit. */
  buttons() {
    const all = (this.scene.elements ?? []).flatMap((element) => (element.kind === "button" && !this.placing?.element.actions.includes(element.action) ? [element] : []));
    const listed = (/** @type {Scenes.Button} */ element) => Boolean(element.via?.length || element.aside);
    const amounts = all.filter((element) => element.amount);
    const field = amounts.length > 1 ? amountField(amounts, (each) => this.button(each)) : null;
    const plain = all.filter((element) => !listed(element) && !(field && element.amount));
    /** @type {Map<string, Scenes.Button>} */
    const once = new Map();
    for (const element of all) if (listed(element) && !(field && element.amount)) once.set(element.action, element);
    const spotted = [...once.values()];
    const parts = [];
    if (field) parts.push(field.field);
    if (all.some(({ place }) => place)) {
      const shut = [1, 2, 3].filter((third) => !all.some(({ place }) => place === third)); // keeps its outline
      parts.push(html("div", { class: "choices thirds" }, plain.map((each) => this.button(each)), field?.node, shut.map((third) => html("span", { class: `shut third-${third}` }))));
    }
    else if (plain.length > MANY) parts.push(html("div", { class: "choices many" }, plain.map((each) => this.button(each))));
    else if (plain.length) {
      const pad = plain.some(({ key }) => key && STEPS[key]);
      // A pad keeps its form: a direction that is not legal now leaves the outline of its button.
      const shut = pad ? Object.keys(STEPS).filter((key) => !plain.some((each) => each.key === key)) : [];
      parts.push(html("div", { class: pad ? "choices pad" : "choices" }, plain.map((each) => this.button(each)), shut.map((key) => html("span", { class: "shut", "data-key": key }))));
    }
    for (const row of parts) if (row !== field?.field && !row.matches(".pad")) row.addEventListener("keydown", walk);
    if (spotted.length) {
      const list = html("div", { class: "choices many" });
      const more = html("details", { class: "moves" }, html("summary", {}, `All moves (${spotted.length})`), list);
      more.addEventListener("toggle", () => {
        if (more.open && !list.firstChild) list.append(...spotted.map((each) => this.button(each)));
      });
      parts.push(more);
    }
    return parts;
  }

  // --------------------------------------------------------------------------- spots

  /** Let a spot be chosen that was drawn as `node`; returns it. @type {(cell: Scenes.Cell, name: string, node: SVGElement) => SVGElement} */
  open(cell, name, node) {
    node.setAttribute("role", "gridcell");
    const spot = cell.name || cell.action;
    if (spot) node.dataset.spot = spot;
    node.dataset.name = name;
    node.addEventListener("click", () => { if (!drag.over()) this.pick(name); });
    drag.still(node);
    node.addEventListener("pointerdown", (event) => drag.begin(event, node, name, (/** @type {string} */ taken) => this.take(taken)));
    if (cell.action && !cell.name) { // such as a column: all its spots light up together
      const group = this.same.get(cell.action) ?? [];
      group.push(node);
      this.same.set(cell.action, group);
      if (group.length === 2) group.forEach((each) => this.together(each, group));
      else if (group.length > 2) this.together(node, group);
    }
    this.spots.set(name, node);
    this.labels.set(name, this.words(cell.label) || cell.text || "empty");
    if (cell.owner !== null && cell.owner === this.scene.viewer) this.own.add(name);
    if (!cell.shape) this.empty.add(name);
    return node;
  }

  /** @type {(node: SVGElement, group: SVGElement[]) => void} */
  together(node, group) {
    node.addEventListener("pointerenter", () => group.forEach((each) => each.classList.add("near")));
    node.addEventListener("pointerleave", () => group.forEach((each) => each.classList.remove("near")));
  }

  // ------------------------------------------------------------------------ choosing

  /** Play an action. @param {string} action */
  send(action) {
    if (this.sent || !this.choose) return;
    this.sent = true; // one turn, one action
    this.choice?.clear();
    this.choose(action);
  }

  /** Handles a chosen spot, by mouse, touch or keys. @param {string} name */
  pick(name) {
    if (this.ahead) {
      this.ahead.pick(name, this.own.has(name));
      this.refresh();
      return;
    }
    if (this.laying) this.laying.pick(name);
    if (this.placing) this.placing.pick(name);
    if (!this.choice) return;
    const action = this.choice.pick(name);
    this.refresh(); // a whole turn is seen before it is confirmed
    if (action !== null) this.send(action);
  }

  /** Take back the last step of what was chosen so far. */
  back() {
    if (this.ahead) this.ahead.clear();
    this.choice?.back();
    this.refresh();
  }

  /** Give up what was chosen so far. */
  give() {
    if (!this.choice) return;
    const [first] = this.choice.path;
    this.choice.clear();
    this.refresh();
    this.spots.get(first)?.focus();
  }

  /** Take up what stands on a spot; returns what to call when it is put down, or null. @type {(name: string) => import("./drag.js").Put | null} */
  take(name) {
    const { ahead, choice, laying } = this;
    if (this.placing) return this.placing.take(name);
    if (laying) {
      const cell = laying.at(name);
      if (!cell || laying.indexAt(cell) < 0) return null;
      return laying.drag(name);
    }
    if (ahead) {
      if (!this.own.has(name)) return null;
      ahead.clear();
      ahead.pick(name, true);
    } else if (!choice) return null;
    else {
      if (choice.path.at(-1) !== name && !choice.leads(name)) {
        if (!new Choice(choice.moves).leads(name)) return null;
        choice.clear();
      }
      if (choice.path.at(-1) !== name) {
        const action = choice.pick(name);
        if (action !== null) { this.send(action); return null; }
      }
    }
    this.refresh();
    return (there) => {
      if (there === name) return; // put back: it stays chosen
      if (there !== null && (ahead || choice?.open().has(there))) this.pick(there);
      else if (ahead) { ahead.clear(); this.refresh(); }
      else this.pick(name);
    };
  }

  /** Arrow keys walk over a board, Enter and the space bar choose, letters lay pieces in a line. @type {(event: KeyboardEvent, element: Scenes.Grid, index: number, upright?: boolean) => void} */
  walk(event, element, index, upright = false) {
    const here = /** @type {SVGElement} */ (event.currentTarget);
    const step = STEPS[event.key];
    const typed = step || event.ctrlKey || event.metaKey ? null : this.placing?.typed(event.key, here.dataset.name ?? "") ?? null;
    if (step) {
      if (step[0] + step[1] > 0) this.along = step;
      this.reach(here, element, index, upright ? [-step[1], step[0]] : step);
    } else if (typed !== null) {
      let at = this.spots.get(typed) ?? here;
      this.reach(here, element, index, null, at);
      while (event.key.length === 1 && this.placing?.covers(at.dataset.name ?? "")) {
        const next = this.reach(at, element, index, this.along);
        if (next === at) break;
        at = next;
      }
    } else if (event.key === "Enter" || event.key === " ") this.pick(here.dataset.name ?? "");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Move the focus from a spot by a step, or to another spot; returns where it is. @type {(here: SVGElement, element: Scenes.Grid, index: number, step: [number, number] | null, to?: SVGElement) => SVGElement} */
  reach(here, element, index, step, to = here) {
    const [y, x] = (here.dataset.at ?? "").split(",").map(Number);
    let there = to;
    if (step) {
      const sign = this.turned(element) ? -1 : 1;
      const row = Math.max(0, Math.min(element.rows.length - 1, y + sign * step[0]));
      const column = Math.max(0, Math.min(element.rows[row].length - 1, x + sign * step[1]));
      there = this.spots.get(spotName(element.rows[row][column], index, row, column)) ?? here;
    }
    here.setAttribute("tabindex", "-1");
    there.setAttribute("tabindex", "0");
    there.focus();
    return there;
  }

  // ------------------------------------------------------------- what can be chosen now

  /** Show what can be chosen now, in pictures and words. */
  refresh() {
    const { choice, ahead } = this;
    const open = choice?.open() ?? new Map();
    const path = choice?.path ?? ahead?.path ?? [];
    const others = choice && path.length ? new Choice(choice.moves).open() : open; // take another piece instead
    for (const [name, node] of this.spots) {
      const kind = open.get(name);
      const chosen = path.includes(name);
      const held = chosen ? false : kind === "start" && choice?.leads(name);
      node.setAttribute("class", ["spot", kind && `open ${kind}`, held && "holds", chosen && (ahead ? "ahead" : "chosen")].filter(Boolean).join(" "));
      node.setAttribute("aria-selected", String(chosen));
      node.setAttribute("aria-disabled", String(!kind && !chosen && !others.has(name) && !ahead && !this.placing?.free(name)));
      const can = chosen ? ", chosen" : kind === "start" ? ", can be chosen" : kind ? ", possible next" : "";
      node.setAttribute("aria-label", this.labels.get(name) + can);
    }
    for (const [name, redraw] of this.stacks) redraw(name, path);
    this.undo.classList.toggle("idle", !path.length);
    this.undo.setAttribute("aria-disabled", String(!path.length));
    this.dim?.(usedDice(choice?.left[0], path, this.values));
    if (ahead) this.hint.textContent = this.inAdvance(path);
    if (this.laying) {
      this.laying.refresh();
      this.hint.textContent = this.laying.hint();
    }
    if (this.placing) {
      this.placing.refresh();
      this.hint.textContent = this.placing.hint();
    }
    if (!choice) return;
    this.hint.textContent = this.soFar(path, [...open.keys()]);
    this.asked.replaceChildren(...choice.asked.map((each) => this.button({ ...each, key: "" })));
    this.placeAsked();
    if (choice.asked.length && !open.size) /** @type {HTMLElement | null} */ (this.asked.firstElementChild)?.focus();
  }

  /** Figures between which one chooses, such as those of a promotion, stand on the last spot and towards the middle of the board. */
  placeAsked() {
    const { asked, choice } = this;
    const spot = this.spots.get(choice?.path.at(-1) ?? "");
    const figures = Boolean(spot && choice?.asked.length && choice.asked.every(({ shape }) => shape));
    asked.classList.toggle("on-spot", figures);
    if (!spot || !figures) return;
    const [box, board] = [(spot.querySelector(".cell") ?? spot).getBoundingClientRect(), spot.ownerSVGElement?.getBoundingClientRect()];
    const upper = !board || box.top < board.top + board.height / 2;
    const size = Math.max(box.width, 40);
    const high = size * (choice?.asked.length ?? 0);
    asked.classList.toggle("upwards", !upper);
    for (const [name, value] of [["--size", size], ["left", box.left + scrollX], ["top", (upper ? box.top : box.bottom - high) + scrollY]]) asked.style.setProperty(String(name), `${value}px`);
    addEventListener("resize", this.placeAgain, { once: true }); // one listener, however often this is called
  }

  /** Return the name of a spot. @param {string} name */
  called(name) {
    return this.labels.get(name) ?? name;
  }

  /** A spot by its name, or by what it is called if it has none. @param {string} name */
  short(name) {
    return name.startsWith("\u0000") ? this.called(name) : name;
  }

  /** Describe the spots chosen for the next turn. @param {string[]} path */
  inAdvance(path) {
    if (!path.length) return "";
    return this.ahead?.whole
      ? `Chosen for your next turn: ${path.map((name) => this.short(name)).join(" to ")}; played at once if it is legal then${giveUp()}.`
      : `${this.called(path[0])}: choose where it goes in your next turn${giveUp()}.`;
  }

  /** Describe the spots chosen so far, and the `ways` on from there. @type {(path: string[], ways: string[]) => string} */
  soFar(path, ways) {
    if (!path.length) return "";
    const short = (/** @type {string} */ name) => this.short(name);
    return `${path.length > 1 ? path.map(short).join(" ") : this.called(path[0])}: ${ways.length ? `choose ${ways.map(short).join(", ")}` : "choose which"}${giveUp()}.`;
  }
}
