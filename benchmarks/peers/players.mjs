/**
 * Plays matches of connect four on a server, several at a time; settings come as JSON on standard
 * input. A line says when everybody is connected, the next one has figures as JSON.
 *
 * settings: `peer`, `url`, `token` (of Plyhouse), `tables` at a time, `pace` in ms between plies,
 * and `matches`: for each the columns of its `moves`, and its `winner` (0, 1 or null).
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { Client } from "@colyseus/sdk";
import { Packr } from "msgpackr";
import WebSocket from "ws";

const require = createRequire(import.meta.url);
const { io } = require("socket.io-client");

const packr = new Packr({ useRecords: false });
const settings = JSON.parse(readFileSync(0, "utf8"));
const latencies = [];
let plies = 0;

/** Two players, who play one match after the other. */
class Table {
  /** Connect both; a subclass may do that for each match. */
  async open() {}

  /** Seat both and let them hear of the first turn. */
  async begin() {}

  /** Send the action of a seat. */
  send(_seat, _column, _ply) {}

  /** The match is over: leave what belongs to it. */
  async end() {}

  close() {}

  async play(match) {
    this.match = match;
    this.turn = -1;
    this.over = [null, null];
    const over = new Promise((resolve) => (this.resolve = resolve));
    await this.begin();
    await over;
    await this.end();
    plies += match.moves.length;
  }

  /** A seat hears that so many plies have been played; the one to move answers. */
  heard(seat, ply) {
    if (ply <= this.turn || seat !== ply % 2 || ply >= this.match.moves.length) return;
    this.turn = ply;
    if (ply > 0) latencies.push(performance.now() - this.sent);
    if (settings.pace) setTimeout(() => this.act(seat, ply), settings.pace);
    else this.act(seat, ply);
  }

  act(seat, ply) {
    this.sent = performance.now();
    this.send(seat, this.match.moves[ply], ply);
  }

  /** A seat hears how the match ended. */
  ended(seat, winner) {
    if (winner !== this.match.winner) fail(`${winner} won, and not ${this.match.winner}`);
    this.over[seat] = true;
    if (this.over[0] && this.over[1]) this.resolve();
  }
}

class PlyhouseTable extends Table {
  async open() {
    this.number = 0;
    this.sockets = await Promise.all([0, 1].map((end) => this.connect(end)));
  }

  connect(end) {
    const url = `${settings.url.replace("http", "ws")}/ws`;
    const socket = new WebSocket(url, "plyhouse.v1+msgpack", { perMessageDeflate: false });
    const bot = `${this.name}-${end}`;
    return new Promise((resolve) => {
      const say = (type, more) => socket.send(packr.pack({ type, id: ++this.number, ...more }));
      const hello = { token: settings.token, bot, max_matches: 1, takeover: true };
      socket.on("open", () => say("hello", hello));
      socket.on("message", (data) => {
        const message = packr.unpack(data);
        switch (message.type) {
          case "welcome":
            resolve({ say, close: () => socket.close() });
            break;
          case "match":
            this.seats[message.snapshot.seat] = end;
            this.id = message.snapshot.match;
            if (message.snapshot.status === "waiting") say("ready", { match: this.id });
            break;
          case "turn":
            this.heard(this.seats.indexOf(end), message.ply);
            break;
          case "finished": {
            const [first, second] = message.outcome.returns;
            const winner = first === second ? null : first > second ? 0 : 1;
            this.ended(this.seats.indexOf(end), winner);
            break;
          }
          case "ping":
            socket.send(packr.pack({ type: "pong", re: message.id }));
            break;
          case "error":
            fail(JSON.stringify(message));
        }
      });
    });
  }

  async begin() {
    this.seats = [];
    const seek = { game: "connect_four", time_control: "total:600+1", count: 1 };
    for (const each of this.sockets) each.say("seek", { ...seek, invitation: this.name });
  }

  send(seat, column, ply) {
    const action = String(column + 1);
    this.sockets[this.seats[seat]].say("act", { match: this.id, ply, action });
  }

  close() {
    for (const each of this.sockets) each.close();
  }
}

class BoardgameTable extends Table {
  async open() {
    const url = `${settings.url}/connect_four`;
    this.sockets = [0, 1].map((seat) => {
      const socket = io(url, { transports: ["websocket"], forceNew: true });
      const news = (id, state) => {
        if (id !== this.id) return;
        this.state = state._stateID;
        this.heard(seat, state.G.ply);
        if (state.ctx.gameover) this.ended(seat, state.ctx.gameover.winner);
      };
      socket.on("sync", (id, sync) => {
        if (id !== this.id) return;
        this.state = sync.state._stateID;
        this.synced += 1;
        if (this.synced === 2) this.heard(0, 0);
      });
      socket.on("update", news);
      return socket;
    });
    await Promise.all(this.sockets.map((each) => new Promise((done) => each.on("connect", done))));
  }

  async begin() {
    this.synced = 0;
    this.state = 0;
    const lobby = `${settings.url}/games/connect_four`;
    this.id = (await post(`${lobby}/create`, { numPlayers: 2 })).matchID;
    const join = (seat) => post(`${lobby}/${this.id}/join`, { playerID: `${seat}`, playerName: "p" });
    this.keys = [];
    for (const seat of [0, 1]) this.keys.push((await join(seat)).playerCredentials);
    this.sockets.forEach((each, seat) => each.emit("sync", this.id, `${seat}`, this.keys[seat], 2));
  }

  send(seat, column) {
    const payload = { type: "drop", args: [column], playerID: `${seat}`, credentials: this.keys[seat] };
    const action = { type: "MAKE_MOVE", payload };
    this.sockets[seat].emit("update", action, this.state, this.id, `${seat}`);
  }

  close() {
    for (const each of this.sockets) each.close();
  }
}

class ColyseusTable extends Table {
  async open() {
    this.client = new Client(settings.url);
  }

  async begin() {
    const first = await this.client.create("connect_four");
    const begun = new Promise((resolve) => first.onMessage("begin", resolve));
    const second = await this.client.joinById(first.roomId);
    this.rooms = [first, second];
    second.onMessage("begin", () => {});
    this.rooms.forEach((room, seat) => {
      room.onStateChange((state) => {
        if (state.over && !this.over[seat]) this.ended(seat, state.winner < 0 ? null : state.winner);
        else if (state.ply > 0) this.heard(seat, state.ply);
      });
    });
    await begun;
    this.heard(0, 0);
  }

  send(seat, column) {
    this.rooms[seat].send("drop", column);
  }

  async end() {
    await Promise.all(this.rooms.map((room) => room.leave()));
  }
}

async function post(url, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) fail(`${url}: ${answer.status}`);
  return answer.json();
}

function fail(why) {
  console.error(`${settings.peer}: ${why}`);
  process.exit(1);
}

const KINDS = { plyhouse: PlyhouseTable, boardgame: BoardgameTable, colyseus: ColyseusTable };
const queue = [...settings.matches];
const tables = await Promise.all(
  Array.from({ length: Math.min(settings.tables, queue.length) }, async (_, number) => {
    const table = new KINDS[settings.peer]();
    table.name = `table${number}`;
    await table.open();
    return table;
  }),
);
console.log("connected");
const begun = performance.now();
await Promise.all(
  tables.map(async (table) => {
    for (let match = queue.shift(); match; match = queue.shift()) await table.play(match);
  }),
);
const seconds = (performance.now() - begun) / 1000;
for (const table of tables) table.close();
process.stdout.write(`${JSON.stringify({ plies, seconds, latencies })}\n`, () => process.exit());
