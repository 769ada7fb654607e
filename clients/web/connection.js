// Protocol v1 over JSON, for spectators and persons: one connection that reconnects.

import { Backoff } from "./backoff.js";

const SUBPROTOCOL = "plyhouse.v1+json";
const PATIENCE = 3; // heartbeats of silence after which the server counts as gone

/**
 * @typedef {Messages.ServerMessage | {type: "lost"}} Message `lost`: the connection was, and is tried again
 * @typedef {Partial<Messages.Hello>} Identity further fields of the hello, such as `signed_in`
 * @typedef {Messages.ClientMessage extends infer M ? M extends {id: number} ? Omit<M, "id"> : never : never} Request what is asked; it gets its number here
 */

/**
 * The socket that early.js has opened for this page, once; null if there is none that can be used.
 * @param {string} url
 */
function openedEarly(url) {
  const page = /** @type {{early?: WebSocket | null}} */ (globalThis);
  const socket = page.early;
  page.early = null;
  return socket && socket.url === url && socket.readyState <= WebSocket.OPEN ? socket : null;
}

/** Keeps a connection open and hands over every message. */
export class Connection {
  /**
   * @param {string} url
   * @param {(message: Message) => void} onMessage gets what the server sends
   * @param {(text: string, now?: () => void) => void} onState gets what to tell people
   * @param {Identity | Promise<Identity>} identity without one may only watch; who promises one learns of a failure
   */
  constructor(url, onMessage, onState, identity = {}) {
    this.url = url;
    this.identity = identity;
    this.onMessage = onMessage;
    this.number = 0;
    this.over = false;
    /** @type {number | undefined} */
    this.silence = undefined;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.patience = 10_000;
    this.backoff = new Backoff(() => this.open(), onState);
    this.open();
  }

  open() {
    // A socket that was given up may still report its end: only the latest one counts.
    const socket = this.socket = openedEarly(this.url) ?? new WebSocket(this.url, SUBPROTOCOL);
    /** @type {<E extends unknown[]>(act: (...given: E) => void) => (...given: E) => void} */
    const mine = (act) => (...given) => { if (socket === this.socket && !this.over) act(...given); };
    const introduce = (/** @type {Identity} */ who) => this.send({ type: "hello", token: "", client: "plyhouse-web", scenes: true, ...who });
    const begin = () => Promise.resolve(this.identity).then((who) => mine(() => introduce(who))(), () => {});
    if (socket.readyState === WebSocket.OPEN) begin();
    else socket.addEventListener("open", begin);
    socket.addEventListener("message", mine((/** @type {MessageEvent} */ event) => this.receive(JSON.parse(event.data))));
    socket.addEventListener("close", mine(() => this.lost()));
    this.heard();
  }

  /** @param {Messages.ServerMessage} message */
  receive(message) {
    this.heard();
    if (message.type === "ping") {
      this.socket?.send(JSON.stringify({ type: "pong", re: message.id }));
      return;
    }
    if (message.type === "welcome") {
      if (message.heartbeat_ms) this.patience = PATIENCE * message.heartbeat_ms;
      this.backoff.well();
    }
    this.onMessage(message);
  }

  heard() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.lost(), this.patience);
  }

  lost() {
    clearTimeout(this.silence);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.onMessage({ type: "lost" });
    this.backoff.failed();
  }

  /**
   * Send a request; returns its number, or 0 while there is no connection.
   * @param {Request} message
   */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return 0;
    this.number += 1;
    this.socket.send(JSON.stringify({ ...message, id: this.number }));
    return this.number;
  }

  /** Leave for good. */
  close() {
    this.over = true;
    clearTimeout(this.silence);
    this.backoff.stop();
    this.socket?.close(1000);
  }
}

/** The address of the server's websocket, seen from this page. */
export function endpoint() {
  const url = new URL("/ws", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

/** A secret that nobody guesses: 128 bits, as hexadecimal digits. */
export function newSecret() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
