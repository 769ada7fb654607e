// How long to wait before trying again, and how to tell people.

const FIRST = 500;
const SLOWEST = 15_000;

/** Calls `retry()` after ever longer times, with some chance in them; shows the time left. */
export class Backoff {
  /**
   * @param {() => void} retry
   * @param {(text: string, now?: () => void) => void} onState gets a sentence each second and what tries at once, and "" when all is well
   */
  constructor(retry, onState) {
    this.retry = retry;
    this.onState = onState;
    this.failures = 0;
    /** @type {number | undefined} */
    this.timer = undefined;
    addEventListener("online", () => this.now());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.now(); });
  }

  /** It worked. */
  well() {
    this.failures = 0;
    this.stop();
    this.onState("");
  }

  /** It failed: try again later. */
  failed() {
    this.stop();
    const wait = Math.min(SLOWEST, FIRST * 2 ** this.failures) * (0.5 + Math.random() / 2);
    this.failures += 1;
    const due = performance.now() + wait;
    const tell = () => {
      const left = Math.ceil((due - performance.now()) / 1000);
      const what = this.failures > 2
        ? "The server cannot be reached: this page shows what it knew last."
        : "Connection lost.";
      if (left > 0) this.onState(`${what} Trying again in ${left} s.`, () => this.now());
      else this.onState(`${what} Trying again now.`);
      this.timer = setTimeout(left > 0 ? tell : () => this.now(), Math.min(1000, Math.max(0, due - performance.now())));
    };
    tell();
  }

  /** Try at once, if a try is waiting. */
  now() {
    if (this.timer === undefined) return;
    this.stop();
    this.retry();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
