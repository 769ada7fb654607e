// Keeps the parts of a page that are marked data-live as the server would write them now.
// The server alone knows how its tables look: this asks for the page again and takes them over.

import { Backoff } from "./backoff.js";
import { localTimes, say } from "./dom.js";
import { longLists } from "./long_lists.js";

const EVERY = Number(/** @type {HTMLElement | null} */ (document.querySelector("[data-every]"))?.dataset.every ?? 5000); // 0: it is over
/** @type {number | undefined} */
let timer;
let asked = 0; // how often the page was asked for
let shown = 0; // which of these answers is shown
/** The parts as they came last; what is on the page may have been sorted since. @type {Map<string, Element>} */
const latest = new Map();

/**
 * Parts that a person opened stay open.
 * @param {Element} part
 * @param {Element} other
 */
function keepOpen(part, other) {
  const fresh = other.querySelectorAll("details");
  part.querySelectorAll("details").forEach((each, at) => { if (fresh[at]) fresh[at].open = each.open; });
}

/**
 * Returns a selector that finds an element after the page was updated.
 * @param {Element} node
 */
function mark(node) {
  for (const name of ["href", "data-step", "data-choose", "data-reinstate", "data-open", "data-remove", "data-answer"]) {
    const value = node.getAttribute(name);
    if (value) return `[${name}="${CSS.escape(value)}"]`;
  }
  return node.id ? `#${CSS.escape(node.id)}` : null;
}

/**
 * @param {Document} fresh the page as it is now
 * @param {boolean} pressed whether it shows what was done here
 */
function takeOver(fresh, pressed) {
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-live]"))) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    localTimes(other);
    keepOpen(part, other);
    if (part.hasAttribute("tabindex")) other.tabIndex = -1;
    if (part.isEqualNode(other) || !pressed && latest.get(part.id)?.isEqualNode(other)) continue;
    // Nothing is taken out of the hands of who is about to press it or writes in it.
    if (!pressed && part.querySelector("[data-armed], input:focus, textarea:focus")) continue;
    const active = document.activeElement;
    const inside = active !== null && part.contains(active);
    const focused = inside && mark(active);
    latest.set(part.id, /** @type {Element} */ (other.cloneNode(true)));
    part.replaceChildren(...other.childNodes);
    longLists(part);
    if (!inside) continue;
    part.tabIndex = -1; // where the focus goes on from, if what had it is gone
    (/** @type {HTMLElement | null} */ (focused ? part.querySelector(focused) : null) ?? part).focus({ preventScroll: true });
  }
}

/** Ask for the page now, not only when it is time; `pressed` if it is shown what was done here. */
export async function refresh(pressed = false) {
  clearTimeout(timer);
  if (document.hidden && !pressed) return;
  const mine = asked += 1;
  try {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    if (response.status === 429) { // many people share this address: the page stays as it is
      later(1000 * (Number(response.headers.get("retry-after")) || 5));
      return;
    }
    if (!response.ok) throw new Error(String(response.status));
    const text = await response.text();
    if (mine < shown) return; // a later request was answered first, and knows more
    shown = mine;
    takeOver(new DOMParser().parseFromString(text, "text/html"), pressed);
    backoff.well();
    if (EVERY) later(EVERY);
  } catch {
    if (mine > shown) backoff.failed();
  }
}

/** Ask for the page once after a while, however many requests have ended meanwhile. @param {number} wait ms */
function later(wait) {
  clearTimeout(timer);
  timer = setTimeout(() => refresh(), wait);
}

const backoff = new Backoff(() => refresh(), say);
document.addEventListener("visibilitychange", () => refresh());
if (EVERY) later(EVERY);
