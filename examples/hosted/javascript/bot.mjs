// A hosted bot in JavaScript: protocol v1 as lines of JSON on standard input and output.
//
// Who we are and our token are filled in by the runner, which also answers pings for us.  What is
// written to standard error is kept for the author.

import { createInterface } from "node:readline";
import { randomBytes } from "node:crypto";

let lastId = 0;

function say(type, fields) {
  process.stdout.write(JSON.stringify({ type, id: ++lastId, ...fields }) + "\n");
}

/** Columns in the middle take part in most lines; anywhere else, the first is as good as any. */
function choose(legal) {
  return legal[Math.floor(legal.length / 2)];
}

function enter(snapshot) {
  if (snapshot.seat === undefined || snapshot.seat === null || snapshot.outcome) return;
  if ((snapshot.status ?? "waiting") === "waiting") {
    say("ready", { match: snapshot.match, nonce: randomBytes(16).toString("hex") });
  } else if (snapshot.your_turn) {
    play(snapshot.match, snapshot.ply ?? 0, snapshot.observation);
  }
}

function play(match, ply, observation) {
  say("act", { match, ply, action: choose(observation.legal) });
}

say("hello", { client: "javascript-hosted/1.0", max_matches: 4 });

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  switch (message.type) {
    case "welcome":
      for (const snapshot of message.matches ?? []) enter(snapshot);
      break;
    case "match":
      enter(message.snapshot);
      break;
    case "turn":
      play(message.match, message.ply ?? 0, message.observation);
      break;
    case "error":
      process.stderr.write(`${message.code}: ${message.message}\n`);
      break;
    default: // accepted, update, finished ... and what a newer server adds
  }
}
