// Which match comes next on the projector: one that runs, of the same competition or else game.

import { words } from "./dom.js";
import { complete } from "./sealed.js";

const EVERY = 3000; // ms between two looks
const REST = 8000; // ms that a result stays

/** Looks for the next match; `enter(id)` is called with it. */
export class Queue {
  /**
   * @param {() => {id: string, competition: string, game: string}} here what is shown now
   * @param {(id: string) => void} enter
   * @param {(text: string) => void} say
   * @param {() => void} idle called when there is no match to show
   */
  constructor(here, enter, say, idle) {
    this.here = here;
    this.enter = enter;
    this.say = say;
    this.idle = idle;
    /** Matches that nobody may see before their pairing is over. @type {Set<string>} */
    this.sealed = new Set();
    /** @type {number | undefined} */
    this.timer = undefined;
  }

  /** A match is over: look for another when its result has been seen. */
  rest() {
    this.timer ??= setTimeout(() => this.look(), REST);
  }

  /** A match may not be seen yet: look for another one. @param {string} id */
  seal(id) {
    this.sealed.add(id);
    this.look();
  }

  /** Matches of a status, the latest first. @param {string} status @returns {Promise<Answers.MatchView[]>} */
  async matches(status) {
    const { competition, game } = this.here();
    const wanted = new URLSearchParams({ status, limit: "64" });
    if (status === "finished") wanted.set("sort", "ended");
    if (competition) wanted.set("competition", competition);
    else if (game) wanted.set("game", game);
    const response = await fetch(`/api/v1/matches?${wanted}`);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail);
    return answer;
  }

  /** A match that was sealed while it ran, can be seen now, and was not shown yet. */
  async delayed() {
    const over = await this.matches("finished");
    const open = complete(over);
    const found = over.findLast((each) => this.sealed.has(each.match) && open.has(each.pairing));
    if (found) this.sealed.delete(found.match);
    return found;
  }

  async look() {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { id } = this.here();
    try {
      const running = await this.matches("running");
      let next = running.findLast((each) => each.match !== id && !this.sealed.has(each.match)); // the one that waits the longest
      if (!next && this.sealed.size) next = await this.delayed();
      if (next) {
        this.enter(next.match);
        return;
      }
      this.idle();
      this.say(id ? "" : "Waiting for a match to begin.");
    } catch (error) {
      this.say(`The next match cannot be found: ${words(error) || "the server does not answer"}. Trying again.`);
    }
    this.timer = setTimeout(() => this.look(), EVERY);
  }
}
