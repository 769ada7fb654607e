// Cards in a row, each a node of its own: where there is no room for all, each lies over the next.

import { html, svg } from "./dom.js";
import { SUITS, piece } from "./figures.js";
import { cardsInWords } from "./speak.js";

/** @typedef {import("./scene.js").Drawing} Drawing */

const ROW = 4; // pixels by which the middles of buttons in one row may differ

/** A spot on which nothing stands. @type {Scenes.Cell} */
export const NOTHING = { text: "", owner: null, shape: "", action: null, label: "", highlight: false, name: "", face: "" };

/** The drawing of a card. @type {(card: Scenes.Card) => SVGElement[]} */
function face(card) {
  if (card.text !== null && card.shape) {
    return [...piece({ ...NOTHING, text: card.text, shape: card.shape }, "", { x: 32, y: 38 }, 54), svg("text", { class: "card-name", x: 32, y: 74 }, card.text)];
  }
  if (card.text === null) return [svg("path", { class: "back-lines", d: "M10 10h44v68h-44zM10 44L32 10L54 44L32 78z" })];
  const suit = SUITS[card.suit ?? ""];
  if (suit) {
    /** @type {(size: number, left: number, top: number) => SVGElement} */
    const sign = (size, left, top) => svg("path", { class: `suit ${card.suit}`, d: suit, transform: `translate(${left} ${top}) scale(${size / 100})` });
    const rank = card.rank || card.text;
    const narrow = rank.length > 1 ? { textLength: 22, lengthAdjust: "spacingAndGlyphs" } : {};
    return [svg("text", { class: `rank ${card.suit}`, x: 15, y: 19, ...narrow }, rank), sign(17, 6.5, 32), sign(36, 22, 43)];
  }
  const { length } = card.text;
  return [svg("text", { class: "piece", x: 32, y: 45, "font-size": length > 1 ? Math.min(34, 92 / length) : 44, ...(length > 4 ? { textLength: 52, lengthAdjust: "spacingAndGlyphs" } : {}) }, card.text)];
}

/** A card as a picture. @param {Scenes.Card} card */
const picture = (card) => svg("svg", { viewBox: "0 0 64 88", class: "whole-card", "aria-hidden": "true" },
  svg("rect", { class: card.text === null ? "back" : "card", x: 2, y: 2, width: 60, height: 84, rx: 6 }), face(card),
  card.highlight ? svg("rect", { class: "counts", x: 2, y: 2, width: 60, height: 84, rx: 6 }) : null);

/** The middle of what is drawn. @param {Element} node */
export const middleOf = (node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2 };
};

/** The nearest button in a direction: in the same row, or straight above or below if there is one. @type {(here: HTMLElement, all: HTMLElement[], upright: boolean, step: number) => HTMLElement | undefined} */
function nearest(here, all, upright, step) {
  const [from, { height }] = [middleOf(here), here.getBoundingClientRect()];
  const found = all.map((node) => ({ node, to: middleOf(node) })).map(({ node, to }) => {
    const [x, y] = [Math.round(step * (to.x - from.x)), Math.round(step * (to.y - from.y))];
    return { node, away: upright ? y : x, aside: Math.abs(upright ? x : y) };
  });
  return found.filter(({ away, aside }) => away > ROW && (upright || aside < height / 2)).sort((one, other) => one.away - other.away || one.aside - other.aside)[0]?.node;
}

/** Arrow keys lead from one button of a group to the next one, or to the next row. @param {KeyboardEvent} event */
export function walk(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
  const group = /** @type {HTMLElement | null} */ (event.currentTarget);
  if (!step || !group) return;
  const all = /** @type {HTMLElement[]} */ ([...group.querySelectorAll("button:enabled, [role='button']")]);
  const here = /** @type {HTMLElement} */ (event.target);
  const upright = event.key === "ArrowUp" || event.key === "ArrowDown";
  const there = nearest(here, all, upright, step) ?? (upright ? null : all[(all.indexOf(here) + step + all.length) % all.length]);
  if (!there) return;
  there.focus();
  event.preventDefault();
  event.stopPropagation();
}

/** One card of a hand: a button if it can be chosen. @type {(card: Scenes.Card, place: string, by: Drawing, active: boolean) => HTMLElement} */
function slot(card, place, by, active) {
  const { action } = card;
  const chosen = card.highlight && active ? " picked" : "";
  if (!active || action === null || action === undefined) return html("span", { class: `slot${active ? " shut" : ""}${card.text === null ? " down" : ""}${chosen}`, "data-place": place }, picture(card));
  const said = by.words(card.label || card.text || action);
  const rank = card.rank ?? ""; // the name of a button has the text that is seen: "3 of clubs"
  const name = said.toLowerCase().includes(rank.toLowerCase()) ? said : said.replace(/^\S+/, rank);
  const node = html("button", { type: "button", class: `slot spot open start${chosen}`, tabindex: 0, "data-place": place, "data-spot": action, "aria-label": name, title: name }, picture(card));
  node.addEventListener("click", () => by.send(action));
  return node;
}

/** The cards of a hand, with gaps between suits where they lie in suits. @type {(element: Scenes.Hand, cards: Scenes.Card[], by: Drawing, index: number) => HTMLElement} */
export function drawCards(element, cards, by, index) {
  const active = Boolean(by.choose) && cards.some((card) => card.action !== null && card.action !== undefined);
  const row = html("div", { class: "cards", role: active ? "group" : "img", "aria-label": by.words(`${element.label}: ${cardsInWords({ ...element, cards })}`) });
  row.style.setProperty("--cards", String(cards.length));
  cards.forEach((card, at) => {
    const node = slot(card, `${index},0,${at}`, by, active);
    if (at && element.look === "suits" && card.suit !== cards[at - 1].suit) row.append(html("span", { class: "gap" }));
    row.append(node);
  });
  if (active) row.addEventListener("keydown", walk);
  return row;
}
