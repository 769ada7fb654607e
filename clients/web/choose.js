// What choosing spot after spot means, where actions are several spots in a row.
// It knows no game: an action is `{ action, label, via }`, `via` the spots that mean it.

/** The choice of one action, spot by spot. */
export class Choice {
  constructor(moves) {
    this.moves = moves;
    this.clear();
  }

  /** Forget what was chosen. */
  clear() {
    this.path = [];
    this.left = this.moves;
    this.asked = [];
  }

  /** Spots that can be chosen now: "start" for the first of an action, "next", or its "end". */
  open() {
    const found = new Map();
    const depth = this.path.length;
    for (const { via } of this.left) {
      if (depth > 0 && via.length > depth && !found.has(via.at(-1))) found.set(via.at(-1), "end");
    }
    for (const { via } of this.left) {
      if (via.length > depth) found.set(via[depth], depth ? "next" : "start");
    }
    return found;
  }

  /**
   * Choose a spot; returns the action once there is only one that it can mean.
   * Those between which only words can decide are then in `asked`.
   * What cannot be chosen gives the choice up, or begins another with this spot.
   */
  pick(spot) {
    if (!this.open().has(spot)) {
      const again = this.path.length > 0 && this.path[0] === spot;
      this.clear();
      if (again || !this.open().has(spot)) return null;
    }
    const depth = this.path.length;
    const next = this.left.filter(({ via }) => via[depth] === spot);
    const jumped = next.length === 0; // straight to the end of a longer way
    this.left = jumped ? this.left.filter(({ via }) => via.at(-1) === spot) : next;
    this.path.push(spot);
    const whole = jumped ? this.left : this.left.filter(({ via }) => via.length === depth + 1);
    const actions = new Set(this.left.map(({ action }) => action));
    if (actions.size === 1 && (depth > 0 || whole.length > 0)) return this.left[0].action;
    this.asked = whole;
    if (jumped) this.left = [];
    return null;
  }
}
