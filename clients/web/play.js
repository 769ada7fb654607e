// The way into a match: a game, somebody to play with, and how long to think.

import { Connection, endpoint } from "./connection.js";
import { byId as at, html, say, words } from "./dom.js";
import { AS_MYSELF, call, enter, keepSettings, lastSettings, takeWish, whoAmI } from "./session.js";

const form = at("play", HTMLFormElement);
/** A field of the form. @param {string} name */
const field = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
const waiting = at("waiting");
const SEEKS_EVERY = 3000;
let connection = null;
let wanted = null; // the terms that are asked for now
let person = null;

const go = (match) => location.assign(`/matches/${encodeURIComponent(match)}`);
const title = (game) => document.querySelector(`[data-game="${CSS.escape(game)}"] b`)?.textContent ?? game;

function button(text, act, attributes = {}) {
  const node = html("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", act);
  return node;
}

// ------------------------------------------------------------------- whom we have here

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

/** What is not over is offered, never forced. */
function showUnfinished(matches) {
  const place = at("unfinished");
  place.hidden = !matches.length;
  place.replaceChildren(...matches.map((match) => html("p", { class: "panel", "data-match": match.match },
    `You have an unfinished match: ${title(match.game)} against ${match.opponents.join(", ")}. `,
    button("Go on with it", () => go(match.match), { class: "main" }))));
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
  const { game, time_control, rated, opponent } = wanted;
  const terms = { game, time_control, rated: Boolean(rated) };
  connection.send(opponent ? { type: "challenge", opponent, ...terms } : { type: "seek", ...terms });
}

/** Ask for a match: `{ game, time_control, rated, opponent, level }`. */
async function ask(terms) {
  leave();
  say("");
  const mine = wanted = { ...terms };
  const who = terms.level ? `house/${terms.level}` : terms.opponent || "an opponent";
  waiting.replaceChildren(html("p", { class: "panel" }, `Waiting for ${who} in ${title(terms.game)} … `, button("Stop waiting", leave)));
  try {
    const found = await enter();
    if (wanted !== mine) return;
    showPerson(found);
    if (found.guest && found.matches.length) {
      leave();
      say("Guests play one match at a time: go on with the one you have, or resign it.");
      return;
    }
    if (terms.level) mine.opponent = (await call("POST", "house-bots", { level: terms.level })).opponent;
  } catch (error) {
    if (wanted === mine) fail(/** @type {Failure} */ (error));
    return;
  }
  if (wanted !== mine) return;
  const games = [.../** @type {NodeListOf<HTMLOptionElement>} */ (document.querySelectorAll("#games option"))].map((option) => option.value);
  // Only as many games as a hello takes; the one that is asked for is among them.
  const accepted = [...new Set([mine.game, ...games])].slice(0, 256);
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
  else if (code.startsWith("challenge/")) field("opponent").focus();
}

/** Somebody asks for a match. */
function offer(message) {
  const answer = (accept) => {
    connection.send({ type: "answer", challenge: message.challenge, accept });
    note.remove();
  };
  const text = `${message.opponent} asks you for ${message.game}, ${message.time_control}${message.rated ? ", rated" : ""}. `;
  const note = html("p", { class: "panel", "data-challenge": message.challenge }, text, button("Play", () => answer(true)), " ", button("Decline", () => answer(false)));
  waiting.append(note);
}

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
      if (wanted) keepSettings({ game: wanted.game, time: wanted.time_control, level: wanted.level ?? "" });
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

function choose(game, { focus = true } = {}) {
  const tile = document.querySelector(`[data-game="${CSS.escape(game)}"]`);
  if (!tile) return;
  for (const each of document.querySelectorAll(".tile")) each.removeAttribute("aria-current");
  tile.setAttribute("aria-current", "true");
  at("chosen").dataset.chosen = game;
  at("chosen-name").textContent = title(game);
  at("chosen-summary").textContent = document.querySelector(`[data-summary="${CSS.escape(game)}"]`)?.textContent ?? "";
  at("chosen").hidden = false;
  field("game").value = game;
  if (focus) {
    const last = lastSettings().level;
    const first = last && document.querySelector(`[data-level="${CSS.escape(last)}"]`);
    (first || document.querySelector("[data-level]") || at("seek")).focus();
    at("chosen").scrollIntoView({ block: "nearest" });
    at("choose-name").textContent = "Choose another game";
  }
}

const chosen = () => ({
  game: at("chosen").dataset.chosen,
  time_control: presets.find((each) => each.checked)?.value ?? "total:300+5",
  rated: false,
});

at("tiles").addEventListener("click", (event) => {
  const tile = /** @type {HTMLElement} */ (event.target).closest("[data-game]");
  if (!tile || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(/** @type {HTMLElement} */ (tile).dataset.game);
});
for (const node of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-level]"))) {
  node.addEventListener("click", () => ask({ ...chosen(), level: node.dataset.level }));
}
at("seek").addEventListener("click", () => ask(chosen()));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask({
    game: field("game").value.trim(), time_control: field("time").value.trim(),
    rated: field("rated").checked && !field("rated").disabled, opponent: field("opponent").value.trim(),
  });
});

// ------------------------------------------------------------------------ who seeks what

function showSeeks(seeks) {
  const others = seeks.filter((seek) => seek.player !== person?.player && !seek.mirrored && seek.seats === 2);
  const text = JSON.stringify(others);
  if (at("seeks").dataset.shown === text) return; // what has the focus stays
  at("seeks").dataset.shown = text;
  at("seeks").replaceChildren(...others.map((seek) => html("li", {},
    html("span", {}, html("b", {}, seek.player), ` seeks ${seek.game}, ${seek.time_control}, ${seek.rated ? "rated" : "casual"} `),
    seek.rated && (!person?.player || person.guest)
      ? html("span", { class: "soft" }, "with an account only")
      : button("Join", () => ask({ game: seek.game, time_control: seek.time_control, rated: seek.rated })))));
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
  const asked = new URLSearchParams(location.search).get("game");
  if (asked) choose(asked);
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
