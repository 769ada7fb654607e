// The list of plies beside the board. Where two play, each has a column, and a row is one turn of
// each; else there is a row for each ply. Choosing a ply shows its position.

import { seatClass } from "./colours.js";
import { html } from "./dom.js";
import { spoken, withDice } from "./scene_items.js";
import { name, place } from "./state.js";

const UNNAMED = /^(first|second|seat \d+)$/; // names of seats that say nothing

/** @typedef {{row: HTMLElement | null, cell: HTMLElement | null, seat: number}} End the last row, the cell of it that was filled last, and the seat whose column that is */

/** @type {End} */
const NOTHING = { row: null, cell: null, seat: Infinity };

/** The action of a seat or of chance, as people write it. @param {Messages.Event} event */
export const written = (event) => event.display || (event.action ?? "hidden");

const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The list of plies. */
export class MoveList {
  /** @param {(at: number) => void} go to a position */
  constructor(go) {
    this.go = go;
    this.heads = html("div", { class: "heads", "aria-hidden": "true" });
    this.turns = html("ol", { class: "turns" });
    this.node = html("div", { id: "events", class: "events" }, this.heads, this.turns);
    /** @type {HTMLElement[]} */
    this.current = [];
    /** @type {End} */
    this.end = NOTHING;
    /** Outcomes of chance for the seat that acts next, which is assumed to be the other one. @type {{plies: HTMLElement[], before: End, seat: number} | null} */
    this.rolled = null;
    /** True if chance acts for the seat that acts next, as in backgammon; in pig it answers the seat before. @type {boolean | null} */
    this.leads = null;
    this.clear();
  }

  clear() {
    this.current = [];
    this.end = { ...NOTHING };
    this.rolled = null;
    this.leads = null;
    this.turns.replaceChildren();
    this.heads.replaceChildren();
    this.node.hidden = true;
  }

  /**
   * @param {Messages.Event[]} events
   * @param {string[]} names what the game calls the seats
   * @param {number} seats number of them
   */
  add(events, names, seats) {
    if (events.length && this.node.hidden) {
      this.node.hidden = false;
      this.turns.classList.toggle("paired", seats === 2);
      if (seats === 2) this.nameColumns(names);
    }
    for (const event of events) {
      if (event.seat < 0 && "hidden" in place.dataset) continue; // cards are dealt, which hands show
      const ply = this.ply(event, names);
      if (seats !== 2) this.turns.append(html("li", {}, html("span", { class: "number" }, event.seat < 0 ? "" : (event.ply ?? 0) + 1), html("span", { class: `swatch ${seatClass(event.seat, names)}` }), ply));
      else if (event.seat < 0) this.chance(ply);
      else this.action(event.seat, ply);
    }
  }

  /** @param {string[]} names what the game calls the seats */
  nameColumns(names) {
    this.heads.append(html("span", { class: "number" }), ...[0, 1].map((seat) => html("span", {},
      html("span", { class: `swatch ${seatClass(seat, names)}` }), UNNAMED.test(names[seat] ?? "seat 1") ? name(seat) : capital(names[seat]))));
  }

  /**
   * A button that shows the position to which an event led.
   * @param {Messages.Event} event
   * @param {string[]} names
   */
  ply(event, names) {
    const chance = event.seat < 0;
    const at = (event.ply ?? 0) + (chance ? 0 : 1);
    const text = written(event);
    const time = event.ms === undefined || event.ms === null ? "" : `${(event.ms / 1000).toFixed(event.ms < 10_000 ? 2 : 0)} s`;
    const who = chance ? "chance" : `ply ${at}, ${names[event.seat] ?? name(event.seat)}`;
    const node = html("button", { type: "button", class: chance ? "ply chance" : "ply", tabindex: -1, "data-at": at, "aria-label": `${spoken(text)} ${time}, ${who}` },
      html("span", { class: event.action ? "action" : "action soft" }, withDice(text)), " ", html("span", { class: "soft time" }, time));
    node.addEventListener("click", () => this.go(at));
    return node;
  }

  /** @param {HTMLElement} ply */
  chance(ply) {
    this.leads ??= this.end.row === null;
    if (!this.leads) {
      this.cellOf(this.end.seat).append(ply);
      return;
    }
    this.rolled ??= { plies: [], before: { ...this.end }, seat: this.end.seat === 0 ? 1 : 0 };
    this.rolled.plies.push(ply);
    this.cellOf(this.rolled.seat).append(ply);
  }

  /**
   * @param {number} seat that acted
   * @param {HTMLElement} ply
   */
  action(seat, ply) {
    this.leads ??= false;
    const { rolled } = this;
    this.rolled = null;
    if (rolled && rolled.seat !== seat) { // the other one acts: the dice move to its column
      this.end.cell?.remove();
      if (this.end.row !== rolled.before.row) this.end.row?.remove();
      this.end = rolled.before;
      this.cellOf(seat).append(...rolled.plies);
    }
    this.cellOf(seat).append(ply);
  }

  /**
   * Where what a seat does next belongs: beside what it has just done, or in its next turn.
   * @param {number} seat
   */
  cellOf(seat) {
    const { end } = this;
    if (end.cell && end.seat === seat) return end.cell;
    if (!end.row || seat < end.seat) {
      end.row = html("li", {}, html("span", { class: "number" }, this.turns.childElementCount + 1));
      this.turns.append(end.row);
    }
    end.seat = seat;
    end.cell = html("span", { class: seat ? "turn second" : "turn" });
    end.row.append(end.cell);
    return end.cell;
  }

  /**
   * Mark what led to position `at`.
   * @param {number} at
   */
  mark(at) {
    for (const ply of this.current) ply.removeAttribute("aria-current");
    this.current = at > 0 ? [.../** @type {NodeListOf<HTMLElement>} */ (this.turns.querySelectorAll(`[data-at="${at}"]`))] : [];
    for (const ply of this.current) ply.setAttribute("aria-current", "true");
    this.reveal();
  }

  /** Scroll the list, and never the page, to what is marked. */
  reveal() {
    const ply = this.current.at(-1);
    if (!ply) {
      this.node.scrollTop = 0;
      return;
    }
    const [whole, part] = [this.node.getBoundingClientRect(), ply.getBoundingClientRect()];
    const above = part.top - whole.top - this.heads.offsetHeight;
    const below = part.bottom - whole.bottom;
    if (above < 0) this.node.scrollTop += above;
    else if (below > 0) this.node.scrollTop += below;
  }
}
