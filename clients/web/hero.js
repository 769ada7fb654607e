// The board of the home page: a match that runs, or the latest one from its beginning, or an example.

import { ask } from "./answers.js";
import { Film } from "./scene.js";

const STEP = 900; // ms that a position is shown
const REST = 5000; // ms that the last one of a finished match is shown
const LOOK = 3000; // ms between two looks for the next plies of a running match

/** Show the match that the server has chosen. @param {HTMLElement} place */
export function playHero(place) {
  const running = place.dataset.status === "running";
  const field = /** @type {HTMLElement} */ (place.querySelector(".field"));
  const pause = /** @type {HTMLButtonElement} */ (place.querySelector("button"));
  const film = new Film();
  /** @type {Scenes.Scene[]} */
  const scenes = [];
  let at = 0;
  let plies = 0;
  let paused = matchMedia("(prefers-reduced-motion: reduce)").matches;

  /** Fetch the positions that follow: an example is fetched whole. */
  async function more() {
    const { match = "", replay } = place.dataset;
    const url = replay ?? `/api/v1/matches/${encodeURIComponent(match)}/replay?first=${scenes.length}`;
    const part = /** @type {Answers.Replay} */ (await ask(url));
    plies = part.plies;
    for (const frame of part.frames) scenes[frame.ply] = frame.scene;
  }

  function show() {
    if (!scenes[at]) return;
    film.show(scenes[at], scenes[at - 1] ?? null);
    if (film.node && field.firstChild !== film.node) field.replaceChildren(film.node);
  }

  /** Show the next position, and return after how many ms the one after it is due. */
  async function step() {
    if (paused || document.hidden) return STEP;
    const next = at + 1;
    if (next > plies && !running) { // from the beginning again
      at = 0;
      show();
      return STEP;
    }
    if (!scenes[next]) await more();
    if (!scenes[next]) return LOOK;
    at = next;
    show();
    return at >= plies ? (running ? LOOK : REST) : STEP;
  }

  async function go() {
    let wait = LOOK;
    try { wait = await step(); } catch { /* the server is away: look again */ }
    setTimeout(go, wait);
  }

  pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Continue" : "Pause";
  });
  more().then(() => {
    if (running || paused) at = Math.min(plies, scenes.length - 1);
    show();
    pause.textContent = paused ? "Continue" : "Pause";
    pause.hidden = false;
    setTimeout(go, STEP);
  }, () => { place.hidden = true; });
}
