// Swipes over a board, for games whose buttons have arrow keys: a swipe is the key of its direction.

const FAR = 24; // pixels, below which a finger has tapped

/**
 * The arrow key of a movement; "" if it is too short.
 * @param {number} x pixels to the right
 * @param {number} y pixels down
 */
export function arrowOf(x, y) {
  if (Math.max(Math.abs(x), Math.abs(y)) < FAR) return "";
  if (Math.abs(x) > Math.abs(y)) return x > 0 ? "ArrowRight" : "ArrowLeft";
  return y > 0 ? "ArrowDown" : "ArrowUp";
}

/**
 * Listen to swipes over the boards of a drawing.
 * @param {HTMLElement} whole the drawing
 * @param {Map<string, () => void>} acts what keys do
 */
export function listen(whole, acts) {
  const boards = whole.querySelector(".boards");
  if (!(boards instanceof HTMLElement) || ![...acts.keys()].some((key) => key.startsWith("Arrow"))) return;
  boards.classList.add("swiped"); // the page does not scroll with it
  let start = { x: 0, y: 0 };
  boards.addEventListener("pointerdown", (event) => { start = { x: event.clientX, y: event.clientY }; });
  boards.addEventListener("pointerup", (event) => {
    if (event.pointerType === "mouse") return;
    acts.get(arrowOf(event.clientX - start.x, event.clientY - start.y))?.();
  });
}
