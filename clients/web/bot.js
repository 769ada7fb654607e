// The page of a bot: opens it to people for its author, and asks what it loses per ply.

import { byId, html, say, words } from "./dom.js";
import { call } from "./session.js";
import { dropText } from "./values.js";

const box = document.querySelector("#open");
if (box instanceof HTMLInputElement) {
  box.addEventListener("change", async () => {
    box.disabled = true;
    try {
      box.checked = (await call("PUT", `bots/${box.dataset.bot}/open`, { open: box.checked })).open;
      say(box.checked ? "People may play against it now." : "Nobody can play against it now.");
    } catch (error) {
      box.checked = !box.checked;
      say(words(error));
    }
    box.disabled = false;
  });
}

const ask = document.querySelector("#ask");
if (ask instanceof HTMLButtonElement) {
  ask.addEventListener("click", async () => {
    const place = byId("lost");
    ask.disabled = true;
    place.textContent = "The matches are being looked at, which takes some seconds.";
    try {
      const found = /** @type {Answers.BotReview} */ (await call("GET", `bots/${ask.dataset.bot}/review`));
      place.replaceChildren(...found.games.flatMap(results));
      if (!found.games.length) place.textContent = "There is no finished match to look at.";
    } catch (error) {
      place.textContent = words(error);
      ask.disabled = false;
    }
  });
}

/**
 * What was lost in one game, in words.
 * @param {Answers.ValueLost} lost
 */
function results(lost) {
  const number = (/** @type {number} */ value) => dropText(value, lost.unit ?? "points");
  const [low, high] = lost.interval ?? [0, 0];
  const mean = lost.mean === null ? "none of its plies could be judged"
    : `${number(lost.mean)} per ply, between ${number(low)} and ${number(high)} with 95 % certainty`;
  const faults = Object.entries(lost.faults).map(([fault, count]) => `${count} ended by ${fault.replaceAll("_", " ")}`);
  const counted = (/** @type {number} */ count, /** @type {string} */ one, /** @type {string} */ many) => `${count} ${count === 1 ? one : many}`;
  const more = lost.more === null ? "" : ` That is ${number(lost.more)} more than in the game with its usual parameters${lost.more_interval ? `, between ${lost.more_interval.map(number).join(" and ")}` : ""}.`;
  const known = `${counted(lost.plies, "ply", "plies")} of ${counted(lost.matches, "match", "matches")}, ${lost.exact} of them with exact values; judged by ${lost.method}`;
  return [
    html("p", {}, html("strong", {}, lost.game), `: ${mean}.${more}`),
    html("p", { class: "soft" }, [known, ...faults].join("; "), "."),
  ];
}
