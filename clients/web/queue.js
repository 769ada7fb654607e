// Which match comes next on the projector: one that runs, of the same competition or else game.

import { words } from "./dom.js";

const EVERY = 3000; // ms between two looks
const REST = 8000; // ms that a result stays

/** Looks for the next match; `enter(id)` is called with it. */
export class Queue {
  /**
   * @param {() => {id: string, competition: string, game: string, held: boolean}} here what is shown now, and
   *   whether somebody looks at an earlier position of it
   * @param {(id: string) => void} enter
   * @param {(text: string) => void} say
   * @param {() => void} idle called when there is no match to show
   */
  constructor(here, enter, say, idle) {
    this.here = here;
    this.enter = enter;
    this.say = say;
    this.idle = idle;
    /** @type {number | undefined} */
    this.timer = undefined;
    this.asking = false; // whether the server is asked for matches
  }

  /** A match is over: look for another when its result has been seen. */
  rest() {
    if (!this.asking) this.timer ??= setTimeout(() => this.look(), REST);
  }

  /** Running matches, the latest first. @returns {Promise<Answers.Match[]>} */
  async matches() {
    const { competition, game } = this.here();
    const wanted = new URLSearchParams({ status: "running", limit: "64" });
    if (competition) wanted.set("competition", competition);
    else if (game) wanted.set("game", game);
    const response = await fetch(`/api/v1/matches?${wanted}`);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail);
    return answer;
  }

  /** Look for another match, once at a time: a second answer would lead away from the match of the first. */
  async look() {
    if (this.asking) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    const { id, held } = this.here();
    if (held) {
      this.timer = setTimeout(() => this.look(), EVERY);
      return;
    }
    /** @type {Answers.Match[] | null} */
    let found = null;
    this.asking = true;
    try {
      found = await this.matches();
    } catch (error) {
      this.say(`The next match cannot be found: ${words(error) || "the server does not answer"}. Trying again.`);
    }
    this.asking = false;
    const next = found?.findLast((each) => each.match !== id); // the one that waits the longest
    if (next) {
      this.enter(next.match);
      return;
    }
    if (found) {
      this.idle();
      this.say(id ? "" : "Waiting for a match to begin.");
    }
    this.timer = setTimeout(() => this.look(), EVERY);
  }
}
