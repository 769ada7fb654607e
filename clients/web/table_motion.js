// Movement on a table: cards are dealt, played and turned over, chips go to the pot and to its winner, as a trick does.
// Elements are the same ones in both scenes if they are of one kind and have one label.

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The name of an element from one scene to the next. @param {Scenes.Element} element */
const nameOf = (element) => `${element.kind} ${"label" in element ? element.label : ""}`;

/** @typedef {{box: DOMRect, copy: HTMLElement | SVGElement}} Stood */

/**
 * Where the stacks of chips and the cards of the trick of a drawing are, before another drawing replaces it.
 * @param {Element | null} drawn
 * @returns {Map<string, Stood>}
 */
export function standing(drawn) {
  const found = new Map();
  for (const node of drawn?.querySelectorAll(".table-top :is(.chips, .trick-box > .hand)") ?? []) {
    const name = node.closest("[data-element]")?.getAttribute("data-element");
    if (!name || !node.getClientRects().length) continue;
    const copy = /** @type {HTMLElement | SVGElement} */ (node.cloneNode(true));
    copy.removeAttribute("data-element");
    found.set(name, { box: node.getBoundingClientRect(), copy });
  }
  return found;
}

/** By name. @type {(scene: Scenes.Scene, index?: number) => Map<string, Scenes.Element>} */
const named = (scene) => new Map((scene.elements ?? []).map((element) => [nameOf(element), element]));

/** @type {(node: Element, from: DOMRect, to: DOMRect, options: KeyframeAnimationOptions) => Animation} */
const slide = (node, from, to, options) => node.animate([
  { transform: `translate(${from.x + from.width / 2 - to.x - to.width / 2}px, ${from.y + from.height / 2 - to.y - to.height / 2}px)` },
  { transform: "none" },
], options);

/**
 * Let the chips and cards of a drawing come from where they were.
 * @param {HTMLElement} shown the new drawing, in the page
 * @param {Map<string, Stood>} stood
 * @param {Scenes.Scene} before the scene before
 * @param {Scenes.Scene} after
 * @param {number} duration milliseconds, 0 for no movement
 */
export function moveTable(shown, stood, before, after, duration) {
  const table = shown.querySelector(".table-top");
  if (!table || !duration || still.matches || document.hidden) return;
  const old = named(before);
  const centre = (table.querySelector(".middle") ?? table).getBoundingClientRect();
  const options = { duration: Math.min(600, duration * 1.6), easing: "cubic-bezier(.3, .1, .2, 1)" };
  const pot = (after.elements ?? []).find((element) => element.kind === "counter" && element.look === "chips" && element.label === "Pot");
  takeTrick(table, stood, before, after, options);
  const nodeOf = (/** @type {Scenes.Element} */ element) => table.querySelector(`[data-element="${CSS.escape(nameOf(element))}"]`);
  for (const element of after.elements ?? []) {
    const was = old.get(nameOf(element));
    const node = nodeOf(element);
    if (node && inTrick(element)) play(table, node, was, element, options);
    else if (!was || !node) continue;
    else if (element.kind === "counter" && was.kind === "counter" && element.look === "chips") {
      const chips = node.querySelector(".chips");
      const from = stood.get(nameOf(element));
      if (!chips || !from) continue;
      if (element.seat !== was.seat) slide(chips, from.box, chips.getBoundingClientRect(), { ...options, duration: 600 });
      else if (element.value > was.value && element.seat !== null) { // from the player's hand
        const hand = node.closest(".place")?.querySelector(".held");
        if (hand) slide(chips, hand.getBoundingClientRect(), chips.getBoundingClientRect(), options);
      } else if (element.value < was.value && pot) collect(table, from, nodeOf(pot)?.querySelector(".chips"), options);
    } else if (element.kind === "hand" && was.kind === "hand") {
      cards(node, was.cards ?? [], element.cards ?? [], centre, options);
    }
  }
}

/** Chips go to the pot. @type {(table: Element, from: Stood, pot: Element | null | undefined, options: KeyframeAnimationOptions) => void} */
function collect(table, from, pot, options) {
  if (pot) carry(table, from, pot.getBoundingClientRect(), options);
}

/** Something that is gone travels to a place. @type {(table: Element, from: Stood, to: DOMRect, options: KeyframeAnimationOptions) => void} */
function carry(table, { box, copy }, to, options) {
  const host = table.getClientRects().length ? table : table.closest(".position") ?? table; // a page lays out the table with the seats
  const here = host.getBoundingClientRect();
  copy.classList.add("on-its-way");
  copy.style.left = `${box.x - here.x - host.clientLeft}px`;
  copy.style.top = `${box.y - here.y - host.clientTop}px`;
  table.append(copy);
  const [x, y] = [to.x + to.width / 2 - box.x - box.width / 2, to.y + to.height / 2 - box.y - box.height / 2];
  copy.animate([{ transform: "none" }, { transform: `translate(${x}px, ${y}px)` }], options)
    .finished.then(() => copy.remove(), () => copy.remove());
}

/** True if an element is a card of the trick. @type {(element: Scenes.Element | undefined) => element is Scenes.Hand} */
const inTrick = (element) => element?.kind === "hand" && element.look === "trick";

/** Where a seat sits: its name, or what lies before it. @type {(table: Element, side: string | undefined) => DOMRect | undefined} */
const seatBox = (table, side) => [table.closest(".position")?.querySelector(`.seats > [data-side="${side}"]`), table.querySelector(`.place[data-side="${side}"]`)]
  .find((node) => node)?.getBoundingClientRect();

/** A card that was played comes from its seat. @type {(table: Element, node: Element, was: Scenes.Element | undefined, now: Scenes.Hand, options: KeyframeAnimationOptions) => void} */
function play(table, node, was, now, options) {
  const cards = node.querySelector(".cards");
  const from = seatBox(table, /** @type {HTMLElement} */ (node).dataset.side);
  if (!cards || !from || (inTrick(was) && was.cards[0]?.text === now.cards[0]?.text)) return;
  slide(cards, from, cards.getBoundingClientRect(), options);
}

/** The cards of a whole trick go to its winner, whose card is marked, once they lie there no more. @type {(table: Element, stood: Map<string, Stood>, before: Scenes.Scene, after: Scenes.Scene, options: KeyframeAnimationOptions) => void} */
function takeTrick(table, stood, before, after, options) {
  const trick = (before.elements ?? []).filter(inTrick);
  const winner = trick.find(({ cards }) => cards.some(({ highlight }) => highlight));
  if (!winner || (after.elements ?? []).some((each) => inTrick(each) && each.label === winner.label && each.cards[0]?.text === winner.cards[0].text)) return;
  const to = seatBox(table, stood.get(nameOf(winner))?.copy.dataset.side);
  for (const element of trick) {
    const from = stood.get(nameOf(element));
    if (!from || !to) continue;
    from.copy.style.setProperty("--lie", `${from.box.height}px`);
    carry(table, from, to, options);
  }
}

/** Cards that have come are dealt from the middle, others are turned over. @type {(node: Element, was: Scenes.Card[], now: Scenes.Card[], centre: DOMRect, options: KeyframeAnimationOptions) => void} */
function cards(node, was, now, centre, options) {
  now.forEach((card, at) => {
    const drawn = node.querySelector(`[data-place$=",0,${at}"]`);
    if (!drawn) return;
    const before = was[at];
    if (before && before.text === card.text) return;
    if (before) drawn.animate([{ transform: "scaleX(0)" }, { transform: "none" }], { ...options, duration: 300 });
    else {
      const to = drawn.getBoundingClientRect();
      const down = Math.sign(centre.y + centre.height / 2 - to.y - to.height / 2) || -1;
      drawn.animate([{ transform: `translateY(${down * 40}px) rotate(${down * 12}deg)`, opacity: 0 }, { transform: "none", opacity: 1 }], { ...options, delay: at * 60, fill: "backwards" });
    }
  });
}
