// The positions of a match as the server has them in its record, and as a seat saw them.

import { ask } from "./answers.js";
import { holder, html } from "./dom.js";
import { api, last, match, names } from "./state.js";

/**
 * Fetch all positions from ply `first` on with all events, or only positions that are missing.
 * @param {number} first
 * @param {boolean} withEvents
 * @param {import("./match_parts.js").Parts} parts where plies, thoughts and views are listed
 */
export async function fetchScenes(first, withEvents, parts) {
  const { id: of, seenBy: seen, allHands } = match;
  const view = `${seen === null ? "" : `&seat=${seen}`}${allHands ? "&all_hands=true" : ""}`;
  /** @type {Messages.Event[]} */
  const events = [];
  /** @type {import("./thoughts.js").Thought[]} */
  const said = [];
  let open = false;
  for (let next = first, plies = first; next <= plies;) {
    const part = /** @type {Answers.Replay} */ (await ask(`${api()}/replay?first=${next}${view}`));
    if (seen !== match.seenBy || allHands !== match.allHands || of !== match.id) return;
    for (const frame of part.frames) {
      frame.scene.viewer ??= match.seat ?? undefined; // players keep their side of the board
      // A seat's own positions stay: they have what it may do, and in some games what it alone sees.
      if (withEvents || !match.scenes[frame.ply]) match.scenes[frame.ply] = frame.scene;
      events.push(...frame.events);
      const acted = frame.events.find((event) => event.seat >= 0);
      if (acted && frame.info) said.push({ at: frame.ply, seat: acted.seat, info: frame.info });
    }
    open = part.open;
    plies = part.plies;
    next = (part.frames.at(-1)?.ply ?? plies) + 1;
  }
  if (withEvents) {
    setEvents(events, parts.list);
    parts.thoughts.show(said, last(), names());
  } else for (const thought of said) parts.thoughts.add(thought, last(), names());
  if (open) offerViews(parts);
}

/**
 * A bot lets spectators know what it thinks while the match runs.
 * @param {import("./thoughts.js").Thoughts} thoughts
 * @param {Messages.Event[]} events since the last position
 * @param {Answers.Info} info what the one that acted said
 */
export function heard(thoughts, events, info) {
  const acted = events.findLast((event) => event.seat >= 0);
  if (acted) thoughts.add({ at: (acted.ply ?? 0) + 1, seat: acted.seat, info }, last(), names());
}

/**
 * More has happened.
 * @param {Messages.Event[]} events
 * @param {import("./move_list.js").MoveList} list of plies
 */
export function addEvents(events, list) {
  match.events.push(...events);
  list.add(events, names(), match.seats.length);
}

/**
 * This is all that has happened.
 * @param {Messages.Event[]} events
 * @param {import("./move_list.js").MoveList} list of plies
 */
export function setEvents(events, list) {
  match.events = [];
  list.clear();
  addEvents(events, list);
}

/**
 * Offer the views of the seats once they are public, in games where they differ.
 * @param {import("./match_parts.js").Parts} parts
 */
function offerViews({ seen, seenLabel }) {
  const hidden = match.events.some((event) => event.action === null || event.action === undefined);
  if (match.status !== "finished" || seen.options.length || !hidden) return;
  seen.append(html("option", { value: "" }, "spectators"),
    ...match.seats.map((seat, index) => html("option", { value: index }, holder(seat))));
  seen.value = match.seenBy === null ? "" : String(match.seenBy);
  seenLabel.hidden = false;
}
