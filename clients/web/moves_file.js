// The moves of a match to take along: as a file, or in the clipboard.

import { html } from "./dom.js";
import { api, place } from "./state.js";

/** The format of the file in a word: PGN, or text. The projector shows matches of several games. */
function called() {
  const { form = "file" } = place.dataset;
  return form === "txt" ? "text" : form === "file" ? form : form.toUpperCase();
}

/** A link that saves the moves. */
export const movesLink = () => html("a", { href: `${api()}/notation`, download: true, title: "Moves of this match" }, called());

/** A row of the dialog for sharing: the moves as a file or to paste. */
export function movesRow() {
  const said = html("span", { class: "soft", role: "status" });
  const text = /** @type {HTMLTextAreaElement} */ (html("textarea", { readonly: true, rows: 4, "aria-label": "Moves", hidden: true }));
  const copy = html("button", { type: "button", "data-copy": "moves" }, "Copy");
  const link = html("span", {});
  const row = html("div", { class: "copying" }, html("span", {}, "Moves as ", link), copy, text, said);
  copy.addEventListener("click", async () => {
    try {
      const response = await fetch(`${api()}/notation`);
      if (!response.ok) {
        said.textContent = (await response.json()).detail ?? "The moves cannot be read now.";
        return;
      }
      text.value = await response.text();
    } catch {
      said.textContent = "The server did not answer. Try again in a moment.";
      return;
    }
    text.hidden = false;
    text.select();
    try {
      await navigator.clipboard.writeText(text.value);
      said.textContent = "Copied.";
    } catch { // not over plain HTTP: then the keyboard copies what is selected
      said.textContent = "Selected: copy it with Ctrl+C.";
    }
  });
  /** Begin again, as the match may have gone on. */
  const clear = () => {
    link.replaceChildren(movesLink());
    text.hidden = true;
    said.textContent = "";
  };
  return { row, clear };
}
