// The parts of the page of a match, and how much room each has.

import { link } from "./address.js";
import { annotate } from "./annotations.js";
import { Controls } from "./controls.js";
import { Seats } from "./seats.js";
import { html } from "./dom.js";
import { Explain } from "./explain.js";
import { fit } from "./fit.js";
import { sideBelow } from "./scene.js";
import { spoken } from "./scene_items.js";
import { ledger } from "./ledger.js";
import { MoveList, written } from "./move_list.js";
import { Output } from "./output.js";
import { onSettings, settings } from "./settings.js";
import { actionTo, api, last, match, mode, name, place } from "./state.js";
import { columns } from "./table.js";
import { Thoughts } from "./thoughts.js";
import { dice } from "./verify.js";

const LEAST = { table: 290, large: 400, board: 160, list: 150, page: 320, rack: 290, deeds: 260, pair: 465, over: 240 }; // pixels; a page scrolls rather than show a smaller board

const FRAMED = mode === "embed"; // every pixel counts
const GAP = FRAMED ? 4 : 8; // pixels between the rows of the page

const page = () => `/matches/${encodeURIComponent(match.id)}`;

/** The projector from the page of a match, and back. */
function toProjector() {
  const { competition = "" } = place.dataset;
  location.assign(mode === "projector" ? (match.id ? link(page()) : "/matches")
    : link(`/projector?match=${encodeURIComponent(match.id)}&competition=${encodeURIComponent(competition)}`));
}

/** All parts, laid out in the page: as many of them as its mode has room for. */
export class Parts {
  /**
   * @param {{go: (at: number) => void, toggle: () => void, lookAs: (seat: number | null) => void}} on what people do with them
   */
  constructor({ go, toggle, lookAs }) {
    this.controls = new Controls({
      at: () => match.at,
      last,
      go,
      toggle,
      links: () => ({ page: link(page()), embed: "embed" in place.dataset ? link(`/embed/${encodeURIComponent(match.id)}`) : null }),
      projector: mode === "embed" ? null : toProjector,
    });
    this.seats = new Seats(mode === "page");
    this.list = new MoveList(go);
    this.thoughts = new Thoughts(name, go);
    this.explained = new Explain();
    this.accounts = ledger(() => `${api()}/record`, name, (ply) => {
      const event = actionTo(ply);
      return event?.action ? spoken(written(event)) : "";
    });
    this.output = new Output(api, go);
    this.dice = dice();
    this.title = html("p", { class: "title", hidden: mode === "page" });
    this.scene = html("div", { id: "scene" });
    this.seen = /** @type {HTMLSelectElement} */ (html("select", { id: "seen" }));
    this.seenLabel = html("label", { class: "seen", hidden: true }, "Seen by ", this.seen);
    this.outcome = html("p", { id: "outcome", role: "status" });
    this.detail = html("pre", { id: "detail", class: "detail", hidden: true });
    this.review = html("p", { id: "review", hidden: true, "aria-live": "polite" });
    this.prompt = html("div", { id: "prompt" });
    this.own = html("div", { id: "own", class: "choices", role: "group", "aria-label": "Your match" });
    this.again = html("div", { id: "again", class: "choices", role: "group", "aria-label": "Play again" });
    this.sitting = html("p", { id: "sitting" });
    this.hands = html("div", { id: "hands", class: "choices" });
    this.said = html("p", { id: "heard", class: "unseen", "aria-live": "polite" });
    this.seen.addEventListener("change", () => lookAs(this.seen.value === "" ? null : Number(this.seen.value)));
    this.dock = 0; // pixels that words and buttons below a table have needed
    this.layOut();
  }

  layOut() {
    const { controls, seats, list, thoughts, explained, accounts, output } = this;
    const whole = mode === "page";
    const open = html("a", { href: page(), target: "_blank", rel: "noopener" }, "Open the match");
    const seated = mode !== "projector"; // at the board
    controls.steps.append(this.seenLabel);
    // The position keeps the focus of keys while others move.
    place.replaceChildren(
      html("section", { class: "position", tabindex: -1, "aria-label": "Position" }, seated ? seats.node : null, this.scene, seated ? null : controls.steps),
      html("section", { class: "course", "aria-label": "Course of the match" },
        seated ? null : this.title, this.sitting, this.outcome, this.prompt, this.detail, this.review, seated ? null : seats.node, this.own, this.again, this.hands,
        ...(whole ? [controls.steps, list.node, accounts.node, thoughts.node, explained.node, this.dice.node, output.node] : []),
        ...(FRAMED ? [controls.steps, html("div", { class: "foot" }, this.title, open)] : [])),
      this.said, controls.help, controls.shared, controls.settings);
    // Nothing is seen before there is something to see, so that nothing moves when it comes.
    place.classList.add("match", mode, "waiting");
    place.classList.toggle("page", seated); // a frame is a small page without one's own seat
    new ResizeObserver(() => this.room()).observe(document.documentElement);
    addEventListener("resize", () => { if (!scrollY) this.room(); }); // of the height alone; the bars of a phone's browser come and go with scrolling
    annotate(this.scene);
    onSettings((changed) => { if (changed.size !== undefined) this.room(); });
    this.scene.addEventListener("flipped", () => this.settle());
  }

  /** A position was drawn: on the page of a match, words and buttons lie beside boards, but on tables of felt. */
  settle() {
    this.seats.sides(sideBelow(this.scene));
    const felt = place.classList.contains("felt");
    if (this.scene.parentElement) columns(this.scene.parentElement, match.seats.length);
    const { node } = this.seats; // around a table, else above and below a board or in the column beside it
    if (felt !== (node.nextElementSibling === this.scene) && mode === "projector") (felt ? this.scene : this.own).before(node);
    if (mode === "projector") return;
    const prompt = this.scene.querySelector(".prompt");
    if (prompt?.querySelector(".moves")) place.classList.add("listed");
    this.prompt.replaceChildren(...(prompt && !felt ? [prompt] : []));
  }

  /** There is something to see. */
  reveal() {
    place.classList.remove("waiting");
  }

  /** Give the board the room that there is, so that board, status and controls are seen at once. */
  room() {
    const { scene, controls, seats } = this;
    if (!scene.firstElementChild) return;
    if (place.classList.contains("felt")) this.roomOnTable();
    if (mode !== "projector") {
      this.roomOnPage();
      return;
    }
    const narrow = !getComputedStyle(place).gridTemplateColumns.includes(" ");
    const { position, order } = getComputedStyle(controls.steps);
    // The buttons lie over the board where a window is low, and below all else on a phone, which may scroll to them.
    const under = narrow ? (order === "0" ? seats.node.parentElement : seats.node)?.offsetHeight ?? 0 : 0;
    const steps = position === "absolute" || order !== "0" ? 0 : controls.steps.offsetHeight;
    fit(scene, Math.max(innerHeight - scene.getBoundingClientRect().top - steps - under - 12, LEAST.board));
  }

  /** How the page of a match is laid out; see style.css. */
  get layout() {
    return getComputedStyle(place).getPropertyValue("--layout").trim();
  }

  /** Give the table the height of the window, and the words and buttons below it as much as they have ever needed. */
  roomOnTable() {
    const table = /** @type {HTMLElement} */ (this.scene.parentElement);
    const top = table.getBoundingClientRect().top + scrollY;
    // In one column the result of a match that is over stands below the table, and is to be seen with it.
    const stacked = place.matches(".ended") && this.layout === "stacked";
    const told = stacked ? [this.sitting, this.outcome, this.again] : [];
    const below = told.reduce((sum, node) => sum + (node.offsetHeight ? node.offsetHeight + GAP : 0), 0);
    const least = stacked && table.querySelector(".of-5, .of-6") ? LEAST.large : LEAST.table;
    if (mode === "page") table.style.setProperty("--high", `${Math.max(least, innerHeight - top - GAP - below)}px`);
    const prompt = /** @type {HTMLElement | null} */ (this.scene.querySelector(".prompt"));
    if (!prompt) return;
    const key = `${innerWidth}x${innerHeight}`; // in another window they may need less
    if (table.dataset.window !== key) {
      this.dock = 0;
      table.style.setProperty("--dock", "0px");
    }
    table.dataset.window = key;
    this.dock = Math.max(this.dock, Math.ceil(prompt.getBoundingClientRect().height));
    table.style.setProperty("--dock", `${this.dock}px`);
    for (const chart of this.scene.querySelectorAll(".middle .grid.table:not(:has(button))")) chart.scrollTop = chart.scrollHeight;
  }

  /** Fit the boards into the window with players, status and buttons, and the list of plies beside them. */
  roomOnPage() {
    const { scene, list } = this;
    /** @type {HTMLElement | null} */
    const boards = scene.querySelector(".boards");
    const { layout } = this;
    if (boards) {
      place.parentElement?.style.removeProperty("--column");
      const top = boards.getBoundingClientRect().top + scrollY;
      // The parts below the boards in their column, which must be visible together with them.
      const words = layout === "stacked" ? `, .prompt > :not(.moves, [aria-label='Which one?']), ${FRAMED ? ".course > :not(#prompt)" : place.matches(".ended") ? "#outcome, #again" : "#own"}` : "";
      const below = layout === "beside" ? [] : [...place.querySelectorAll(`.seats > .below, .scene > :not(.boards, .prompt)${words}`)];
      const needed = () => below.reduce((sum, node) => sum + (node.getBoundingClientRect().top + scrollY >= top ? /** @type {HTMLElement} */ (node).offsetHeight + GAP : 0), 0);
      const several = layout === "stacked" && boards.children.length > 1;
      const holds = (/** @type {string} */ part) => this.scene.querySelector(part);
      const whole = holds(".circuit") ? LEAST.deeds : holds(".placing") ? LEAST.rack : LEAST.page;
      const single = layout === "stacked" && place.matches(".ended") ? LEAST.over : whole;
      const pair = boards.querySelector(".spot") ? LEAST.pair : LEAST.page * (place.matches(".ended") ? 1 : boards.children.length);
      const least = FRAMED ? LEAST.board : several ? pair : single;
      /** @type {NodeListOf<SVGSVGElement>} */
      const drawn = boards.querySelectorAll(".grid > svg");
      const alone = layout !== "stacked" && drawn.length === 1;
      // The players' rows and the words are as wide as a single board. In a narrower column words may take more lines.
      let height = needed();
      for (let looks = 0; looks < 3; looks += 1) {
        fit(boards, Math.round(Math.max(innerHeight - top - height - GAP, least) * settings.size / 100), scene);
        if (!alone) break;
        const { width, height: high } = drawn[0].viewBox.baseVal;
        place.parentElement?.style.setProperty("--column", `${Math.max(FRAMED ? LEAST.board : LEAST.page, Math.ceil(drawn[0].getBoundingClientRect().height * width / high))}px`);
        const now = needed();
        if (now <= height) break;
        height = now;
      }
    }
    if (layout === "stacked") list.node.style.removeProperty("max-height");
    else list.node.style.maxHeight = `${Math.max(LEAST.list, innerHeight - list.node.getBoundingClientRect().top - scrollY - GAP * 2)}px`;
    list.reveal();
  }

  /** Show nothing of the match any more, as another one is shown. */
  clear() {
    this.scene.replaceChildren();
    this.seats.clear();
    this.list.clear();
    this.outcome.textContent = "";
  }
}
