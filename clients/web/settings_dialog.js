// The dialog in which people choose how boards look and how they play.

import { dialog } from "./dialog.js";
import { html } from "./dom.js";
import { BOARDS, PIECES, SIZE, change, onSettings, settings } from "./settings.js";

/** @param {"board" | "pieces"} name @param {string} label @param {Record<string, string>} choices */
function colours(name, label, choices) {
  const field = /** @type {HTMLSelectElement} */ (html("select", { id: `setting-${name}` }, Object.entries(choices).map(([value, text]) => html("option", { value }, text))));
  field.value = settings[name];
  field.addEventListener("change", () => change({ [name]: field.value }));
  return html("p", {}, html("label", { for: field.id }, label), field);
}

/** @param {"sound" | "confirm" | "quiet"} name @param {string} label */
function option(name, label) {
  const field = /** @type {HTMLInputElement} */ (html("input", { id: `setting-${name}`, type: "checkbox" }));
  const show = () => { field.checked = settings[name]; };
  field.addEventListener("change", () => change({ [name]: field.checked }));
  onSettings(show);
  show();
  return html("label", { class: "option" }, field, label);
}

function size() {
  const { least, most } = SIZE;
  const field = /** @type {HTMLInputElement} */ (html("input", { id: "setting-size", type: "range", min: least, max: most, step: 5 }));
  const said = html("output", { for: field.id });
  const show = () => {
    field.value = String(settings.size);
    said.textContent = `${settings.size} %`;
    field.setAttribute("aria-valuetext", `${settings.size} percent of the window`);
  };
  field.addEventListener("input", () => change({ size: Number(field.value) }));
  onSettings(show);
  show();
  return html("p", {}, html("label", { for: field.id }, "Board size"), field, said);
}

/** The dialog; this browser remembers what is chosen. */
export const settingsDialog = () => dialog("settings", "Board settings",
  html("div", { class: "settings" }, size(), colours("board", "Board", BOARDS), colours("pieces", "Pieces", PIECES),
    option("sound", "Sound with every ply"), option("confirm", "Ask before a move is played"), option("quiet", "Hide what others say")));
