// The way into a match for a person: an account's token, a game, and somebody to play with.

import { Connection, TOKEN, endpoint } from "./connection.js";
import { html } from "./dom.js";

const form = document.getElementById("play");
const state = document.getElementById("state");
const waiting = document.getElementById("waiting");
let connection = null;

const say = (text) => { if (state.textContent !== text) state.textContent = text; };
const enter = (match) => location.assign(`/matches/${encodeURIComponent(match)}`);

function button(text, act) {
  const node = html("button", { type: "button" }, text);
  node.addEventListener("click", act);
  return node;
}

function leave() {
  connection?.close();
  connection = null;
  waiting.replaceChildren();
  form.hidden = false;
}

/** Ask for the match that the form describes. */
function ask() {
  const wanted = Object.fromEntries(new FormData(form));
  const terms = { game: wanted.game.trim(), time_control: wanted.time.trim(), rated: Boolean(wanted.rated) };
  const opponent = wanted.opponent.trim();
  connection.send(opponent ? { type: "challenge", opponent, ...terms } : { type: "seek", ...terms });
  const who = opponent || "an opponent";
  waiting.replaceChildren(html("p", {}, `Waiting for ${who} in ${terms.game} … `), button("Stop waiting", leave));
}

/** Matches that are still running, and challenges of others. */
function offer(message) {
  const answer = (accept) => {
    connection.send({ type: "answer", challenge: message.challenge, accept });
    note.remove();
  };
  const text = `${message.opponent} asks you for ${message.game}, ${message.time_control}${message.rated ? ", rated" : ""}. `;
  const note = html("p", { "data-challenge": message.challenge }, text, button("Play", () => answer(true)), " ", button("Decline", () => answer(false)));
  waiting.append(note);
}

function onMessage(message) {
  switch (message.type) {
    case "welcome":
      if (message.matches?.length) enter(message.matches[0].match);
      else ask();
      break;
    case "match":
      enter(message.snapshot.match);
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
    case "error":
      leave();
      say(message.message);
      form.elements[message.code.startsWith("auth/") ? "token" : message.code.startsWith("game/") ? "game" : "time"].focus();
      break;
    default:
      break;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const token = form.elements.token.value.trim();
  sessionStorage.setItem(TOKEN, token);
  form.hidden = true;
  say("");
  const games = [...document.querySelectorAll("#games option")].map((option) => option.value);
  connection = new Connection(endpoint(), onMessage, say, { token, games, takeover: true, updates: true });
});
form.elements.token.value = sessionStorage.getItem(TOKEN) ?? "";
form.hidden = false;
