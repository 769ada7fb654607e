// Draws a scene, the plain data that describes what one may see: it knows no game.
// Elements of a kind that is not known here are left out, so that newer servers can be watched.

import { Choice } from "./choose.js";
import { html, svg } from "./dom.js";

const CELL = 80;
const MARGIN = 36;
const LABEL = 20;
const COLOURS = 6;
const NAMED = new Set(["white", "black"]); // seats that are called after a colour have it
const MANY = 12; // more buttons than these go into a list that can be opened

/** The class with the colour of a seat; `names` are what the seats are called. */
export function seatClass(seat, names = []) {
  if (seat === null || seat === undefined) return "";
  const name = (names[seat] ?? "").toLowerCase();
  return NAMED.has(name) ? `seat-${name}` : `seat-${seat % COLOURS}`;
}

/** Whether what stands on a spot is new: it is marked as the last move. */
const changed = (cell, before) => Boolean(before)
  && (cell.text !== before.text || cell.owner !== before.owner || cell.shape !== before.shape);

/** What `via` calls a spot; spots without a name get one of their own. */
const spotName = (cell, element, y, x) => cell.name || `\u0000${element},${y},${x}`;

/** Draws one scene; `choose(action)` is called with what a person chooses, if anything can be. */
class Drawing {
  constructor(scene, previous, choose) {
    this.scene = scene;
    this.previous = previous;
    this.choose = choose;
    this.names = scene.seats ?? [];
    this.spots = new Map(); // name of a spot to its node
    this.labels = new Map(); // and to what it is called
    this.hint = html("div", { class: "hint soft", role: "status" });
    this.asked = html("div", { class: "choices", role: "group", "aria-label": "Which one?" });
    const moves = choose ? this.moves() : [];
    this.choice = moves.length ? new Choice(moves) : null;
  }

  colour(seat) {
    return seatClass(seat, this.names);
  }

  /** The actions that are chosen on boards. */
  moves() {
    const found = [];
    (this.scene.elements ?? []).forEach((element, index) => {
      if (element.kind === "button" && element.via?.length) found.push(element);
      if (element.kind !== "grid") return;
      element.rows.forEach((row, y) => row.forEach((cell, x) => {
        if (cell.action === null || cell.action === undefined) return;
        found.push({ action: cell.action, label: cell.label, via: [spotName(cell, index, y, x)] });
      }));
    });
    return found;
  }

  draw() {
    const elements = this.scene.elements ?? [];
    const several = elements.filter((element) => element.kind === "grid").length > 1;
    const parts = [];
    let into = parts;
    elements.forEach((element, index) => {
      const before = this.previous?.elements?.[index];
      const same = before?.kind === element.kind ? before : null;
      const drawn = this[DRAWN[element.kind]]?.(element, same, index, several);
      if (!drawn) return;
      if (several && element.kind === "grid") {
        into = [];
        parts.push(into);
      }
      into.push(drawn);
    });
    const boards = parts.filter(Array.isArray).map((group) => html("div", { class: "board" }, group));
    const before = parts.filter((part) => !Array.isArray(part));
    const whole = html("div", { class: "scene" }, before,
      boards.length ? html("div", { class: "boards" }, boards) : null,
      html("div", { class: "status" }, this.scene.status ?? ""));
    if (this.choose) {
      whole.append(this.hint, this.asked, ...this.buttons());
      whole.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && this.choice?.path.length) this.give();
      });
    }
    if (this.choice) this.refresh();
    return whole;
  }

  // ------------------------------------------------------------------------ choosing

  /** Buttons for actions that no spot means, and a list of all others for whom words suit. */
  buttons() {
    const button = ({ label, action }) => {
      const node = html("button", { type: "button", "data-action": action }, label || action);
      node.addEventListener("click", () => this.send(action));
      return node;
    };
    const all = (this.scene.elements ?? []).filter((element) => element.kind === "button");
    const plain = all.filter((element) => !element.via?.length);
    const once = new Map();
    for (const element of all) if (element.via?.length) once.set(element.action, element);
    const spotted = [...once.values()];
    const parts = [];
    if (plain.length > MANY) parts.push(html("div", { class: "choices many" }, plain.map(button)));
    else if (plain.length) parts.push(html("div", { class: "choices" }, plain.map(button)));
    if (spotted.length) {
      parts.push(html("details", { class: "moves" }, html("summary", {}, `All moves (${spotted.length})`),
        html("div", { class: "choices many" }, spotted.map(button))));
    }
    return parts;
  }

  send(action) {
    this.choice?.clear();
    this.choose(action);
  }

  pick(spot) {
    const action = this.choice.pick(spot);
    if (action !== null) this.send(action);
    else this.refresh();
  }

  /** Give up what was chosen so far. */
  give() {
    const [first] = this.choice.path;
    this.choice.clear();
    this.refresh();
    this.spots.get(first)?.focus();
  }

  /** Show what can be chosen now, in pictures and words. */
  refresh() {
    const { choice } = this;
    const open = choice.open();
    for (const [name, node] of this.spots) {
      const kind = open.get(name);
      const chosen = choice.path.includes(name);
      node.setAttribute("class", ["spot", kind && `open ${kind}`, chosen && "chosen"].filter(Boolean).join(" "));
      node.setAttribute("aria-selected", String(chosen));
      node.setAttribute("aria-disabled", String(!kind));
      const can = chosen ? ", chosen" : kind === "start" ? ", can be chosen" : kind ? ", possible next" : "";
      node.setAttribute("aria-label", this.labels.get(name) + can);
    }
    const called = (name) => this.labels.get(name) ?? name;
    const ways = [...open.keys()].map((name) => (name.startsWith("\u0000") ? called(name) : name));
    this.hint.textContent = choice.path.length
      ? `${called(choice.path[0])}: ${ways.length ? `choose ${ways.join(", ")}` : "choose below"}; Escape gives it up.`
      : "";
    this.asked.replaceChildren(...choice.asked.map(({ label, action }) => {
      const node = html("button", { type: "button", "data-action": action }, label || action);
      node.addEventListener("click", () => this.send(action));
      return node;
    }));
    if (choice.asked.length && !open.size) this.asked.firstChild.focus();
  }

  /** Arrow keys walk over a board, Enter and the space bar choose. */
  walk(event, element, index) {
    const [y, x] = event.currentTarget.dataset.at.split(",").map(Number);
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    if (step) {
      const row = Math.max(0, Math.min(element.rows.length - 1, y + step[0]));
      const column = Math.max(0, Math.min(element.rows[row].length - 1, x + step[1]));
      const there = this.spots.get(spotName(element.rows[row][column], index, row, column));
      event.currentTarget.setAttribute("tabindex", "-1");
      there.setAttribute("tabindex", "0");
      there.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      this.pick(spotName(element.rows[y][x], index, y, x));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // ------------------------------------------------------------------------- drawing

  grid(element, previous, index, several) {
    const rows = element.rows ?? [];
    const columns = Math.max(1, ...rows.map((row) => row.length));
    const scale = Math.max(1, columns / 9, rows.length / 9) * (several ? 1.5 : 1); // labels stay readable
    const font = LABEL * scale;
    const widest = Math.max(1, ...(element.column_labels ?? []).map((label) => label.length));
    const narrow = Math.min(font, (CELL - 6) / (widest * 0.6)); // and apart
    const longest = Math.max(0, ...(element.row_labels ?? []).map((label) => label.length));
    const left = element.row_labels?.length ? Math.max(MARGIN * scale, longest * font * 0.62 + 12) : 0;
    const below = element.column_labels?.length ? MARGIN * scale : 0;
    const width = left + columns * CELL;
    const height = rows.length * CELL + below;
    const parts = [];
    rows.forEach((row, y) => {
      const cells = [];
      if (left) {
        const at = { class: "label", x: left / 2, y: (y + 0.5) * CELL, "font-size": font };
        parts.push(svg("text", at, element.row_labels[y] ?? ""));
      }
      row.forEach((cell, x) => cells.push(this.cell(element, previous, index, y, x, left)));
      parts.push(svg("g", this.choice ? { role: "row" } : {}, cells));
    });
    if (below) {
      element.column_labels.forEach((label, x) => {
        const at = { class: "label", x: left + (x + 0.5) * CELL, y: height - below / 2, "font-size": narrow };
        parts.push(svg("text", at, label));
      });
    }
    const spoken = rows.flat().filter((cell) => cell.text.trim()).map((cell) => cell.label || cell.text);
    const name = [element.label, spoken.join("; ") || "empty"].filter(Boolean).join(": ");
    const role = this.choice ? { role: "grid", "aria-label": element.label } : { role: "img", "aria-label": name };
    const size = columns <= 4 ? "grid small" : "grid";
    return html("div", { class: `${size} ${element.look ?? ""}`.trim() },
      several && element.label ? html("div", { class: "soft" }, element.label) : null,
      svg("svg", { viewBox: `0 0 ${width} ${height}`, ...role }, parts));
  }

  cell(element, previous, index, y, x, left) {
    const cell = element.rows[y][x];
    const before = previous?.rows?.[y]?.[x];
    const at = { x: left + x * CELL, y: y * CELL };
    const centre = { x: at.x + CELL / 2, y: at.y + CELL / 2 };
    const mark = cell.highlight || changed(cell, before) ? " mark" : "";
    const dark = element.look === "checkered" && (x + y) % 2 ? " dark" : "";
    const round = element.look ? 0 : 10;
    const parts = [svg("rect", { class: `cell${dark}${mark}`, ...at, width: CELL, height: CELL, rx: round })];
    if (element.look === "lines") parts.push(this.crossing(element, x, y, centre));
    if (cell.name && !element.row_labels?.length && !element.column_labels?.length) {
      parts.push(svg("text", { class: "corner", x: at.x + 5, y: at.y + 17 }, cell.name));
    }
    parts.push(...this.piece(cell, centre));
    if (cell.label) parts.push(svg("title", {}, cell.label));
    if (!this.choice) return svg("g", {}, parts);
    parts.push(svg("circle", { class: "hole", cx: centre.x, cy: centre.y, r: CELL * 0.16 }));
    parts.push(svg("rect", { class: "ring", x: at.x + 4, y: at.y + 4, width: CELL - 8, height: CELL - 8, rx: 8 }));
    const name = spotName(cell, index, y, x);
    const node = svg("g", { role: "gridcell", tabindex: x || y ? -1 : 0, "data-at": `${y},${x}`, "data-spot": cell.name || cell.action }, parts);
    node.addEventListener("click", () => this.pick(name));
    node.addEventListener("keydown", (event) => this.walk(event, element, index));
    this.spots.set(name, node);
    this.labels.set(name, cell.label || cell.text || "empty");
    return node;
  }

  /** Lines through a point, which end at the border of the board. */
  crossing(element, x, y, centre) {
    const half = CELL / 2;
    const [right, bottom] = [x < element.rows[y].length - 1, y < element.rows.length - 1];
    const across = `M${x ? centre.x - half : centre.x} ${centre.y}H${right ? centre.x + half : centre.x}`;
    const down = `M${centre.x} ${y ? centre.y - half : centre.y}V${bottom ? centre.y + half : centre.y}`;
    return svg("path", { class: "line", d: across + down });
  }

  piece(cell, centre) {
    const colour = this.colour(cell.owner);
    const text = cell.face || cell.text;
    const around = { cx: centre.x, cy: centre.y };
    switch (cell.text && cell.shape) {
      case "disc":
        return [svg("circle", { class: `disc ${colour || "plain"}`, ...around, r: CELL * 0.38 }),
          cell.face ? svg("text", { class: `face on-${colour || "plain"}`, ...centre }, cell.face) : ""];
      case "dot":
        return [svg("circle", { class: colour || "plain", ...around, r: CELL * 0.12 })];
      case "block":
        return [svg("rect", { class: `block ${colour || "plain"}`, x: centre.x - CELL / 2 + 2, y: centre.y - CELL / 2 + 2, width: CELL - 4, height: CELL - 4, rx: 6 }),
          cell.face ? svg("text", { class: `face on-${colour || "plain"}`, ...centre }, cell.face) : ""];
      default:
        return text.trim() ? [svg("text", { class: `piece ${colour}${text.length > 2 ? " long" : ""}`, ...centre }, text)] : [];
    }
  }

  /** The colour of a seat before what belongs to it. */
  swatch(seat) {
    const colour = this.colour(seat);
    return colour ? html("span", { class: `swatch ${colour}` }) : null;
  }

  hand(element) {
    const cards = element.cards ?? [];
    const title = html("div", { class: "soft" }, this.swatch(element.seat), element.label);
    if (!cards.length) return html("div", { class: "hand" }, title, html("div", {}, "none"));
    const active = this.choose && cards.some((card) => card.action !== null && card.action !== undefined);
    const parts = cards.map((card, index) => {
      const x = index * 70 + 3;
      const face = svg("rect", { class: card.text === null ? "back" : "card", x, y: 3, width: 60, height: 84, rx: 8 });
      const text = card.text === null ? "" : svg("text", { class: ["piece", "piece", "piece pair"][card.text.length] ?? "piece long", x: x + 30, y: 46 }, card.text);
      if (!active || card.action === null || card.action === undefined) return svg("g", {}, face, text);
      const name = card.label || card.text || card.action;
      const node = svg("g", { class: "spot open start", role: "button", tabindex: 0, "aria-label": name, "data-spot": card.action }, face, text, svg("title", {}, name));
      node.addEventListener("click", () => this.send(card.action));
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.send(card.action);
      });
      return node;
    });
    const spoken = cards.map((card) => card.text ?? "face down").join(", ");
    const drawing = svg("svg", { viewBox: `0 0 ${cards.length * 70} 90`, role: active ? "group" : "img", "aria-label": `${element.label}: ${spoken}` }, parts);
    return html("div", { class: "hand" }, title, drawing);
  }

  dice(element) {
    const values = element.values ?? [];
    const title = html("div", { class: "soft" }, element.label);
    if (!values.length) return html("div", { class: "dice" }, title, html("div", {}, "not rolled"));
    const parts = values.map((value, index) => {
      const x = index * 80 + 3;
      const face = svg("rect", { class: "card", x, y: 3, width: 68, height: 68, rx: 12 });
      const marks = PIPS[value]
        ? PIPS[value].map(([px, py]) => svg("circle", { class: "pip", cx: x + 14 + px * 20, cy: 17 + py * 20, r: 7 }))
        : [svg("text", { class: "piece", x: x + 34, y: 38 }, value)];
      return svg("g", {}, face, marks);
    });
    const drawing = svg("svg", { viewBox: `0 0 ${values.length * 80} 76`, role: "img", "aria-label": `${element.label}: ${values.join(", ")}` }, parts);
    return html("div", { class: "dice" }, title, drawing);
  }

  counter(element) {
    const number = Number.isInteger(element.value) ? String(element.value) : element.value.toFixed(2);
    const text = element.target ? `${element.label}: ${number} / ${element.target}` : `${element.label}: ${number}`;
    if (!element.target) return html("div", {}, this.swatch(element.seat), text);
    const part = Math.max(0, Math.min(1, element.value / element.target));
    const bar = svg("svg", { viewBox: "0 0 300 12", role: "presentation", preserveAspectRatio: "none" },
      svg("rect", { class: "bar", width: 300, height: 12, rx: 6 }),
      svg("rect", { class: this.colour(element.seat) || "pip", width: 300 * part, height: 12, rx: 6 }));
    return html("div", { class: "counter" }, this.swatch(element.seat), text, bar);
  }

  text(element) {
    return html("div", {}, element.text);
  }
}

const DRAWN = { grid: "grid", hand: "hand", dice: "dice", counter: "counter", text: "text" };

const PIPS = {
  1: [[1, 1]], 2: [[0, 0], [2, 2]], 3: [[0, 0], [1, 1], [2, 2]],
  4: [[0, 0], [2, 0], [0, 2], [2, 2]], 5: [[0, 0], [2, 0], [1, 1], [0, 2], [2, 2]],
  6: [[0, 0], [2, 0], [0, 1], [2, 1], [0, 2], [2, 2]],
};

/**
 * The scene as one HTML element; what differs from the `previous` one is marked.
 * With `choose`, spots and buttons can be chosen: it is called with the action meant.
 */
export function drawScene(scene, previous = null, choose = null) {
  return new Drawing(scene, previous, choose).draw();
}
