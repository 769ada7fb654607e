// The board of a position of a search tree, drawn as on the page of the match.

import { ask } from "./answers.js";
import { html } from "./dom.js";
import { Film } from "./scene.js";
import { api } from "./state.js";

/** The boards of the positions of one tree: fetched once each, when they are looked at. */
export class NodeBoard {
  /** @param {HTMLElement} text the same position in words, which stays for those who hear it */
  constructor(text) {
    this.text = text;
    this.film = new Film();
    this.node = html("div", { class: "node-board", hidden: true });
    /** @type {Map<string, Scenes.Scene>} */
    this.known = new Map();
    this.wanted = "";
  }

  /**
   * Show a position; its words stand alone until the board has come.
   * @param {number} ply of the match
   * @param {string[]} then what is played after it
   */
  async show(ply, then) {
    const query = new URLSearchParams([["ply", String(ply)], ...then.map((action) => ["then", action])]);
    const address = `${api()}/tree/scene?${query}`;
    this.wanted = address;
    try {
      if (!this.known.has(address)) this.known.set(address, /** @type {Scenes.Scene} */ (await ask(address)));
    } catch {
      if (this.wanted === address) this.draw(null);
      return;
    }
    if (this.wanted === address) this.draw(this.known.get(address) ?? null);
  }

  /** @param {Scenes.Scene | null} scene null if there is none: the words are shown */
  draw(scene) {
    if (scene) {
      this.film.show(scene, null);
      if (this.film.node && this.node.firstChild !== this.film.node) this.node.replaceChildren(this.film.node);
    }
    this.node.hidden = !scene;
    this.text.classList.toggle("unseen", Boolean(scene));
  }
}
