/** Colyseus with a room of connect four. It stores nothing of what is played. */

import { Room, Server } from "@colyseus/core";
import { schema, t } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";

import { empty, landing, wins } from "./rules.mjs";

const Board = schema({
  cells: t.array("int8"),
  ply: t.uint8(),
  over: t.boolean(),
  winner: t.int8(),
});

class ConnectFour extends Room {
  maxClients = 2;
  /** No timer: each move is sent at once, where the default waits for up to 50 ms. */
  patchRate = null;
  seats = [];

  onCreate() {
    const board = new Board();
    board.cells.push(...empty());
    board.ply = 0;
    board.over = false;
    board.winner = -1;
    this.setState(board);
    this.onMessage("drop", (client, column) => this.drop(this.seats.indexOf(client.sessionId), column));
  }

  onJoin(client) {
    this.seats.push(client.sessionId);
    if (this.seats.length === 2) this.broadcast("begin");
  }

  drop(seat, column) {
    const { state } = this;
    const cells = state.cells.toArray();
    const cell = landing(cells, column);
    if (state.over || seat !== state.ply % 2 || cell < 0) return;
    cells[cell] = seat;
    state.cells[cell] = seat;
    state.ply += 1;
    if (wins(cells, cell)) state.winner = seat;
    state.over = state.winner >= 0 || state.ply === cells.length;
    this.broadcastPatch();
  }
}

const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define("connect_four", ConnectFour);
await server.listen(0, "127.0.0.1");
console.log(`http://127.0.0.1:${server.transport.server.address().port}`);
