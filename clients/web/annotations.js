// Arrows and marked squares that people draw on a board with the right mouse button, to think aloud.
// Only this page has them; they go with a click or with the next position.

import { svg } from "./dom.js";

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{board: SVGSVGElement, key: string, middle: Point, size: number}} Spot */

/** The square of a board at a place of the window. @param {number} x @param {number} y @returns {Spot | null} */
function spotAt(x, y) {
  for (let node = document.elementFromPoint(x, y); node && node.localName !== "svg"; node = node.parentElement) {
    /** @type {SVGGraphicsElement | null} */
    const square = node.localName === "g" ? node.querySelector(":scope > .cell") : null;
    if (!square?.ownerSVGElement?.closest(".grid")) continue;
    const box = square.getBBox();
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    return { board: square.ownerSVGElement, key: `${middle.x},${middle.y}`, middle, size: Math.min(box.width, box.height) };
  }
  return null;
}

/** @param {Spot} from @param {Spot} to */
function arrow(from, to) {
  const [dx, dy] = [to.middle.x - from.middle.x, to.middle.y - from.middle.y];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  const wide = from.size * 0.1;
  const end = length - from.size * 0.1; // of the head, short of the middle
  const neck = end - from.size * 0.36;
  /** A point so far along the arrow and so far beside it. @type {(along: number, beside: number) => string} */
  const at = (along, beside) => `${(from.middle.x + ux * along - uy * beside).toFixed(1)} ${(from.middle.y + uy * along + ux * beside).toFixed(1)}`;
  const start = from.size * 0.3;
  return svg("path", { d: `M${at(start, wide)}L${at(neck, wide)}L${at(neck, wide * 2.6)}L${at(end, 0)}L${at(neck, -wide * 2.6)}L${at(neck, -wide)}L${at(start, -wide)}z` });
}

/** @param {Spot} spot */
const ring = ({ middle, size }) => svg("circle", { cx: middle.x, cy: middle.y, r: size * 0.44, class: "ring-mark" });

/**
 * Let people draw on the boards of a part of the page.
 * @param {HTMLElement} scene
 */
export function annotate(scene) {
  let drawing = false;
  const clear = () => { for (const each of scene.querySelectorAll(".annotations")) each.remove(); };
  /** Draw it, or take it away if it is there. @param {Spot} from @param {Spot} to */
  const toggle = (from, to) => {
    const key = from.key === to.key ? from.key : `${from.key} ${to.key}`;
    const layer = from.board.querySelector(".annotations") ?? from.board.appendChild(svg("g", { class: "annotations", "aria-hidden": "true" }));
    const there = [...layer.children].find((each) => each.getAttribute("data-drawn") === key);
    if (there) {
      there.remove();
      return;
    }
    const shape = from.key === to.key ? ring(from) : arrow(from, to);
    shape.setAttribute("data-drawn", key);
    layer.append(shape);
  };
  scene.addEventListener("pointerdown", (event) => {
    if (event.button === 0) clear();
    const from = event.button === 2 && event.pointerType === "mouse" ? spotAt(event.clientX, event.clientY) : null;
    drawing = from !== null;
    if (!from) return;
    document.addEventListener("pointerup", (end) => {
      const to = spotAt(end.clientX, end.clientY);
      if (to?.board === from.board && from.board.isConnected) toggle(from, to);
    }, { once: true });
  });
  // Held fingers and the keyboard keep their menu.
  scene.addEventListener("contextmenu", (event) => { if (drawing) event.preventDefault(); });
}
