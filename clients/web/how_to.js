// The short help beside the board of a person's first match of a game; the server has written it.

const SEEN = "plyhouse.played";

/** The games whose help this browser has shown and a person has closed. @returns {string[]} */
function seen() {
  try {
    return JSON.parse(localStorage.getItem(SEEN) ?? "[]");
  } catch {
    return [];
  }
}

/** Show the help in the course of the match, below what can be done now, unless it has been closed here before. */
export function howToPlay() {
  const note = document.getElementById("how-to");
  const game = note?.dataset.game ?? "";
  if (!note?.hidden || seen().includes(game)) return;
  document.querySelector("#hands")?.after(note);
  note.hidden = false;
  note.querySelector("button")?.addEventListener("click", () => {
    helped();
    /** @type {SVGElement | null} */ (document.querySelector("#scene [tabindex='0']"))?.focus();
  });
}

/** Close the help: a person has read it, or has moved. */
export function helped() {
  const note = document.getElementById("how-to");
  if (!note || note.hidden) return;
  note.remove();
  try {
    localStorage.setItem(SEEN, JSON.stringify([...seen(), note.dataset.game ?? ""]));
  } catch { /* a browser that keeps nothing shows it again */ }
}
