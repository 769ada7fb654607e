// Making elements: text is always set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | null | undefined} Child
 * @typedef {Record<string, string | number | boolean | null | undefined>} Attributes null, undefined and false: it has none
 */

/**
 * @template {Element} T
 * @param {T} node
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat().flatMap((child) => {
    if (child === null || child === undefined) return [];
    return typeof child === "number" ? String(child) : child;
  }));
  return node;
}

/**
 * An HTML element with attributes and children (nodes or text).
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * The element with an id that the page is known to have; raises an error that names it otherwise.
 * @template {HTMLElement} T
 * @overload
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
/**
 * @overload
 * @param {string} id
 * @returns {HTMLElement}
 */
/**
 * @param {string} id
 * @param {new () => HTMLElement} kind
 */
export function byId(id, kind = HTMLElement) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`this page has no ${kind.name} called ${id}`);
  return found;
}

/**
 * The fields of a form as texts.
 * @param {HTMLFormElement} form
 * @returns {Record<string, string>}
 */
export function fields(form) {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

/**
 * Return the message of an error.
 * @param {unknown} error
 */
export function words(error) {
  return error instanceof Error ? error.message : String(error);
}

/** The fields of forms that errors are about. @type {{[code: string]: string}} */
const FIELDS = {
  "auth/bad_name": "player", "auth/name_taken": "player",
  "storage/bad_name": "player", "storage/exists": "player", "storage/display_taken": "player",
  "competition/name_needed": "player", "competition/account_taken": "player", "competition/account_exists": "player",
  "competition/code_unknown": "code", "competition/code_revoked": "code", "competition/code_expired": "code", "competition/code_used_up": "code",
};

/**
 * Shows an error at the field that it is about, until the field changes; false if it is about none.
 * @param {HTMLFormElement} form
 * @param {unknown} error
 */
export function showAtField(form, error) {
  const field = error instanceof Error && "code" in error ? FIELDS[String(error.code)] : undefined;
  const input = field ? form.elements.namedItem(field) : null;
  if (!(input instanceof HTMLInputElement) || !input.checkVisibility()) return false;
  const id = `${input.id}-wrong`;
  input.focus();
  const there = document.getElementById(id);
  if (there) {
    write(there, words(error));
    return true;
  }
  const note = html("span", { id, class: "warn", role: "alert" }, words(error));
  input.after(note);
  const described = input.getAttribute("aria-describedby");
  input.setAttribute("aria-describedby", [id, described].filter(Boolean).join(" "));
  input.setAttribute("aria-invalid", "true");
  input.addEventListener("input", () => {
    note.remove();
    input.removeAttribute("aria-invalid");
    if (described) input.setAttribute("aria-describedby", described);
    else input.removeAttribute("aria-describedby");
  }, { once: true });
  return true;
}

/**
 * Writes to the status line below the head of the page.
 * @param {string} text
 * @param {() => void} [now] what a button tries at once
 */
export function say(text, now) {
  const state = byId("state");
  const offered = state.querySelector("button");
  if (now && offered) write(state, text); // the button keeps the focus
  else if (now) {
    const button = html("button", { type: "button", class: "small" }, "Try now");
    button.addEventListener("click", now);
    state.replaceChildren(text, " ", button);
  } else if (offered || state.textContent !== text) state.textContent = text;
  else return;
  document.body.toggleAttribute("data-said", Boolean(text)); // styles that asked whether it is empty would slow the wall
}

/**
 * Change the text of an element that has nothing else in it. The text node stays: for a new one,
 * browsers look at all styles with :has() again.
 * @param {Element} node
 * @param {string} text
 */
export function write(node, text) {
  const { firstChild } = node;
  if (firstChild === null) node.append(text);
  else if (firstChild.nodeValue !== text) firstChild.nodeValue = text;
}

/**
 * An SVG element with attributes and children.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** @typedef {{player: string, bot?: string}} Holder of a seat */

/**
 * The name of a seat's holder for people: player/bot; a person has the player's name alone.
 * @param {Holder} seat
 */
export function holder(seat) {
  return seat.bot && seat.bot.toLowerCase() !== seat.player.toLowerCase() ? `${seat.player}/${seat.bot}` : seat.player;
}

/**
 * The same as a link to the page of the bot or the person; no link where words in brackets stand for a name.
 * @param {Holder} seat
 */
export function holderLink(seat) {
  if (seat.player.startsWith("(")) return html("span", {}, seat.player);
  const [player, bot] = [encodeURIComponent(seat.player), encodeURIComponent(seat.bot ?? "")];
  const name = holder(seat);
  return html("a", { href: name === seat.player ? `/players/${player}` : `/bots/${player}/${bot}` }, name);
}

/**
 * A number with its sign and no sign on zero.
 * @param {number} value
 * @param {number} digits after the point
 */
export function signed(value, digits = 0) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "\u2212" : "+") + text;
}

/** Numbers of a text with a true minus; hyphens of names stay. @param {string} text */
export const minus = (text) => text.replace(/(?<!\w)-(?=\d)/g, "\u2212");

/**
 * Milliseconds as a clock shows them: 1:05, or 4.2 below ten seconds.
 * @param {number} ms
 */
export function clockText(ms) {
  const left = Math.max(0, ms);
  if (left < 10_000) return (left / 1000).toFixed(1);
  const seconds = Math.floor(left / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/**
 * Show the times below a node as the clock on the wall says, not in UTC.
 * @param {Document | Element} node
 */
export function localTimes(node) {
  for (const time of node.querySelectorAll("time[datetime], [data-moment]")) {
    const when = new Date(time.getAttribute("datetime") ?? time.getAttribute("data-moment") ?? "");
    time.textContent = when.toLocaleString([], { dateStyle: "short", timeStyle: "short" });
  }
}
