// One field for actions that differ by an amount, such as bets: a slider, a number, and usual sizes.

import { html } from "./dom.js";

/** What a usual size is called, after its amount: "Raise to 6, the pot". @param {Scenes.Button} element */
const usual = ({ label = "" }) => label.split(", ")[1] ?? "";

/**
 * The field, and the button that plays the amount in it.
 * @param {Scenes.Button[]} all the actions with amounts
 * @param {(element: Scenes.Button) => HTMLElement} button draws the button of an action
 */
export function amountField(all, button) {
  const sorted = [...all].sort((one, other) => (one.amount ?? 0) - (other.amount ?? 0));
  const amounts = sorted.map(({ amount }) => amount ?? 0);
  const [least, most] = [amounts[0], amounts[amounts.length - 1]];
  const range = /** @type {HTMLInputElement} */ (html("input", { type: "range", min: 0, max: sorted.length - 1, "aria-label": "Amount" }));
  const number = /** @type {HTMLInputElement} */ (html("input", { type: "number", min: least, max: most, "aria-label": "Amount in chips", inputmode: "numeric" }));
  const plain = (/** @type {number} */ at) => button({ ...sorted[at], label: sorted[at].label.split(", ")[0] });
  let shown = plain(0);
  /** @type {(at: number, typing?: boolean) => void} */
  const set = (at, typing = false) => {
    const next = plain(at);
    shown.replaceWith(next);
    shown = next;
    range.value = String(at);
    range.setAttribute("aria-valuetext", String(amounts[at]));
    if (!typing) number.value = String(amounts[at]);
  };
  const typed = (/** @type {boolean} */ typing) => {
    const wanted = Math.max(least, Math.min(most, Number(number.value) || least));
    const found = amounts.findIndex((each) => each >= wanted);
    set(found < 0 ? amounts.length - 1 : found, typing);
  };
  range.addEventListener("input", () => set(Number(range.value)));
  number.addEventListener("input", () => typed(true));
  number.addEventListener("change", () => typed(false));
  number.addEventListener("keydown", (event) => { if (event.key === "Enter") shown.click(); });
  const quick = sorted.flatMap((each, at) => {
    const name = at ? usual(each) : "least";
    if (!name) return [];
    const node = html("button", { type: "button", class: "quick", "data-amount": each.amount ?? 0 }, name.replace("half the pot", "\u00bd pot").replace("the pot", "pot").replace("all in", "all-in"));
    node.addEventListener("click", () => set(at));
    return [node];
  });
  const field = html("div", { class: "amounts", role: "group", "aria-label": "Amount" }, quick, range, number);
  set(0);
  return { field, get node() { return shown; } };
}
