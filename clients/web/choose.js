// The choice of an action spot by spot, for actions of several spots in a row.
// It knows no game: an action is `{ action, label, via, pairs }`, `via` the spots that mean it.

/**
 * @typedef {{action: string, label: string, via: string[], pairs?: boolean, dice?: number[], shape?: string}} Move
 */

/**
 * The spots that may come after those of the path; null if the path does not begin this way.
 * @param {Move} move
 * @param {string[]} path
 * @returns {string[] | null}
 */
function following({ via, pairs }, path) {
  if (!pairs) return path.every((spot, at) => via[at] === spot) ? (via.length > path.length ? [via[path.length]] : []) : null;
  /** @type {[string, string][]} */
  const left = [];
  for (let at = 0; at + 1 < via.length; at += 2) left.push([via[at], via[at + 1]]);
  for (let at = 0; at + 1 < path.length; at += 2) {
    const used = left.findIndex(([from, to]) => from === path[at] && to === path[at + 1]);
    if (used < 0) return null;
    left.splice(used, 1);
  }
  // A piece that another pair brings to a spot leaves it only afterwards.
  const ready = left.filter(([from], at) => !left.slice(0, at).some(([, to]) => to === from));
  if (path.length % 2 === 0) return ready.map(([from]) => from);
  const ends = ready.filter(([from]) => from === path.at(-1)).map(([, to]) => to);
  return ends.length ? ends : null;
}

/** The choice of one action, spot by spot. */
export class Choice {
  /** @param {Move[]} moves */
  constructor(moves) {
    this.moves = moves;
    /** The spots chosen so far. @type {string[]} */
    this.path = [];
    this.left = moves;
    /** Those between which only words decide. @type {Move[]} */
    this.asked = [];
    this.jumped = false;
  }

  /** Forget what was chosen. */
  clear() {
    this.path = [];
    this.left = this.moves;
    this.asked = [];
    this.jumped = false;
  }

  /** Take back the last step: a checker that was lifted, or the last pair. */
  back() {
    const paired = Boolean(this.moves.find(({ via }) => via.length > 1)?.pairs);
    const kept = this.path.slice(0, paired && this.path.length % 2 === 0 ? -2 : -1);
    this.clear();
    for (const spot of kept) this.pick(spot);
  }

  /** Spots that can be chosen now: "start" for the first of an action, "next", or its "end". */
  open() {
    /** @type {Map<string, "start" | "next" | "end">} */
    const found = new Map();
    if (this.jumped) return found;
    const depth = this.path.length;
    for (const { via, pairs } of this.left) {
      const last = via.at(-1) ?? "";
      if (depth > 0 && !pairs && via.length > depth && !found.has(last)) found.set(last, "end");
    }
    for (const move of this.left) {
      const start = depth === 0 || (move.pairs && depth % 2 === 0);
      for (const spot of following(move, this.path) ?? []) found.set(spot, start ? "start" : "next");
    }
    return found;
  }

  /**
   * True if more spots follow this one: then its piece can be dragged.
   * @param {string} spot
   */
  leads(spot) {
    return this.open().get(spot) === "start" && this.left.some((move) => move.via.length > 1 && following(move, this.path)?.includes(spot));
  }

  /**
   * Choose a spot; returns the action once there is only one that it can mean.
   * Those between which only words can decide are then in `asked`.
   * A spot that cannot be chosen ends the choice, or begins another with this spot.
   * @param {string} spot
   * @returns {string | null}
   */
  pick(spot) {
    if (!this.open().has(spot)) {
      const half = this.path.length % 2;
      const paired = Boolean(this.left[0]?.pairs);
      const again = this.path.length > 0 && (paired && half ? this.path.at(-1) : this.path[0]) === spot;
      const kept = paired && half ? this.path.slice(0, -1) : [];
      this.clear();
      for (const each of kept) this.pick(each); // pairs that are complete stay
      if (again || !this.open().has(spot)) return null;
    }
    const path = [...this.path, spot];
    const next = this.left.filter((move) => following(move, path) !== null);
    this.jumped = next.length === 0; // straight to the end of a longer way
    this.left = this.jumped ? this.left.filter(({ via }) => via.at(-1) === spot) : next;
    this.path = path;
    const whole = this.jumped ? this.left : this.left.filter(({ via }) => via.length === path.length);
    const actions = new Set(this.left.map(({ action }) => action));
    const half = this.left[0].pairs && path.length % 2 > 0; // a lifted checker is put down, too
    if (actions.size === 1 && !half && (path.length > 1 || whole.length > 0)) {
      if (this.left[0].pairs) this.path = [...this.left[0].via]; // what is left of a turn is forced
      return this.left[0].action;
    }
    this.asked = whole;
    return null;
  }
}
