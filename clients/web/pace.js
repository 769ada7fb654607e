// How fast positions follow each other: of a replay, and of a live match that is faster than eyes.

/** Plies per second at which a replay may run. */
export const SPEEDS = [0.5, 1, 2, 4, 8, 16];

/** Milliseconds that each position of a live match is shown, as long as that keeps up with it. */
export const LEAST = 350;

/** Behind by more plies than these, one sees the latest position at once. */
const TOO_MANY = 120;

/**
 * Milliseconds until the next position of a live match that is `behind` plies ahead of the page.
 * Viewers do not fall far behind, because the time shrinks with the queue. A queue of `n` plies is shown at
 * about `n / 2` plies per `least`. A bot that plays ten plies a second is shown about a second and a half
 * late. 0 says to go to the end.
 * @param {number} behind
 */
export function patience(behind, least = LEAST) {
  if (behind > TOO_MANY) return 0;
  return least / Math.max(1, behind / 4);
}

/**
 * The next faster or slower speed.
 * @param {number} speed
 * @param {number} step 1 or -1
 */
export function shifted(speed, step) {
  const at = SPEEDS.findIndex((each) => each >= speed);
  return SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, (at < 0 ? SPEEDS.length - 1 : at) + step))];
}
