/** boardgame.io with connect four: `node boardgame_server.mjs [FOLDER]`, which stores files there. */

import { createRequire } from "node:module";

import { empty, landing, wins } from "./rules.mjs";

const require = createRequire(import.meta.url);
const { FlatFile, Server } = require("boardgame.io/server");
const { INVALID_MOVE } = require("boardgame.io/core");

const game = {
  name: "connect_four",
  minPlayers: 2,
  maxPlayers: 2,
  setup: () => ({ board: empty(), ply: 0, winner: null }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    drop({ G, playerID }, column) {
      const cell = landing(G.board, column);
      if (cell < 0) return INVALID_MOVE;
      G.board[cell] = Number(playerID);
      G.ply += 1;
      if (wins(G.board, cell)) G.winner = Number(playerID);
    },
  },
  endIf({ G }) {
    if (G.winner !== null || G.ply === G.board.length) return { winner: G.winner };
  },
};

console.info = () => {};
const folder = process.argv[2];
const db = folder ? new FlatFile({ dir: folder }) : undefined;
const server = Server({ games: [game], db, origins: ["http://127.0.0.1"] });
const { appServer } = await server.run({ port: 0, callback: () => {} });
console.log(`http://127.0.0.1:${appServer.address().port}`);
