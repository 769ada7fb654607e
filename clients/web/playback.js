// Time passes: positions are stepped through, played one after the other, or followed as they come.

import { address } from "./address.js";
import { patience } from "./pace.js";
import { following, last, match } from "./state.js";

/** The playback on one page. */
export class Passing {
  /**
   * @param {() => void} show draws another position
   * @param {() => void} showWhere shows how far the match has come, where the position stays
   * @param {() => number} speed plies per second of a replay
   */
  constructor(show, showWhere, speed) {
    this.show = show;
    this.showWhere = showWhere;
    this.speed = speed;
    /** The timer of the next position. @type {number | undefined} */
    this.timer = undefined;
  }

  /** Go to a position, which ends playing. @param {number} to */
  go(to) {
    this.pause();
    match.at = Math.max(0, Math.min(last(), to));
    match.follow = match.at === last();
    this.show();
    address();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    match.playing = false;
  }

  /** Plays or pauses; at the end of a finished match, starts from the beginning. */
  toggle() {
    if (match.playing || (match.follow && match.status !== "finished")) {
      this.pause();
      match.follow = false;
      this.show();
      return;
    }
    this.pause();
    if (match.at === last() && match.status === "finished") match.at = 0;
    match.playing = true;
    match.follow = false;
    this.show();
    this.next();
  }

  /** Wait for as long as a position is shown in a replay. */
  next() {
    this.timer = setTimeout(() => this.play(), 1000 / this.speed());
  }

  play() {
    if (!match.playing) return;
    if (match.at < last()) match.at = following();
    if (match.at === last()) {
      this.pause();
      match.follow = true;
    } else this.next();
    this.show();
    address();
  }

  /** Follow a live match, each position for as long as eyes need if the match allows it. */
  pursue() {
    const behind = last() - match.at;
    if (!match.follow || behind <= 0) {
      this.show();
      return;
    }
    const time = patience(behind);
    const wait = match.shownAt + time - performance.now();
    const own = match.seat !== null && match.events.at(-1)?.seat === match.seat; // seen at once
    if (match.turn !== null || own || document.hidden || !time || !match.shownAt) {
      match.at = last();
      this.show();
    } else if (wait <= 0) {
      match.at = following();
      this.show();
      if (match.at < last()) this.later(patience(last() - match.at));
    } else {
      this.showWhere();
      this.later(wait);
    }
  }

  /** Follow on after a while. @param {number} wait ms */
  later(wait) {
    if (this.timer === undefined) this.timer = setTimeout(() => { this.timer = undefined; this.pursue(); }, wait);
  }
}
