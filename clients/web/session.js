// Requests to the HTTP API as the person signed in in this browser. No script can read the cookie.

const ATTEMPTS = 4;
/** Longest `Retry-After`, in seconds, after which a refused request is sent again. */
const PATIENCE = 10;

/**
 * Send a request to the HTTP API, with a file or with data.
 *
 * If many people share an address, the server may refuse requests for a few seconds; those are sent
 * again. Throws an `Error` with the server's sentence, its `code`, and the `mistakes` of a file.
 * @param {"GET" | "POST" | "PUT" | "DELETE"} method
 * @param {string} path below the API's
 * @param {unknown} [body]
 */
export async function call(method, path, body) {
  /** @type {{method: string, headers: Record<string, string>, body?: string | Blob}} */
  const options = { method, headers: { accept: "application/json" } };
  if (body instanceof Blob) {
    options.headers["content-type"] = "application/octet-stream";
    options.body = body;
  } else if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response, answer;
  for (let attempt = 1; ; attempt++) {
    try {
      response = await fetch(`/api/v1/${path}`, options);
    } catch {
      throw Object.assign(new Error("The server cannot be reached. Try again in a moment."), { code: "network" });
    }
    answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    const wait = Number(response.headers.get("retry-after"));
    if (answer.code !== "http/rate" || !(wait > 0 && wait <= PATIENCE) || attempt === ATTEMPTS) break;
    await new Promise((resolve) => setTimeout(resolve, 1000 * wait));
  }
  throw Object.assign(new Error(answer.detail || `The server answered ${response.status}.`), { code: answer.code || "", mistakes: answer.mistakes });
}

/** The person signed in (`player` is empty without one), and the available ways of playing. */
export const whoAmI = () => /** @type {Promise<Answers.Person>} */ (call("GET", "session"));

/**
 * Be signed in, as a guest if need be and if the server takes guests.
 * @returns {Promise<Answers.Person>}
 */
export async function enter() {
  const person = await whoAmI();
  if (person.player) return person;
  if (!person.guests) {
    throw Object.assign(new Error("Sign in to play: this server takes no guests."), { code: "auth/required" });
  }
  return call("POST", "session/guest");
}

/** The introduction of a connection that plays as the person at this browser. */
export const AS_MYSELF = { signed_in: true, takeover: true, updates: true };

const LAST = "plyhouse.last";
const WANTED = "plyhouse.wanted";

/**
 * @typedef {{game?: string, time?: string, level?: string}} Settings
 * @typedef {{game: string, time_control: string, rated?: boolean, opponent?: string, others?: string[], level?: string, players?: number, seat?: number | null, invitation?: string}} Terms of a match that is asked for
 */

/**
 * The settings of the last match that was asked for; this browser keeps them.
 * @returns {Settings}
 */
export function lastSettings() {
  try {
    return JSON.parse(localStorage.getItem(LAST) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {Settings} settings */
export function keepSettings(settings) {
  try {
    localStorage.setItem(LAST, JSON.stringify({ ...lastSettings(), ...settings }));
  } catch { /* a browser that keeps nothing plays, too */ }
}

/**
 * Leave a wish for the page of play, which fulfils it once.
 * @param {Terms} terms
 */
export function wish(terms) {
  sessionStorage.setItem(WANTED, JSON.stringify(terms));
}

/** @returns {Terms | null} */
export function takeWish() {
  const text = sessionStorage.getItem(WANTED);
  sessionStorage.removeItem(WANTED);
  return text ? JSON.parse(text) : null;
}
