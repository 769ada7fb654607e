// Controls for a match's positions: buttons, slider, keys, and the dialogs for help and sharing.

import { copying } from "./copying.js";
import { dialog } from "./dialog.js";
import { html, svg } from "./dom.js";
import { movesRow } from "./moves_file.js";
import { SPEEDS, shifted } from "./pace.js";
import { change, onSettings, settings } from "./settings.js";
import { settingsDialog } from "./settings_dialog.js";
import { tick } from "./sound.js";

/** @type {Record<string, string>} */
const ICONS = {
  first: "M4 4h3v12H4zM17 4v12L8 10z",
  back: "M15 4v12L6 10z",
  play: "M5 3v14l12-7z",
  pause: "M4 4h4v12H4zM12 4h4v12h-4z",
  forward: "M5 4v12l9-6z",
  latest: "M13 4h3v12h-3zM3 4v12l9-6z",
  share: "M11 3h6v6l-2.2-2.2-5.3 5.3-1.6-1.6 5.3-5.3zM3 5h6v2H5v8h8v-4h2v6H3z",
  projector: "M2 3h16v11H2zm2 2v7h12V5zM7 15h6v2H7z",
  sound: "M2 7h4l5-4v14l-5-4H2zM13 6.5l1.2-1.4a6.5 6.5 0 0 1 0 9.8L13 13.5a4.6 4.6 0 0 0 0-7z",
  silent: "M2 7h4l5-4v14l-5-4H2zM13 7.4 14.4 6l1.8 1.8L18 6l1.4 1.4-1.8 1.8 1.8 1.8-1.4 1.4-1.8-1.8-1.8 1.8L13 11l1.8-1.8z",
  settings: "M2 4h7.2a2.3 2.3 0 0 1 4.6 0H18v2h-4.2a2.3 2.3 0 0 1-4.6 0H2zM2 9h2.2a2.3 2.3 0 0 1 4.6 0H18v2H8.8a2.3 2.3 0 0 1-4.6 0H2zM2 14h8.2a2.3 2.3 0 0 1 4.6 0H18v2h-3.2a2.3 2.3 0 0 1-4.6 0H2z",
  full: "M3 3h6v2H5v4H3zM11 3h6v6h-2V5h-4zM3 11h2v4h4v2H3zM15 11h2v6h-6v-2h4z",
};

const KEYS_TO_PLAY = [
  ["Tab", "to the board and its buttons"],
  ["\u2190 \u2191 \u2192 \u2193", "on the board: from spot to spot"],
  ["Enter", "choose a spot, a card or a button"],
  ["Escape", "give up what you have chosen"],
];

const KEYS = [
  ["Space", "play or pause"],
  ["\u2190 \u2192", "one ply back or forward"],
  ["Home, End", "first or last position"],
  ["+ \u2212", "faster or slower"],
  ["Right click", "mark a square; a left click clears all marks"],
  ["Right drag", "draw an arrow"],
  ["f", "full screen"],
  ["p", "projector, and back"],
  ["m", "a sound with every ply, or none"],
  ["b", "board settings: size, colours, sound, confirmation of moves"],
  ["?", "this help"],
  ["Escape", "close this"],
];

/** A list of keys with what they do. @param {string[][]} keys */
const keyList = (keys) => html("dl", { class: "keys" }, keys.flatMap(([key, text]) => [html("dt", {}, html("kbd", {}, key)), html("dd", {}, text)]));

const icon = (/** @type {string} */ name) => svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));

/**
 * A button with a picture; its name is what it says to those who point at it or hear it.
 * @param {string} id
 * @param {string} label
 * @param {() => void} act
 * @param {string} picture
 */
function button(id, label, act, picture = id) {
  const node = html("button", { id, type: "button", "aria-label": label, title: label }, icon(picture));
  node.addEventListener("click", act);
  return node;
}

/** The bar of controls; `on` has what they do: go, toggle, speed, and what they ask: links. */
export class Controls {
  /**
   * @param {{at: () => number, last: () => number, go: (ply: number) => void, toggle: () => void,
   *   links: () => {page: string, embed: string | null}, projector: (() => void) | null}} on
   */
  constructor(on) {
    this.on = on;
    this.speed = 1;
    this.first = button("first", "First position (Home)", () => on.go(0));
    this.back = button("back", "One ply back (left arrow)", () => on.go(on.at() - 1));
    this.play = button("play", "Play (space bar)", on.toggle);
    this.forward = button("forward", "One ply forward (right arrow)", () => on.go(on.at() + 1));
    this.latest = button("latest", "Last position (End)", () => on.go(on.last()));
    this.slider = html("input", { id: "slider", type: "range", min: 0, max: 0, step: 1, "aria-label": "Ply" });
    this.slider.addEventListener("input", () => on.go(Number(this.slider.value)));
    this.rate = html("select", { id: "speed", "aria-label": "Speed", title: "Plies per second (+ and \u2212)" },
      SPEEDS.map((each) => html("option", { value: each }, `${each}/s`)));
    this.rate.value = String(this.speed);
    this.rate.addEventListener("change", () => { this.speed = Number(this.rate.value); });
    this.where = html("span", { id: "where" });
    this.watching = html("span", { id: "watching", class: "soft", hidden: true });
    this.help = dialog("help", "Keys", html("h3", {}, "To play"), keyList(KEYS_TO_PLAY), html("h3", {}, "To step through a match"), keyList(KEYS));
    this.link = copying("Link to this position", "link");
    this.frame = copying("To show it in another page", "frame");
    this.moves = movesRow();
    this.shared = dialog("shared", "Share", this.link.row, this.frame.row, this.moves.row);
    const question = html("button", { id: "keys", type: "button", "aria-label": "Keys (?)", title: "Keys (?)" }, "?");
    question.addEventListener("click", () => this.help.showModal());
    this.settings = settingsDialog();
    this.sound = button("sound", "Sound (m)", () => this.mute(), "silent");
    const heard = () => {
      this.sound.setAttribute("aria-pressed", String(settings.sound));
      this.sound.replaceChildren(icon(settings.sound ? "sound" : "silent"));
    };
    onSettings(heard);
    heard();
    this.full = button("full", "Full screen (f)", () => this.fullScreen());
    this.steps = html("div", { class: "steps", role: "group", "aria-label": "Positions" },
      html("div", { class: "group" }, this.first, this.back, this.play, this.forward, this.latest),
      this.slider, this.where, this.watching, this.rate,
      html("div", { class: "group" }, button("share", "Share this position", () => this.share()),
        on.projector ? button("projector", "Projector (p)", on.projector) : null,
        this.sound, button("board-settings", "Board settings (b)", () => this.settings.showModal(), "settings"), this.full, question));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * Show where one is.
   * @param {number} at
   * @param {number} last
   * @param {string} live how the match goes on
   * @param {boolean} playing
   * @param {string} spoken the position, for those who hear it
   */
  show(at, last, live, playing, spoken) {
    this.where.textContent = live ? `${at} / ${last} \u00b7 ${live}` : `${at} / ${last}`;
    this.where.classList.toggle("live", live.startsWith("live"));
    this.slider.max = String(last);
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", spoken);
    // A disabled button would lose the keyboard's focus.
    for (const [node, end] of /** @type {[Element, number][]} */ ([[this.first, 0], [this.back, 0], [this.forward, last], [this.latest, last]])) {
      node.setAttribute("aria-disabled", String(at === end));
    }
    if (this.play.dataset.playing === String(playing)) return;
    this.play.dataset.playing = String(playing);
    this.play.replaceChildren(icon(playing ? "pause" : "play"));
    const label = playing ? "Pause (space bar)" : "Play (space bar)";
    this.play.setAttribute("aria-label", label);
    this.play.title = label;
  }

  /**
   * Show how many people watch the match.
   * @param {number} count
   * @param {boolean} playing whether the person at this page is none of them
   */
  watched(count, playing) {
    this.watching.hidden = count < (playing ? 1 : 2); // to watch alone is no news
    this.watching.textContent = `${count} watching`;
  }

  share() {
    const { page, embed } = this.on.links();
    this.link.field.value = page;
    this.link.clear();
    this.frame.clear();
    this.moves.clear();
    this.frame.row.hidden = embed === null;
    if (embed !== null) this.frame.field.value = `<iframe src="${embed}" width="640" height="720" title="Match" allow="fullscreen"></iframe>`;
    this.shared.showModal();
    this.link.field.select();
  }

  fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen?.().catch(() => {}); // a frame may forbid it
  }

  /** @param {1 | -1} step */
  faster(step) {
    this.speed = shifted(this.speed, step);
    this.rate.value = String(this.speed);
  }

  mute() {
    change({ sound: !settings.sound });
    tick();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") || target.matches?.("input, select, textarea")) return;
    // In the position, arrow keys walk over what can be chosen, also while others move.
    if ((event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") && target.matches?.(".position, .spot, [data-action]")) return;
    const { on } = this;
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowLeft: () => on.go(on.at() - 1), ArrowRight: () => on.go(on.at() + 1),
      Home: () => on.go(0), End: () => on.go(on.last()),
      "+": () => this.faster(1), "=": () => this.faster(1), "-": () => this.faster(-1),
      f: () => this.fullScreen(), m: () => this.mute(), b: () => this.settings.showModal(), "?": () => this.help.showModal(),
      p: () => on.projector?.(),
    };
    // The space bar presses what has the focus, and plays where nothing has.
    if (event.key === " " && !target.closest?.("button, a, summary, [role=button], [role=gridcell]")) on.toggle();
    else if (event.key in acts) acts[event.key]();
    else return;
    event.preventDefault();
  }
}
