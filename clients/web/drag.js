// Drag and drop of what stands on spots, with a mouse, a pen or a finger.

const FAR = 6; // pixels after which it is no click any more

/** @type {["pointerup", "pointercancel"]} */
const ENDS = ["pointerup", "pointercancel"];

/** @typedef {((there: string | null) => void) & {over?: (there: string) => void}} Put */

let ended = 0; // when something was put down: the click that follows means nothing

export const drag = {
  /** True if the current click is the end of a drag. */
  over: () => performance.now() - ended < 50,

  /**
   * Begin a drag where the button went down on a spot. `take(name)` is called once the pointer moves. It
   * returns a function to call with the name of the target spot (null: none), or null to stay. If that has
   * a function `over`, it shows the stone on each spot that the pointer reaches; else the stone follows it.
   * @param {PointerEvent} event
   * @param {SVGElement} node
   * @param {string} name of the spot
   * @param {(name: string) => Put | null} take
   */
  begin(event, node, name, take) {
    if (event.button !== 0 || !event.isPrimary) return;
    ended = 0; // another press, whose click counts
    const stone = node.querySelector(".stone");
    const board = node.ownerSVGElement;
    if (!stone || !board) return;
    const touched = /** @type {Element} */ (event.target);
    if (touched.hasPointerCapture?.(event.pointerId)) touched.releasePointerCapture(event.pointerId);
    const start = { x: event.clientX, y: event.clientY };
    const scale = board.viewBox.baseVal.width / board.getBoundingClientRect().width;
    /** @type {Put | null} */
    let put = null;
    /** @type {SVGElement | null} */
    let ghost = null;
    /** @type {SVGElement | null} */
    let over = null;
    const under = (/** @type {PointerEvent} */ at) => /** @type {SVGElement | null} */ (document.elementFromPoint(at.clientX, at.clientY)?.closest("[data-name]") ?? null);
    const move = (/** @type {PointerEvent} */ at) => {
      if (at.pointerId !== event.pointerId) return;
      const [x, y] = [at.clientX - start.x, at.clientY - start.y];
      if (!ghost) {
        if (Math.hypot(x, y) < FAR) return;
        put = take(name);
        if (!put) { stop(); return; }
        ghost = /** @type {SVGElement} */ (stone.cloneNode(true));
        ghost.setAttribute("class", "stone ghost");
        ghost.removeAttribute("data-place");
        if (!put.over) {
          board.append(ghost);
          stone.classList.add("lifted");
        }
      }
      ghost.setAttribute("transform", `translate(${x * scale} ${y * scale})`);
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
      put?.(at.type === "pointerup" ? under(at)?.dataset.name ?? null : null);
    };
    const stop = () => {
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
