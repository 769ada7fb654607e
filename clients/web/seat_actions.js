// A player's actions beside moves: resign, and offer, accept or decline a draw.

import { sureButton } from "./rematch.js";
import { html, say } from "./dom.js";
import { match, place } from "./state.js";

/**
 * Shows the buttons for it, as long as the match is played.
 * @param {HTMLElement} own where they are
 * @param {(message: import("./connection.js").Request) => void} send
 */
export function showOwn(own, send) {
  const playing = match.seat !== null && match.status === "running";
  const shown = `${playing} ${match.offered}`; // what has the focus stays where it is
  if (own.dataset.shown === shown) return;
  own.dataset.shown = shown;
  if (!playing) {
    own.replaceChildren();
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
  own.replaceChildren(button("Resign", "resign"), ...("draws" in place.dataset ? draws : []));
}

/** The player's part of the randomness of a match: 128 bits, as hexadecimal digits. */
export function nonce() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
