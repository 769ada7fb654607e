// The ply in the address of the page, so that a link leads to it.

import { last, match, mode } from "./state.js";

const SOON = 250; // ms: browsers refuse when the address changes too often

const hashed = () => (match.at === last() ? "" : `#${match.at}`);

/**
 * The address of the position on another page of this server.
 * @param {string} path
 */
export const link = (path) => new URL(`${path}${hashed()}`, location.href).href;

/** @type {number | undefined} */
let timer;

/** Write where one is into the address. */
export function address() {
  if (mode === "projector") return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    const hash = hashed();
    if (location.hash !== hash) history.replaceState(null, "", location.pathname + location.search + hash);
  }, SOON);
}

/** The ply that the address names; null if it names none. */
export function fromAddress() {
  const ply = Number(location.hash.slice(1));
  return location.hash.length > 1 && Number.isInteger(ply) && ply >= 0 ? ply : null;
}

/** Reports and older links name the ply by `?ply=12`: the address has it as `#12` from then on. */
export function asHash() {
  const kept = new URLSearchParams(location.search);
  const ply = kept.get("ply");
  if (mode === "projector" || ply === null) return;
  kept.delete("ply");
  const rest = kept.toString();
  const hash = location.hash || (/^\d+$/.test(ply) ? `#${Number(ply)}` : "");
  history.replaceState(null, "", `${location.pathname}${rest ? `?${rest}` : ""}${hash}`);
}

/** Write another match of the projector into the address. */
export function enterAddress() {
  const kept = new URLSearchParams(location.search);
  kept.set("match", match.id);
  history.replaceState(null, "", `${location.pathname}?${kept}`);
}
