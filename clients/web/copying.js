// Texts to take along.

import { html } from "./dom.js";

/**
 * A text to take along: the clipboard where a page may write to it, else selected to be copied.
 * @param {string} label
 * @param {string} name id of the field
 */
export function copying(label, name) {
  const field = html("input", { id: name, readonly: true, spellcheck: "false" });
  const done = html("span", { class: "soft", role: "status" });
  const copy = html("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      done.textContent = "Copied.";
    } catch { // not over plain HTTP: then the keyboard copies what is selected
      done.textContent = "Selected: copy it with Ctrl+C.";
    }
  });
  const row = html("div", { class: "copying" }, html("label", { for: name }, label), field, copy, done);
  return { row, field, clear: () => { done.textContent = ""; } };
}
