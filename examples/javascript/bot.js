#!/usr/bin/env node
// A complete Plyhouse bot: protocol v1 over the subprotocol plyhouse.v1+json.
//
//   node bot.js --server http://127.0.0.1:8765 --token ply_... --bot javascript
//       --seek connect_four --time-control move:2 --matches 1
//   node bot.js --stdio    speaks by lines on standard input and output
//
// Exit codes: 0 all matches played, 1 no server or no such seek, 2 wrong options, 4 refused.

import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { choose } from "./player.js";

const SUBPROTOCOL = "plyhouse.v1+json";
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const OPEN = 1; // state of a websocket
const FIRST_ATTEMPTS = 6; // to connect at all; once it has worked, there is no end to them

/** Codes of errors after which connecting again is of no use. */
const REFUSED = new Set([
  "auth/bad_token", "auth/revoked", "auth/disabled", "auth/scope", "auth/bad_name", "auth/limit",
  "auth/already_connected", "auth/replaced", "protocol/version",
]);

class Bot {
  constructor(options) {
    this.options = options;
    this.session = "";         // from welcome: lets us take up where we were
    this.welcomed = false;     // whether any connection has ever worked
    this.failures = 0;         // attempts to connect since the last welcome
    this.matches = new Map();  // id -> snapshot of the matches we are in
    this.over = new Set();     // ids of the matches that we have counted
    this.seekId = null;        // our open seek, if any
    this.leaving = false;
  }

  reset() {
    this.requests = new Map(); // id -> { message, onAnswer }: what is not answered yet
    this.lastId = 0;
    this.silenceMs = 9_000;
    this.seekId = null;        // the server withdraws seeks of a lost connection
  }

  /** Play by lines, as programs do that a server hosts, until the input ends. */
  async serve() {
    this.reset();
    this.hello();
    for await (const line of createInterface({ input: process.stdin })) {
      this.receive(JSON.parse(line));
    }
  }

  async connect() {
    const { default: WebSocket } = await import("ws");
    this.reset();
    this.socket = new WebSocket(this.options.url, [SUBPROTOCOL], {
      perMessageDeflate: false,
      handshakeTimeout: 10_000,
    });
    this.socket.on("open", () => this.hello());
    this.socket.on("message", (data) => this.receive(JSON.parse(data.toString())));
    this.socket.on("error", (error) => { this.problem = error.message || error.code; });
    this.socket.on("close", (code, reason) => this.closed(code, reason.toString()));
    this.listen();
  }

  // ---------------------------------------------------------------- requests and answers

  /** Send a request; `onAnswer` gets the one message whose `re` is our id. */
  request(type, fields, onAnswer = () => {}) {
    const message = { type, id: ++this.lastId, ...fields };
    this.requests.set(message.id, { message, onAnswer });
    this.send(message);
  }

  send(message) {
    if (this.options.stdio) process.stdout.write(`${JSON.stringify(message)}\n`);
    else this.socket.send(JSON.stringify(message));
  }

  /** A server that says nothing for two heartbeats and a second is gone: it pings every one. */
  listen() {
    clearTimeout(this.watch);
    if (this.options.stdio) return;
    this.watch = setTimeout(() => {
      this.problem = "the server fell silent";
      this.socket.terminate();
    }, this.silenceMs);
  }

  receive(message) {
    this.listen();
    const request = this.requests.get(message.re);
    if (request) {
      this.requests.delete(message.re);
      request.onAnswer(message);
    }
    switch (message.type) {
      case "welcome": return this.welcome(message);
      case "ping": return this.send({ type: "pong", re: message.id });
      case "match": return this.enter(message.snapshot);
      case "turn": return this.play(message.match, message.ply, message.observation);
      case "finished": return this.finished(message.match, message.outcome);
      case "challenged":
        // We play the games that we seek; `games` in hello says so, but organisers may differ.
        // The challenger chooses the clock, so rated matches come by our own seeks only.
        return this.request("answer", { challenge: message.challenge, accept: !message.rated });
      case "error": return this.refused(message, request?.message);
      case "notice": return log(`notice ${message.code}: ${message.message}`);
      default: return undefined; // accepted, update, revealed ... and what a newer server adds
    }
  }

  // ---------------------------------------------------------------------------- hello, bye

  hello() {
    const { token, bot, seek } = this.options;
    this.request("hello", {
      token,
      bot,
      games: seek ? [seek] : [],
      client: "javascript-example/1.0",
      session: this.session,
      // The server may not have noticed yet that our old connection is gone.
      takeover: this.welcomed,
    });
  }

  welcome(message) {
    log(`${this.welcomed ? "resumed" : "connected"} as ${message.player}/${message.bot ?? ""}`);
    this.session = message.session;
    this.welcomed = true;
    this.failures = 0;
    this.silenceMs = 2 * message.heartbeat_ms + 1_000;
    const running = message.matches ?? [];
    const missed = [...this.matches.keys()].filter((id) => !running.some((m) => m.match === id));
    // Everything is in the snapshots: a lost turn or a lost answer needs no care of its own.
    for (const snapshot of running) this.enter(snapshot);
    for (const match of missed) this.catchUp(match);
    this.seek();
  }

  /** Ask for more matches, unless enough are played or being played. */
  seek() {
    const { seek, timeControl, rated, matches } = this.options;
    const missing = matches - this.over.size - this.matches.size;
    if (!seek || this.seekId !== null || (matches > 0 && missing <= 0)) return;
    this.seekId = "";
    this.request(
      "seek",
      { game: seek, time_control: timeControl, rated, count: matches > 0 ? missing : 0 },
      (answer) => {
        if (answer.type === "error") quit(1, `cannot seek ${seek}: ${answer.message}`);
        this.seekId = answer.seek;
        log(`seeking ${seek} at ${timeControl}`);
      },
    );
  }

  bye() {
    this.leaving = true;
    this.request("bye", {});
  }

  // ------------------------------------------------------------------------------- matches

  /** Take a match as the server shows it: when it begins, after a reconnect, after `sync`. */
  enter(snapshot) {
    if (this.over.has(snapshot.match)) return;
    if (snapshot.status === "finished") {
      this.matches.set(snapshot.match, snapshot);
      this.finished(snapshot.match, snapshot.outcome);
      return;
    }
    if (!this.matches.has(snapshot.match)) {
      const names = snapshot.players.map((each) => each.player).join(" against ");
      log(`match ${snapshot.match}: ${snapshot.game}, ${names}, we have seat ${snapshot.seat}`);
    }
    this.matches.set(snapshot.match, snapshot);
    if (snapshot.status === "waiting") {
      // Our part of the randomness: with it, the server alone cannot choose the dice.
      this.request("ready", { match: snapshot.match, nonce: randomBytes(16).toString("hex") });
    } else if (snapshot.your_turn) {
      this.play(snapshot.match, snapshot.ply, snapshot.observation);
    }
  }

  play(match, ply, observation) {
    const { game } = this.matches.get(match);
    const action = choose(game, observation);
    this.request("act", { match, ply: ply ?? 0, action });
  }

  /** A match of ours that is not in `welcome`: it ended while we were away. */
  catchUp(match) {
    this.request("sync", { match }, (answer) => {
      if (answer.type === "error") this.finished(match, { termination: "unknown", returns: [] });
    });
  }

  finished(match, outcome) {
    const snapshot = this.matches.get(match);
    if (!snapshot || this.over.has(match)) return;
    this.matches.delete(match);
    this.over.add(match);
    const won = outcome.returns[snapshot.seat];
    log(`finished ${match}: ${outcome.termination}, we got ${won ?? "?"}. ${outcome.reason ?? ""}`);
    const { matches } = this.options;
    if (matches > 0 && this.over.size >= matches && this.matches.size === 0) this.bye();
  }

  refused(error, request) {
    if (error.fatal) {
      this.problem = error.message;
      if (REFUSED.has(error.code)) quit(4, `${error.code}: ${error.message}`);
    } else if (request?.type === "hello") {
      if (!this.welcomed) quit(4, `${error.code}: ${error.message}`);
      this.problem = `${error.code}: ${error.message}`;
      this.socket.close(); // the server lacks its database, say: our matches wait
    } else if (request?.type !== "seek" && request?.type !== "sync") {
      // A late answer to a turn that is over, for instance: a new turn or `finished` follows.
      log(`refused ${request?.type ?? "a frame"}: ${error.code}: ${error.message}`);
    }
  }

  // ----------------------------------------------------------------------------- reconnect

  closed(code, reason) {
    clearTimeout(this.watch);
    if (this.leaving) quit(0, "all matches played");
    this.failures += 1;
    const why = reason || this.problem || `code ${code}`;
    this.problem = undefined;
    if (!this.welcomed && this.failures >= FIRST_ATTEMPTS) {
      quit(1, `no Plyhouse server at ${this.options.url}: ${why}`);
    }
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.failures - 1));
    const wait = longest * (0.5 + 0.5 * Math.random()); // not all clients at the same moment
    log(`connection lost (${why}); next attempt in ${Math.round(wait)} ms`);
    setTimeout(() => this.connect(), wait);
  }
}

function log(text) {
  // With --stdio, standard output has the messages.
  (options?.stdio ? process.stderr : process.stdout).write(`${text}\n`);
}

function quit(code, text) {
  log(text);
  process.exit(code);
}

/** `http://host:port`, `ws://host:port` or the whole address of the endpoint. */
function endpoint(server) {
  const url = new URL(server.includes("://") ? server : `http://${server}`);
  url.protocol = { "https:": "wss:", "wss:": "wss:" }[url.protocol] ?? "ws:";
  if (url.pathname === "/") url.pathname = "/ws";
  return url.href;
}

const USAGE = `usage: node bot.js --server URL --token TOKEN --seek GAME [--rated] [--bot NAME]
                   [--time-control T] [--matches N]
       node bot.js --stdio`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      server: { type: "string", default: process.env.PLYHOUSE_SERVER ?? "http://127.0.0.1:8765" },
      token: { type: "string", default: process.env.PLYHOUSE_TOKEN ?? "" },
      bot: { type: "string", default: "javascript" },
      seek: { type: "string", default: "" },
      "time-control": { type: "string", default: "move:2" },
      rated: { type: "boolean", default: false },
      matches: { type: "string", default: "0" }, // 0: until interrupted
      stdio: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) quit(0, USAGE);
  if (!values.token && !values.stdio) throw new Error("give the token of your player with --token");
  if (!/^\d+$/.test(values.matches)) throw new Error("--matches takes a number");
  return {
    url: endpoint(values.server),
    token: values.token,
    bot: values.bot,
    seek: values.seek,
    timeControl: values["time-control"],
    rated: values.rated,
    matches: Number(values.matches),
    stdio: values.stdio,
  };
}

let options;
try {
  options = readOptions();
} catch (error) {
  quit(2, error.message);
}
const bot = new Bot(options);
process.once("SIGINT", () => {
  if (bot.socket?.readyState === OPEN) bot.bye();
  else quit(0, "stopped");
});
if (options.stdio) await bot.serve();
else await bot.connect();
