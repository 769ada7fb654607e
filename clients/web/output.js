// The output of your hosted bot in a finished match, under its plies.

import { html } from "./dom.js";

const PAUSE = 4000; // ms until it is asked for again: the machine that ran the bot tells it later
const TRIES = 4;

/**
 * @typedef {{ply: number | null, kind: string, text: string}} Line
 * @typedef {{ply: number, wall_ms: number, cpu_ms: number, waited_ms: number}} Cost
 * @typedef {{bot: string, seat: number, lines: Line[], costs: Cost[], cut: number, cut_at: number}} Part
 * @typedef {{ply: number | null, cost?: Cost, lines: Line[], cut: number}} Group
 */

/**
 * The lines of a part by ply, in their order; plies that printed nothing are there for their cost.
 * @param {Part} part
 * @returns {Group[]}
 */
export function groups({ lines, costs, cut, cut_at: at }) {
  const left = [...costs].sort((one, other) => one.ply - other.ply);
  /** @type {Group[]} */
  const found = [];
  const silent = (/** @type {number} */ before) => {
    while (left.length && left[0].ply < before) found.push({ ply: left[0].ply, cost: left.shift(), lines: [], cut: 0 });
  };
  lines.forEach((line, number) => {
    const gap = number === at ? cut : 0;
    let group = found.at(-1);
    if (!group || group.ply !== line.ply || gap) {
      if (line.ply !== null) silent(line.ply);
      const cost = left[0]?.ply === line.ply ? left.shift() : undefined;
      group = { ply: line.ply, cost, lines: [], cut: gap };
      found.push(group);
    }
    group.lines.push(line);
  });
  silent(Infinity);
  return found;
}

/**
 * The cost of a ply in words.
 * @param {Cost | undefined} cost
 */
export function costInWords(cost) {
  if (!cost) return "";
  const ms = (/** @type {number} */ value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
  const waited = cost.waited_ms >= 0.1 ? `, ${ms(cost.waited_ms)} waiting for one` : "";
  return `${ms(cost.wall_ms)}, ${ms(cost.cpu_ms)} of a processor${waited}`;
}

/** A part of the page that can be opened; hidden as long as there is nothing. */
export class Output {
  /**
   * @param {() => string} address of the match
   * @param {(at: number) => void} go to a position
   */
  constructor(address, go) {
    this.address = address;
    this.go = go;
    this.asked = "";
    this.body = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Output of your bot" });
    this.node = /** @type {HTMLDetailsElement} */ (html("details", { id: "output", class: "output", hidden: true },
      html("summary", {}, "What your bot printed"), this.body));
  }

  /**
   * Ask for it, once the match is over: a few times, as it comes a little later.
   * @param {number} tries
   */
  async fill(tries = TRIES) {
    const address = this.address();
    if (tries === TRIES) {
      if (this.asked === address) return;
      this.asked = address;
      this.node.hidden = true;
    }
    const response = await fetch(`${address}/output`);
    const found = response.ok ? await response.json() : [];
    if (address !== this.address()) return;
    if (found.length) this.show(found);
    else if (tries > 1 && (response.ok || response.status === 409)) setTimeout(() => { this.fill(tries - 1).catch(() => {}); }, PAUSE);
  }

  /** @param {Part[]} parts */
  show(parts) {
    const bots = new Set(parts.map((part) => part.bot)).size;
    this.body.replaceChildren(...parts.flatMap((part) => [
      bots > 1 ? html("h3", {}, part.bot) : null,
      ...groups(part).map((group) => this.group(group)),
    ]).filter((node) => node !== null));
    this.node.hidden = false;
    if (location.hash === "#output") {
      this.node.open = true;
      this.node.scrollIntoView();
    }
  }

  /** @param {Group} group */
  group({ ply, cost, lines, cut }) {
    const at = ply === null ? null : ply + 1; // the position that its action led to
    const way = html(at === null ? "span" : "button", at === null ? {} : { type: "button", "data-ply": at },
      at === null ? "Outside of its plies" : `Ply ${at}`);
    if (at !== null) way.addEventListener("click", () => this.go(at));
    return html("section", { "data-at": at },
      cut ? html("p", { class: "soft" }, `${cut.toLocaleString("en")} bytes are left out here.`) : null,
      html("p", {}, way, " ", html("small", { class: "soft" }, costInWords(cost))),
      ...lines.map(({ kind, text }) => html("pre", { class: kind }, text)));
  }

  /**
   * Mark the ply that led to the position that is shown.
   * @param {number} at
   */
  mark(at) {
    for (const node of this.body.querySelectorAll("[data-at]")) {
      node.classList.toggle("here", node.getAttribute("data-at") === String(at));
    }
  }
}
