// Offers to a player after a match: a rematch, and what failed.

import { Connection, endpoint } from "./connection.js";
import { holder, html } from "./dom.js";
import { AS_MYSELF, whoAmI, wish } from "./session.js";

const HOUSE = /^(house|house-bots|plyhouse)$/i;

/**
 * After a match: ask the opponent for another one, or be asked.
 * @param {HTMLElement} place
 * @param {{seats: import("./dom.js").Holder[], seat: number, game: string, time: string, rated: boolean, next: string, say: (text: string) => void}} match
 *   `next` is what the button says, if not the usual
 */
export async function offerRematch(place, { seats, seat, game, time, rated, next, say }) {
  const opponents = seats.filter((_, index) => index !== seat);
  const terms = { game, time_control: time, rated };
  const again = html("button", { type: "button", class: "main", "data-rematch": true }, next || (opponents.length ? "Rematch" : "Play again"));
  const other = html("a", { class: "button", href: `/play?game=${encodeURIComponent(game.split("(")[0])}` }, "Another game");
  place.replaceChildren(again, other);
  const [level] = await levelsOf(opponents);
  if (level || !opponents.length) {
    again.addEventListener("click", () => {
      wish({ ...terms, rated: opponents.length ? false : rated, level, players: seats.length });
      location.assign("/play");
    });
    return;
  }
  if (opponents.length > 1) {
    place.replaceChildren(other);
    return;
  }
  const name = holder(opponents[0]);
  // A person may be looking at the end of the match, too: stay where both can be asked.
  const connection = new Connection(endpoint(), (message) => {
    if (message.type === "match" && message.snapshot.seat !== null && message.snapshot.seat !== undefined) {
      location.assign(`/matches/${encodeURIComponent(message.snapshot.match)}`);
    } else if (message.type === "challenged" && message.opponent === name) {
      const accept = html("button", { type: "button", class: "main", "data-challenge": message.challenge }, `${name} wants a rematch: play`);
      accept.addEventListener("click", () => connection.send({ type: "answer", challenge: message.challenge, accept: true }));
      place.replaceChildren(accept, other);
    } else if (message.type === "challenge_closed" && message.reason !== "accepted") {
      place.replaceChildren(other);
      say(`${name} does not want a rematch now.`);
    } else if (message.type === "error") {
      if (message.fatal) connection.close();
      say(message.code === "challenge/offline" ? `${name} has left.` : message.message);
    }
  }, () => {}, { ...AS_MYSELF, games: [game] });
  again.addEventListener("click", () => {
    if (connection.send({ type: "challenge", opponent: name, seat: 1 - seat, ...terms })) {
      say(`${name} is asked for a rematch.`);
      again.setAttribute("aria-disabled", "true");
    }
  });
  addEventListener("pagehide", () => connection.close());
}

/**
 * The levels of built-in bots, if all opponents are some: `easy-2` is the second of level `easy`.
 * @param {import("./dom.js").Holder[]} opponents
 * @returns {Promise<string[]>}
 */
async function levelsOf(opponents) {
  if (!opponents.length || !opponents.every(({ player, bot }) => HOUSE.test(player) && bot)) return [];
  const { levels } = await whoAmI();
  const found = opponents.map(({ bot = "" }) => bot.split("-")[0]);
  return found.every((level) => levels.includes(level)) ? found : [];
}

/**
 * The traces of a bot that failed, which the server sends to its author alone.
 * @param {string} api address of the match
 * @param {import("./dom.js").Holder[]} seats
 * @returns {Promise<string>}
 */
export async function failureDetail(api, seats) {
  const me = await whoAmI();
  if (!me.player || me.guest || !seats.some((seat) => seat.player === me.player)) return "";
  const response = await fetch(`${api}/detail`);
  return response.ok ? (await response.json()).detail : "";
}
