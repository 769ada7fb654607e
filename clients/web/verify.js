// Checks the chance of a finished match in this browser. The seed must be the one that the server committed
// to before the match, and every roll or deal must follow from it. The recipe is in docs/chance.md. This page
// knows no rules: the server sends the possible outcomes of each roll.

import { html, words } from "./dom.js";
import { hmac, sha256 } from "./sha256.js";
import { api, match, name } from "./state.js";

const SHARED = "pairing"; // the stream that mixes no nonces in
const VERSION = 1;
const SEED_BYTES = 32;
const NEAR = 1e-9;
const MOST = 20; // problems that are listed

/**
 * @typedef {{counter: number, ply: number, text: string, u: number, drawn: string}} Roll
 * @typedef {{told: string, ok: boolean}} Check
 * @typedef {{checks: Check[], rolls: Roll[], ok: boolean}} Report
 */

/** @param {string} text */
const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
/** @param {ArrayBufferLike} buffer */
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * The outcome that u in [0, 1) falls on: probabilities are added up from the left.
 * @param {number} u
 * @param {Answers.Possible[]} outcomes
 */
export function select(u, outcomes) {
  let total = 0;
  let last = "";
  for (const { text, probability } of outcomes) {
    if (probability > 0) {
      last = text;
      total += probability;
      if (u < total) return text;
    }
  }
  return last;
}

/** The browser's own, where it lets pages have it: see sha256.js. */
const subtle = () => globalThis.crypto?.subtle;

/** @param {Uint8Array<ArrayBuffer>} data */
const hashed = async (data) => (subtle() ? subtle().digest("SHA-256", data) : sha256(data).buffer);

/** The numbers in [0, 1) of one stream. */
class Stream {
  /** @param {Uint8Array<ArrayBuffer>} seed @param {Answers.RecordChance} chance */
  constructor(seed, { stream, nonces }) {
    this.seed = seed;
    this.key = subtle()?.importKey("raw", seed, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    this.prefix = `plyhouse-chance-${VERSION}|${stream}|${stream === SHARED ? "" : nonces.join(",")}|`;
  }

  /** @param {number} counter */
  async uniform(counter) {
    const text = new TextEncoder().encode(`${this.prefix}${counter}`);
    const signed = this.key ? await subtle().sign("HMAC", await this.key, text) : hmac(this.seed, text).buffer;
    const digest = new DataView(signed);
    return Number(digest.getBigUint64(0) >> 11n) / 2 ** 53;
  }
}

/**
 * Check a record against what was possible at each roll.
 * @param {Answers.Record} record
 * @param {Answers.Chances} chances
 * @param {string} told the commitment that this page received while the match ran; empty if it did not watch
 * @returns {Promise<Report>}
 */
export async function verify(record, { tables, nodes, counters }, told = "") {
  const { chance, events } = record;
  /** @type {Check[]} */
  const checks = [];
  /** @type {(ok: boolean, good: string, bad: string) => void} */
  const check = (ok, good, bad) => { checks.push({ ok, told: ok ? good : bad }); };
  /** @type {Roll[]} */
  const rolls = [];
  const over = () => ({ checks, rolls, ok: checks.every(({ ok }) => ok) });

  if (chance.version !== VERSION) {
    check(false, "", `The record has version ${chance.version} of the recipe, which this page does not know.`);
    return over();
  }
  if (!chance.seed || !/^([0-9a-f]{2})+$/.test(chance.seed)) {
    check(false, "", "The record has no seed that can be read.");
    return over();
  }
  const seed = bytes(chance.seed);
  check(hex(await hashed(seed)) === chance.commitment && seed.length >= SEED_BYTES,
    "The seed is the one that was committed to before the match: its SHA-256 is the commitment.",
    "The seed is not the one that was committed to: its SHA-256 is not the commitment.");
  if (told) {
    check(told === chance.commitment, "The commitment is what this page was told while the match ran.",
      "The commitment is not what this page was told while the match ran.");
  }
  check(chance.stream === SHARED || chance.stream === `match:${record.match}`,
    chance.stream === SHARED ? "The rolls are shared with the other matches of the pairing." : "The rolls are those of this match alone.",
    `The rolls are named after something else: ${chance.stream}.`);
  const said = chance.nonces.map(() => "");
  for (const event of events) if (event.kind === "ready") said[event.seat] = event.text ?? "";
  check(said.join() === chance.nonces.join(), "What the seats mixed in is what they sent with ready.",
    "What is mixed in is not what the seats sent with ready.");

  const drawn = events.filter((event) => event.kind === "chance");
  check(drawn.length === nodes.length, `Chance acted ${drawn.length} times.`,
    `Chance acted ${drawn.length} times by the record, but ${nodes.length} times by the rules.`);
  check(tables.every((table) => Math.abs(table.reduce((sum, { probability }) => sum + probability, 0) - 1) < NEAR),
    "At each roll the probabilities of what could come add up to 1.", "At some roll the probabilities do not add up to 1.");
  const stream = new Stream(seed, chance);
  for (const [place, { ply, text = "" }] of drawn.slice(0, nodes.length).entries()) {
    const counter = counters[place];
    const u = await stream.uniform(counter);
    rolls.push({ counter, ply, text, u, drawn: select(u, tables[nodes[place]] ?? []) });
  }
  const wrong = rolls.filter((roll) => roll.text !== roll.drawn);
  check(!wrong.length, `All ${rolls.length} are what the seed gives.`,
    `${wrong.length} of ${rolls.length} are not what the seed gives:`);
  for (const { counter, ply, text, drawn: should } of wrong.slice(0, MOST)) {
    check(false, "", `Number ${counter}, before ply ${ply + 1}, is ${text}: the seed gives ${should}.`);
  }
  return over();
}

/** The part of the page that can be opened: it checks when it is. */
export function dice() {
  const body = html("div", { role: "status" });
  const node = /** @type {HTMLDetailsElement} */ (html("details", { id: "dice", class: "ledger dice", hidden: true }, html("summary", {}, "Was chance fair? Check it here"), body));
  let checked = "";

  async function check() {
    if (!node.open || match.status !== "finished" || checked === match.id) return;
    checked = match.id;
    body.replaceChildren("Working it out.");
    try {
      const [record, chances] = await Promise.all(["record", "chances"].map(async (part) => {
        const response = await fetch(`${api()}/${part}`);
        const found = await response.json();
        if (!response.ok) throw new Error(found.detail);
        return found;
      }));
      show(await verify(record, chances, match.commitment), record);
    } catch (error) {
      checked = "";
      body.replaceChildren(html("p", { class: "soft" }, `It cannot be checked now. ${words(error)}`));
    }
  }

  /** @param {Report} report @param {Answers.Record} record */
  function show({ checks, rolls, ok }, record) {
    const gave = record.chance.nonces.flatMap((nonce, seat) => (nonce ? [name(seat)] : []));
    body.replaceChildren(
      html("p", { class: ok ? "fair" : "unfair" }, ok ? "This browser has worked it out again: chance did what the seed gives." : "This record does not hold."),
      html("ul", {}, checks.map((each) => html("li", { class: each.ok ? "fair" : "unfair" }, `${each.ok ? "\u2713" : "\u2717"} ${each.told}`))),
      gave.length && record.chance.stream !== SHARED ? html("p", { class: "soft" }, `Mixed in by ${gave.join(" and ")}, so that a server cannot choose a seed that pleases it.`) : "",
      table(rolls),
      html("p", { class: "soft" }, "This page knows no rules: what could come at each roll, and how likely, the server has told it. ", command()));
  }

  node.addEventListener("toggle", check);
  /** Shows it where chance has acted in a match that is over. */
  const fill = () => {
    node.hidden = match.status !== "finished" || !match.events.some((event) => event.seat < 0);
    check();
  };
  return { node, fill };
}

function command() {
  return html("span", {}, html("code", {}, "plyhouse verify"), " plays the rules again as well: where chance acts and what can come there, every action, every clock, and the result. ",
    html("code", {}, `plyhouse record ${match.id} --server ${location.origin}`), " fetches the record for it.");
}

/** @param {Roll[]} rolls */
function table(rolls) {
  const heads = ["number", "before ply", "came", "u", "the seed gives"];
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What chance did" },
    html("table", {}, html("thead", {}, html("tr", {}, heads.map((head) => html("th", { scope: "col" }, head)))),
      html("tbody", {}, rolls.map(({ counter, ply, text, u, drawn }) => html("tr", { class: text === drawn ? null : "unfair" },
        [counter, ply + 1, text, u.toFixed(6), drawn].map((cell) => html("td", {}, cell)))))));
}
