// Running matches of the person at this browser, offered on the pages from which people play.

import { byId, html } from "./dom.js";

/** The name of a game and its parameters, as the tiles of the page have it. @param {string} game */
export function titleOf(game) {
  const plain = game.split("(")[0] ?? "";
  const name = document.querySelector(`[data-game="${CSS.escape(plain)}"] b`)?.textContent;
  return name ? name + game.slice(plain.length).replace("(", " (") : game;
}

/** Open the page of a match. @param {string} match */
export const go = (match) => location.assign(`/matches/${encodeURIComponent(match)}`);

/** Offer running matches to resume, without forcing them on anyone. @param {{match: string, game: string, opponents: string[]}[]} matches */
export function showUnfinished(matches) {
  const place = byId("unfinished");
  place.hidden = !matches.length;
  place.replaceChildren(...matches.map((match) => {
    const on = html("button", { type: "button", class: "main" }, "Go on with it");
    on.addEventListener("click", () => go(match.match));
    return html("p", { class: "panel", "data-match": match.match },
      `You have an unfinished match: ${titleOf(match.game)}${match.opponents.length ? ` against ${match.opponents.join(", ")}` : ""}. `, on);
  }));
}
