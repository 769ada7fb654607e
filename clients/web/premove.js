// A move chosen before it is one's turn: spots, which mean an action if one is legal then.
// Which spots mean what is known only when the turn comes; here they are just remembered.

/** One person's choice in advance, for one page. */
export class Premove {
  constructor() {
    /** @type {string[]} */
    this.path = [];
    this.whole = false;
    /** @type {boolean | null} */
    this.single = null; // whether the last turn's actions were one spot each; null before it
  }

  clear() {
    this.path = [];
  }

  /**
   * Learn from a turn what its actions are like.
   * @param {import("./choose.js").Move[]} moves
   */
  learn(moves) {
    this.single = moves.every(({ via }) => via.length < 2);
  }

  /**
   * Choose a spot.
   * @param {string} spot
   * @param {boolean} own whether something of this person stands there
   */
  pick(spot, own) {
    const [first, ...rest] = this.path;
    if (first === spot && !rest.length) this.clear();
    else if (this.single || first === undefined || rest.length) this.path = [spot];
    else this.path = [first, spot];
    // A way that begins nowhere of one's own is a single spot, and otherwise waits for its end.
    this.whole = this.path.length === 2 || (this.path.length === 1 && (this.single === true || (this.single === null && !own)));
  }

  /**
   * The action that was chosen, if there is just one such now; the choice is over.
   * @param {import("./choose.js").Move[]} moves
   */
  take(moves) {
    const { path } = this;
    this.clear();
    if (!path.length) return null;
    const [first, last] = [path[0], path.at(-1)];
    const found = moves.filter(({ via }) => via[0] === first && via.at(-1) === last && via.length >= path.length && (path.length > 1 || via.length === 1));
    const actions = new Set(found.map(({ action }) => action));
    return actions.size === 1 ? found[0].action : null;
  }
}
