// One match: watched or played while it runs, with every position so far to step through.
// Three pages use it: the full page of a match, the projector, which goes on to the next match, and
// the frame on another site's page. This module takes the server's messages; the others show them.

import { asHash, enterAddress, fromAddress } from "./address.js";
import { offerAllHands } from "./all_hands.js";
import { offerReview, showDetail, showRecord } from "./afterwards.js";
import { offerRematch } from "./rematch.js";
import { Backoff } from "./backoff.js";
import { ROOMY, UPRIGHT } from "./boards.js";
import { Connection, endpoint, newSecret } from "./connection.js";
import { byId, holder, say as setState } from "./dom.js";
import { helped, howToPlay } from "./how_to.js";
import { News } from "./competition_news.js";
import { showOwn } from "./seat_actions.js";
import { Parts } from "./match_parts.js";
import { Passing } from "./playback.js";
import { heardPhrase } from "./phrases.js";
import { Picture } from "./picture.js";
import { showSitting } from "./sitting.js";
import { ask } from "./answers.js";
import { addEvents, fetchScenes, heard, setEvents } from "./positions.js";
import { Queue } from "./queue.js";
import { settings } from "./settings.js";
import { AS_MYSELF, whoAmI } from "./session.js";
import { api, comingTo, last, match, mode, name, place, renew, setOutcome, setScene } from "./state.js";
import { timeInWords } from "./words.js";

const TICK = 100; // ms between two looks at the clocks
const LATE = new Set(["auth/timeout", "auth/rate"]); // no login now, and one later

const passing = new Passing(() => { picture.show(); restAtEnd(); }, () => picture.showWhere(), () => parts.controls.speed);
const parts = new Parts({ go: (at) => passing.go(at), toggle: () => passing.toggle(), lookAs });
const picture = new Picture(parts, choose);
const { seats, list } = parts;
/** @type {Connection | null} */
let connection = null;
/** The signed-in player, empty for nobody; null while it is not known. @type {string | null} */
let me = null;

/** Ask the server; returns the number of the request, or 0 while there is no connection. @param {import("./connection.js").Request} message */
const send = (message) => connection?.send(message) ?? 0;
UPRIGHT.addEventListener("change", () => picture.again());
ROOMY.addEventListener("change", () => { if (parts.scene.querySelector(".circuit")) picture.again(); });
const showOwnButtons = () => showOwn(parts.own, send, confirmed);

function close() {
  connection?.close();
  connection = null;
}

// ---------------------------------------------------------------------- a person's seat

/** Play an action in the turn that is asked for, or ask first. @param {string} action */
function choose(action) {
  if (match.turn === null) return;
  match.asked = settings.confirm ? action : null;
  if (match.asked === null) play(action);
  else showOwnButtons();
}

/** Answer the question whether to play what was chosen. @param {boolean} sure */
function confirmed(sure) {
  const action = match.asked;
  match.asked = null;
  showOwnButtons();
  if (sure && action !== null) play(action);
  else picture.again();
}

/** Play an action in the turn that is asked for. @param {string} action */
function play(action) {
  if (match.turn === null) return;
  match.request = send({ type: "act", match: match.id, ply: match.turn, action });
  if (!match.request) { // no connection: it is sent when the turn comes again with the next one
    match.unsent = { ply: match.turn, action };
    return;
  }
  match.turn = null;
  helped();
  picture.show();
}

/** Takes the state of a match in which this person holds a seat. @param {Messages.MatchSnapshot} found */
async function take(found) {
  match.seat = found.seat;
  howToPlay();
  match.asked = null;
  if (found.status === "waiting") send({ type: "ready", match: match.id, nonce: newSecret() });
  match.turn = found.your_turn ? found.ply ?? 0 : null;
  match.offered = (found.draw_offers ?? []).some((seat) => seat !== found.seat);
  const { unsent } = match;
  match.unsent = null;
  await snapshot(found);
  if (unsent && unsent.ply === match.turn) play(unsent.action);
  showSitting(parts.sitting);
}

// ------------------------------------------------------------------------ what is known

/** Look at the match with the eyes of a seat; null: of a spectator. @param {number | null} seat */
async function lookAs(seat) {
  match.seenBy = seat;
  match.allHands = false;
  parts.hands.replaceChildren();
  await load();
}

/** Ask what is known of the match, of one that is over everything; true if it is. */
async function fetchAll() {
  const of = match.id;
  const header = /** @type {Answers.Match} */ (await ask(api()));
  if (of !== match.id) return false;
  if (!match.told) match.seats = header.seats;
  match.game = header.game;
  parts.title.textContent = `${header.game.replaceAll("_", " ")} \u00b7 ${timeInWords(header.time_control)}`;
  if (mode === "projector") document.title = `${header.seats.map(holder).join(" - ")}, ${header.game}`;
  if (header.status !== "finished") {
    if (!match.told) match.status = header.status; // the connection may have told more
    return false;
  }
  const first = !match.told;
  match.status = "finished";
  await findOwnSeat();
  if (first) keepOwnView();
  await fetchKnown();
  if (of !== match.id) return false;
  if (mode === "page" && !parts.seenLabel.hidden) offerAllHands(parts.hands, load);
  end({ ...header, returns: header.seats.map((seat) => seat.returned ?? 0) });
  showRecord();
  showDetail(parts.detail).catch(() => {}); // the match is shown without it
  begin(first);
  if (place.dataset.reviews !== undefined) offerReview(parts.review, (ply) => passing.go(ply));
  return true;
}

/** A player who comes back keeps the own side of the board; an author is known by the bot. */
async function findOwnSeat() {
  if (mode !== "page" || match.seat !== null) return;
  me ??= (await whoAmI()).player;
  const player = me;
  const seat = match.seats.findIndex((each) => player && holder(each) === player);
  if (seat >= 0) match.seat = seat;
  const bot = match.seats.findIndex((each) => player && each.player === player);
  if (seat < 0 && bot >= 0) match.bot = bot;
}

/** Look at what has hidden information with one's own eyes. */
function keepOwnView() {
  if ("hidden" in place.dataset) match.seenBy = match.seat;
}

/** Fetch all positions; spectators' while what seats saw is not public, as in one match of a pair. */
async function fetchKnown() {
  try {
    await fetchScenes(0, true, parts);
  } catch (error) {
    if (match.seenBy === null) throw error;
    match.seenBy = null;
    await fetchScenes(0, true, parts);
  }
}

/** Where somebody who comes begins: at the ply of the link, else at the latest position. @param {boolean} first */
function begin(first) {
  const ply = first ? fromAddress() : null;
  if (ply !== null && ply < last()) {
    match.at = ply;
    match.follow = false;
  } else if (first || match.playing) match.at = match.follow ? last() : match.at;
  match.told = true;
  parts.reveal();
  passing.pursue();
}

async function load() {
  if (!match.id) {
    parts.reveal();
    queue.look();
    return;
  }
  const { match: first, status } = place.dataset;
  if (match.id === first && status && status !== "finished" && !match.told) connect(); // each answer may take long
  try {
    const of = match.id;
    const over = await fetchAll();
    loading.well();
    if (over) close();
    else if (of === match.id && match.status !== "finished") connect();
  } catch {
    parts.reveal();
    loading.failed();
  }
}

/** Open a connection if there is none. */
function connect() {
  if (connection) return;
  const who = identity();
  const made = connection = new Connection(endpoint(), onMessage, setState, who);
  who.catch(() => {
    if (connection !== made) return;
    close();
    parts.reveal();
    loading.failed();
  });
}

/** Returns the user of this page: the signed-in person in their own match, or a spectator. */
async function identity() {
  if (mode !== "page") return {};
  const { matches, player } = await whoAmI();
  me = player;
  return matches.some((each) => each.match === match.id) ? AS_MYSELF : {};
}

/** Takes the state of the match. @param {Messages.MatchSnapshot} found */
async function snapshot(found) {
  match.seats = found.players.map((player, seat) => ({ ...player, seat }));
  match.status = found.status ?? "running";
  if (match.status !== "finished") match.commitment = found.commitment ?? "";
  showOwnButtons();
  setScene(found.scene, found.ply ?? 0);
  setEvents(found.events ?? [], list);
  seats.run(found.clocks);
  if (found.outcome) over(found.outcome);
  const first = !match.told;
  if (first) begin(true); // the position as it is now, before any other
  const missing = Array.from(match.scenes).findIndex((scene) => !scene);
  if (missing >= 0) {
    try { await fetchScenes(missing, false, parts); } catch { loading.failed(); }
  }
  const ply = first ? fromAddress() : null;
  if (ply !== null && match.follow && match.at === last()) passing.go(ply);
  passing.pursue();
}

/** @param {import("./state.js").Outcome} outcome */
function end(outcome) {
  setOutcome(outcome);
  seats.stop();
  parts.accounts.fill();
  if ("output" in place.dataset) parts.output.fill().catch(() => {}); // the match is shown without it
  parts.dice.fill();
}

/** The match has ended. @param {Messages.Outcome} outcome */
function over(outcome) {
  end({ ...outcome, returns: outcome.returns ?? [] });
  match.turn = null;
  keepOwnView();
  match.asked = null;
  close();
  setState("");
  showOwnButtons();
  if (match.seat !== null && !parts.again.hasChildNodes()) {
    const { game = "", time = "", rated } = place.dataset;
    const next = showSitting(parts.sitting);
    offerRematch(parts.again, { seats: match.seats, seat: match.seat, game, time, rated: rated !== undefined, next, say: setState })
      .then(() => parts.room(), (error) => setState(error.message));
  }
  passing.pursue();
  load(); // the last position, also of a match that ended while nobody told us
}

/** The projector goes on to the next match some time after the end is on the screen, which may come later than it. */
function restAtEnd() {
  if (mode === "projector" && match.status === "finished" && match.told && !comingTo()) queue.rest();
}

// ------------------------------------------------------------------- what the server says

/** The match that a message is about; "" if it is about none. @param {import("./connection.js").Message} message */
const about = (message) => ("snapshot" in message ? message.snapshot.match : "match" in message ? message.match : "") || "";

/** @param {import("./connection.js").Message} message */
function onMessage(message) {
  if ((about(message) || match.id) !== match.id) return; // another match of this person
  switch (message.type) {
    case "welcome": {
      const mine = message.matches?.find((each) => each.match === match.id);
      if (mine) take(mine);
      else send({ type: "watch", match: match.id });
      break;
    }
    case "match":
      if (message.snapshot.seat === null || message.snapshot.seat === undefined) snapshot(message.snapshot);
      else take(message.snapshot);
      break;
    case "turn":
      match.status = "running";
      addEvents(message.events ?? [], list);
      seats.run(message.clocks, match.seat);
      match.turn = message.ply ?? 0;
      match.asked = null;
      setScene(message.scene, message.ply ?? 0);
      passing.pause();
      match.follow = true;
      passing.pursue();
      showOwnButtons();
      break;
    case "accepted":
      addEvents(message.events ?? [], list);
      seats.run(message.clocks);
      setState("");
      picture.show();
      break;
    case "draw_offered":
      match.offered = message.seat !== match.seat;
      if (match.offered) setState(`${name(message.seat)} offers a draw.`);
      showOwnButtons();
      break;
    case "draw_declined":
      match.offered = false;
      setState(message.seat === match.seat ? "" : "The draw was declined.");
      showOwnButtons();
      break;
    case "said": {
      const text = heardPhrase(message, seats.rows[message.seat]?.says);
      if (text) parts.said.textContent = `${name(message.seat)}: ${text}`;
      break;
    }
    case "update":
      match.status = "running";
      addEvents(message.events ?? [], list);
      seats.run(message.clocks, message.scene?.seat_to_move);
      setScene(message.scene, message.ply ?? 0);
      if (message.info) heard(parts.thoughts, message.events ?? [], message.info);
      passing.pursue();
      showOwnButtons();
      break;
    case "finished":
      addEvents(message.events ?? [], list);
      over(message.outcome);
      break;
    case "lost": // how the clocks go on is not known here
      seats.halt();
      seats.present();
      picture.showSeats();
      break;
    case "notice":
      noticed(message);
      break;
    case "error":
      refused(message);
      break;
    default:
      break;
  }
}

/** @param {Messages.Notice} message */
function noticed(message) {
  if (message.code === "notice/spectators") {
    parts.controls.watched(message.count ?? 0, match.seat !== null);
    return;
  }
  if (message.code !== "notice/away" && message.code !== "notice/back") {
    setState(message.message);
    return;
  }
  seats.presence(message);
  picture.showSeats();
  parts.said.textContent = `${name(message.seat ?? 0)} ${message.code === "notice/away" ? "has lost the connection." : "is back."}`;
}

/** @param {Messages.Error} message */
function refused(message) {
  if (message.code === "match/unknown") { // over, while we were away
    close();
    load();
  } else if (message.code === "auth/replaced") {
    connection?.close();
    match.turn = null;
    picture.show();
    setState("This match goes on in another window.");
  } else if (message.code === "server/overloaded" && !match.told) { // then at least what was
    setState(message.message);
    fetchScenes(0, true, parts).then(() => begin(true), () => {});
  } else if (message.code.startsWith("auth/") && message.fatal && !LATE.has(message.code)) { // then only watch
    if (connection) connection.identity = {};
    setState(message.message);
  } else if (message.re === match.request && message.re) {
    send({ type: "sync", match: match.id });
    setState(message.message);
  } else if (message.re !== undefined || message.fatal) setState(message.message);
}

// ------------------------------------------------------------------- the next match

/** Show another match in this page. @param {string} other */
function enter(other) {
  close();
  news.toggle(false, place);
  passing.pause();
  renew(other);
  parts.clear();
  picture.clear();
  setState("");
  enterAddress();
  load();
}

const queue = new Queue(() => ({
  id: match.id, competition: place.dataset.competition ?? "", game: place.dataset.game || match.game,
  held: match.status === "finished" && !match.follow && match.at < last(),
}), enter, setState, () => news.toggle(mode === "projector", place));
const news = new News(place.dataset.competition ?? "");
const loading = new Backoff(load, setState);

// The board has the focus when a turn begins; only people who use keys need to see where.
addEventListener("keydown", () => { document.documentElement.dataset.keys = ""; }, { capture: true, once: true });
// Beside the heading, notices cover nothing and move no board.
if (mode === "page") document.querySelector(".heading")?.append(byId("state"));
addEventListener("hashchange", () => {
  const ply = fromAddress();
  if (ply !== null) passing.go(ply);
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) passing.pursue(); });
setInterval(() => { if (seats.ticking) picture.showSeats(); }, TICK);
asHash();
load();
