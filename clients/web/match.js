// One match: watched or played while it runs, with every position so far to step through.
// The same for three pages: the match with all there is to know of it, the projector, which goes
// on to the next match by itself, and the frame on somebody else's page.

import { failureDetail, offerRematch, sureButton } from "./again.js";
import { Backoff } from "./backoff.js";
import { Connection, endpoint } from "./connection.js";
import { Controls } from "./controls.js";
import { Plies, Seats } from "./course.js";
import { byId, holder, html, say as setState } from "./dom.js";
import { fit, outline } from "./fit.js";
import { ledger } from "./ledger.js";
import { move } from "./motion.js";
import { patience } from "./pace.js";
import { Queue } from "./queue.js";
import { drawScene } from "./scene.js";
import { AS_MYSELF, whoAmI } from "./session.js";
import { changesInWords, withHolders } from "./speak.js";
import { Thoughts } from "./thoughts.js";
import { sentence } from "./words.js";

const place = byId("match");
const mode = place.dataset.mode; // page, projector or embed
const MOVE = 260; // ms that a piece is on its way, at most

/**
 * @typedef {import("./course.js").Clock} Clock
 * @typedef {{ply?: number, seat: number, action?: string | null, ms?: number}} Happened
 * @typedef {{termination: string, returns: number[], reason?: string, void_reason?: string | null}} Outcome
 * @typedef {{player: string, bot?: string, seat: number, rating?: number}} Seat
 * @typedef {Record<string, any>} Scene plain data whose parts scene.js knows
 */

const fresh = () => ({
  game: place.dataset.game ?? "",
  seats: /** @type {Seat[]} */ ([]),
  status: "waiting",
  outcome: /** @type {Outcome | null} */ (null),
  seenBy: /** @type {number | null} */ (null),
  scenes: /** @type {Scene[]} */ ([]), // by ply: the position after so many actions of seats
  events: /** @type {Happened[]} */ ([]),
  at: 0,
  follow: true,
  playing: false,
  shown: /** @type {{at: number, scene: Scene, mine: boolean, asked: string, turn: number | null, seenBy: number | null} | null} */ (null), // { at, scene, drawn } as it is on the page
  shownAt: 0,
  told: false, // whether a snapshot or a replay has come
  seat: /** @type {number | null} */ (null), // the seat of the person at this page, if any
  turn: /** @type {number | null} */ (null), // the ply that the server waits for, if it is this person's
  offered: false, // whether the other seat offers a draw
  request: 0, // number of the request that plays it
  spot: "", // what had the focus when a person chose
});
let id = place.dataset.match ?? "";
let match = fresh();
/** @type {number | undefined} */
let timer; // of the next position
const api = () => `/api/v1/matches/${encodeURIComponent(id)}`;

// ------------------------------------------------------------------------------ the page

const last = () => Math.max(0, match.scenes.length - 1);
const controls = new Controls({
  at: () => match.at,
  last,
  go: (to) => { pause(); go(to); },
  toggle,
  links: () => ({ page: link(`/matches/${encodeURIComponent(id)}`), embed: "embed" in place.dataset ? link(`/embed/${encodeURIComponent(id)}`) : null }),
  projector: mode === "embed" ? null : () => location.assign(mode === "projector"
    ? (id ? `/matches/${encodeURIComponent(id)}` : "/matches") : `/projector?match=${encodeURIComponent(id)}&competition=${encodeURIComponent(place.dataset.competition ?? "")}`),
});
const seats = new Seats(mode === "page");
const list = new Plies((seat) => name(seat), (at) => { pause(); go(at); });
const thoughts = new Thoughts((seat) => name(seat), (at) => { pause(); go(at); });
const accounts = ledger(() => `${api()}/record`, (seat) => name(seat));
const view = {
  title: html("p", { class: "title", hidden: mode === "page" }),
  scene: html("div", { id: "scene" }),
  seen: html("select", { id: "seen" }),
  seenLabel: html("label", { class: "seen", hidden: true }, "Seen by "),
  outcome: html("p", { id: "outcome", role: "status" }),
  detail: html("pre", { id: "detail", class: "detail", hidden: true }),
  review: html("p", { id: "review", hidden: true, "aria-live": "polite" }),
  own: html("div", { id: "own", class: "choices", role: "group", "aria-label": "Your match" }),
  again: html("div", { id: "again", class: "choices", role: "group", "aria-label": "Play again" }),
  said: html("p", { id: "heard", class: "unseen", "aria-live": "polite" }),
};

function layOut() {
  view.seenLabel.append(view.seen);
  view.seen.addEventListener("change", () => lookAs(view.seen.value === "" ? null : Number(view.seen.value)));
  controls.steps.append(view.seenLabel);
  const open = html("a", { href: `/matches/${encodeURIComponent(id)}`, target: "_blank", rel: "noopener" }, "Open the match");
  place.replaceChildren(
    html("section", { class: "position", "aria-label": "Position" }, view.scene, controls.steps, mode === "page" ? thoughts.node : null),
    html("section", { class: "course", "aria-label": "Course of the match" },
      view.title, view.outcome, view.detail, view.review, seats.node, view.own, view.again,
      mode === "page" ? html("h2", {}, "Plies") : null, mode === "page" ? list.node : null,
      mode === "page" ? accounts.node : null, mode === "embed" ? open : null),
    view.said, controls.help, controls.shared);
  // Nothing is seen before there is something to see, so that nothing moves when it comes.
  place.classList.add("match", mode ?? "page", "waiting");
  new ResizeObserver(room).observe(document.documentElement);
}

/** Give the board the room that there is, so that board, status and controls are seen at once. */
function room() {
  if (!view.scene.firstElementChild) return;
  const top = view.scene.getBoundingClientRect().top + (mode === "page" ? scrollY : 0);
  const narrow = !getComputedStyle(place).gridTemplateColumns.includes(" ");
  const below = controls.steps.offsetHeight + (mode === "page" ? 24 : 12);
  const high = innerHeight - top - below;
  const beside = narrow && mode !== "page" ? seats.node.parentElement.offsetHeight : 0;
  fit(view.scene, Math.max(high - beside, narrow && mode === "page" ? innerHeight * 0.6 : 160));
  if (mode !== "page" || narrow) {
    list.node.style.removeProperty("max-height");
    return;
  }
  const from = list.node.getBoundingClientRect().top + scrollY;
  list.node.style.maxHeight = `${Math.max(150, innerHeight - from - accounts.node.offsetHeight - 32)}px`;
}

const link = (path) => new URL(`${path}${match.at === last() ? "" : `#${match.at}`}`, location.href).href;

/** The ply in the address, so that a link leads to it. */
let addressed = 0;
function address() {
  if (mode === "projector") return;
  clearTimeout(addressed);
  addressed = setTimeout(() => {
    const hash = match.at === last() ? "" : `#${match.at}`;
    if (location.hash !== hash) history.replaceState(null, "", location.pathname + location.search + hash);
  }, 250); // browsers refuse when it changes too often
}

/** Reports and older links name the ply by `?ply=12`: the address has it as `#12` from then on. */
function asHash() {
  const kept = new URLSearchParams(location.search);
  const ply = kept.get("ply");
  if (mode === "projector" || ply === null) return;
  kept.delete("ply");
  const rest = kept.toString();
  const hash = location.hash || (/^\d+$/.test(ply) ? `#${Number(ply)}` : "");
  history.replaceState(null, "", `${location.pathname}${rest ? `?${rest}` : ""}${hash}`);
}

function fromAddress() {
  const ply = Number(location.hash.slice(1));
  return location.hash.length > 1 && Number.isInteger(ply) && ply >= 0 ? ply : null;
}

function go(to) {
  match.at = Math.max(0, Math.min(last(), to));
  match.follow = match.at === last();
  show();
  address();
}

// ------------------------------------------------------------------------ time passes

function pause() {
  clearTimeout(timer);
  timer = undefined;
  match.playing = false;
}

/** Play and pause; whoever is at the end of a match that is over begins anew. */
function toggle() {
  if (match.playing || (match.follow && match.status !== "finished")) {
    pause();
    match.follow = false;
    show();
    return;
  }
  pause();
  if (match.at === last() && match.status === "finished") match.at = 0;
  match.playing = true;
  match.follow = false;
  show();
  timer = setTimeout(play, 1000 / controls.speed);
}

function play() {
  if (!match.playing) return;
  if (match.at < last()) match.at = following();
  if (match.at === last()) {
    pause();
    match.follow = true;
  } else timer = setTimeout(play, 1000 / controls.speed);
  show();
  address();
}

/** The next ply whose position is known. */
function following() {
  let at = match.at + 1;
  while (at < last() && !match.scenes[at]) at += 1;
  return at;
}

/** Follow a live match, each position for as long as eyes need if the match allows it. */
function pursue() {
  const behind = last() - match.at;
  if (!match.follow || behind <= 0) {
    show();
    return;
  }
  const time = patience(behind);
  const wait = match.shownAt + time - performance.now();
  const own = match.seat !== null && match.events.at(-1)?.seat === match.seat; // seen at once
  if (match.turn !== null || own || document.hidden || !time || !match.shown) {
    match.at = last();
    show();
  } else if (wait <= 0) {
    match.at = following();
    show();
    if (match.at < last()) later(patience(last() - match.at));
  } else {
    showWhere();
    later(wait);
  }
}

function later(wait) {
  if (timer === undefined) timer = setTimeout(() => { timer = undefined; pursue(); }, wait);
}

/** Whether somebody who follows the match has not come to its end yet. */
const comingTo = () => match.follow && match.at < last();

/** What drawings are told beside the scene. */
const options = () => ({
  holders: match.seats.map((seat) => holder(seat)),
  premove: match.seat !== null && match.turn === null && match.status === "running" && match.at === last(),
});

function show() {
  const { scenes, at } = match;
  const mine = match.turn !== null && at === last();
  const focused = /** @type {HTMLElement | SVGElement | null} */ (document.activeElement);
  if (focused && view.scene.contains(focused)) match.spot = focused.dataset.spot ?? "";
  if (scenes[at]) draw(scenes[at], mine);
  if (mine && match.spot && document.activeElement === document.body) {
    view.scene.querySelector(`[data-spot="${CSS.escape(match.spot)}"]`)?.focus();
  }
  document.title = document.title.replace(/^(Your turn: )?/, match.turn === null ? "" : "Your turn: ");
  showWhere();
  list.mark(at);
  thoughts.mark(at);
  const text = match.outcome && !comingTo() ? result() : "";
  if (view.outcome.textContent !== text) view.outcome.textContent = text;
  showSeats();
}

function draw(scene, mine) {
  const { shown, at, scenes } = match;
  const beside = options();
  const asked = JSON.stringify(beside);
  if (shown && shown.scene === scene && shown.mine === mine && shown.turn === match.turn && shown.asked === asked) return;
  const drawn = drawScene(scene, scenes[at - 1] ?? null, mine ? choose : null, beside);
  const before = view.scene.firstElementChild;
  view.scene.replaceChildren(drawn);
  if (!shown || outline(shown.scene) !== outline(scene) || shown.mine !== mine) room();
  const step = shown && shown.seenBy === match.seenBy ? at - shown.at : 0;
  const pace = match.playing ? 1000 / controls.speed : patience(last() - at + 1) || MOVE;
  if (shown && Math.abs(step) === 1) {
    move(drawn, before, shown.scene, scene, pace < 70 ? 0 : Math.min(MOVE, pace * 0.7));
    controls.tick();
  }
  if (Math.abs(step) === 1 || (step > 0 && match.turn !== null)) say(at);
  match.shown = { at, scene, mine, asked, turn: match.turn, seenBy: match.seenBy };
  match.shownAt = performance.now();
}

function showWhere() {
  const behind = last() - match.at;
  const running = match.status !== "finished" && match.scenes.length > 0;
  const live = !running && !comingTo() ? "" : match.follow ? (behind ? `live \u2212${behind}` : "live") : running ? "running" : "";
  if (match.scenes.length) controls.show(match.at, last(), live, match.playing || (match.follow && running), told(match.at) || "start");
}

/** The ply that led to a position, in words. */
function told(at) {
  const event = match.events.findLast((each) => each.seat >= 0 && (each.ply ?? 0) + 1 === at);
  return event ? `Ply ${at}: ${name(event.seat)}, ${event.action ?? "hidden"}` : "";
}

/** For those who hear the page: what others did, not more often than it can be said. */
let saidAt = 0;
function say(at) {
  const event = match.events.findLast((each) => each.seat >= 0 && (each.ply ?? 0) + 1 === at);
  if (match.follow && event && event.seat === match.seat) return; // who plays knows its own
  if (match.turn === null && performance.now() - saidAt < 1500) return;
  saidAt = performance.now();
  const words = changesInWords(match.scenes[at - 1] ?? null, match.scenes[at] ?? {});
  const what = event ? `${name(event.seat)}: ${event.action ?? "a hidden action"}` : "";
  view.said.textContent = withHolders([what, words].filter(Boolean).join(". "), options().holders, names());
}

/** What the game calls the seats. */
const names = () => match.scenes.find((scene) => scene?.seats?.length)?.seats ?? [];

const name = (seat) => (match.seats[seat] ? holder(match.seats[seat]) : `seat ${seat + 1}`);

function addEvents(events) {
  match.events.push(...events);
  list.add(events, names());
}

function setEvents(events) {
  match.events = [];
  list.clear();
  addEvents(events);
}

function showSeats() {
  const over = comingTo() ? null : match.outcome;
  const mover = match.outcome && match.at === last() ? null : match.scenes[match.at]?.seat_to_move ?? null;
  seats.show(match.seats, names(), mover, over?.returns ?? null);
}

/** How it ended, in words. */
function result() {
  if (!match.outcome) return "";
  const why = match.outcome.void_reason ?? null;
  const said = sentence(match.outcome, match.seats.map((_, seat) => name(seat)));
  return `${said}${why === null ? "" : ` Void, it counts nowhere: ${why}`}`;
}

function setOutcome(outcome) {
  match.outcome = outcome;
  match.status = "finished";
  seats.stop();
  const end = match.scenes.at(-1);
  if (end && outcome.termination !== "normal") { // nobody is to move there any more
    match.scenes[last()] = { ...end, seat_to_move: null, status: "The match is over" };
  }
  accounts.fill();
}

/** What a bot left when it failed: the server gives it to its author, who is signed in here. */
async function showDetail() {
  if (mode !== "page" || view.detail.dataset.asked || !["bot_crash", "illegal_action"].includes(match.outcome?.termination ?? "")) return;
  view.detail.textContent = await failureDetail(api(), match.seats);
  view.detail.hidden = !view.detail.textContent;
  view.detail.dataset.asked = "1";
}

/** Asks where the match was lost, once somebody wants to know: that takes the server a while. */
function offerReview() {
  const { review } = view;
  if (!review.hidden || !match.events.some((event) => event.seat >= 0)) return;
  const button = html("button", { type: "button" }, "Where was it lost?");
  button.addEventListener("click", async () => {
    review.replaceChildren("The match is being looked at, which takes some seconds.");
    try {
      const response = await fetch(`${api()}/review`);
      const found = await response.json();
      if (response.ok) showReview(found);
      else if (response.status === 503 || response.status === 409) review.replaceChildren(button, ` ${found.detail}`);
      else review.replaceChildren(found.detail ?? "The match could not be reviewed.");
    } catch {
      review.replaceChildren(button, " The server did not answer.");
    }
  });
  review.replaceChildren(button);
  review.hidden = false;
}

/** The verdict of a review, with a way to each ply that it names. */
function showReview(found) {
  const ways = found.losses.slice(0, 5).map((ply) => {
    const way = html("button", { type: "button", "data-ply": ply }, `Ply ${ply}`);
    way.addEventListener("click", () => { pause(); go(ply); });
    return way;
  });
  const command = found.command ? `${found.command} --server ${location.origin}` : "";
  view.review.replaceChildren(`${name(found.seat)}: ${found.verdict} `, ...ways,
    command ? html("small", { class: "soft" }, ` Ask your bot again: ${command}`) : "");
}

// ---------------------------------------------------------------------- a person's seat

/** Play an action in the turn that is asked for. */
function choose(action) {
  match.request = connection?.send({ type: "act", match: id, ply: match.turn, action }) ?? 0;
  if (!match.request) return; // no connection: the turn comes again with the next one
  match.turn = null;
  show();
}

/** What a person may do beside acting. */
function showOwn() {
  const playing = match.seat !== null && match.status === "running";
  const shown = `${playing} ${match.offered}`; // what has the focus stays where it is
  if (view.own.dataset.shown === shown) return;
  view.own.dataset.shown = shown;
  if (!playing) {
    view.own.replaceChildren();
    return;
  }
  const button = (text, type) => {
    const act = () => {
      connection?.send({ type, match: id });
      setState(type === "offer_draw" ? "You have offered a draw." : "");
    };
    if (type === "resign") return sureButton(text, "Really resign?", { "data-request": type }, act);
    const node = html("button", { type: "button", "data-request": type }, text);
    node.addEventListener("click", act);
    return node;
  };
  const draws = match.offered
    ? [button("Accept the draw", "accept_draw"), button("Decline it", "decline_draw")]
    : [button("Offer a draw", "offer_draw")];
  view.own.replaceChildren(button("Resign", "resign"), ...("draws" in place.dataset ? draws : []));
}

/** A match in which this person holds a seat, as it stands. */
async function take(found) {
  match.seat = found.seat;
  if (found.status === "waiting") {
    const nonce = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    connection.send({ type: "ready", match: id, nonce });
  }
  match.turn = found.your_turn ? found.ply ?? 0 : null;
  match.offered = (found.draw_offers ?? []).some((seat) => seat !== found.seat);
  await snapshot(found);
}

// --------------------------------------------------------------------------- the server

async function ask(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

/** Fetch all positions from ply `first` on with all events, or only positions that are missing. */
async function fetchScenes(first, withEvents) {
  const seen = match.seenBy;
  const of = id;
  const seat = seen === null ? "" : `&seat=${seen}`;
  const events = [];
  const said = [];
  let open = false;
  for (let next = first, plies = first; next <= plies;) {
    const part = await ask(`${api()}/replay?first=${next}${seat}`);
    if (seen !== match.seenBy || of !== id) return;
    for (const frame of part.frames) {
      // A seat's own positions stay: they have what it may do, and in some games what it alone sees.
      if (withEvents || !match.scenes[frame.ply]) match.scenes[frame.ply] = frame.scene;
      events.push(...frame.events);
      const acted = frame.info && frame.events.find((event) => event.seat >= 0);
      if (acted) said.push({ at: frame.ply, seat: acted.seat, info: frame.info });
    }
    open = part.open;
    plies = part.plies;
    next = part.frames.length ? part.frames.at(-1).ply + 1 : plies + 1;
  }
  if (withEvents) {
    setEvents(events);
    thoughts.show(said, last(), names());
  }
  offerViews(open);
}

/** What seats saw can be looked at when it is public, in games where it differs. */
function offerViews(open) {
  const hidden = match.events.some((event) => event.action === null || event.action === undefined);
  if (!open || match.status !== "finished" || view.seen.options.length || !hidden) return;
  view.seen.append(html("option", { value: "" }, "spectators"),
    ...match.seats.map((seat, index) => html("option", { value: index }, holder(seat))));
  view.seenLabel.hidden = false;
}

async function lookAs(seat) {
  match.seenBy = seat;
  await load();
}

/** Ask what is known of the match, of one that is over everything; true if it is. */
async function fetchAll() {
  const of = id;
  const header = await ask(api());
  if (of !== id) return false;
  match.seats = header.seats;
  match.game = header.game;
  view.title.textContent = `${header.game.replaceAll("_", " ")} \u00b7 ${header.time_control}`;
  if (mode === "projector") document.title = `${header.seats.map(holder).join(" - ")}, ${header.game}`;
  if (header.status !== "finished") {
    match.status = header.status;
    return false;
  }
  const first = !match.told;
  match.status = "finished";
  await fetchScenes(0, true);
  if (of !== id) return false;
  setOutcome({ ...header, returns: header.seats.map((seat) => seat.returned ?? 0) });
  showRecord();
  showDetail().catch(() => {}); // the match is shown without it
  begin(first);
  if (place.dataset.reviews !== undefined) offerReview();
  return true;
}

/** Where somebody who comes begins: at the ply of the link, else at the latest position. */
function begin(first) {
  const ply = first && mode !== "projector" ? fromAddress() : null;
  if (ply !== null && ply < last()) {
    match.at = ply;
    match.follow = false;
  } else if (first || match.playing) match.at = match.follow ? last() : match.at;
  match.told = true;
  place.classList.remove("waiting");
  pursue();
}

function showRecord() {
  const link = document.getElementById("record");
  if (link && !link.hasChildNodes()) link.append(" \u00b7 ", html("a", { href: `${api()}/record`, download: `${id}.json` }, "Record"));
}

async function load() {
  if (!id) {
    place.classList.remove("waiting");
    queue.look();
    return;
  }
  try {
    const over = await fetchAll();
    loading.well();
    if (over && mode === "projector") queue.rest();
    else if (!over && !connection) {
      const of = id;
      const who = await identity();
      if (of === id && !connection && match.status !== "finished") connection = new Connection(endpoint(), onMessage, setState, who);
    }
  } catch {
    place.classList.remove("waiting");
    loading.failed();
  }
}

/** Who is at this page: the person signed in here, in a match of its own, or a spectator. */
async function identity() {
  if (mode !== "page") return {};
  const { matches } = await whoAmI();
  return matches.some((each) => each.match === id) ? AS_MYSELF : {};
}

function setScene(scene, ply) {
  if (scene) match.scenes[ply] = scene;
}

async function snapshot(found) {
  match.seats = found.players.map((player, seat) => ({ ...player, seat }));
  match.status = found.status ?? "running";
  showOwn();
  setScene(found.scene, found.ply ?? 0);
  setEvents(found.events ?? []);
  seats.run(found.clocks);
  if (found.outcome) over(found.outcome);
  const first = !match.told;
  if (first) begin(true); // the position as it is now, before any other
  const missing = Array.from(match.scenes).findIndex((scene) => !scene);
  if (missing >= 0) {
    try { await fetchScenes(missing, false); } catch { loading.failed(); }
  }
  const ply = first && mode !== "projector" ? fromAddress() : null;
  if (ply !== null && match.follow && match.at === last()) go(ply);
  pursue();
}

function over(outcome) {
  setOutcome({ ...outcome, returns: outcome.returns ?? [] });
  match.turn = null;
  connection?.close();
  connection = null;
  setState("");
  showOwn();
  if (match.seat !== null && !view.again.hasChildNodes()) {
    const { game, time, rated } = place.dataset;
    offerRematch(view.again, { seats: match.seats, seat: match.seat, game, time, rated: rated !== undefined, say: setState });
  }
  pursue();
  load(); // the last position, also of a match that ended while nobody told us
}

function onMessage(message) {
  if ((message.match || message.snapshot?.match || id) !== id) return; // another match of this person
  switch (message.type) {
    case "welcome": {
      const mine = message.matches?.find((each) => each.match === id);
      if (mine) take(mine);
      else connection.send({ type: "watch", match: id });
      break;
    }
    case "match":
      if (message.snapshot.seat === null || message.snapshot.seat === undefined) snapshot(message.snapshot);
      else take(message.snapshot);
      break;
    case "turn":
      match.status = "running";
      addEvents(message.events ?? []);
      seats.run(message.clocks, match.seat);
      match.turn = message.ply ?? 0;
      pause();
      match.follow = true;
      setScene(message.scene, match.turn);
      pursue();
      showOwn();
      break;
    case "accepted":
      addEvents(message.events ?? []);
      seats.run(message.clocks);
      setState("");
      show();
      break;
    case "draw_offered":
      match.offered = message.seat !== match.seat;
      if (match.offered) setState(`${name(message.seat)} offers a draw.`);
      showOwn();
      break;
    case "draw_declined":
      match.offered = false;
      setState(message.seat === match.seat ? "" : "The draw was declined.");
      showOwn();
      break;
    case "update":
      match.status = "running";
      addEvents(message.events ?? []);
      seats.run(message.clocks, message.scene?.seat_to_move);
      setScene(message.scene, message.ply ?? 0);
      pursue();
      showOwn();
      break;
    case "finished":
      addEvents(message.events ?? []);
      over(message.outcome);
      break;
    case "lost": // how the clocks go on is not known here
      seats.halt();
      seats.present();
      showSeats();
      break;
    case "notice":
      if (message.code === "notice/away" || message.code === "notice/back") {
        const seat = message.seat ?? 0;
        seats.presence(message);
        showSeats();
        view.said.textContent = `${name(seat)} ${message.code === "notice/away" ? "has lost the connection." : "is back."}`;
      } else setState(message.message);
      break;
    case "error":
      if (message.code === "match/unknown") { // over, while we were away
        connection.close();
        connection = null;
        load();
      } else if (message.code === "auth/replaced") {
        connection.close();
        match.turn = null;
        show();
        setState("This match goes on in another window.");
      } else if (message.code === "server/overloaded" && !match.told) { // then at least what was
        setState(message.message);
        fetchScenes(0, true).then(() => begin(true), () => {});
      } else if (message.code.startsWith("auth/") && message.fatal) { // then only watch
        connection.identity = {};
        setState(message.message);
      } else if (message.re === match.request && message.re) {
        connection.send({ type: "sync", match: id });
        setState(message.message);
      } else if (message.re !== undefined || message.fatal) setState(message.message);
      break;
    default:
      break;
  }
}

// ------------------------------------------------------------------- the next match

/** Show another match in this page. */
function enter(other) {
  connection?.close();
  connection = null;
  pause();
  id = other;
  match = fresh();
  view.scene.replaceChildren();
  seats.clear();
  list.clear();
  view.outcome.textContent = "";
  setState("");
  const kept = new URLSearchParams(location.search);
  kept.set("match", id);
  history.replaceState(null, "", `${location.pathname}?${kept}`);
  load();
}

const queue = new Queue(() => ({ id, competition: place.dataset.competition ?? "", game: place.dataset.game || match.game }), enter, setState);
let connection = null;
const loading = new Backoff(load, setState);

addEventListener("hashchange", () => {
  const ply = fromAddress();
  if (ply === null) return;
  pause();
  go(ply);
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) pursue(); });
setInterval(() => { if (seats.ticking) showSeats(); }, 100);
asHash();
layOut();
load();
