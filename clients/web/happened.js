// What happened in the last plies of a match, for the middle of a ring: what a seat did, where its token went, and
// what each seat won or lost by it.

import { written } from "./move_list.js";
import { actionTo, match } from "./state.js";

const MOST = 12;

/** The fields of a ring with their tokens. @param {Scenes.Scene | undefined} scene */
const fields = (scene) => (scene?.elements ?? []).flatMap((element) => (element.kind === "grid" && element.look === "circuit" ? element.rows.flat() : []));

/** The numbers beside the names of the seats. @param {Scenes.Scene | undefined} scene */
const scores = (scene) => (scene?.elements ?? []).flatMap((element) => (element.kind === "counter" && element.look === "score" ? [element] : []));

/**
 * What happened up to a position, the latest first.
 * @param {number} at
 */
export function happened(at) {
  /** @type {import("./scene.js").Happened[]} */
  const found = [];
  if (!fields(match.scenes[at]).length) return found;
  for (let ply = at; ply > 0 && found.length < MOST; ply -= 1) {
    const event = actionTo(ply);
    if (!event) continue;
    const [before, after] = [match.scenes[ply - 1], match.scenes[ply]];
    const chance = match.events.filter((each) => each.seat < 0 && each.ply === ply).map(written);
    const stood = fields(before).find(({ tokens }) => tokens?.includes(event.seat));
    const stands = fields(after).find(({ tokens }) => tokens?.includes(event.seat));
    const moved = stood && stands && stood.name !== stands.name ? stands.lines?.[0] ?? "" : "";
    const old = scores(before);
    const gains = scores(after).flatMap(({ seat, value }, index) => (old[index] && value !== old[index].value ? [{ seat: seat ?? 0, by: value - old[index].value }] : []));
    gains.sort((one, other) => Number(other.seat === event.seat) - Number(one.seat === event.seat)); // one's own first
    found.push({ seat: event.seat, text: [chance.join(" ") || written(event), moved].filter(Boolean).join(" \u2192 "), gains });
  }
  return found;
}
