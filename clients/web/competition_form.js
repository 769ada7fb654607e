// The form of a new competition: the server writes the file that it makes, after each change of a field.

import { offerChoices, withChoices } from "./choices.js";
import { byId, html, say, words } from "./dom.js";

/** The fields of games, the last of which is empty. */
const games = () => [.../** @type {NodeListOf<HTMLInputElement>} */ (byId("make-games").querySelectorAll("input"))];

/** There is always one more field. */
function another() {
  const last = games().at(-1);
  if (!last?.value) return;
  const next = /** @type {HTMLInputElement} */ (last.cloneNode());
  next.value = "";
  next.id = `make-game-${games().length + 1}`;
  next.setAttribute("aria-label", `Game ${games().length + 1}`);
  next.placeholder = "one more";
  last.after(next);
}

/** A game is chosen with its parameters, and becomes one of the fields. @param {() => void} changed */
function offerGames(changed) {
  const select = /** @type {HTMLSelectElement} */ (byId("add-game"));
  const place = byId("add-choices");
  const show = () => offerChoices(place, JSON.parse(select.selectedOptions[0]?.dataset.choices ?? "[]"));
  select.addEventListener("change", show);
  show();
  byId("add-button").addEventListener("click", () => {
    another();
    const free = games().find((input) => !input.value);
    if (free) free.value = withChoices(select.value, place);
    another();
    changed();
  });
}

/** Take over what is wrong with the fields; true if nothing is. @param {Document} fresh the page as the server answers the form */
function right(fresh) {
  let all = true;
  for (const node of document.querySelectorAll("#make [id$='-wrong']")) {
    const text = fresh.getElementById(node.id)?.textContent ?? "";
    node.replaceChildren(text);
    for (const input of document.querySelectorAll(`#make [aria-describedby='${node.id}']`)) {
      if (text) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
    if (text) all = false;
  }
  return all;
}

/** Let the form write the file, and then estimate what it costs. @param {() => void} estimate */
export function offerForm(estimate) {
  if (!document.getElementById("make")) return;
  const form = byId("make", HTMLFormElement);
  const file = /** @type {HTMLTextAreaElement} */ (byId("file"));
  const zone = byId("make-zone", HTMLInputElement);
  zone.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
  let edited = false;
  let latest = 0;

  async function write() {
    const mine = latest += 1;
    const query = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    try {
      const response = await fetch(`/competitions/new?${query}`, { headers: { accept: "text/html" } });
      if (!response.ok) throw new Error(`The server answered ${response.status}.`);
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
      if (mine !== latest) return;
      file.value = /** @type {HTMLTextAreaElement | null} */ (fresh.getElementById("file"))?.value ?? file.value;
      edited = false;
      if (right(fresh)) estimate();
    } catch (error) {
      say(words(error));
    }
  }

  /** A file that was changed by hand is not written over by itself. */
  function changed() {
    if (edited) byId("mistakes").replaceChildren(html("p", { class: "warning" }, "You have changed the file by hand. “Write the file” writes it again from the form."));
    else write();
  }

  file.addEventListener("input", () => { edited = true; });
  form.addEventListener("change", (event) => {
    if (/** @type {Element} */ (event.target).closest("#add")) return;
    another();
    changed();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    write();
  });
  offerGames(changed);
}
