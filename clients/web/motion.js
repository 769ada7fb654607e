// Movement between two scenes that follow each other. It uses no rule of any game. A piece that disappears
// from one spot and appears on another has travelled. One with a new colour was turned, and one that
// disappears without another spot was taken. Pieces are nodes with data-place="element,row,column" (see grid.js).

/**
 * @typedef {{element: number, y: number, x: number, key: string, cell: Scenes.Cell}} Place
 * @typedef {{moved: [Place, Place][], taken: Place[], turned: Place[], dropped: Place[], come: Place[], rolled: number[]}} Changes
 */

const MANY = 24; // more changes than these are no move: a new deal, a jump in time
const NUMBER = /^[+-]?\d/; // counts (seeds, checkers on a point) change, they do not travel
const FALL = 4; // rows from which on a disc may be taken to fall

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The figure on a spot that can travel; "" for none. @param {Scenes.Cell | undefined} cell */
const keyOf = (cell) => (cell?.text?.trim() ? `${cell.shape}|${cell.owner}|${cell.text}|${cell.face ?? ""}` : "");
/** True if the content of a spot is a number of things. @param {Scenes.Cell} cell */
const counts = (cell) => (cell.count ?? 0) > 0 || NUMBER.test(cell.face || cell.text) || (cell.shape === "disc" && /\d$/.test(cell.text));

/** True if each figure of a grid lies on another or at the bottom, as fallen discs do. @param {Scenes.Cell[][]} rows */
function heaped(rows) {
  return rows.length >= FALL && rows.every((row, y) => row.every((cell, x) => !cell.text.trim()
    || (cell.shape === "disc" && (y + 1 === rows.length || rows[y + 1][x]?.text.trim()))));
}

/**
 * Find the movements between two scenes.
 * @param {Scenes.Scene} before
 * @param {Scenes.Scene} after
 * @returns {Changes}
 */
export function changes(before, after) {
  /** @type {Changes} */
  const found = { moved: [], taken: [], turned: [], dropped: [], come: [], rolled: [] };
  (after.elements ?? []).forEach((element, index) => {
    const old = before.elements?.[index];
    if (element.kind === "dice" && old?.kind === "dice" && String(old.values) !== String(element.values)) found.rolled.push(index);
    if (element.kind === "grid" && old?.kind === "grid") compare(old, element, index, found);
  });
  return found;
}

/**
 * Add the movements on one board to `found`.
 * @param {Scenes.Grid} old
 * @param {Scenes.Grid} grid
 * @param {number} element its number
 * @param {Changes} found
 */
function compare(old, grid, element, found) {
  const rows = grid.rows ?? [];
  if (old.rows?.length !== rows.length || old.rows[0]?.length !== rows[0]?.length) return;
  /** @type {Place[]} */ let gone = [];
  /** @type {Place[]} */ let come = [];
  rows.forEach((row, y) => row.forEach((cell, x) => {
    const was = old.rows[y][x];
    const [from, to] = [keyOf(was), keyOf(cell)];
    if (from === to) return;
    if (from && to && (counts(cell) || counts(was))) return;
    const place = { element, y, x };
    if (from && to && cell.shape && cell.shape === was.shape && cell.text.toLowerCase() !== "" && was.owner !== cell.owner && cell.shape === "disc") {
      found.turned.push({ ...place, key: to, cell: was });
      return;
    }
    if (from) gone.push({ ...place, key: from, cell: was });
    if (to) come.push({ ...place, key: to, cell });
  }));
  if (gone.length + come.length > MANY) return;
  /** @type {(place: Place) => (other: Place) => number} */
  const near = (place) => (other) => Math.hypot(other.y - place.y, other.x - place.x);
  /** @type {(place: Place, same: (other: Place) => boolean) => boolean} */
  const pair = (place, same) => {
    const distance = near(place);
    const from = gone.filter((each) => same(each) && (each.y !== place.y || each.x !== place.x))
      .sort((a, b) => distance(a) - distance(b))[0];
    if (!from) return false;
    found.moved.push([from, place]);
    gone = gone.filter((each) => each !== from);
    return true;
  };
  // Where a turned disc was a piece taken by another, its taker comes from elsewhere.
  found.turned = found.turned.filter((place) => {
    if (place.element !== element) return true;
    const taker = gone.find((each) => each.key === place.key);
    if (!taker) return true;
    found.moved.push([taker, { ...place, cell: rows[place.y][place.x] }]);
    gone = gone.filter((each) => each !== taker);
    gone.push({ ...place, key: "", cell: place.cell });
    return false;
  });
  come = come.filter((place) => !pair(place, (each) => each.key === place.key));
  if (come.length === 1) { // one that became another on its way, such as a pawn a queen
    const own = gone.filter((each) => each.cell.owner === come[0].cell.owner);
    if (own.length === 1 && come[0].cell.owner !== null && !counts(come[0].cell) && pair(come[0], (each) => each === own[0])) come = [];
  }
  found.taken.push(...gone);
  const falls = come.length === 1 && !gone.length && (!grid.look || grid.look === "wells") && heaped(rows);
  (falls ? found.dropped : found.come).push(...come);
}

/** The node that stands on a place of a drawing. @type {(drawn: Element, place: Place) => SVGElement | null} */
const at = (drawn, place) => drawn.querySelector(`[data-place="${place.element},${place.y},${place.x}"]`);

/**
 * Let a drawing come about from the one before it.
 * @param {HTMLElement} shown the new drawing, in the page
 * @param {Element | null} last the drawing before, no longer in the page
 * @param {Scenes.Scene | null} before its scene
 * @param {Scenes.Scene} after the scene of the new one
 * @param {number} duration milliseconds, 0 for no movement
 */
export function move(shown, last, before, after, duration) {
  if (!duration || still.matches || document.hidden || !last || !before || !after) return;
  const what = changes(before, after);
  const options = { duration, easing: "ease-in-out" };
  /** @type {(place: Place, node: SVGElement | null) => SVGElement | null} */
  const ghost = (place, node) => {
    const svg = at(shown, place)?.closest("svg");
    if (!svg || !node) return null;
    const copy = /** @type {SVGElement} */ (node.cloneNode(true));
    copy.removeAttribute("data-place");
    copy.setAttribute("class", "ghost");
    copy.setAttribute("aria-hidden", "true");
    svg.append(copy);
    return copy;
  };
  /** @type {(place: Place, frames: Keyframe[]) => void} */
  const fly = (place, frames) => {
    // Above all else while it moves: what is later in an SVG lies on top.
    const node = at(shown, place);
    const copy = ghost(place, node);
    if (!node || !copy) return;
    node.animate([{ opacity: 0 }, { opacity: 0 }], { duration });
    copy.animate(frames, options).finished.then(() => copy.remove(), () => copy.remove());
  };
  const size = 80; // of a cell, as grid.js draws it
  for (const place of what.taken) {
    const copy = ghost(place, at(last, place));
    copy?.animate([{ opacity: 1 }, { opacity: 0 }], { ...options, fill: "forwards" }).finished.then(() => copy.remove(), () => copy.remove());
  }
  for (const [from, to] of what.moved) {
    const [old, now] = [at(last, from), at(shown, to)];
    if (!old || !now) continue; // where they stand depends on the board's look, and on its side
    const far = (/** @type {"x" | "y"} */ axis) => Number(old.dataset[axis]) - Number(now.dataset[axis]);
    const shift = `translate(${far("x")}px, ${far("y")}px)`;
    fly(to, [{ transform: shift }, { transform: "none" }]);
  }
  for (const place of what.dropped) { // over the cells above, which lie below it: no copy is needed
    at(shown, place)?.animate([{ transform: `translate(0, ${-(place.y + 1) * size}px)`, easing: "cubic-bezier(.5, 0, .9, .6)" },
      { transform: "none", offset: 0.8 }, { transform: `translate(0, ${-size * 0.12}px)`, offset: 0.9 }, { transform: "none" }], options);
  }
  for (const place of what.come) {
    at(shown, place)?.animate([{ opacity: 0, transform: "scale(0.4)" }, { opacity: 1, transform: "none" }], options);
  }
  for (const place of what.turned) {
    const [node, old] = [at(shown, place), ghost(place, at(last, place))];
    node?.animate([{ transform: "scaleX(0)" }, { transform: "scaleX(0)", offset: 0.5 }, { transform: "none" }], options);
    old?.animate([{ transform: "none" }, { transform: "scaleX(0)", offset: 0.5 }, { transform: "scaleX(0)" }], { ...options, fill: "forwards" }).finished.then(() => old.remove(), () => old.remove());
  }
  for (const index of what.rolled) {
    shown.querySelectorAll(`[data-die^="${index},"]`).forEach((die, number) => {
      const turn = number % 2 ? -1 : 1;
      die.animate([{ transform: `translate(${-30 * turn}px, -20px) rotate(${-200 * turn}deg)`, opacity: 0.3 }, { transform: "none", opacity: 1 }], { ...options, easing: "cubic-bezier(.2, .8, .3, 1)" });
    });
  }
}
