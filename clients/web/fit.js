// Boards as large as there is room for them, whatever else their scene shows.

const LEAST = 60; // pixels: smaller boards would be of no use, then let it scroll

/**
 * Find the largest height of boards with which a scene fits into `room` pixels, and set it.
 * Boards have the CSS height limit --room; everything else keeps its size.
 * @param {HTMLElement} scene
 * @param {number} room
 */
export function fit(scene, room) {
  let [low, high] = [LEAST, Math.max(LEAST, Math.floor(room))];
  const fits = (/** @type {number} */ height) => {
    scene.style.setProperty("--room", `${height}px`);
    return scene.scrollHeight <= room + 1;
  };
  const content = /** @type {HTMLElement} */ (scene.firstElementChild);
  if (!content) return;
  if (fits(high)) return;
  while (high - low > 2) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  fits(low);
}

/**
 * What decides how much room a scene needs beside its boards: its parts, not what they hold.
 * @param {Scenes.Scene} scene
 */
export function outline(scene) {
  return (scene.elements ?? []).map((element) => {
    switch (element.kind) {
      case "grid": return `g${element.rows?.length},${element.rows?.[0]?.length}`;
      case "hand": return `h${Boolean(element.cards?.length)}`;
      case "dice": return `d${Boolean(element.values?.length)}`;
      default: return element.kind[0];
    }
  }).join(" ");
}
