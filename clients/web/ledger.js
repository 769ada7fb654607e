// Where the time of each ply went, and the record to take along: from the record of the match.

import { html, words } from "./dom.js";

const SECOND = 1e9;
const seconds = (/** @type {number} */ ns) => (ns / SECOND).toFixed(2);

/**
 * Rows of the ledger: what each action of a seat cost, and the ply under way at the end.
 * @param {Answers.Record} record
 */
export function rows(record) {
  const found = [];
  for (const event of record.events) {
    const last = event.kind === "end" && (event.on_clock ?? -1) >= 0;
    if (event.kind !== "action" && !last) continue;
    found.push({
      ply: event.ply + 1,
      seat: last ? event.on_clock ?? -1 : event.seat,
      action: last ? (event.text ?? "").replaceAll("_", " ") : event.text ?? "",
      thought: event.thought_ns ?? 0,
      lag: event.lag_ns ?? 0,
      stall: event.stall_ns ?? 0,
      charged: event.charged_ns ?? 0,
      left: event.remaining_ns ?? 0,
    });
  }
  return found;
}

/**
 * A part of the page that can be opened: it asks for the record when it is.
 * @param {() => string} address of the record
 * @param {(seat: number) => string} name of a seat's holder
 * @param {(ply: number) => string} written the action of a ply as people write it; "" if it is not known
 */
export function ledger(address, name, written) {
  const body = html("div", {});
  const node = html("details", { id: "ledger", class: "ledger" }, html("summary", {}, "Clocks, ply by ply"), body);
  const fill = async () => {
    if (!node.open) return;
    try {
      const response = await fetch(address());
      const found = await response.json();
      if (!response.ok) throw new Error(found.detail);
      body.replaceChildren(plot(), table(rows(found).map((row) => ({ ...row, action: written(row.ply) || row.action })), name));
    } catch (error) {
      body.replaceChildren(html("p", { class: "soft" }, `The record cannot be read now. ${words(error)}`));
    }
  };
  node.addEventListener("toggle", fill);
  return { node, fill };
}

/** The times as a plot, which the server draws; the table below has the same numbers. */
function plot() {
  const address = `${location.pathname}?plot=time`;
  return html("figure", {}, html("img", { src: address, width: 800, height: 322, alt: "Seconds on the clock for each ply, in the colours of the seats." }),
    html("figcaption", { class: "soft" }, "Time per ply. ", html("a", { href: address, download: true }, "SVG")));
}

/**
 * @param {ReturnType<typeof rows>} found
 * @param {(seat: number) => string} name
 */
function table(found, name) {
  const heads = ["ply", "who", "action", "thought", "lag", "charged", "left"];
  const cells = (/** @type {ReturnType<typeof rows>[number]} */ row) => [row.ply, name(row.seat), row.action, seconds(row.thought), seconds(row.lag + row.stall), seconds(row.charged), seconds(row.left)];
  const numbers = new Set([0, 3, 4, 5, 6]);
  /** @type {(tag: "td" | "th") => (value: string | number, index: number) => HTMLElement} */
  const cell = (tag) => (value, index) => html(tag, { class: numbers.has(index) ? "n" : null, scope: tag === "th" ? "col" : null }, value);
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Clocks, ply by ply" },
    html("table", {}, html("caption", { class: "soft" }, "Seconds; lag is given back: the network's, and what the server held up."),
      html("thead", {}, html("tr", {}, heads.map(cell("th")))),
      html("tbody", {}, found.map((row) => html("tr", {}, cells(row).map(cell("td")))))));
}
