// Long tables: search, sorting, the way to one's own row, and few rows at first. The server writes all rows.

import { html } from "./dom.js";
import { whoAmI } from "./session.js";

/**
 * @typedef {{query: string, column: number, down: boolean, all: boolean}} Choice of a person; column -1: as the server sorts
 * @typedef {{table: HTMLTableElement, rows: HTMLTableRowElement[], choice: Choice, told: HTMLElement, rest: HTMLButtonElement}} List
 */

/** Whether the heads of tables are seen; in a narrow window a list offers its columns beside the search. */
const WIDE = matchMedia("(min-width: 60.01rem)");
/** By the place of the table in the page, as the page may be written again. @type {Map<string, Choice>} */
const choices = new Map();
/** @type {Promise<string> | null} */
let me = null;

/** The number that a text begins with, with its sign. @param {string} text */
function number(text) {
  const found = /[\u2212-]?\d+(\.\d+)?/.exec(text);
  return found ? Number(found[0].replace("\u2212", "-")) : null;
}

/**
 * Return what a row is sorted by in a column; null where it has nothing.
 * @param {HTMLTableRowElement} row
 * @param {number} column
 */
function key(row, column) {
  const cell = row.cells[column];
  const text = cell?.querySelector("time")?.getAttribute("datetime") ?? cell?.textContent?.trim() ?? "";
  if (cell?.classList.contains("n")) return number(text);
  return text === "" || text === "\u2013" ? null : text;
}

/** @param {number | string | null} a @param {number | string | null} b @param {boolean} down */
function compared(a, b, down) {
  if (a === null || b === null) return Number(a === null) - Number(b === null); // nothing comes last
  const up = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  return down ? -up : up;
}

/** Show the rows that a person wants, in the wanted order. @param {List} list */
function show({ table, rows, choice, told, rest }) {
  const { column, down } = choice;
  const query = choice.query.trim().toLowerCase();
  const sorted = column < 0 ? rows : [...rows].sort((a, b) => compared(key(a, column), key(b, column), down));
  const first = Number(table.dataset.first);
  let found = 0;
  for (const row of sorted) {
    const fits = (row.textContent ?? "").toLowerCase().includes(query);
    row.hidden = !fits;
    if (fits) found += 1;
    row.classList.toggle("later", fits && !choice.all && found > first);
  }
  table.tBodies[0].append(...sorted);
  table.querySelectorAll("th").forEach((head, at) => {
    if (at === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  const shown = choice.all ? found : Math.min(found, first);
  told.textContent = query ? `${found} of ${rows.length} found` : `${shown} of ${rows.length}`;
  rest.hidden = shown === found;
  rest.textContent = `Show all ${found}`;
}

/** Sort by a column: first what is most or comes first, then the other way round, then as the server does. @param {List} list @param {number} column @param {boolean} most */
function sortBy(list, column, most) {
  const { choice } = list;
  if (choice.column !== column) Object.assign(choice, { column, down: most });
  else if (choice.down === most) choice.down = !most;
  else choice.column = -1;
  show(list);
}

/** @param {List} list */
function sortable(list) {
  const heads = [...list.table.querySelectorAll("th")].map((head, at) => ({ head, at, name: head.textContent ?? "", n: head.classList.contains("n") }));
  const offered = heads.filter(({ head }) => !head.classList.contains("wide"));
  const draw = () => {
    for (const { head, at, name, n } of offered) {
      const button = html("button", { type: "button", class: "sort" }, name);
      button.addEventListener("click", () => sortBy(list, at, n && at > 0));
      head.replaceChildren(WIDE.matches ? button : name);
    }
  };
  draw();
  WIDE.addEventListener("change", draw);
  const by = html("select", { "aria-label": "Sort by" }, html("option", { value: -1 }, "Sort"),
    ...offered.map(({ at, name }) => html("option", { value: at }, name)));
  by.value = String(list.choice.column);
  by.addEventListener("change", () => {
    const column = Number(by.value);
    Object.assign(list.choice, { column, down: column > 0 && Boolean(heads[column]?.n) });
    show(list);
  });
  return html("label", { class: "by" }, by);
}

/** The row of the person at this page, if it is known. @param {HTMLTableElement} table */
async function ownRow(table) {
  const marked = table.querySelector("tbody tr.own");
  if (marked || !table.querySelector("tr[data-player]")) return /** @type {HTMLElement | null} */ (marked);
  me ??= whoAmI().then(({ player }) => player, () => "");
  const player = await me;
  const row = player ? table.querySelector(`tr[data-player="${CSS.escape(player)}"]`) : null;
  row?.classList.add("own");
  return /** @type {HTMLElement | null} */ (row);
}

/** @param {List} list @param {HTMLElement} tools */
async function offerOwn(list, tools) {
  const row = await ownRow(list.table);
  if (!row) return;
  const button = html("button", { type: "button" }, "Jump to me");
  button.addEventListener("click", () => {
    Object.assign(list.choice, { all: true, query: "" });
    for (const search of tools.querySelectorAll("input")) search.value = "";
    show(list);
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "center" });
  });
  tools.append(button);
}

/** @param {HTMLTableElement} table @param {string} name of its place in the page */
function begin(table, name) {
  const choice = choices.get(name) ?? { query: "", column: -1, down: false, all: false };
  choices.set(name, choice);
  const told = html("span", { class: "soft", role: "status" });
  const rest = html("button", { type: "button", class: "rest" });
  const list = { table, rows: [...table.tBodies[0].rows], choice, told, rest };
  const by = sortable(list);
  if (list.rows.length > Number(table.dataset.first)) {
    const search = html("input", { type: "search", placeholder: "Search", "aria-label": "Search this list" });
    search.value = choice.query;
    search.addEventListener("input", () => {
      choice.query = search.value;
      show(list);
    });
    rest.addEventListener("click", () => {
      choice.all = true;
      show(list);
    });
    const tools = html("div", { class: "list-tools" }, search, by, told);
    table.parentElement?.before(tools);
    table.parentElement?.after(rest);
    offerOwn(list, tools);
  }
  show(list);
}

/** Give every long table below a node what belongs to it. @param {Document | Element} node */
export function longLists(node) {
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (node.querySelectorAll("table[data-first]"))) {
    const place = table.closest("[id]")?.id ?? "";
    const same = [...document.querySelectorAll("table[data-first]")].filter((each) => (each.closest("[id]")?.id ?? "") === place);
    begin(table, `${place} ${same.indexOf(table)}`);
  }
}

