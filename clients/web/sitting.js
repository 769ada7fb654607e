// A sitting: several short games in a row against the same players, with a running score. It is kept
// for as long as the tab is open; every hand is a match of its own.

import { holder, html } from "./dom.js";
import { match, place } from "./state.js";
import { score } from "./words.js";

const KEY = "plyhouse.sitting";
const HANDS = 10; // of one sitting

/**
 * @typedef {{game: string, players: string[], hands: string[], sums: number[]}} Sitting the players with the sum of what each got, and the matches so far
 */

/**
 * The name of each seat's player in a sitting. Players whose names are hidden share one, so the later ones get a number.
 * @param {import("./dom.js").Holder[]} seats
 */
export function named(seats) {
  const names = seats.map(holder);
  return names.map((name, seat) => {
    const number = names.slice(0, seat + 1).filter((each) => each === name).length;
    return number > 1 ? `${name} (${number})` : name;
  });
}

/**
 * The sitting to which a match belongs, or a new one.
 * @param {Sitting | null} kept
 * @param {string} game
 * @param {string[]} players in alphabetical order
 * @param {string} hand id of the match
 * @returns {Sitting}
 */
export function continued(kept, game, players, hand) {
  const same = kept && kept.game === game && String(kept.players) === String(players);
  const room = same && (kept.hands.length < HANDS || kept.hands.includes(hand));
  return room ? kept : { game, players, hands: [], sums: players.map(() => 0) };
}

/**
 * The sitting after a hand, which counts once.
 * @param {Sitting} sitting
 * @param {string} hand
 * @param {Record<string, number>} got by player
 * @returns {Sitting}
 */
export function counted(sitting, hand, got) {
  if (sitting.hands.includes(hand)) return sitting;
  return { ...sitting, hands: [...sitting.hands, hand], sums: sitting.players.map((player, at) => sitting.sums[at] + (got[player] ?? 0)) };
}

/** @returns {Sitting | null} */
function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null; // a browser that keeps nothing plays hand by hand
  }
}

/** Whether such matches are played in a row: short ones with hidden information, without a board. */
const inARow = () => "hidden" in place.dataset && place.classList.contains("felt");

/** What one match of a sitting is called: a hand where there are cards and no table of numbers. */
const word = () => {
  const { elements = [] } = match.scenes.find((scene) => scene) ?? {};
  return elements.some((each) => each.kind === "hand" && !each.look) && !elements.some((each) => each.kind === "grid") ? "Hand" : "Round";
};

/**
 * Show how a sitting stands, and count this match once it is over.
 * @param {HTMLElement} line where that is
 * @returns {string} what the button for the next match says; empty if matches are not played in a row
 */
export function showSitting(line) {
  if (match.seat === null || !inARow() || match.seats.length < 2) return "";
  const names = named(match.seats);
  const players = [...names].sort();
  let sitting = continued(kept(), match.game, players, match.id);
  const { outcome } = match;
  if (outcome && !["aborted", "server_fault"].includes(outcome.termination)) {
    sitting = counted(sitting, match.id, Object.fromEntries(names.map((name, seat) => [name, outcome.returns[seat] ?? 0])));
    try { sessionStorage.setItem(KEY, JSON.stringify(sitting)); } catch { /* see kept */ }
  }
  const done = sitting.hands.length;
  const number = sitting.hands.includes(match.id) ? sitting.hands.indexOf(match.id) + 1 : done + 1;
  const { unit } = place.dataset;
  const sums = players.map((player, at) => `${player} ${score(sitting.sums[at])}`).join(", ") + (unit ? ` ${unit}` : "");
  const over = done >= HANDS;
  line.replaceChildren(html("strong", {}, over ? `All ${HANDS} played` : `${word()} ${number} of ${HANDS}`), done ? `: ${sums}` : "");
  return over ? "New session" : `Next ${word().toLowerCase()}`;
}
