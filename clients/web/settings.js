// How a person wants to see and play matches. This browser keeps it; the style sheet knows the
// choices of colours as data of the root element.

const KEY = "plyhouse.board";

/** Colours of boards that have squares, points or crossings, by name. */
export const BOARDS = { "": "As the game has it", green: "Green", blue: "Blue", grey: "Grey" };
/** Colours of white and black pieces, by name. */
export const PIECES = { "": "White and black", walnut: "Ivory and walnut", navy: "White and navy" };
/** Least, greatest and usual size of a board, in percent of what fits the window. */
export const SIZE = { least: 50, most: 150, usual: 100 };

/** @typedef {{sound: boolean, confirm: boolean, quiet: boolean, board: string, pieces: string, size: number}} Settings */

/** Return the stored settings without those that make no sense. @param {string | null} text @returns {Settings} */
export function read(text) {
  /** @type {Partial<Record<keyof Settings, unknown>>} */
  let kept = {};
  try { kept = JSON.parse(text ?? "{}") ?? {}; } catch { /* written by something else */ }
  const size = Number(kept.size ?? SIZE.usual);
  return {
    sound: kept.sound === true,
    confirm: kept.confirm === true,
    quiet: kept.quiet === true,
    board: String(kept.board) in BOARDS ? String(kept.board) : "",
    pieces: String(kept.pieces) in PIECES ? String(kept.pieces) : "",
    size: size >= SIZE.least && size <= SIZE.most ? size : SIZE.usual,
  };
}

function stored() {
  try { return localStorage.getItem(KEY); } catch { return null; } // a frame may forbid it
}

/** The settings of this browser. */
export const settings = read(stored());

/** @type {((changed: Partial<Settings>) => void)[]} */
const listeners = [];

/** Call `act` when settings change. @param {(changed: Partial<Settings>) => void} act */
export const onSettings = (act) => { listeners.push(act); };

function show() {
  const { dataset } = document.documentElement;
  for (const name of /** @type {const} */ (["board", "pieces"])) {
    if (settings[name]) dataset[name] = settings[name];
    else delete dataset[name];
  }
}

/** Change settings, and keep them. @param {Partial<Settings>} changed */
export function change(changed) {
  Object.assign(settings, changed);
  try { localStorage.setItem(KEY, JSON.stringify(settings)); } catch { /* it lasts as long as the page */ }
  show();
  for (const act of listeners) act(changed);
}

show();
