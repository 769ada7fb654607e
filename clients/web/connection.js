// Protocol v1 over JSON: one connection that comes back by itself.

const SUBPROTOCOL = "plyhouse.v1+json";
const SLOWEST = 15_000;

/** Keeps a spectator's connection open and hands over every message. */
export class Connection {
  /**
   * `onMessage(message)` gets what the server sends, `onState(text)` what to tell people.
   * Without a token the server may let us watch all the same, or refuse with an error `auth/...`.
   */
  constructor(url, token, onMessage, onState) {
    this.url = url;
    this.token = token;
    this.onMessage = onMessage;
    this.onState = onState;
    this.number = 0;
    this.failures = 0;
    this.over = false;
    this.open();
  }

  open() {
    this.onState("connecting");
    this.socket = new WebSocket(this.url, SUBPROTOCOL);
    this.socket.addEventListener("open", () => this.send({ type: "hello", token: this.token, client: "plyhouse-web", scenes: true, takeover: true }));
    this.socket.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    this.socket.addEventListener("close", () => this.lost());
  }

  receive(message) {
    if (message.type === "ping") {
      this.socket.send(JSON.stringify({ type: "pong", re: message.id }));
      return;
    }
    if (message.type === "welcome") {
      this.failures = 0;
      this.onState("");
    }
    this.onMessage(message);
  }

  lost() {
    if (this.over) return;
    const wait = Math.min(SLOWEST, 500 * 2 ** this.failures) * (0.5 + Math.random() / 2);
    this.failures += 1;
    this.onState("connection lost, trying again");
    setTimeout(() => this.open(), wait);
  }

  /** Send a request; returns its number. */
  send(message) {
    this.number += 1;
    this.socket.send(JSON.stringify({ ...message, id: this.number }));
    return this.number;
  }

  /** Leave for good. */
  close() {
    this.over = true;
    this.socket.close(1000);
  }
}

/** The address of the server's websocket, seen from this page. */
export function endpoint() {
  const url = new URL("/ws", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
