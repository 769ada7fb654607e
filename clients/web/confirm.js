// Buttons that ask once more before they do what cannot be undone.

import { html } from "./dom.js";

const PATIENCE = 4000; // ms

/** @type {WeakMap<HTMLElement, number>} */
const timers = new WeakMap();

/** @param {HTMLElement} button */
function disarm(button) {
  clearTimeout(timers.get(button));
  if (!button.dataset.armed) return;
  button.textContent = button.dataset.armed;
  delete button.dataset.armed;
}

/**
 * Return whether this press is the second one. The first arms the button, which says `text` then, and
 * forgets that it was pressed if nothing follows or the focus goes elsewhere.
 * @param {HTMLElement} button
 * @param {string} text
 */
export function pressedTwice(button, text) {
  if (button.dataset.armed) {
    disarm(button);
    return true;
  }
  button.dataset.armed = button.textContent ?? "";
  button.textContent = text;
  timers.set(button, setTimeout(() => disarm(button), PATIENCE));
  button.addEventListener("blur", () => disarm(button), { once: true });
  return false;
}

/**
 * A button that asks once more, and forgets that it was pressed if nothing follows.
 * @param {string} text
 * @param {string} sure what it says then
 * @param {import("./dom.js").Attributes} attributes
 * @param {() => void} act
 */
export function sureButton(text, sure, attributes, act) {
  const node = html("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", () => { if (pressedTwice(node, sure)) act(); });
  return node;
}
