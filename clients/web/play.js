// The way into a match: a game, somebody to play with, and how long to think.

import { Connection, endpoint } from "./connection.js";
import { offerChoices, withChoices } from "./choices.js";
import { byId as at, html, say, words } from "./dom.js";
import { invitation, invited, newInvitation } from "./invitation.js";
import { AS_MYSELF, call, enter, keepSettings, lastSettings, takeWish, whoAmI } from "./session.js";
import { go, showUnfinished, titleOf } from "./unfinished.js";

const form = at("play", HTMLFormElement);
/** A field of the form. @param {string} name */
const field = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
const waiting = at("waiting");
const SEEKS_EVERY = 3000;
const MOST_GAMES = 256; // of a hello
/** @typedef {import("./session.js").Terms} Terms */

/** @type {Connection | null} */
let connection = null;
/** The terms that are asked for now. @type {Terms | null} */
let wanted = null;
/** @type {Answers.Person | null} */
let person = null;

/** @type {(text: string, act: () => void, attributes?: import("./dom.js").Attributes) => HTMLElement} */
function button(text, act, attributes = {}) {
  const node = html("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", act);
  return node;
}

// ------------------------------------------------------------------- whom we have here

/** @param {Answers.Person} found */
function showPerson(found) {
  person = found;
  const link = html("a", { href: "/account" }, found.player ? "Account" : "Sign in");
  const text = found.player
    ? `You play as ${found.player}${found.guest ? ", a guest: nothing is rated, and when you leave you are forgotten" : ""}. `
    : found.guests ? "You need no account: you play as a guest. Or " : "To play, ";
  at("who").replaceChildren(text, link);
  at("rated", HTMLInputElement).disabled = found.guest || !found.player;
  showUnfinished(found.matches);
}

// ----------------------------------------------------------------------- asking for one

function leave() {
  connection?.close();
  connection = null;
  wanted = null;
  waiting.replaceChildren();
  delete waiting.dataset.asked;
}

function send() {
  if (!wanted) return;
  const { game, time_control, rated, opponent, others = [], seat: side = null, invitation: secret = "" } = wanted;
  const terms = { game, time_control, rated: Boolean(rated) };
  connection?.send(opponent ? { type: "challenge", opponent, others, ...terms, ...(side === null ? {} : { seat: side }) } : { type: "seek", ...terms, invitation: secret });
}

/** Waits until a submitted bot has started, which happens once a runner has room. @param {Terms} mine */
async function started(mine) {
  while (wanted === mine) {
    try {
      mine.opponent = (await call("POST", "hosted-bots", { opponent: mine.opponent, game: mine.game })).opponent;
      return;
    } catch (error) {
      if (/** @type {Failure} */ (error).code !== "hosted/busy") throw error;
      say(words(error)); // asked again at once: the place in the queue is kept
      await new Promise((resolve) => { setTimeout(resolve, 1000); });
    }
  }
}

/** Describe the awaited opponents in words. @param {Terms} terms */
function awaited({ game, level, opponent, others = [], players = 2, invitation: secret }) {
  if (secret) return `${invited()?.invitation === secret ? "the one who invited you" : "the one you invite"}, in ${titleOf(game)}`;
  if (players === 1) return titleOf(game);
  const many = players > 2 ? ` (${players - 1} of them)` : "";
  if (level) return `house/${level}${many} in ${titleOf(game)}`;
  return `${opponent ? [opponent, ...others].join(", ") : players > 2 ? `${players - 1} opponents` : "an opponent"} in ${titleOf(game)}`;
}

/** Ask for a match. @param {Terms} terms */
async function ask(terms) {
  leave();
  say("");
  /** @type {Terms} */
  const mine = wanted = { ...terms };
  waiting.replaceChildren(html("p", { class: "panel" }, `Waiting for ${awaited(terms)} … `, button("Stop waiting", leave)));
  if (terms.invitation && invited()?.invitation !== terms.invitation) waiting.append(invitation(terms));
  try {
    const found = await enter();
    if (wanted !== mine) return;
    showPerson(found);
    if (found.guest && found.matches.length) {
      leave();
      say("Guests play one match at a time: go on with the one you have, or resign it.");
      return;
    }
    if (terms.level) Object.assign(mine, await call("POST", "house-bots", { level: terms.level, count: (terms.players ?? 2) - 1 }));
    else if (terms.opponent?.includes("/") && !terms.others?.length) await started(mine);
  } catch (error) {
    if (wanted === mine) fail(/** @type {Failure} */ (error));
    return;
  }
  if (wanted !== mine) return;
  const games = [.../** @type {NodeListOf<HTMLOptionElement>} */ (document.querySelectorAll("#games option"))].map((option) => option.value);
  // The game that is asked for is among them.
  const accepted = [...new Set([mine.game, ...games])].slice(0, MOST_GAMES);
  connection = new Connection(endpoint(), onMessage, say, { ...AS_MYSELF, games: accepted });
}

/**
 * @typedef {{code: string, message: string}} Failure from the server, or an error of `call`
 * @param {Failure} failure
 */
function fail({ code, message }) {
  leave();
  if (code === "auth/required" || code === "auth/signed_out") {
    at("state").replaceChildren(`${message} `, html("a", { href: "/account" }, "Sign in"));
    return;
  }
  say(message);
  if (!at("more", HTMLDetailsElement).open) return;
  if (code.startsWith("game/")) field("game").focus();
  else if (code.startsWith("time_control/")) field("time").focus();
  else if (code.startsWith("challenge/") || code.startsWith("hosted/")) field("opponent").focus();
}

/** Somebody asks for a match. @param {Messages.Challenged} message */
function offer(message) {
  const answer = (/** @type {boolean} */ accept) => {
    connection?.send({ type: "answer", challenge: message.challenge, accept });
    note.remove();
  };
  const besides = message.others?.length ? ` with ${message.others.join(", ")}` : "";
  const text = `${message.opponent} asks you for ${message.game}${besides}, ${message.time_control}${message.rated ? ", rated" : ""}. `;
  const note = html("p", { class: "panel", "data-challenge": message.challenge }, text, button("Play", () => answer(true)), " ", button("Decline", () => answer(false)));
  waiting.append(note);
}

/** @param {import("./connection.js").Message} message */
function onMessage(message) {
  switch (message.type) {
    case "welcome":
      showUnfinished((message.matches ?? []).map(({ match, game, players, seat }) => ({
        match, game, opponents: players.filter((_, index) => index !== seat).map(({ player, bot }) => (bot ? `${player}/${bot}` : player)),
      })));
      send();
      break;
    case "ok":
      waiting.dataset.asked = "yes";
      // Only what the server took.
      if (wanted) keepSettings({ game: wanted.game.split("(")[0], time: wanted.time_control, level: wanted.level ?? "" });
      break;
    case "match":
      if (message.snapshot.seat !== null && message.snapshot.seat !== undefined) go(message.snapshot.match);
      break;
    case "challenged":
      offer(message);
      break;
    case "challenge_closed":
      document.querySelector(`[data-challenge="${CSS.escape(message.challenge)}"]`)?.remove();
      if (message.reason === "declined" || message.reason === "expired") {
        leave();
        say(`The challenge was ${message.reason === "expired" ? "not answered" : "declined"}. ${message.detail ?? ""}`.trim());
      }
      break;
    case "notice": // such as why nobody is found yet
      say(message.message);
      break;
    case "error":
      if (message.code === "auth/replaced") {
        leave();
        say("You play in another window now.");
      } else fail(message);
      break;
    default:
      break;
  }
}

// ------------------------------------------------------------------------- the choices

const presets = [.../** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("[name=preset]"))];

/** @type {(game: string, how?: {focus?: boolean}) => void} */
function choose(game, { focus = true } = {}) {
  const tile = document.querySelector(`[data-game="${CSS.escape(game)}"]`);
  if (!tile) return;
  for (const each of document.querySelectorAll(".tile")) each.removeAttribute("aria-current");
  tile.setAttribute("aria-current", "true");
  at("chosen").dataset.chosen = game;
  at("chosen-name").textContent = titleOf(game);
  const about = /** @type {HTMLElement | null} */ (document.querySelector(`[data-summary="${CSS.escape(game)}"]`));
  at("chosen-summary").textContent = about?.textContent ?? "";
  offerChoices(at("choices"), JSON.parse(about?.dataset.choices ?? "[]"));
  offerSeats(JSON.parse(about?.dataset.seats ?? "[]"));
  at("chosen-rules").setAttribute("href", `/games/${encodeURIComponent(game)}`);
  at("chosen").hidden = false;
  offerPlayers(JSON.parse(/** @type {HTMLElement} */ (tile).dataset.tables ?? "{}"));
  field("game").value = game;
  if (focus) {
    const last = lastSettings().level;
    const first = last && document.querySelector(`[data-level="${CSS.escape(last)}"]`);
    const ways = [first, document.querySelector("[data-level]"), at("seek"), at("begin")];
    /** @type {HTMLElement} */ (ways.find((way) => way && !way.closest("[hidden]"))).focus();
    at("chosen").scrollIntoView({ block: "nearest" });
    at("choose-name").textContent = "Choose another game";
  }
}

/**
 * How many play, where that can be chosen; the fewest at first.
 * @param {Record<string, string>} tables the spec of the game for each number
 */
function offerPlayers(tables) {
  const counts = Object.keys(tables).map(Number);
  const place = at("players");
  place.hidden = counts.length < 2;
  place.replaceChildren(/** @type {Element} */ (place.querySelector("legend")), ...counts.map((count, index) => {
    const choice = html("input", { type: "radio", name: "players", value: String(count) });
    if (!index) choice.setAttribute("checked", "");
    choice.addEventListener("change", () => seat(count, tables[count] ?? ""));
    return html("label", { class: "option" }, choice, ` ${count}`);
  }));
  const [fewest = 2] = counts;
  seat(fewest, tables[fewest] ?? at("chosen").dataset.chosen ?? "");
}

/**
 * So many play, and this is what is asked for then.
 * @param {number} players
 * @param {string} spec
 */
function seat(players, spec) {
  at("chosen").dataset.spec = spec;
  at("chosen").dataset.players = String(players);
  at("alone").hidden = players > 1;
  at("opponents").hidden = players === 1;
  const levels = document.getElementById("levels-said");
  if (levels) levels.hidden = players === 1;
  at("seek").textContent = players > 2 ? `Play ${players - 1} people` : "Play a person";
  const most = Number(at("opponents").dataset.most);
  for (const node of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-level]"))) {
    node.hidden = players > most;
    node.textContent = players > 2 ? `Play ${node.dataset.level} (${players - 1} bots)` : `Play ${node.dataset.level}`;
  }
}

/** The sides of a game for two, where they have names. @param {string[]} names */
function offerSeats(names) {
  const place = at("seat");
  place.hidden = !names.length;
  const sides = names.length ? [["", "any"], ...names.map((name, seat) => [String(seat), name])] : [];
  place.replaceChildren(/** @type {Element} */ (place.querySelector("legend")), ...sides.map(([value, name], index) =>
    html("label", { class: "option" }, html("input", { type: "radio", name: "seat", value, checked: !index }), ` ${name}`)));
}

/** The side that is wanted against a bot; against people the server draws it. */
function wantedSeat() {
  const value = /** @type {HTMLInputElement | null} */ (at("seat").querySelector("input:checked"))?.value;
  return value ? Number(value) : null;
}

const chosen = () => ({
  game: withChoices(at("chosen").dataset.spec ?? "", at("choices")),
  players: Number(at("chosen").dataset.players),
  time_control: presets.find((each) => each.checked)?.value ?? field("time").defaultValue,
  rated: false,
});

at("tiles").addEventListener("click", (event) => {
  const tile = /** @type {HTMLElement} */ (event.target).closest("[data-game]");
  if (!tile || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(/** @type {HTMLElement} */ (tile).dataset.game ?? "");
});
for (const node of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-level]"))) {
  node.addEventListener("click", () => ask({ ...chosen(), level: node.dataset.level ?? "", seat: wantedSeat() }));
}
at("invite").addEventListener("click", () => ask({ ...chosen(), invitation: newInvitation() }));
for (const name of ["seek", "begin"]) at(name).addEventListener("click", () => ask(chosen()));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask({
    game: field("game").value.trim(), time_control: field("time").value.trim(),
    rated: field("rated").checked && !field("rated").disabled, ...named(field("opponent").value),
  });
});

/** The opponents that were named, with commas between them. @param {string} text */
function named(text) {
  const [opponent = "", ...others] = text.split(",").map((name) => name.trim()).filter(Boolean);
  return { opponent, others };
}

// ------------------------------------------------------------------------ who seeks what

/** @param {Answers.Seek[]} seeks */
function showSeeks(seeks) {
  const others = seeks.filter((seek) => seek.player !== person?.player && !seek.mirrored && seek.seats > 1);
  const text = JSON.stringify(others);
  if (at("seeks").dataset.shown === text) return; // what has the focus stays
  at("seeks").dataset.shown = text;
  at("seeks").replaceChildren(...others.map((seek) => html("li", {},
    html("span", {}, html("b", {}, seek.player), ` seeks ${seek.game}, ${seek.time_control}, ${seek.rated ? "rated" : "casual"}${seek.seats > 2 ? `, ${seek.seats} players` : ""} `),
    seek.rated && (!person?.player || person.guest)
      ? html("span", { class: "soft" }, "with an account only")
      : button("Join", () => ask({ game: seek.game, time_control: seek.time_control, rated: seek.rated, players: seek.seats })))));
  if (!others.length) at("seeks").replaceChildren(html("li", { class: "soft" }, "Nobody does at the moment."));
}

async function lookForSeeks() {
  if (!document.hidden) {
    try { showSeeks(await call("GET", "seeks")); } catch { /* the next look may get through */ }
  }
  setTimeout(lookForSeeks, SEEKS_EVERY);
}

async function begin() {
  const last = lastSettings();
  const preset = presets.find((each) => each.value === last.time);
  if (preset) preset.checked = true;
  if (last.time) field("time").value = last.time;
  const search = new URLSearchParams(location.search);
  const asked = search.get("game");
  const against = search.get("opponent");
  const terms = invited();
  if (terms) {
    const accept = button("Play", () => ask(terms), { class: "main", id: "accept" });
    waiting.append(html("p", { class: "panel" }, `You are invited to ${titleOf(terms.game)}, ${presets.find((each) => each.value === terms.time_control)?.parentElement?.textContent?.trim() ?? terms.time_control}. `, accept));
    accept.focus();
  } else if (against) {
    at("more", HTMLDetailsElement).open = true;
    field("opponent").value = against;
    if (asked) field("game").value = asked;
    field("time").focus();
  } else if (asked) choose(asked);
  else if (last.game) choose(last.game, { focus: false });
  document.body.dataset.ready = "yes";
  try {
    showPerson(await whoAmI());
  } catch (error) {
    say(words(error));
  }
  lookForSeeks();
  const left = takeWish();
  if (left) ask(left);
}
begin();
