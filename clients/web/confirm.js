// Buttons that ask once more before they do what cannot be undone.

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
 * @param {number} patience ms
 */
export function pressedTwice(button, text, patience = 4000) {
  if (button.dataset.armed) {
    disarm(button);
    return true;
  }
  button.dataset.armed = button.textContent ?? "";
  button.textContent = text;
  timers.set(button, setTimeout(() => disarm(button), patience));
  button.addEventListener("blur", () => disarm(button), { once: true });
  return false;
}
