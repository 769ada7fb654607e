// The projector's view of a competition between matches: its table and the next pairings.

import { html } from "./dom.js";

const EVERY = 5000; // ms between two looks
const PARTS = ["standings", "cross", "progress"]; // of the competition's page

/** The news of a competition, kept up to date while they are shown. */
export class News {
  /** @param {string} competition its id; "" for none, and then nothing is ever shown */
  constructor(competition) {
    this.competition = competition;
    this.node = html("div", { class: "news", id: "news" });
    /** @type {number | undefined} */
    this.timer = undefined;
  }

  /** Begin or end to show them below a node. @param {boolean} wanted @param {Element} below */
  toggle(wanted, below) {
    if (wanted === this.node.isConnected || !this.competition) return;
    below.classList.toggle("resting", wanted);
    if (wanted) {
      below.append(this.node);
      this.look();
    } else {
      clearTimeout(this.timer);
      this.node.remove();
    }
  }

  async look() {
    clearTimeout(this.timer);
    try {
      const response = await fetch(`/competitions/${encodeURIComponent(this.competition)}`);
      if (response.ok) {
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        const title = page.querySelector("h1")?.textContent ?? "";
        const parts = PARTS.map((id) => page.getElementById(id)).filter((part) => part !== null);
        this.node.replaceChildren(html("h2", {}, title), ...parts);
      }
    } catch {
      // The connection says that the server is gone.
    }
    if (this.node.isConnected) this.timer = setTimeout(() => this.look(), EVERY);
  }
}
