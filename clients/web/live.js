// Keeps the parts of a page that are marked data-live as the server would write them now.
// The server alone knows how its tables look: this asks for the page again and takes them over.

import { Backoff } from "./backoff.js";
import { localTimes } from "./dom.js";

const EVERY = 2000;
const state = document.getElementById("state");
let timer = null;

function takeOver(fresh) {
  for (const part of document.querySelectorAll("[data-live]")) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    localTimes(other);
    if (part.isEqualNode(other)) continue;
    const focused = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
    part.replaceChildren(...other.childNodes);
    if (focused) part.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
}

async function refresh() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!response.ok) throw new Error(String(response.status));
    takeOver(new DOMParser().parseFromString(await response.text(), "text/html"));
    backoff.well();
    timer = setTimeout(refresh, EVERY);
  } catch {
    backoff.failed();
  }
}

const backoff = new Backoff(refresh, (text) => { if (state.textContent !== text) state.textContent = text; });
document.addEventListener("visibilitychange", refresh);
localTimes(document);
timer = setTimeout(refresh, EVERY);
