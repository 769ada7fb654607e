// "Explain this position": the search tree of the position that is shown, as a list that can be
// opened and as a drawing. The server computes it in a separate program.

import { html, svg, words } from "./dom.js";
import { NodeBoard } from "./node_board.js";
import { withHolders } from "./speak.js";
import { api, last, match, name, place } from "./state.js";
import { chance, unbroken, valueText } from "./values.js";

/** @type {{[search: string]: string}} */
const NAMES = {
  alpha_beta: "alpha-beta", expectiminimax: "expectiminimax", team_search: "team search", maxn: "max^n",
  minimax: "minimax", star1: "star1", paranoid: "paranoid", expectimax: "expectimax, others at random",
};
/** @type {{[kind: string]: string}} */
const SHAPES = {
  max: "M8 2 15 14H1z", min: "M8 14 1 2h14z", chance: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z",
  model: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z", seat: "M4 3h8a5 5 0 0 1 0 10H4A5 5 0 0 1 4 3z",
};
const SQUARE = "M2.5 2.5h11v11h-11z"; // the end of the game, and estimates

/**
 * @typedef {object} Node one position of the tree
 * @property {string} kind max, min, seat, chance, model, terminal or estimate
 * @property {number} mover
 * @property {string} [action] what led to it
 * @property {string} [label] the same as people write it, if that differs
 * @property {number} [probability]
 * @property {number | null} [value] for the seat that searches
 * @property {string} [bound] whether the value is one: empty, "\u2264" or "\u2265"
 * @property {number[]} [values] for each seat, in max^n
 * @property {number | null} [alpha] null where it is infinite; absent where the search has none
 * @property {number | null} [beta]
 * @property {string} position in the game's own words
 * @property {number} [best] index of the child that is chosen
 * @property {string[]} [pruned] what was not looked at
 * @property {number} [left_out] how many actions were left out, as they are too many
 * @property {Node[]} [children]
 *
 * @typedef {object} Tree
 * @property {string} search
 * @property {string[]} searches
 * @property {number | null} depth
 * @property {boolean} complete
 * @property {boolean} larger
 * @property {boolean} [wins] whether values are chances of winning, from -1 to 1
 * @property {string} [unit] of values: `%`, or that of returns
 * @property {boolean} estimated
 * @property {number} seat
 * @property {string[]} seats
 * @property {number} nodes
 * @property {string | null} best
 * @property {string} played
 * @property {{best_action: string, best: number, played: number, certainty: string} | null} judged by a search that looks further
 * @property {string} title
 * @property {Node} root
 *
 * @typedef {{at: number, there: boolean, why: string}} Shown the position, whether it can be explained, and why not
 */

/** A number as people write it. @param {number} value */
export function number(value) {
  if (Math.abs(value) < 0.00005) return "0";
  return String(Number(value.toFixed(Math.abs(value) >= 0.1 ? 3 : 4))).replace("-", "\u2212");
}

/**
 * A value of a tree as people read it: a chance of winning, to which a draw adds a half, where it is one.
 * @param {number} value
 * @param {Pick<Tree, "wins">} tree
 */
export function shown(value, { wins }) {
  return wins ? chance(value) : number(value);
}

/** A probability as a fraction where it is one of small numbers. @param {number} value */
export function share(value) {
  for (let below = 1; below <= 100; below += 1) {
    const above = Math.round(value * below);
    if (Math.abs(value - above / below) < 1e-12) return below > 1 ? `${above}/${below}` : String(above);
  }
  return value.toPrecision(3);
}

/**
 * The value of a node: `60 %`, `≤ 0.1`, or one for each seat.
 * @param {Node} node
 * @param {Tree} tree
 */
export function worth(node, tree) {
  if (node.values) return `(${node.values.map((value) => shown(value, tree)).join(", ")})`;
  return `${node.bound ? `${node.bound} ` : ""}${shown(node.value ?? 0, tree)}`;
}

/**
 * Returns a sentence about a node for its reader.
 * @param {Node} node
 * @param {Tree} tree
 */
export function inWords(node, tree) {
  const who = tree.seats[node.mover] ?? "";
  /** @type {{[kind: string]: string}} */
  const kinds = {
    max: `${who} chooses the greatest value`,
    min: `${who} chooses the least value`,
    seat: `${who} chooses what is best for itself`,
    chance: "Chance decides: the mean of what can come",
    model: `${who} is taken for chance: the mean of what it may do`,
    terminal: "The game is over here",
    estimate: tree.estimated ? "The depth ends here: an estimate of the game" : "The depth ends here, and the game has no estimate: counted as 0",
  };
  const parts = [`${kinds[node.kind] ?? node.kind}: ${worth(node, tree)}.`];
  const { alpha, beta } = node;
  const sure = node.children?.length ? [
    ...(typeof alpha === "number" ? [`${tree.seats[tree.seat]} is sure of \u2265 ${shown(alpha, tree)}`] : []),
    ...(typeof beta === "number" ? [`the other side of \u2264 ${shown(beta, tree)}`] : []),
  ] : [];
  if (sure.length) parts.push(`From elsewhere in the tree, ${sure.join(", ")}.`);
  if (node.pruned?.length) parts.push(`Not looked at, as it cannot change anything: ${node.pruned.join(", ")}.`);
  if (node.left_out) parts.push(`Left out, as there are so many: ${node.left_out} more.`);
  return parts.join(" ");
}

/**
 * The action played beside the best one, in words; empty if nothing is known of it.
 * @param {Tree} tree
 */
export function verdict(tree) {
  /** @param {string} text */
  const called = (text) => tree.root.children?.find((child) => child.action === text)?.label ?? text;
  const { judged, unit = "%" } = tree;
  const played = called(tree.played);
  if (!judged) return played ? `Played was ${played}.` : "";
  const { best, certainty } = judged;
  const action = called(judged.best_action);
  const lost = best - judged.played > 0.005;
  return lost
    ? `Played was ${played}, worth ${valueText(judged.played, unit)}; ${action} is worth ${valueText(best, unit)} (${certainty}).`
    : `Played was ${played}, worth ${valueText(judged.played, unit)}: nothing is better (${certainty}).`;
}

/**
 * The position that is shown: whether it can be explained, and why not where people would expect it.
 * @returns {Shown}
 */
function explainable() {
  const { trees, noTrees, counts } = place.dataset;
  const running = match.status !== "finished";
  const waits = running && counts !== undefined && trees !== undefined && match.seat === null;
  const why = noTrees ?? (waits ? "This match counts: its positions can be explained once it is over." : "");
  const over = match.at === last() && match.outcome?.termination === "normal";
  return { at: match.at, there: trees !== undefined && !why && !over && !(running && match.seat !== null), why };
}

/** @param {string} kind */
const shape = (kind) => svg("svg", { viewBox: "0 0 16 16", class: `shape ${kind}`, "aria-hidden": "true" }, svg("path", { d: SHAPES[kind] ?? SQUARE }));

/** The tree as a list: arrow keys as in every tree, Enter goes on from a leaf. */
class List {
  /**
   * @param {Tree} tree
   * @param {(node: Node) => void} look at what is chosen
   * @param {(node: Node) => void} deeper from a leaf
   */
  constructor(tree, look, deeper) {
    this.tree = tree;
    this.look = look;
    this.deeper = deeper;
    /** @type {Map<Element, {node: Node, path: string[]}>} */
    this.known = new Map();
    this.node = html("ul", { role: "tree", "aria-label": "Search tree" });
    this.node.append(this.item(tree.root, [], true, 0));
    this.node.addEventListener("click", (event) => this.clicked(event));
    this.node.addEventListener("dblclick", (event) => this.enter(this.of(event)));
    this.node.addEventListener("keydown", (event) => this.pressed(event));
    this.chosen = /** @type {HTMLElement} */ (this.node.firstElementChild);
  }

  /**
   * @param {Node} node
   * @param {string[]} path that leads to it
   * @param {boolean} principal whether it is on the best line
   * @param {number} level
   * @returns {HTMLElement}
   */
  item(node, path, principal, level) {
    const best = node.best === undefined ? null : node.children?.[node.best];
    const marks = [
      level === 1 && node.action === this.tree.played ? html("span", { class: "mark" }, "played") : null,
      level && principal ? html("span", { class: "mark best" }, "best") : null,
      node.pruned?.length ? html("span", { class: "soft" }, `${node.pruned.length} cut`) : null,
      node.left_out ? html("span", { class: "soft" }, `${node.left_out} left out`) : null,
    ];
    const row = html("span", { class: "row" }, shape(node.kind), html("b", {}, node.label ?? node.action ?? "This position"),
      node.label ? html("code", { class: "soft", title: "As bots write it" }, node.action) : null,
      node.probability === undefined ? null : html("span", { class: "soft" }, share(node.probability)),
      html("span", { class: "value" }, worth(node, this.tree)), marks);
    const item = html("li", { role: "treeitem", tabindex: -1, "aria-selected": "false" }, row);
    this.known.set(item, { node, path });
    if (node.children?.length) {
      const open = level === 0 || principal;
      item.setAttribute("aria-expanded", String(open));
      item.append(html("ul", { role: "group", hidden: !open },
        node.children.map((child) => this.item(child, [...path, child.action ?? ""], principal && child === best, level + 1))));
    }
    return item;
  }

  /** @param {Event} event */
  of(event) {
    return /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[role=treeitem]"));
  }

  /** @param {Event} event */
  clicked(event) {
    const item = this.of(event);
    if (!item) return;
    if (item === this.chosen || /** @type {Element} */ (event.target).closest(".shape")) this.toggle(item);
    this.choose(item);
  }

  /** @param {HTMLElement} item @param {boolean} [open] */
  toggle(item, open = item.getAttribute("aria-expanded") === "false") {
    if (!item.hasAttribute("aria-expanded")) return;
    item.setAttribute("aria-expanded", String(open));
    /** @type {HTMLElement} */ (item.lastElementChild).hidden = !open;
  }

  /** @param {HTMLElement} item */
  choose(item, focus = true) {
    this.chosen.tabIndex = -1;
    this.chosen.setAttribute("aria-selected", "false");
    this.chosen = item;
    item.tabIndex = 0;
    item.setAttribute("aria-selected", "true");
    if (focus) item.focus();
    const { node } = /** @type {{node: Node}} */ (this.known.get(item));
    this.look(node);
  }

  /** @param {HTMLElement | null} item */
  enter(item) {
    const known = item && this.known.get(item);
    if (!known) return;
    if (known.node.kind === "estimate") this.deeper(known.node);
    else this.toggle(item);
  }

  /** The actions that lead to the chosen position. */
  path() {
    return this.known.get(this.chosen)?.path ?? [];
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const shown = /** @type {HTMLElement[]} */ ([...this.node.querySelectorAll("[role=treeitem]")]).filter((each) => !each.closest("[hidden]"));
    const at = shown.indexOf(this.chosen);
    const open = this.chosen.getAttribute("aria-expanded");
    const above = /** @type {HTMLElement | null} */ (this.chosen.parentElement?.closest("[role=treeitem]"));
    /** @type {{[key: string]: () => unknown}} */
    const keys = {
      ArrowDown: () => this.choose(shown[Math.min(at + 1, shown.length - 1)]),
      ArrowUp: () => this.choose(shown[Math.max(at - 1, 0)]),
      Home: () => this.choose(shown[0]),
      End: () => this.choose(shown[shown.length - 1]),
      ArrowRight: () => (open === "false" ? this.toggle(this.chosen, true) : open && this.choose(shown[at + 1])),
      ArrowLeft: () => (open === "true" ? this.toggle(this.chosen, false) : above && this.choose(above)),
      Enter: () => this.enter(this.chosen),
      " ": () => this.toggle(this.chosen),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation(); // they lead through the match elsewhere on the page
    act();
  }
}

/**
 * Scroll a drawing that is larger than its place to its root. The root is at the middle of the left side in a
 * drawing that is taller than wide, and of the top in others. A drawing that is a little too wide is made to fit.
 * @param {HTMLElement} region
 * @param {HTMLImageElement} image
 */
function toRoot(region, image) {
  const { naturalHeight: high, naturalWidth: wide } = image;
  image.classList.toggle("fit", wide <= region.clientWidth * 1.25);
  if (high > wide && high / 2 > region.clientHeight * 0.9) region.scrollTop = (high - region.clientHeight) / 2;
  if (high <= wide && wide / 2 > region.clientWidth * 0.9) region.scrollLeft = (wide - region.clientWidth) / 2;
}

/** The part of the page; hidden where nothing can be explained. */
export class Explain {
  constructor() {
    this.shown = "";
    this.at = -1;
    this.asked = { depth: 0, search: "", then: /** @type {string[]} */ ([]) };
    this.requests = 0;
    this.button = html("button", { type: "button" }, "Explain this position");
    this.button.addEventListener("click", () => this.ask({ then: [] }));
    this.said = html("p", { class: "soft", role: "status", hidden: true });
    this.body = html("div", {});
    this.node = html("section", { id: "explain", class: "explain", "aria-label": "Explain this position", hidden: true }, this.button, this.said, this.body);
  }

  /** Forget the explanation if another position is shown. */
  mark() {
    const { at, there, why } = explainable();
    const shown = `${match.id} ${at} ${there} ${why}`;
    if (shown === this.shown) return;
    this.shown = shown;
    this.at = at;
    this.requests += 1; // what is under way comes too late
    this.node.hidden = !there && !why;
    this.button.hidden = !there;
    this.body.replaceChildren();
    this.tell(why);
  }

  /** @param {string} text */
  tell(text) {
    this.said.hidden = !text;
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  query() {
    const { depth, search, then } = this.asked;
    const found = new URLSearchParams({ ply: String(this.at) });
    if (depth) found.set("depth", String(depth));
    if (search) found.set("search", search);
    for (const action of then) found.append("then", action);
    return found;
  }

  /** @param {Partial<{depth: number, search: string, then: string[]}>} change of what is asked for */
  async ask(change) {
    const before = this.asked;
    this.asked = { ...before, ...change };
    this.requests += 1;
    const mine = this.requests;
    this.tell("The tree is being worked out.");
    try {
      const response = await fetch(`${api()}/tree?${this.query()}`);
      const found = await response.json();
      if (mine !== this.requests) return;
      if (response.ok) {
        this.tell("");
        this.show(found);
        return;
      }
      this.tell(found.detail ?? "The position could not be explained.");
    } catch (error) {
      if (mine !== this.requests) return;
      this.tell(`The server did not answer. ${words(error)}`);
    }
    this.asked = before;
  }

  /** @param {Tree} found */
  show(found) {
    this.button.hidden = true;
    const holders = match.seats.map((_, seat) => name(seat));
    const tree = { ...found, seats: found.seats.map((each) => withHolders(each, holders, [])), title: unbroken(withHolders(found.title, holders, [])) };
    const { then } = this.asked;
    const about = html("p", { class: "said", "aria-live": "polite" });
    const position = html("pre", { tabindex: "0" });
    const board = new NodeBoard(position);
    const list = new List(tree, (node) => {
      about.textContent = inWords(node, tree);
      position.textContent = withHolders(node.position, holders, []);
      position.classList.toggle("line", !node.position.includes("\n")); // no board: it may be broken
      board.show(this.at, [...then, ...list.path()]);
      on.disabled = node === tree.root || node.kind === "terminal";
    }, () => this.ask({ then: [...then, ...list.path()] }));
    const on = this.press("Go on from the chosen one", () => this.ask({ then: [...then, ...list.path()] }), true);
    const search = html("select", { "aria-label": "Search" }, tree.searches.map((each) => html("option", { value: each, selected: each === tree.search }, NAMES[each] ?? each.replaceAll("_", " "))));
    search.addEventListener("change", () => this.ask({ search: search.value }));
    const depth = tree.depth ?? 0;
    const steps = html("div", { class: "choices", role: "group", "aria-label": "Tree" }, search,
      this.press("Shallower", () => this.ask({ depth: depth - 1 }), depth < 2),
      this.press("Deeper", () => this.ask({ depth: depth + 1 }), tree.complete || tree.larger || depth >= 12), on,
      then.length ? this.press("Back to the match", () => this.ask({ then: [] })) : null);
    const image = html("img", { src: `${api()}/tree.svg?${this.query()}`, alt: `Drawing of the tree: ${tree.title}. The list has the same.` });
    const drawing = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Drawing of the tree" }, image);
    image.addEventListener("load", () => toRoot(drawing, image));
    const end = tree.complete ? "Every line goes to the end of the game." : tree.larger ? "Deeper, the tree would be too large to look at: go on from one of its positions." : "";
    this.body.replaceChildren(...[
      html("h2", {}, then.length ? `After ${then.join(" ")}` : "What a search sees here"),
      verdict(tree) ? html("p", {}, verdict(tree)) : null,
      html("p", { class: "soft" }, `${tree.title}. ${tree.wins ? `Percentages are chances that ${tree.seats[tree.seat]} wins; a draw counts half. ` : tree.unit ? `Values are ${tree.unit} for ${tree.seats[tree.seat]}. ` : ""}${end}`), steps,
      html("div", { class: "both" }, list.node, html("div", { class: "about" }, about, board.node, position)),
      html("details", { open: true }, html("summary", {}, "Drawing"),
        drawing,
        html("p", { class: "soft" }, html("a", { href: image.getAttribute("src"), target: "_blank", rel: "noopener" }, "The drawing alone"),
          ". Upright triangles choose the greatest value, inverted ones the least; circles are chance, squares ends, dashed ones estimates.")),
    ].filter((part) => part !== null));
    list.choose(list.chosen, false);
    if (document.activeElement === document.body || this.node.contains(document.activeElement)) list.chosen.focus({ preventScroll: true });
  }

  /** @param {string} text @param {() => unknown} act @param {boolean} [disabled] */
  press(text, act, disabled = false) {
    const button = /** @type {HTMLButtonElement} */ (html("button", { type: "button", disabled }, text));
    button.addEventListener("click", act);
    return button;
  }
}
