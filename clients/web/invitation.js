// A private challenge: a link, and its QR code, to send to a friend.
// If you open the link, your browser seeks with the same secret, and the server pairs the two seeks.

import { copying } from "./copying.js";
import { html } from "./dom.js";

/** @typedef {import("./session.js").Terms} Terms */

/** The address that invites to a match. @param {Terms} terms */
export function invitationLink({ game, time_control: time, invitation = "", players = 2 }) {
  const query = new URLSearchParams({ invite: invitation, game, time, ...(players === 2 ? {} : { players: String(players) }) });
  return new URL(`/play?${query}`, location.href).href;
}

/** The terms of the invitation in the address of this page; null if there is none. @returns {Terms | null} */
export function invited() {
  const search = new URLSearchParams(location.search);
  const [invitation, game, time] = ["invite", "game", "time"].map((name) => search.get(name) ?? "");
  const players = Number(search.get("players") ?? 2);
  return invitation && game && time ? { invitation, game, time_control: time, players, rated: false } : null;
}

/** What to send to the one who is invited. @param {Terms} terms */
export function invitation(terms) {
  const link = invitationLink(terms);
  const { row, field } = copying("Send this link. The match begins when your friend presses Play.", "invitation");
  field.value = link;
  const code = html("div", { class: "code" });
  import("./qr.js").then(({ qrCode }) => code.append(qrCode(link, "QR code of the link")), () => {}); // the link is enough
  return html("div", { class: "invitation" }, row, code);
}
