// Fits boards to the available space, beside all other parts of their scene.

const LEAST = 60; // pixels: smaller boards would be of no use, so the page scrolls instead
const LETTERS = 20; // a text that grows by this many letters may take another line

/**
 * Find the largest height of boards with which a scene fits into `room` pixels, and set it.
 * Boards have the CSS height limit --room; everything else keeps its size.
 * @param {HTMLElement} scene
 * @param {number} room
 * @param {HTMLElement} keeper what the limit is set on: the scene, or what outlives it
 */
export function fit(scene, room, keeper = scene) {
  if (!scene.firstElementChild) return;
  let [low, high] = [LEAST, Math.max(LEAST, Math.floor(room))];
  const before = keeper.style.getPropertyValue("--room");
  /** @type {NodeListOf<SVGElement>} */
  const boards = scene.querySelectorAll(".grid > svg");
  // The limit is inherited, so each change of it is one for every piece; what is tried is not.
  /** By how many pixels the scene is too high with this limit. @param {number} height */
  const excess = (height) => {
    for (const board of boards) board.style.setProperty("--tried", `${height}px`);
    return scene.scrollHeight - room - 1;
  };
  let over = excess(high);
  if (over > 0) {
    // A single board is too high by as much as the scene. Then the first size fits, and the second look confirms it.
    const highest = Math.max(...[...boards].map((each) => each.getBoundingClientRect().height));
    let next = Math.floor(Math.min(high, highest) - over);
    for (let looks = 0; high - low > 2; looks += 1) {
      if (looks > 1 || next <= low || next >= high) next = (low + high) >> 1;
      over = excess(next);
      if (over > 0) [high, next] = [next, Math.floor(next - over)];
      else [low, next] = [next, next + 2];
    }
  } else low = high;
  const found = `${low}px`;
  if (found !== before) keeper.style.setProperty("--room", found);
  for (const board of boards) board.style.removeProperty("--tried");
}

/**
 * A key of the room that a scene needs beside its boards: its parts without their contents.
 * @param {Scenes.Scene} scene
 */
export function outline(scene) {
  return (scene.elements ?? []).map((element) => {
    switch (element.kind) {
      case "grid": return `g${element.rows?.length},${element.rows?.[0]?.length}`;
      case "hand": return `h${Boolean(element.cards?.length)}`;
      case "dice": return `d${Boolean(element.values?.length)}`;
      case "text": return `t${Math.ceil((element.text?.length ?? 0) / LETTERS)}`;
      default: return element.kind[0];
    }
  }).join(" ");
}
