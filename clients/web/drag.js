// Drag and drop of what stands on spots, with a mouse, a pen or a finger.

import { html, svg } from "./dom.js";

const FAR = 6; // pixels after which it is no click any more

/** @type {["pointerup", "pointercancel"]} */
const ENDS = ["pointerup", "pointercancel"];

/** @typedef {((there: string | null, x: number) => void) & {over?: (there: string) => void, loose?: boolean}} Put `x`: pixels from the left edge; `loose`: it may leave the board */

/**
 * A picture of something that follows the pointer over the whole page.
 * @param {HTMLElement | SVGElement} stone
 */
function loosened(stone) {
  const { left, top, width, height } = stone.getBoundingClientRect();
  const copy = /** @type {SVGElement} */ (stone.cloneNode(true));
  let picture = copy;
  if (stone.tagName === "g") { // a part of a drawing
    const { x, y, width: wide, height: high } = /** @type {SVGGraphicsElement} */ (stone).getBBox();
    picture = svg("svg", { viewBox: `${x} ${y} ${wide} ${high}` }, copy);
  }
  const carried = html("div", { class: "carried", "aria-hidden": "true" }, picture);
  for (const [name, value] of Object.entries({ left, top, width, height })) carried.style.setProperty(name, `${value}px`);
  (stone.closest(".scene") ?? document.body).append(carried);
  return carried;
}

let ended = 0; // when something was put down: the click that follows means nothing
let carrying = false;

export const drag = {
  /** True if the current click is the end of a drag. */
  over: () => performance.now() - ended < 50,

  /** Let the page stay where it is while a finger drags what stands on a spot. Browsers do not see `touch-action` inside a drawing. @param {Element} node */
  still(node) {
    node.addEventListener("touchmove", (event) => { if (carrying) event.preventDefault(); }, { passive: false });
  },

  /**
   * Begin a drag where the button went down on a spot, or on a piece beside the board. `take(name)` is called once the pointer moves. It
   * returns a function to call with the name of the target spot (null: none), or null to stay. If that has
   * a function `over`, it shows the stone on each spot that the pointer reaches; else the stone follows it.
   * @param {PointerEvent} event
   * @param {HTMLElement | SVGElement} node
   * @param {string} name of the spot
   * @param {(name: string) => Put | null} take
   */
  begin(event, node, name, take) {
    if (event.button !== 0 || !event.isPrimary) return;
    ended = 0; // another press, whose click counts
    /** @type {HTMLElement | SVGElement | null} */
    const stone = node.querySelector(".laid") ?? node.querySelector(".stone");
    const board = "ownerSVGElement" in node ? node.ownerSVGElement : null;
    if (!stone) return;
    const touched = /** @type {Element} */ (event.target);
    if (touched.hasPointerCapture?.(event.pointerId)) touched.releasePointerCapture(event.pointerId);
    const start = { x: event.clientX, y: event.clientY };
    const scale = board ? board.viewBox.baseVal.width / board.getBoundingClientRect().width : 1;
    /** @type {Put | null} */
    let put = null;
    /** @type {HTMLElement | SVGElement | null} */
    let ghost = null;
    /** @type {HTMLElement | SVGElement | null} */
    let over = null;
    const under = (/** @type {PointerEvent} */ at) => /** @type {HTMLElement | SVGElement | null} */ (document.elementFromPoint(at.clientX, at.clientY)?.closest("[data-name]") ?? null);
    const move = (/** @type {PointerEvent} */ at) => {
      if (at.pointerId !== event.pointerId) return;
      const [x, y] = [at.clientX - start.x, at.clientY - start.y];
      if (!ghost) {
        if (Math.hypot(x, y) < FAR) return;
        put = take(name);
        if (!put) { stop(); return; }
        carrying = true;
        if (put.loose) ghost = loosened(stone);
        else {
          ghost = /** @type {SVGElement} */ (stone.cloneNode(true));
          ghost.setAttribute("class", "stone ghost");
          ghost.removeAttribute("data-place");
          if (!put.over) board?.append(ghost);
        }
        if (!put.over) stone.classList.add("lifted");
      }
      if (put?.loose) ghost.style.setProperty("transform", `translate(${x}px, ${y}px)`);
      else ghost.setAttribute("transform", `translate(${x * scale} ${y * scale})`);
      const there = under(at);
      if (there === over) return;
      over?.classList.remove("near");
      over = there;
      over?.classList.add("near");
      if (over?.dataset.name) put?.over?.(over.dataset.name);
    };
    const drop = (/** @type {PointerEvent} */ at) => {
      if (at.pointerId !== event.pointerId) return;
      stop();
      if (!ghost) return;
      ended = performance.now();
      if (at.type === "pointerup") put?.(under(at)?.dataset.name ?? null, at.clientX);
      else put?.(name, start.x); // the browser took the pointer: the stone stays where it was
    };
    const stop = () => {
      carrying = false;
      document.removeEventListener("pointermove", move);
      for (const type of ENDS) document.removeEventListener(type, drop);
      ghost?.remove();
      stone.classList.remove("lifted");
      over?.classList.remove("near");
    };
    document.addEventListener("pointermove", move);
    for (const type of ENDS) document.addEventListener(type, drop);
  },
};
