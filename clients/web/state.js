// The page's state: its match, and the position shown. It changes nothing on the page.

import { byId, holder } from "./dom.js";
import { sentence } from "./words.js";

/**
 * @typedef {{termination: string, returns: number[], reason?: string, void_reason?: string | null}} Outcome
 * @typedef {{player: string, bot?: string, version?: string, seat: number, rating?: number | null}} Seat
 */

/** The element of the page that is the match; what the server says of it is in its data. */
export const place = byId("match");

/** The kind of page: "page", "projector" or "embed". */
export const mode = place.dataset.mode ?? "page";

const fresh = (id = "") => ({
  id,
  game: place.dataset.game ?? "",
  seats: /** @type {Seat[]} */ ([]),
  status: "waiting",
  outcome: /** @type {Outcome | null} */ (null),
  seenBy: /** @type {number | null} */ (null), // as which seat one looks at it; null: as a spectator
  allHands: false, // whether what every seat held lies open, which is so after the end only
  scenes: /** @type {Scenes.Scene[]} */ ([]), // by ply: the position after so many actions of seats
  events: /** @type {Messages.Event[]} */ ([]),
  at: 0,
  follow: true,
  playing: false,
  shownAt: 0, // when the position on the page was drawn
  told: false, // whether a snapshot or a replay has come
  seat: /** @type {number | null} */ (null), // the seat of the person at this page, if any
  bot: /** @type {number | null} */ (null), // the seat of a bot whose author is at this page
  turn: /** @type {number | null} */ (null), // the ply that the server waits for, if it is this person's
  unsent: /** @type {{ply: number, action: string} | null} */ (null), // what was played while there was no connection
  asked: /** @type {string | null} */ (null), // the action that waits for this person to confirm it
  offered: false, // whether the other seat offers a draw
  commitment: "", // to the seed, as it was told while the match ran
  request: 0, // number of the request that plays it
});

/** The match of this page. The projector shows one after the other: see `renew`. */
export const match = fresh(place.dataset.match);

/**
 * Nothing is known any more, as another match is shown.
 * @param {string} id of that match
 */
export function renew(id) {
  Object.assign(match, fresh(id));
}

/** Where the API has this match. */
export const api = () => `/api/v1/matches/${encodeURIComponent(match.id)}`;

/** The last position that is known. */
export const last = () => Math.max(0, match.scenes.length - 1);

/** The next ply whose position is known. */
export function following() {
  let at = match.at + 1;
  while (at < last() && !match.scenes[at]) at += 1;
  return at;
}

/** True if the viewer follows the match and has not reached its end yet. */
export const comingTo = () => match.follow && match.at < last();

/** The game's names of the seats. */
export const names = () => match.scenes.find((scene) => scene?.seats?.length)?.seats ?? [];

/**
 * Return the holder of a seat.
 * @param {number} seat
 */
export const name = (seat) => (match.seats[seat] ? holder(match.seats[seat]) : `seat ${seat + 1}`);

/**
 * Return the action of a seat that led to a position.
 * @param {number} at
 */
export const actionTo = (at) => match.events.findLast((each) => each.seat >= 0 && (each.ply ?? 0) + 1 === at);

/** How it ended, in words. */
export function result() {
  if (!match.outcome) return "";
  const why = match.outcome.void_reason ?? null;
  const moveOf = (/** @type {number} */ seat) => match.events.filter((event) => event.seat === seat).length + 1;
  const said = sentence(match.outcome, match.seats.map((_, seat) => name(seat)), match.seat, moveOf, place.dataset.unit);
  return `${said}${why === null ? "" : ` Void, it counts nowhere: ${why}`}`;
}

/**
 * A position has come.
 * @param {Scenes.Scene | null | undefined} scene
 * @param {number} ply
 */
export function setScene(scene, ply) {
  if (scene) match.scenes[ply] = scene;
}

/**
 * The match is over; nobody is to move in its last position any more.
 * @param {Outcome} outcome
 */
export function setOutcome(outcome) {
  match.outcome = outcome;
  match.status = "finished";
  const end = match.scenes.at(-1);
  if (end && outcome.termination !== "normal") {
    match.scenes[last()] = { ...end, seat_to_move: null, status: "The match is over" };
  }
}
