// The position on the page of a match: drawn, moved, and told to those who hear it.

import { holder } from "./dom.js";
import { outline } from "./fit.js";
import { happened } from "./happened.js";
import { move } from "./motion.js";
import { written } from "./move_list.js";
import { patience } from "./pace.js";
import { drawScene, onTable } from "./scene.js";
import { spoken } from "./scene_items.js";
import { moveTable, standing } from "./table_motion.js";
import { tick } from "./sound.js";
import { changesInWords, withHolders, yourTurn } from "./speak.js";
import { actionTo, comingTo, last, match, mode, name, names, place, result } from "./state.js";

const MOVE = 260; // ms that a piece is on its way, at most
const LEAST = 70; // ms that a position must be shown for pieces to move at all
const JUST_OVER = /^(The match is over|.* wins)$/; // says no more than the result of a match
const BREATH = 1500; // ms between two announced positions, unless an action is requested

/** @typedef {{at: number, scene: Scenes.Scene, mine: boolean, asked: string, turn: number | null, seenBy: number | null}} Shown */

/** Shows the position where one is, with what the page says of it. */
export class Picture {
  /**
   * @param {import("./match_parts.js").Parts} parts
   * @param {(action: string) => void} choose called with what a person at a seat plays
   */
  constructor(parts, choose) {
    this.parts = parts;
    this.choose = choose;
    this.spot = ""; // what had the focus when a person chose
    this.where = ""; // and its row and column on a board
    this.keys = true; // whether they choose with keys; the first turn is ready for them
    addEventListener("keydown", () => { this.keys = true; }, { capture: true });
    addEventListener("pointerdown", () => { this.keys = false; }, { capture: true });
    this.saidAt = 0;
    /** The scene on the page. @type {Shown | null} */
    this.shown = null;
  }

  /** Another match is shown. */
  clear() {
    this.shown = null;
    this.spot = "";
    this.where = "";
    this.keys = true;
  }

  /** Let a person choose again in the position that is shown. */
  again() {
    this.shown = null;
    this.show();
  }

  /** Show the position where one is. */
  show() {
    const { scenes, at } = match;
    const { scene, prompt, list, thoughts, explained, output, outcome } = this.parts;
    const mine = match.turn !== null && at === last();
    const focused = /** @type {HTMLElement | SVGElement | null} */ (document.activeElement);
    const inside = focused && focused !== scene && (scene.contains(focused) || prompt.contains(focused));
    if (inside) {
      this.spot = focused.dataset.spot ?? focused.dataset.action ?? "";
      this.where = focused.dataset.at ?? "";
    }
    if (scenes[at]) this.draw(scenes[at], mine);
    const lost = document.activeElement === document.body || document.activeElement === scene.parentElement;
    if (lost && (mine || (inside && this.keys))) this.focus(mine);
    document.title = document.title.replace(/^(Your turn: )?/, match.turn === null ? "" : "Your turn: ");
    this.showWhere();
    list.mark(at);
    thoughts.mark(at);
    explained.mark();
    output.mark(at);
    const text = match.outcome && !comingTo() ? result() : "";
    if (outcome.textContent !== text) outcome.textContent = text;
    const ended = place.classList.contains("ended");
    place.classList.toggle("ended", Boolean(text));
    const said = place.querySelector(".status .said")?.textContent;
    place.classList.toggle("told", Boolean(text && said) && (text.startsWith(said ?? "") || JUST_OVER.test(said ?? ""))); // not twice
    if (Boolean(text) !== ended) this.parts.room();
    this.showSeats();
  }

  /**
   * Let arrow keys walk over the board, from the spot that had the focus before. They step through the match
   * for people who chose with the mouse. Without a spot the position itself keeps the focus until the next turn.
   * @param {boolean} mine whether a person at this page is to choose an action
   */
  focus(mine) {
    const { scene, prompt } = this.parts;
    const named = CSS.escape(this.spot);
    const quiet = /** @type {FocusOptions} */ ({ preventScroll: true, focusVisible: false });
    /** @type {(selector: string) => HTMLElement | SVGElement | null} */
    const find = (selector) => scene.querySelector(selector) ?? prompt.querySelector(selector);
    const there = this.keys && this.where ? find(`.spot[data-at="${this.where}"]`) : null;
    const before = there ?? (this.spot ? find(`[data-spot="${named}"], [data-action="${named}"]`) : null);
    if (there) {
      for (const each of scene.querySelectorAll(".spot[data-at][tabindex='0']")) each.setAttribute("tabindex", "-1");
      there.setAttribute("tabindex", "0");
    }
    if (before) before.focus({ preventScroll: true });
    else if (this.keys && mine) (find(".spot[tabindex='0']") ?? find(".choices [data-action]") ?? find("[data-action]") ?? scene.parentElement)?.focus(quiet);
    else if (this.keys) scene.parentElement?.focus({ preventScroll: true });
  }

  /**
   * Draw a position, unless it is on the page already.
   * @param {Scenes.Scene} scene
   * @param {boolean} mine whether a person at this page is to choose an action
   */
  draw(scene, mine) {
    const { shown, parts } = this;
    const { at, scenes } = match;
    const beside = this.options(mine);
    const asked = JSON.stringify(beside);
    if (shown && shown.scene === scene && shown.mine === mine && shown.turn === match.turn && shown.asked === asked) return;
    match.seats.forEach((seat, index) => parts.seats.rowOf(seat, index)); // in the order of the seats
    parts.seats.clearTaken();
    const drawn = drawScene(scene, scenes[at - 1] ?? null, mine ? this.choose : null, beside);
    const before = parts.scene.firstElementChild;
    const stood = standing(before);
    parts.scene.replaceChildren(drawn);
    const felt = onTable(scene); // cards and dice lie on felt
    for (const node of [place, document.body]) node.classList.toggle("felt", felt);
    parts.settle();
    if (!shown || outline(shown.scene) !== outline(scene) || shown.mine !== mine) parts.room();
    const step = shown && shown.seenBy === match.seenBy ? at - shown.at : 0;
    const pace = match.playing ? 1000 / parts.controls.speed : patience(last() - at + 1) || MOVE;
    if (shown && Math.abs(step) === 1) {
      const duration = pace < LEAST ? 0 : Math.min(MOVE, pace * 0.7);
      move(drawn, before, shown.scene, scene, duration);
      moveTable(drawn, stood, shown.scene, scene, duration);
      tick();
    }
    if (Math.abs(step) === 1 || (mine && !shown?.mine) || (step > 0 && match.turn !== null)) this.say(at, mine);
    this.shown = { at, scene, mine, asked, turn: match.turn, seenBy: match.seenBy };
    match.shownAt = performance.now();
  }

  /**
   * Returns the options of drawings beside the scene.
   * @param {boolean} mine whether a person at this page is to choose an action
   */
  options(mine) {
    return {
      holders: match.seats.map((seat) => holder(seat)),
      you: mine ? match.seat : null,
      log: happened(match.at),
      taken: mode !== "projector" || onTable(match.scenes[match.at]) ? (/** @type {number} */ seat) => this.parts.seats.rowOf(match.seats[seat], seat).taken : undefined,
      premove: match.seat !== null && match.turn === null && match.status === "running" && match.at === last(),
    };
  }

  /** Show how far the match has come, and where in it one is. */
  showWhere() {
    if (!match.scenes.length) return;
    const behind = last() - match.at;
    const running = match.status !== "finished";
    const live = !running && !comingTo() ? "" : match.follow ? (behind ? `live \u2212${behind}` : "live") : running ? "running" : "";
    this.parts.controls.show(match.at, last(), live, match.playing || (match.follow && running), this.told(match.at) || "start");
  }

  /**
   * The ply that led to a position, in words.
   * @param {number} at
   */
  told(at) {
    const event = actionTo(at);
    return event ? `Ply ${at}: ${name(event.seat)}, ${spoken(written(event))}` : "";
  }

  /**
   * For those who hear the page: what others did, not more often than it can be said.
   * @param {number} at
   * @param {boolean} mine whether they are to choose an action there
   */
  say(at, mine) {
    const event = actionTo(at);
    const own = match.follow && event?.seat === match.seat; // who plays knows that, but not what the dice showed
    if (own && !mine) return;
    if (match.turn === null && performance.now() - this.saidAt < BREATH) return;
    this.saidAt = performance.now();
    const { holders, you } = this.options(mine);
    const { status = "" } = match.scenes[at] ?? {};
    const turn = you === null ? status : yourTurn(status, you, holders, names());
    const words = changesInWords(match.scenes[at - 1] ?? null, match.scenes[at] ?? {}, turn);
    const what = event && !own ? `${name(event.seat)}: ${event.action ? spoken(written(event)) : "a hidden action"}` : "";
    this.parts.said.textContent = withHolders([what, words].filter(Boolean).join(". "), holders, names());
  }

  /** Show who plays, with how much time left, or what each got. */
  showSeats() {
    const over = comingTo() ? null : match.outcome;
    const mover = match.outcome && match.at === last() ? null : match.scenes[match.at]?.seat_to_move ?? null;
    this.parts.seats.show(match.seats, names(), mover, over?.returns ?? null);
  }
}
