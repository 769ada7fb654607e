// What people say at a board: one of some phrases, so that nobody can write anything hurtful.

import { html } from "./dom.js";
import { match } from "./state.js";
import { settings } from "./settings.js";

/** The phrases of the protocol, in words. @type {Record<Messages.Say["phrase"], string>} */
export const PHRASES = { good_luck: "Good luck!", well_played: "Well played!", thanks: "Thanks!", oops: "Oops!" };
const SHOWN = 8000; // ms for which a phrase is shown beside who said it

/**
 * The button that opens the list of phrases, and the list.
 * @param {(message: import("./connection.js").Request) => void} send
 * @returns {HTMLElement[]}
 */
export function phraseButtons(send) {
  const list = html("div", { id: "phrases", popover: "auto" });
  for (const [phrase, text] of /** @type {[Messages.Say["phrase"], string][]} */ (Object.entries(PHRASES))) {
    const node = html("button", { type: "button", "data-phrase": phrase }, text);
    node.addEventListener("click", () => {
      send({ type: "say", match: match.id, phrase });
      list.hidePopover();
    });
    list.append(node);
  }
  list.append(html("p", { class: "soft" }, "There is no free chat, so that nobody reads insults."));
  return [html("button", { type: "button", popovertarget: "phrases", "data-request": "say" }, "Say\u2026"), list];
}

/**
 * Show what a seat says, unless this person wants to hear nothing.
 * @param {Messages.Said} message
 * @param {HTMLElement | undefined} there where it is shown
 * @returns {string} the words, "" if they are not shown
 */
export function heardPhrase({ seat, phrase }, there) {
  const text = PHRASES[phrase];
  if (!text || !there || (settings.quiet && seat !== match.seat)) return "";
  const node = html("span", { class: "phrase" }, text);
  there.replaceChildren(node);
  setTimeout(() => node.remove(), SHOWN);
  return text;
}
