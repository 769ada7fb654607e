// Above and below the board: who plays, with how much time left.

import { seatClass } from "./colours.js";
import { clockText, holder, holderLink, html } from "./dom.js";
import { place } from "./state.js";
import { seatAt } from "./table.js";
import { score } from "./words.js";

const SHORT = 10_000; // ms left from which on a running clock is shown as short of time

/** @type {(node: Element, text: string) => void} */
const write = (node, text) => { if (node.textContent !== text) node.textContent = text; };

const LONGEST_LABEL = 26; // so that name, label and clock stay in one line

/**
 * The label of a bot's version. Of a long one the end is shown, which states the level of help.
 * @param {string} label
 */
function version(label) {
  if (!label) return null;
  const shown = label.length > LONGEST_LABEL ? `…${label.slice(1 - LONGEST_LABEL)}` : label;
  return html("span", { class: "version soft", title: label }, shown);
}

/** The seats with their clocks, or with what they got. */
export class Seats {
  /** @param {boolean} linked whether names lead to the pages of bots and people */
  constructor(linked) {
    this.linked = linked;
    this.node = html("ul", { id: "seats", class: "seats" });
    /** @type {Messages.ClockState[]} */
    this.clocks = [];
    /** @type {{item: HTMLElement, swatch: HTMLElement, called: HTMLElement, taken: HTMLElement, says: HTMLElement, away: HTMLElement, clock: HTMLElement}[]} */
    this.rows = [];
    this.clocksAt = 0;
    /** Seat to when the match stops waiting for it. @type {Map<number, number>} */
    this.away = new Map();
  }

  clear() {
    this.clocks = [];
    this.clocksAt = 0;
    this.away.clear();
    this.rows = [];
    this.node.replaceChildren();
  }

  /**
   * Clocks as a message has them.
   * @param {Messages.ClockState[]} [clocks]
   * @param {number | null} [mover] whose starts with it, if none is said to run
   */
  run(clocks, mover) {
    if (!clocks?.length) return;
    const runs = clocks.some((clock) => clock.running);
    this.clocks = runs ? clocks : clocks.map((clock) => ({ ...clock, running: (clock.seat ?? 0) === mover }));
    this.clocksAt = performance.now();
  }

  /** How the clocks go on is not known. */
  halt() {
    this.clocks = this.clocks.map((clock) => ({ ...clock, running: false }));
  }

  /** The match is over. */
  stop() {
    this.clocks = [];
    this.away.clear();
  }

  /**
   * Handles the notice that a seat has left or come back.
   * @param {Messages.Notice} notice
   */
  presence({ code, seat, remaining_ms: left }) {
    if (code === "notice/away") this.away.set(seat ?? 0, performance.now() + (left ?? 0));
    else this.away.delete(seat ?? 0);
  }

  /** Nobody is known to be away. */
  present() {
    this.away.clear();
  }

  /** True if the page changes with time. */
  get ticking() {
    return this.away.size > 0 || this.clocks.some((clock) => clock.running);
  }

  /**
   * A row for a seat.
   * @param {import("./state.js").Seat} seat
   */
  row(seat) {
    const [swatch, called] = [html("span", { class: "swatch" }), html("span", { class: "called soft" })];
    const [away, clock] = [html("span", { class: "away" }), html("span", { class: "clock" })];
    const [taken, says] = [html("span", { class: "taken" }), html("span", { class: "says" })];
    const item = html("li", {}, swatch, html("span", { class: "who" }, this.linked ? holderLink(seat) : holder(seat)),
      version(seat.version ?? ""), called, html("span", { class: "soft" }, seat.rating ? Math.round(seat.rating) : ""), taken, says, away, clock);
    this.node.append(item);
    return { item, swatch, called, taken, says, away, clock };
  }

  /** The row of a seat, which is made when it is first needed. @type {(seat: import("./state.js").Seat, index: number) => typeof this.rows[0]} */
  rowOf(seat, index) {
    return this.rows[index] ??= this.row(seat);
  }

  /** Forget what each seat has taken: the next drawing shows it again. */
  clearTaken() {
    for (const { taken } of this.rows) taken.replaceChildren();
  }

  /** Put one seat below the board and all others above it, or around a table. @param {number} below */
  sides(below) {
    this.rows.forEach(({ item }, index) => {
      seatAt(item, index, below, this.rows.length);
      item.classList.toggle("below", index === below);
      item.classList.toggle("above", index !== below);
    });
  }

  /**
   * @param {import("./state.js").Seat[]} seats
   * @param {string[]} names what the game calls them
   * @param {number | null} mover the seat to move, if any
   * @param {number[] | null} returns what each seat got, once that may be told
   */
  show(seats, names, mover, returns) {
    const now = performance.now();
    seats.forEach((seat, index) => {
      const row = this.rowOf(seat, index);
      const clock = this.clocks.find((each) => (each.seat ?? 0) === index);
      const left = clock ? (clock.remaining_ms ?? 0) - (clock.running ? now - this.clocksAt : 0) : null;
      const gone = this.away.get(index);
      row.item.setAttribute("aria-current", String(mover === index));
      row.swatch.setAttribute("class", `swatch ${seatClass(index, names)}`);
      write(row.called, /^seat \d+$/.test(names[index] ?? "") ? "" : names[index] ?? ""); // which says nothing
      write(row.away, gone === undefined ? "" : `away, ${Math.max(0, Math.ceil((gone - now) / 1000))} s left`);
      row.clock.classList.toggle("running", Boolean(clock?.running));
      row.clock.classList.toggle("short", Boolean(clock?.running) && left !== null && left < SHORT);
      write(row.clock, returns ? [score(returns[index] ?? 0), place.dataset.unit].filter(Boolean).join(" ") : left === null ? "" : clockText(left));
    });
  }
}
