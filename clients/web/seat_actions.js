// A player's actions beside moves: confirm one, resign, and offer, accept or decline a draw.

import { sureButton } from "./confirm.js";
import { html, say } from "./dom.js";
import { phraseButtons } from "./phrases.js";
import { last, match, place } from "./state.js";

/** An action as the buttons of the scene call it. @param {string} action */
function labelOf(action) {
  const found = match.scenes[last()]?.elements?.find((each) => each.kind === "button" && each.action === action);
  return found?.kind === "button" && found.label ? found.label : action;
}

/**
 * Ask whether to play what was chosen.
 * @param {HTMLElement} own where the buttons are
 * @param {string} action
 * @param {(sure: boolean) => void} confirmed
 */
function ask(own, action, confirmed) {
  const yes = html("button", { type: "button", class: "main", "data-confirm": "yes" }, `Play ${labelOf(action)}`);
  const no = html("button", { type: "button", "data-confirm": "no" }, "Choose again");
  yes.addEventListener("click", () => confirmed(true));
  no.addEventListener("click", () => confirmed(false));
  for (const node of [yes, no]) {
    node.addEventListener("keydown", (event) => { if (event.key === "Escape") confirmed(false); });
  }
  own.replaceChildren(yes, no);
  yes.focus({ preventScroll: true });
}

/**
 * Shows the buttons for it, as long as the match is played.
 * @param {HTMLElement} own where they are
 * @param {(message: import("./connection.js").Request) => void} send
 * @param {(sure: boolean) => void} confirmed called with the answer to the question whether to play what was chosen
 */
export function showOwn(own, send, confirmed) {
  const playing = match.seat !== null && match.status === "running";
  const shown = `${playing} ${match.offered} ${match.asked ?? ""}`; // what has the focus stays where it is
  if (own.dataset.shown === shown) return;
  own.dataset.shown = shown;
  if (!playing) {
    own.replaceChildren();
    return;
  }
  if (match.asked !== null) {
    ask(own, match.asked, confirmed);
    return;
  }
  /** @type {(text: string, type: "resign" | "offer_draw" | "accept_draw" | "decline_draw") => HTMLElement} */
  const button = (text, type) => {
    const act = () => {
      send({ type, match: match.id });
      say(type === "offer_draw" ? "You have offered a draw." : "");
    };
    if (type === "resign") return sureButton(text, place.dataset.cost ? `Really resign? You lose ${place.dataset.cost}` : "Really resign?", { "data-request": type }, act);
    const node = html("button", { type: "button", "data-request": type }, text);
    node.addEventListener("click", act);
    return node;
  };
  const draws = match.offered
    ? [button("Accept the draw", "accept_draw"), button("Decline it", "decline_draw")]
    : [button("Offer a draw", "offer_draw")];
  const people = match.seats.some((each, seat) => seat !== match.seat && !each.bot);
  own.replaceChildren(button("Resign", "resign"), ...("draws" in place.dataset ? draws : []), ...(people ? phraseButtons(send) : []));
}
