// The parameters of a game as choices: values as radio buttons, numbers as fields.

import { html } from "./dom.js";

/** @typedef {[name: string, label: string, about: string, standard: string | number | boolean, values: (string | number | boolean)[], minimum: number | null, maximum: number | null]} Choice as the server writes it */

/** A value as people read it. @param {string | number | boolean} value */
const text = (value) => (value === true ? "yes" : value === false ? "no" : String(value).replaceAll("_", " "));

/** @param {Choice} choice */
function field([name, label, about, standard, values, minimum, maximum]) {
  if (values.length) {
    return html("fieldset", { title: about }, html("legend", {}, label), values.map((value) => {
      const input = html("input", { type: "radio", name: `choice-${name}`, value: String(value), "data-choice": name, "data-standard": String(standard), checked: value === standard });
      return html("label", { class: "option" }, input, ` ${text(value)}`);
    }));
  }
  const step = Number.isInteger(standard) ? 1 : "any";
  return html("label", { class: "option", title: about }, `${label} `, html("input", {
    type: "number", name: `choice-${name}`, value: String(standard), step, min: minimum, max: maximum, "data-choice": name, "data-standard": String(standard),
  }));
}

/**
 * Offer the choices of a game; what is rarely changed is folded.
 * @param {Element} place
 * @param {Choice[]} choices
 */
export function offerChoices(place, choices) {
  const [few, rest] = [choices.filter((each) => each[4].length), choices.filter((each) => !each[4].length)];
  place.replaceChildren(...few.map(field));
  if (rest.length) {
    place.append(html("details", { class: "fold" }, html("summary", {}, "More settings"), html("div", { class: "numbers" }, rest.map(field))));
  }
}

/**
 * A game with what was chosen where that differs from the standard: `go` and size 19 are `go(size=19)`.
 * @param {string} spec of the game, which may have parameters
 * @param {Element} place
 */
export function withChoices(spec, place) {
  const picked = [.../** @type {NodeListOf<HTMLInputElement>} */ (place.querySelectorAll("[data-choice]"))]
    .filter((input) => (input.type !== "radio" || input.checked) && input.value && input.value !== input.dataset.standard)
    .map((input) => `${input.dataset.choice}=${input.value}`);
  if (!picked.length) return spec;
  return spec.endsWith(")") ? `${spec.slice(0, -1)},${picked.join(",")})` : `${spec}(${picked.join(",")})`;
}
