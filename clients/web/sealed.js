// Matches of a pairing that share their dice: nobody may see one before all of them are over.

/**
 * The pairings all of whose matches are in a list of finished ones: a match from every seat.
 * @param {Answers.MatchView[]} finished
 */
export function complete(finished) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { pairing } of finished) counts.set(pairing, (counts.get(pairing) ?? 0) + 1);
  return new Set(finished.filter((each) => (counts.get(each.pairing) ?? 0) >= each.seats.length).map((each) => each.pairing));
}
