// Opens the socket of a running match while the script of its page is on its way, since a handshake takes two
// round trips. A script of its own, no module. connection.js takes the socket over; if it was faster, none is needed.

if (!("early" in globalThis)) {
  const url = new URL("/ws", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  Object.assign(globalThis, { early: new WebSocket(url, "plyhouse.v1+json") });
}
