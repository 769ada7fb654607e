// Keys of the keyboard that mean buttons of the drawing that is in the page.

/** @type {Map<string, () => void>} */
let acts = new Map();
/** @type {HTMLElement | null} */
let drawn = null;
let heard = false;

/** @param {KeyboardEvent} event */
function pressed(event) {
  const act = acts.get(event.key);
  if (act === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  const target = /** @type {HTMLElement} */ (event.target);
  if (!drawn?.isConnected || target.matches?.("input, select, textarea")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  acts = new Map(); // one turn, one key
  act();
}

/**
 * Another drawing is in the page: what its keys do, and no other ones.
 * @param {HTMLElement} whole the drawing
 * @param {Map<string, () => void>} mean
 */
export function keysOf(whole, mean = new Map()) {
  [drawn, acts] = [whole, mean];
  if (heard || !mean.size) return;
  heard = true;
  document.addEventListener("keydown", pressed, true); // before those that step through plies
}
