// After the end: show what every seat held, and hide it again. The server gives it only then.

import { html } from "./dom.js";
import { last, match } from "./state.js";

/** The name of the hidden things, for the button. @param {Scenes.Scene | undefined} scene */
function hidden(scene) {
  const hand = (scene?.elements ?? []).find((element) => element.kind === "hand");
  return hand ? hand.look === "dice" || hand.look === "coins" ? hand.look : "cards" : "boards";
}

/**
 * Offers it in a match with hidden information.
 * @param {HTMLElement} place where the button is
 * @param {() => Promise<void>} load fetches the positions again
 */
export function offerAllHands(place, load) {
  if (place.hasChildNodes()) return;
  const what = hidden(match.scenes[last()]);
  const button = html("button", { type: "button", "data-hands": true, "aria-pressed": "false" }, `Show all ${what}`);
  button.addEventListener("click", async () => {
    match.allHands = !match.allHands;
    button.setAttribute("aria-pressed", String(match.allHands));
    await load();
  });
  place.replaceChildren(button);
}
