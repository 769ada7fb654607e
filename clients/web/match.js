// One match: watched or played while it runs, with every position so far to step through.

import { Backoff } from "./backoff.js";
import { Connection, TOKEN, endpoint } from "./connection.js";
import { clockText, holder, html, signed, svg } from "./dom.js";
import { drawScene, seatClass } from "./scene.js";

const place = document.getElementById("match");
const id = place.dataset.match;
const api = `/api/v1/matches/${encodeURIComponent(id)}`;

const match = {
  seats: [],
  status: "waiting",
  outcome: null,
  clocks: [],
  clocksAt: 0,
  seenBy: null,
  scenes: [], // by ply: the position after so many actions of seats
  events: [],
  at: 0,
  follow: true,
  seat: null, // the seat of the person at this page, if any
  turn: null, // the ply that the server waits for, if it is this person's
  offered: false, // whether the other seat offers a draw
  request: 0, // number of the request that plays it
  spot: "", // what had the focus when a person chose
};

// ------------------------------------------------------------------------------ the page

const step = (name, label, outline, to) => {
  const icon = svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: outline }));
  const button = html("button", { id: name, type: "button", "aria-label": label, title: label }, icon);
  button.addEventListener("click", () => go(to()));
  return button;
};
const last = () => Math.max(0, match.scenes.length - 1);
const view = {
  state: document.getElementById("state"),
  scene: html("div", { id: "scene" }),
  first: step("first", "First position (Home)", "M4 4h3v12H4zM17 4v12L8 10z", () => 0),
  back: step("back", "One ply back (left arrow)", "M15 4v12L6 10z", () => match.at - 1),
  forward: step("forward", "One ply forward (right arrow)", "M5 4v12l9-6z", () => match.at + 1),
  latest: step("latest", "Last position (End)", "M13 4h3v12h-3zM3 4v12l9-6z", last),
  where: html("span", { id: "where" }),
  seen: html("select", { id: "seen" }),
  seenLabel: html("label", { class: "seen", hidden: true }, "Seen by "),
  seats: html("ul", { id: "seats", class: "seats" }),
  outcome: html("p", { id: "outcome", role: "status" }),
  own: html("div", { id: "own", class: "choices", role: "group", "aria-label": "Your match" }),
  events: html("ol", { id: "events", class: "events" }),
};

function layOut() {
  view.seenLabel.append(view.seen);
  view.seen.addEventListener("change", () => lookAs(view.seen.value === "" ? null : Number(view.seen.value)));
  const { first, back, forward, latest } = view;
  place.replaceChildren(
    html("section", { class: "position", "aria-label": "Position" }, view.scene,
      html("div", { class: "steps", role: "group", "aria-label": "Positions" },
        first, back, forward, latest, view.where, view.seenLabel)),
    html("section", { class: "course", "aria-label": "Course of the match" },
      view.outcome, view.seats, view.own, html("h2", {}, "Plies"), view.events));
  place.classList.add("match");
}

function go(to) {
  match.at = Math.max(0, Math.min(last(), to));
  match.follow = match.at === last();
  show();
}

function show() {
  const { scenes, at } = match;
  const mine = match.turn !== null && at === last();
  const focused = document.activeElement;
  if (view.scene.contains(focused)) match.spot = focused.dataset.spot ?? "";
  if (scenes[at]) view.scene.replaceChildren(drawScene(scenes[at], scenes[at - 1] ?? null, mine ? choose : null));
  if (mine && match.spot && document.activeElement === document.body) {
    view.scene.querySelector(`[data-spot="${CSS.escape(match.spot)}"]`)?.focus();
  }
  document.title = document.title.replace(/^(Your turn: )?/, match.turn === null ? "" : "Your turn: ");
  const live = match.status !== "finished" && match.follow ? " \u00b7 live" : "";
  view.where.textContent = scenes.length ? `${at} / ${last()}${live}` : "";
  // A disabled button would lose the keyboard's focus.
  for (const [button, end] of [[view.first, 0], [view.back, 0], [view.forward, last()], [view.latest, last()]]) {
    button.setAttribute("aria-disabled", String(at === end));
  }
  for (const item of view.events.children) {
    const current = Number(item.dataset.at) === at && at > 0;
    if (current) {
      item.setAttribute("aria-current", "true");
      reveal(item);
    } else item.removeAttribute("aria-current");
  }
  showSeats();
}

/** Scroll the list, and never the page. */
function reveal(item) {
  const list = view.events;
  const top = item.offsetTop - list.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + item.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top + item.offsetHeight - list.clientHeight;
  }
}

/** What the game calls the seats. */
const names = () => match.scenes.find((scene) => scene?.seats?.length)?.seats ?? [];

const name = (seat) => (match.seats[seat] ? holder(match.seats[seat]) : `seat ${seat}`);

function addEvents(events) {
  for (const event of events) {
    const ply = event.ply ?? 0;
    const chance = event.seat < 0;
    const at = chance ? ply : ply + 1;
    const time = event.ms === undefined || event.ms === null ? "" : `${(event.ms / 1000).toFixed(2)} s`;
    const button = html("button", { type: "button", tabindex: -1 },
      html("span", { class: "number" }, chance ? "" : at),
      html("span", { class: chance ? "swatch" : `swatch ${seatClass(event.seat, names())}` }),
      html("span", { class: "who" }, chance ? "chance" : name(event.seat)),
      html("span", { class: event.action ? "action" : "action soft" }, event.action ?? "hidden"),
      html("span", { class: "soft time" }, time));
    button.addEventListener("click", () => go(at));
    view.events.append(html("li", { "data-at": at }, button));
  }
}

function setEvents(events) {
  match.events = [...events];
  view.events.replaceChildren();
  addEvents(match.events);
}

function showSeats() {
  const passed = match.clocksAt ? performance.now() - match.clocksAt : 0;
  const toMove = match.scenes[match.at]?.seat_to_move ?? null;
  match.seats.forEach((seat, index) => {
    const item = view.seats.children[index] ?? view.seats.appendChild(html("li", {},
      html("span", { class: "swatch" }), html("span", {}, holder(seat)),
      html("span", { class: "soft" }), html("span", { class: "soft" }, seat.rating ? Math.round(seat.rating) : ""), html("span", { class: "clock" })));
    const clock = match.clocks.find((each) => (each.seat ?? 0) === index);
    let text = "";
    if (match.outcome) text = signed(match.outcome.returns[index] ?? 0, 2).replace(/\.?0+$/, "") || "0";
    else if (clock) text = clockText((clock.remaining_ms ?? 0) - (clock.running ? passed : 0));
    item.setAttribute("aria-current", String(toMove === index));
    item.firstChild.setAttribute("class", `swatch ${seatClass(index, names())}`);
    const called = names()[index] ?? "";
    if (item.children[2].textContent !== called) item.children[2].textContent = called;
    item.lastChild.classList.toggle("running", Boolean(clock?.running) && !match.outcome);
    if (item.lastChild.textContent !== text) item.lastChild.textContent = text;
  });
}

const ENDINGS = {
  resignation: "by resignation", flag_fall: "on time", illegal_action: "by an illegal action",
  disconnect: "as the other was away", bot_crash: "as the other's bot failed",
  no_show: "as the other did not come",
};

/** The result in a sentence. */
function sentence({ termination, returns = [], reason = "" }) {
  const void_ = termination === "aborted" || termination === "server_fault";
  if (void_) return `No result: ${reason || termination.replaceAll("_", " ")}`;
  const best = Math.max(...returns);
  const winners = returns.flatMap((value, seat) => (value === best ? [name(seat)] : []));
  const how = ENDINGS[termination] ? ` ${ENDINGS[termination]}` : "";
  const result = winners.length === returns.length
    ? (termination === "draw_agreed" ? "Draw by agreement" : "Draw")
    : `${winners.join(" and ")} ${winners.length > 1 ? "win" : "wins"}${how}`;
  return `${result}.${reason && termination !== "draw_agreed" ? ` ${reason}` : ""}`;
}

function setOutcome(outcome) {
  match.outcome = outcome;
  match.status = "finished";
  match.clocks = [];
  view.outcome.textContent = sentence(outcome);
}

/** `mover`: whose clock starts with this message, if none is said to run. */
function setClocks(clocks, mover = null) {
  if (!clocks?.length) return;
  const runs = clocks.some((clock) => clock.running);
  match.clocks = runs ? clocks : clocks.map((clock) => ({ ...clock, running: (clock.seat ?? 0) === mover }));
  match.clocksAt = performance.now();
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
    const node = html("button", { type: "button", "data-request": type }, text);
    node.addEventListener("click", () => {
      if (type !== "resign" || node.dataset.sure) {
        connection?.send({ type, match: id });
        setState(type === "offer_draw" ? "You have offered a draw." : "");
        return;
      }
      node.dataset.sure = "1";
      node.textContent = "Really resign?";
    });
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
  showOwn();
}

// --------------------------------------------------------------------------- the server

async function ask(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

/** Fetch the positions from ply `first` on, and all events with them if that is the start. */
async function fetchScenes(first) {
  const seen = match.seenBy;
  const seat = seen === null ? "" : `&seat=${seen}`;
  const events = [];
  let open = false;
  for (let next = first, plies = first; next <= plies;) {
    const part = await ask(`${api}/replay?first=${next}${seat}`);
    if (seen !== match.seenBy) return;
    for (const frame of part.frames) {
      match.scenes[frame.ply] = frame.scene;
      events.push(...frame.events);
    }
    open = part.open;
    plies = part.plies;
    next = part.frames.length ? part.frames.at(-1).ply + 1 : plies + 1;
  }
  if (first === 0) setEvents(events);
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

/** Ask for everything that is known of the match; true if it is over. */
async function fetchAll() {
  const header = await ask(api);
  match.seats = header.seats;
  match.status = header.status;
  if (header.status === "finished") {
    setOutcome({ ...header, returns: header.seats.map((seat) => seat.returned ?? 0) });
    showRecord();
  }
  await fetchScenes(0);
  if (match.follow) match.at = last();
  show();
  return header.status === "finished";
}

function showRecord() {
  const link = document.getElementById("record");
  if (link && !link.hasChildNodes()) link.append(" \u00b7 ", html("a", { href: `${api}/record` }, "Record"));
}

async function load() {
  try {
    const over = await fetchAll();
    loading.well();
    if (!over && !connection) connection = new Connection(endpoint(), onMessage, setState, identity());
  } catch {
    loading.failed();
  }
}

/** Who is at this page: a person who has begun to play in this tab, or a spectator. */
function identity() {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { token, takeover: true, updates: true } : {};
}

function setScene(scene, ply) {
  if (scene) match.scenes[ply] = scene;
  if (match.follow) match.at = last();
}

async function snapshot(found) {
  match.seats = found.players.map((player, seat) => ({ ...player, seat }));
  match.status = found.status ?? "running";
  setScene(found.scene, found.ply ?? 0);
  setEvents(found.events ?? []);
  setClocks(found.clocks);
  if (found.outcome) over(found.outcome);
  const missing = Array.from(match.scenes).findIndex((scene) => !scene);
  if (missing >= 0) {
    try { await fetchScenes(Math.max(1, missing)); } catch { loading.failed(); }
  }
  show();
}

function over(outcome) {
  setOutcome({ ...outcome, returns: outcome.returns ?? [] });
  match.turn = null;
  connection?.close();
  connection = null;
  setState("");
  showOwn();
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
      setClocks(message.clocks, match.seat);
      match.turn = message.ply ?? 0;
      match.follow = true;
      setScene(message.scene, match.turn);
      show();
      showOwn();
      break;
    case "accepted":
      addEvents(message.events ?? []);
      setClocks(message.clocks);
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
      setClocks(message.clocks, message.scene?.seat_to_move);
      setScene(message.scene, message.ply ?? 0);
      show();
      showOwn();
      break;
    case "finished":
      addEvents(message.events ?? []);
      over(message.outcome);
      break;
    case "lost": // how the clocks go on is not known here
      match.clocks = match.clocks.map((clock) => ({ ...clock, running: false }));
      showSeats();
      break;
    case "notice":
      setState(message.message);
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
      } else if (message.code.startsWith("auth/") && message.fatal) { // then only watch
        sessionStorage.removeItem(TOKEN);
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

function setState(text) {
  if (view.state.textContent !== text) view.state.textContent = text;
}

let connection = null;
const loading = new Backoff(load, setState);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches?.("input, select")) return;
  const targets = { ArrowLeft: match.at - 1, ArrowRight: match.at + 1, Home: 0, End: last() };
  if (event.key in targets) {
    go(targets[event.key]);
    event.preventDefault();
  }
});
setInterval(() => { if (match.clocks.some((clock) => clock.running)) showSeats(); }, 100);
layOut();
load();
