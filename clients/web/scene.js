// Draws a scene, the plain data that describes what one may see: it knows no game.
// Elements of a kind that is not known here are left out, so that newer servers can be watched.

import { CELL, plan, spot } from "./boards.js";
import { Choice } from "./choose.js";
import { html, svg } from "./dom.js";
import { drag } from "./drag.js";
import { piece, stack } from "./figures.js";
import { Premove } from "./premove.js";
import { drawCounter, drawDice, drawHand, drawTable, drawTray } from "./things.js";
import { withHolders } from "./speak.js";

/**
 * @typedef {object} Options
 * @property {string[]} [holders] names of the players, by seat
 * @property {boolean} [premove] whether the viewer may choose a move for the next turn
 */

const COLOURS = 6;
const NAMED = new Set(["white", "black"]); // seats that are called after a colour have it
const MANY = 12; // more buttons than these go into a list that can be opened

/** What this page remembers from one drawing to the next. */
const page = {
  turned: false, waiting: new Premove(), keys: new Map(), drawn: /** @type {HTMLElement | null} */ (null),
};

/** The class with the colour of a seat; `names` are what the seats are called. */
export function seatClass(seat, names = []) {
  if (seat === null || seat === undefined) return "";
  const name = (names[seat] ?? "").toLowerCase();
  return NAMED.has(name) ? `seat-${name}` : `seat-${seat % COLOURS}`;
}

/** Whether what stands on a spot is new: it is marked as the last move. */
const changed = (cell, before) => Boolean(before)
  && (cell.text !== before.text || cell.owner !== before.owner || (cell.text && cell.shape !== before.shape));

/** What `via` calls a spot; spots without a name get one of their own. */
const spotName = (cell, element, y, x) => cell.name || `\u0000${element},${y},${x}`;

/** Keys that mean buttons of the drawing that is in the page. */
function pressed(event) {
  const action = page.keys.get(event.key);
  if (action === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  if (!page.drawn?.isConnected || event.target.matches?.("input, select, textarea")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  page.keys = new Map();
  action();
}
let listens = false;

/** Draws one scene; `choose(action)` is called with what a person chooses, if anything can be. */
class Drawing {
  /**
   * @param {any} scene
   * @param {any} previous
   * @param {((action: string) => void) | null} choose
   * @param {Options} options
   */
  constructor(scene, previous, choose, options) {
    this.scene = scene;
    this.previous = previous;
    this.choose = choose;
    this.options = options;
    this.names = scene.seats ?? [];
    this.spots = new Map(); // name of a spot to its node
    this.labels = new Map(); // and to what it is called
    this.same = new Map(); // an action to the spots that mean it
    this.stacks = []; // [name, redraw] of the counts that change while a move is chosen
    this.hint = html("div", { class: "hint soft", role: "status" });
    this.asked = html("div", { class: "choices", role: "group", "aria-label": "Which one?" });
    const moves = choose ? this.moves() : [];
    this.choice = moves.length ? new Choice(moves) : null;
    this.ahead = !choose && options.premove ? page.waiting : null;
    if (choose) this.fulfil(moves);
  }

  colour(seat) {
    return seatClass(seat, this.names);
  }

  /** Words of a scene with the names of those who play. */
  words(text) {
    return withHolders(text, this.options.holders ?? [], this.names);
  }

  /** The actions that are chosen on boards. */
  moves() {
    const found = [];
    (this.scene.elements ?? []).forEach((element, index) => {
      if (element.kind === "button" && element.via?.length) found.push(element);
      if (element.kind !== "grid" || element.look === "table") return;
      this.cells(element, (cell, y, x) => {
        if (cell.action === null || cell.action === undefined) return;
        found.push({ action: cell.action, label: cell.label, via: [spotName(cell, index, y, x)] });
      });
    });
    return found;
  }

  cells(element, each) {
    element.rows.forEach((row, y) => row.forEach((cell, x) => each(cell, y, x)));
    (element.ends ?? []).forEach((cell, side) => each(cell, -1, side));
  }

  /** Play what was chosen before the turn came, if it is legal now. */
  fulfil(moves) {
    const action = page.waiting.take(moves);
    page.waiting.learn(moves);
    if (action !== null) setTimeout(() => this.send(action), 0);
  }

  draw() {
    const elements = this.scene.elements ?? [];
    const boards = elements.filter((element) => element.kind === "grid" && element.look !== "table");
    const several = boards.length > 1;
    const parts = [];
    const places = new Map(); // by seat: what lies before it
    let board = null;
    elements.forEach((element, index) => {
      const before = this.previous?.elements?.[index];
      const same = before?.kind === element.kind ? before : null;
      const drawn = this[DRAWN[element.kind]]?.(element, same, index, several);
      if (!drawn) return;
      if (element.kind === "grid" && element.look !== "table") {
        board = html("div", { class: "board" }, drawn);
        parts.push(board);
      } else if (several && board && (element.kind === "counter" || element.kind === "tray")) {
        board.append(drawn); // what is said of one board of several
      } else if (element.seat !== null && element.seat !== undefined) {
        if (!places.has(element.seat)) {
          places.set(element.seat, html("div", { class: "place" }));
          if (places.size === 1) parts.push(places);
        }
        places.get(element.seat).append(drawn);
      } else parts.push(drawn);
    });
    const shown = parts.map((part) => (part === places ? html("div", { class: "places" }, [...places.values()]) : part));
    const first = shown.findIndex((part) => part.classList?.contains("board") ?? false);
    const together = shown.filter((part, at) => at !== first && shown[at] && part.getAttribute?.("class") === "board");
    const rest = shown.filter((part) => !together.includes(part));
    if (first >= 0) {
      const at = rest.indexOf(shown[first]);
      rest[at] = html("div", { class: "boards" }, shown[first], together);
    }
    const status = html("div", { class: "status" }, this.swatch(this.scene.seat_to_move), this.said());
    const whole = html("div", { class: "scene" }, rest, status);
    if (boards.some((element) => this.sided(element))) status.append(this.flipper(whole));
    if (this.choose || this.ahead) whole.append(this.hint);
    if (this.choose) {
      whole.append(this.asked, ...this.buttons());
      this.listen();
    } else page.keys = new Map();
    if (this.choose || this.ahead) {
      whole.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        if (this.choice?.path.length) this.give();
        else if (this.ahead?.path.length) { this.ahead.clear(); this.refresh(); }
      });
      this.refresh();
    }
    page.drawn = whole;
    return whole;
  }

  /** How it stands; names of players are written as they are. */
  said() {
    const text = this.words(this.scene.status ?? "");
    const named = (this.options.holders ?? []).some((each) => each && text.startsWith(each));
    return html("span", { class: named ? "said named" : "said" }, text);
  }

  // -------------------------------------------------------------------------- the side

  sided(element) {
    return element.bottom !== null && element.bottom !== undefined;
  }

  /** Whether a board is shown by half a turn: the viewer's side is below, unless flipped. */
  turned(element) {
    if (!this.sided(element)) return false;
    const { viewer } = this.scene;
    const theirs = viewer !== null && viewer !== undefined && viewer !== element.bottom;
    return theirs !== page.turned;
  }

  flipper(whole) {
    const icon = svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: "M6 2l4 5H7.2v9H4.8V7H2zM14 18l-4-5h2.8V4h2.4v9H18z" }));
    const button = html("button", { type: "button", class: "flip", "aria-label": "Flip the board", "aria-pressed": String(page.turned), title: "Flip the board" }, icon);
    button.addEventListener("click", () => {
      page.turned = !page.turned;
      const other = new Drawing(this.scene, this.previous, this.choose, this.options).draw();
      whole.replaceWith(other);
      other.querySelector(".flip")?.focus();
    });
    return button;
  }

  // ------------------------------------------------------------------------ choosing

  listen() {
    page.keys = new Map();
    for (const element of this.scene.elements ?? []) {
      if (element.kind === "button" && element.key) page.keys.set(element.key, () => this.send(element.action));
    }
    if (listens) return;
    listens = true;
    document.addEventListener("keydown", pressed, true); // before those that step through plies
  }

  button({ label, action, key }) {
    const sign = KEYS[key] ?? key;
    const node = html("button", { type: "button", "data-action": action, "aria-keyshortcuts": key || null }, this.words(label) || action,
      sign ? html("kbd", {}, sign) : null);
    node.addEventListener("click", () => this.send(action));
    return node;
  }

  /** Buttons for actions that no spot means, and a list of all others for whom words suit. */
  buttons() {
    const all = (this.scene.elements ?? []).filter((element) => element.kind === "button");
    const plain = all.filter((element) => !element.via?.length);
    const once = new Map();
    for (const element of all) if (element.via?.length) once.set(element.action, element);
    const spotted = [...once.values()];
    const parts = [];
    if (plain.length > MANY) parts.push(html("div", { class: "choices many" }, plain.map((each) => this.button(each))));
    else if (plain.length) parts.push(html("div", { class: "choices" }, plain.map((each) => this.button(each))));
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

  send(action) {
    if (this.sent || !this.choose) return;
    this.sent = true; // one turn, one action
    this.choice?.clear();
    this.choose(action);
  }

  /** A spot was chosen, by whatever means. */
  pick(name) {
    if (this.ahead) {
      this.ahead.pick(name, this.own.has(name));
      this.refresh();
      return;
    }
    if (!this.choice) return;
    const action = this.choice.pick(name);
    if (action !== null) this.send(action);
    else this.refresh();
  }

  /** Give up what was chosen so far. */
  give() {
    if (!this.choice) return;
    const [first] = this.choice.path;
    this.choice.clear();
    this.refresh();
    this.spots.get(first)?.focus();
  }

  own = new Set(); // names of spots on which something of the viewer stands

  /** Take up what stands on a spot; returns what to call when it is put down, or null. */
  take(name) {
    const { ahead, choice } = this;
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

  /** Show what can be chosen now, in pictures and words. */
  refresh() {
    const { choice, ahead } = this;
    const open = choice?.open() ?? new Map();
    const path = choice?.path ?? ahead?.path ?? [];
    for (const [name, node] of this.spots) {
      const kind = open.get(name);
      const chosen = path.includes(name);
      const held = chosen ? false : kind === "start" && choice?.leads(name);
      node.setAttribute("class", ["spot", kind && `open ${kind}`, held && "holds", chosen && (ahead ? "ahead" : "chosen")].filter(Boolean).join(" "));
      node.setAttribute("aria-selected", String(chosen));
      node.setAttribute("aria-disabled", String(!kind && !ahead));
      const can = chosen ? ", chosen" : kind === "start" ? ", can be chosen" : kind ? ", possible next" : "";
      node.setAttribute("aria-label", this.labels.get(name) + can);
    }
    for (const [name, redraw] of this.stacks) redraw(name, path);
    const called = (name) => this.labels.get(name) ?? name;
    const short = (name) => (name.startsWith("\u0000") ? called(name) : name);
    if (ahead) {
      this.hint.textContent = !path.length ? "" : ahead.whole
        ? `Chosen for your next turn: ${path.map(short).join(" to ")}; played at once if it is legal then. Escape takes it back.`
        : `${called(path[0])}: choose where it goes in your next turn; Escape gives it up.`;
      return;
    }
    if (!choice) return;
    const ways = [...open.keys()].map(short);
    const last = path.length ? called(path[0]) : "";
    this.hint.textContent = path.length
      ? `${path.length > 1 ? path.map(short).join(" ") : last}: ${ways.length ? `choose ${ways.join(", ")}` : "choose below"}; Escape gives it up.`
      : "";
    this.asked.replaceChildren(...choice.asked.map((each) => this.button({ ...each, key: "" })));
    if (choice.asked.length && !open.size) this.asked.firstChild.focus();
  }

  /** Arrow keys walk over a board, Enter and the space bar choose. */
  walk(event, element, index) {
    const [y, x] = event.currentTarget.dataset.at.split(",").map(Number);
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    if (step) {
      const sign = this.turned(element) ? -1 : 1;
      const row = Math.max(0, Math.min(element.rows.length - 1, y + sign * step[0]));
      const column = Math.max(0, Math.min(element.rows[row].length - 1, x + sign * step[1]));
      const there = this.spots.get(spotName(element.rows[row][column], index, row, column));
      event.currentTarget.setAttribute("tabindex", "-1");
      there.setAttribute("tabindex", "0");
      there.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      this.pick(event.currentTarget.dataset.name);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // ------------------------------------------------------------------------- drawing

  grid(element, previous, index, several) {
    if (element.look === "table") return drawTable(element, this);
    const rows = element.rows ?? [];
    const shape = plan(element, this.turned(element), several);
    const parts = [...shape.ground(), ...shape.labels()];
    const acts = Boolean(this.choice || this.ahead);
    rows.forEach((row, y) => {
      const cells = row.map((_, x) => this.cell(element, previous, index, y, x, shape));
      parts.push(svg("g", acts ? { role: "row" } : {}, cells));
    });
    if (shape.ends) parts.push(svg("g", acts ? { role: "row" } : {}, element.ends.map((_, side) => this.end(element, index, side, shape))));
    const spoken = [...rows.flat(), ...(element.ends ?? [])].filter((cell) => cell.text.trim()).map((cell) => cell.label || cell.text);
    const name = [this.words(element.label), spoken.join("; ") || "empty"].filter(Boolean).join(": ");
    const role = acts ? { role: "grid", "aria-label": this.words(element.label) || "Board" } : { role: "img", "aria-label": name };
    const size = shape.columns <= 4 ? "small" : shape.width > shape.height * 1.6 ? "wide" : "";
    const classes = ["grid", size, element.look, element.theme && `theme-${element.theme}`].filter(Boolean).join(" ");
    return html("div", { class: classes },
      several && element.label ? html("div", { class: "soft" }, this.words(element.label)) : null,
      svg("svg", { viewBox: `0 0 ${shape.width} ${shape.height}`, ...role }, parts));
  }

  /** What stands on a spot, with where it is for those who move it. */
  stone(cell, index, y, x, shape) {
    const centre = shape.middle(y, x);
    const colour = this.colour(cell.owner);
    let parts;
    if (shape.look === "points") {
      const up = shape.upper(y);
      const box = shape.box(y, x);
      parts = cell.count ? stack(cell, colour, centre, CELL * 0.84, (up ? box.y : box.y + box.height), up ? 1 : -1) : piece(cell, colour, centre, CELL);
    } else parts = piece(cell, colour, centre, CELL);
    if (!parts.length) return null;
    return svg("g", { class: "stone", "data-place": `${index},${y},${x}`, "data-x": centre.x, "data-y": centre.y }, parts);
  }

  cell(element, previous, index, y, x, shape) {
    const cell = element.rows[y][x];
    const before = previous?.rows?.[y]?.[x];
    const box = shape.box(y, x);
    const centre = shape.middle(y, x);
    const mark = [(cell.highlight || changed(cell, before)) && "mark", cell.won && "won"].filter(Boolean).join(" ");
    const parts = spot(element, shape, y, x, mark);
    if (cell.name && !element.row_labels?.length && !element.column_labels?.length) {
      parts.push(svg("text", { class: `corner${(x + y) % 2 ? " dark" : ""}`, x: box.x + 5, y: box.y + 17 }, cell.name));
    }
    const stone = this.stone(cell, index, y, x, shape);
    const holder = svg("g", {}, stone ?? []);
    parts.push(holder);
    if (shape.look === "pits") parts.push(svg("text", { class: "count", x: centre.x, y: centre.y + CELL * 0.33 }, cell.text));
    if (cell.label) parts.push(svg("title", {}, this.words(cell.label)));
    if (!this.choice && !this.ahead) return svg("g", {}, parts);
    const at = shape.look === "points" ? { x: centre.x, y: centre.y + (shape.upper(y) ? 1 : -1) * box.height * 0.36 } : centre;
    parts.push(svg("circle", { class: "hole", cx: at.x, cy: at.y, r: CELL * 0.16 }));
    const inset = ROUND.has(shape.look) ? 2 : 4;
    parts.push(svg("rect", { class: "ring", x: box.x + inset, y: box.y + inset, width: box.width - 2 * inset, height: box.height - 2 * inset, rx: ROUND.has(shape.look) ? CELL / 2 : 6 }));
    const node = this.open(cell, spotName(cell, index, y, x), parts, { tabindex: x || y ? -1 : 0, "data-at": `${y},${x}` });
    node.addEventListener("keydown", (event) => this.walk(event, element, index));
    if (shape.look === "points") this.stacks.push([spotName(cell, index, y, x), this.restack(cell, holder, index, y, x, shape)]);
    return node;
  }

  /** A spot that can be chosen. */
  open(cell, name, parts, attributes) {
    const node = svg("g", { role: "gridcell", ...attributes, "data-spot": cell.name || cell.action, "data-name": name }, parts);
    node.addEventListener("click", () => { if (!drag.over()) this.pick(name); });
    node.addEventListener("pointerdown", (event) => drag.begin(event, node, name, (taken) => this.take(taken)));
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
    return node;
  }

  together(node, group) {
    node.addEventListener("pointerenter", () => group.forEach((each) => each.classList.add("near")));
    node.addEventListener("pointerleave", () => group.forEach((each) => each.classList.remove("near")));
  }

  /** On points, what was chosen in pairs of from and to is shown as moved already. */
  restack(cell, holder, index, y, x, shape) {
    return (name, path) => {
      if (!this.choice || !this.choice.left[0]?.pairs) return;
      let { count = 0, owner } = cell;
      const mover = this.scene.seat_to_move;
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
      const stone = count > 0 ? this.stone({ ...cell, text: cell.text || "o", shape: "disc", count, owner }, index, y, x, shape) : null;
      holder.replaceChildren(...(stone ? [stone] : []));
    };
  }

  /** A store beside the board. */
  end(element, index, side, shape) {
    const cell = element.ends[side];
    const box = shape.end(side);
    const centre = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const what = svg("g", { class: "stone", "data-place": `${index},-1,${side}`, "data-x": centre.x, "data-y": centre.y }, piece(cell, this.colour(cell.owner), centre, CELL * 1.2));
    const parts = [svg("rect", { class: "cell pit store", ...box, rx: box.width / 2 }), what,
      svg("text", { class: "count", x: centre.x, y: box.y + box.height - 16 }, cell.text), svg("title", {}, this.words(cell.label))];
    if (!this.choice && !this.ahead) return svg("g", {}, parts);
    parts.push(svg("rect", { class: "ring", ...box, rx: box.width / 2 }));
    const node = this.open(cell, spotName(cell, index, -1, side), parts, { tabindex: -1, "data-at": `-1,${side}` });
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") this.pick(node.dataset.name);
    });
    return node;
  }

  /** The colour of a seat before what belongs to it. */
  swatch(seat) {
    const colour = this.colour(seat);
    return colour ? html("span", { class: `swatch ${colour}` }) : null;
  }

  hand(element, previous, index) {
    return drawHand(element, this, index);
  }

  dice(element, previous, index) {
    return drawDice(element, this, index);
  }

  counter(element) {
    return drawCounter(element, this);
  }

  tray(element) {
    return drawTray(element, this);
  }

  text(element) {
    return html("div", { class: "words" }, this.words(element.text));
  }
}

const DRAWN = { grid: "grid", hand: "hand", dice: "dice", counter: "counter", tray: "tray", text: "text" };
const ROUND = new Set(["wells", "pits", "hex", "lines"]);
const KEYS = { ArrowUp: "\u2191", ArrowDown: "\u2193", ArrowLeft: "\u2190", ArrowRight: "\u2192", " ": "space" };

/**
 * The scene as one HTML element; what differs from the `previous` one is marked.
 * With `choose`, spots and buttons can be chosen: it is called with the action meant.
 * @param {any} scene
 * @param {any} previous
 * @param {((action: string) => void) | null} choose
 * @param {Options} options
 */
export function drawScene(scene, previous = null, choose = null, options = {}) {
  return new Drawing(scene, previous, choose, options).draw();
}
