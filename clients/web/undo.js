// Takes back the last step of an action of several spots that is not sent yet.

import { html } from "./dom.js";

/**
 * The button for it, which keeps its place while there is nothing to take back.
 * @param {() => void} act
 */
export function undoButton(act) {
  const node = html("button", { type: "button", class: "undo" }, "Undo");
  node.addEventListener("click", act);
  return node;
}

/** The end of a hint: how people with a keyboard give up what they chose; others see the button Undo. */
export const giveUp = () => (matchMedia("(pointer: coarse)").matches ? "" : "; Escape gives it up");
