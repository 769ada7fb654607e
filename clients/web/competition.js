// Pages of competitions: what organisers and students press goes to the API, and what the server
// says is shown. The page shows what the signed-in person may see, and stays up to date.

import { refresh } from "./page_refresh.js";
import { offerForm } from "./competition_form.js";
import { byId, fields, html, say, showAtField, words } from "./dom.js";
import { call, whoAmI } from "./session.js";
import { pressedTwice } from "./confirm.js";

/** An element that only some of these pages have. @param {string} id */
const at = (id) => document.getElementById(id);
const place = /** @type {HTMLElement | null} */ (document.querySelector("[data-competition]"))?.dataset.competition;
const here = place ? `competitions/${encodeURIComponent(place)}` : "";
let busy = false;

/** A time of this browser's clock as the API takes it; empty if there is none. @param {string} text */
const instant = (text) => (text ? new Date(text).toISOString() : "");

/** Do something once at a time. @param {() => Promise<string>} act returns what to say of it */
async function perform(act) {
  if (busy) return;
  busy = true;
  say("");
  try {
    const text = await act();
    await refresh(true);
    say(text);
  } catch (error) {
    say(words(error));
  } finally {
    busy = false;
  }
}

/** Do what a form of this page is for, if there is one. @type {(id: string, act: (form: HTMLFormElement) => Promise<string>) => void} */
const onSubmit = (id, act) => at(id)?.addEventListener("submit", (event) => {
  event.preventDefault();
  perform(() => act(/** @type {HTMLFormElement} */ (event.target)));
});

/** A field of a form, which the page is known to have. @type {(form: HTMLFormElement, name: string) => HTMLInputElement} */
const field = (form, name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

// ------------------------------------------------------------------- what organisers do

/** Return the result of a step in words, with everything that was left out. @param {Partial<Answers.EndedFinal & Answers.Rehearsal>} made */
const come = (made) => `${made.name} is ${made.status}.${(made.unplayed ?? made.left_out ?? []).map((each) => ` Left out: ${each}.`).join("")}`;

/** @type {(name: string, form: HTMLFormElement) => Promise<string>} */
async function step(name, form) {
  const why = field(form, "why");
  const reason = why.value.trim();
  if (name === "delete") {
    await call("DELETE", `${here}?why=${encodeURIComponent(reason)}`);
    location.assign("/competitions");
    return "It is deleted.";
  }
  const body = name === "unfreeze" ? { why: reason } : { why: reason, anyway: Boolean(field(form, "anyway")?.checked) };
  const made = await call("POST", `${here}/${name}`, body);
  why.value = "";
  return come(made);
}

/** @type {(input: HTMLElement, text: string) => never} */
function refuse(input, text) {
  input.focus();
  throw new Error(text);
}

/** @type {(action: string, form: HTMLFormElement) => Promise<string>} */
async function aboutStudent(action, form) {
  const [student, why, until] = ["student", "why", "until"].map((each) => field(form, each));
  const who = student.value.trim();
  const reason = why.value.trim();
  if (!who) refuse(student, "Say who: an account, or one of its entries.");
  /** @type {Record<string, () => Promise<string>>} */
  const acts = {
    extend: async () => {
      if (!until.value) refuse(until, "Say until when.");
      const made = await call("POST", `${here}/extend`, { student: who, until: instant(until.value), why: reason });
      return `${who} may submit until ${new Date(until.value).toLocaleString()}. ${made.delays}`.trim();
    },
    disqualify: async () => {
      if (!reason) refuse(why, "Say why: to disqualify needs a reason.");
      return leave(`${who} is disqualified`, await call("POST", `${here}/disqualify`, { who, why: reason }));
    },
    withdraw: async () => leave(`${who} is withdrawn`, await call("POST", `${here}/withdraw`, { who, why: reason })),
    restore: async () => {
      await call("POST", `${here}/restore`, { student: who, why: reason });
      return `${who} is in again.`;
    },
  };
  const said = await acts[action]();
  form.reset();
  return said;
}

/** @type {(text: string, gone: Answers.Entry[]) => string} */
const leave = (text, gone) => `${text}${gone.length ? `, with ${gone.map((each) => each.entry).join(", ")}` : ""}.`;

/** @type {(button: HTMLButtonElement, form: HTMLFormElement) => Promise<string>} */
async function reinstate(button, form) {
  const why = field(form, "why");
  const reason = why.value.trim();
  if (!reason) refuse(why, "Say why: to let it in again needs a reason.");
  const version = button.dataset.digest || button.dataset.version;
  /** @type {{player: string, bot: string}[]} */
  const found = await call("POST", `players/${button.dataset.reinstate}/reinstate`, { why: reason, version });
  return `${found.map((each) => `${each.player}/${each.bot}`).join(", ") || "Nothing"} is let in again.`;
}

/** Check a baseline again, or let another one take its place. @param {HTMLFormElement} form */
async function changeBaseline(form) {
  const reference = field(form, "reference").value.trim();
  const made = await call("POST", `${here}/baselines`, { bot: form.dataset.baseline, reference });
  return `${made.bot} ${made.status === "waiting" ? "waits for its check" : "can play"}.`;
}

/** Opens your submitted bot to people, or closes it. @param {HTMLButtonElement} button */
async function open(button) {
  const made = await call("PUT", `bots/${button.dataset.open}/open`, { open: button.dataset.to === "people" });
  return made.open ? "People may play against it now." : "Nobody can play against it now.";
}

/** Show what the edited file changes, and with `apply` change it. @type {(form: HTMLFormElement, apply: boolean) => Promise<string>} */
async function change(form, apply) {
  const { file, why } = fields(form);
  // Apply exactly the change that was shown, and nothing if somebody else has changed the file since.
  const digest = apply ? form.dataset.digest ?? "" : "";
  const made = await call("POST", `${here}/change`, { file, why: why.trim(), apply, digest });
  form.dataset.digest = made.digest;
  const lines = made.changes.map((/** @type {Answers.ChangedKey} */ each) => html("li", {},
    html("strong", {}, each.key), `: ${each.old || "none"} → ${each.new || "none"}. `,
    each.refused ? html("span", { class: "warn" }, `Not possible: ${each.refused}.`) : each.effect));
  const told = made.notice ? [html("p", {}, "Students read:"), html("p", { class: "rules soft" }, made.notice)] : [];
  byId("changes").replaceChildren(html("ul", { class: "notes" }, ...lines), ...told);
  if (!made.changes.length) return "It is like that already: nothing changes.";
  return made.applied ? `${made.name} is changed.` : "Nothing is changed yet.";
}

/** @param {HTMLButtonElement} button */
function pressed(button) {
  const { form } = button;
  const { step: name, student, reinstate: bot, choose, sure, remove } = button.dataset;
  if (button.dataset.open !== undefined) {
    perform(() => open(button));
    return;
  }
  if (button.dataset.answer !== undefined) {
    perform(() => answer(button));
    return;
  }
  if (choose !== undefined) {
    const student = byId("student", HTMLInputElement);
    const folded = student.closest("details");
    if (folded) folded.open = true;
    student.value = choose;
    byId("student-why").focus();
    return;
  }
  const changes = button.dataset.change !== undefined;
  if (!name && !student && bot === undefined && remove === undefined && !changes) return;
  if (sure && !pressedTwice(button, sure)) {
    say(`${sure} Press again.`);
    return;
  }
  if (remove !== undefined) {
    perform(async () => {
      await call("DELETE", `${here}/announcements/${remove}`);
      return "The announcement is removed.";
    });
    return;
  }
  if (form && changes) perform(() => change(form, true));
  else if (form) perform(() => (name ? step(name, form) : student ? aboutStudent(student, form) : reinstate(button, form)));
}

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("button");
  if (button) pressed(button);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.dataset.baseline === undefined) return;
  event.preventDefault();
  perform(() => changeBaseline(form));
});

// Enter in a field of a form with several buttons must not choose one of them.
for (const id of ["steps-form", "student-form"]) at(id)?.addEventListener("submit", (event) => event.preventDefault());
at("suspended")?.addEventListener("submit", (event) => event.preventDefault());

onSubmit("change-form", (form) => change(form, false));

onSubmit("code-form", async (form) => {
  const { uses, expires, why } = fields(form);
  const made = await call("POST", `${here}/codes`, { uses: Number(uses), expires: instant(expires), why: why.trim() });
  const link = `${location.origin}/join?code=${encodeURIComponent(made.code)}`;
  byId("code").replaceChildren(
    html("strong", { class: "code" }, made.code),
    ` lets ${made.uses} in. Copy it now, it is not shown here again. Students join at `,
    html("a", { href: link }, link),
  );
  form.reset();
  return "The code is made.";
});

onSubmit("announce-form", async (form) => {
  await call("POST", `${here}/announcements`, { text: fields(form).text.trim() });
  form.reset();
  return "It is published.";
});

/** Answer a request for a regrade, close it, or both. @param {HTMLButtonElement} button */
async function answer(button) {
  const { answer: number, close } = button.dataset;
  const input = /** @type {HTMLTextAreaElement} */ (byId(`answer-text-${number}`));
  const text = input.value.trim();
  if (!text && !close) refuse(input, "Write an answer first.");
  const made = await call("POST", `${here}/regrades/${number}/answer`, { text, close: Boolean(close) });
  input.value = "";
  return `Request ${made.id} is ${made.closed_ms === null ? "answered" : "closed"}.`;
}

// --------------------------------------------------------------------- what students do

onSubmit("regrade-form", async (form) => {
  const { text, match } = fields(form);
  const made = await call("POST", `${here}/regrades`, { text: text.trim(), match: match.trim() });
  form.reset();
  return `Asked: request ${made.id}. The answer will stand below.`;
});

onSubmit("enter-form", async (form) => {
  const { version, replace = "" } = fields(form);
  const { bot } = (/** @type {HTMLSelectElement} */ (form.elements.namedItem("version"))).selectedOptions[0].dataset;
  const entry = await call("POST", `${here}/enter`, { bot, version, replace: replace === bot ? "" : replace });
  return `${entry.entry} plays, version ${entry.version}.`;
});

onSubmit("submit-form", async (form) => {
  const [file, bot] = ["file", "bot"].map((each) => field(form, each));
  const [chosen] = file.files ?? [];
  const most = Number(form.dataset.most);
  if (!chosen) refuse(file, "Choose a file: a Python file or a zip.");
  if (chosen.size > most) refuse(file, `${chosen.name} has ${chosen.size.toLocaleString()} bytes, and a package has at most ${most.toLocaleString()}.`);
  say(`Sending ${chosen.name} …`);
  const query = new URLSearchParams({ file: chosen.name, bot: bot.value.trim(), competition: form.dataset.competition ?? "" });
  const made = await call("POST", `submissions?${query}`, chosen);
  form.reset();
  return made.status === "ready" ? `${made.bot} is ready.` : `${made.bot} has come, and waits for its check.`;
});

onSubmit("join-form", async (form) => {
  const { code, player } = fields(form);
  const named = !byId("join-new").hidden;
  let joined;
  try {
    joined = await call("POST", "join", { code: code.trim(), player: named ? player.trim() : "" });
  } catch (error) {
    if (showAtField(form, error)) return "";
    throw error;
  }
  const told = [html("p", {}, `You are ${joined.account} in ${joined.name}. `, html("a", { href: `/competitions/${encodeURIComponent(joined.name)}` }, "Go there"))];
  if (joined.token) {
    told.push(html("p", {}, "Your token, with which your bots connect and you sign in. Copy it now, it is not shown again: ", html("code", { class: "code" }, joined.token)));
    await call("POST", "session", { token: joined.token });
  }
  byId("joined").replaceChildren(html("div", { class: "panel" }, ...told));
  form.reset();
  form.hidden = true;
  return joined.outcome === "present" ? "You were in it already." : "You are in.";
});

if (at("join-form")) {
  whoAmI().then((person) => {
    if (!person.player || person.guest || !person.scopes.some((scope) => scope === "play" || scope === "admin")) return;
    byId("join-new").hidden = true;
    byId("join-as").hidden = false;
    byId("join-as").textContent = `You join as ${person.player}.`;
  }, (error) => say(words(error)));
}

// ------------------------------------------------------------------- a new competition

/** @typedef {{key?: string, text: string, code: string}} Mistake of a competition file */

/** Shows what is wrong with a file, or what else was refused. @param {Error & {mistakes?: Mistake[]}} error */
function mistakes(error) {
  const area = byId("file");
  const list = error.mistakes ?? [];
  area.setAttribute("aria-invalid", "true");
  byId("cost").replaceChildren();
  if (!list.length) {
    byId("mistakes").replaceChildren(html("p", { class: "warning" }, error.message));
    return;
  }
  byId("mistakes").replaceChildren(
    html("p", { class: "warning" }, `The file has ${list.length === 1 ? "a mistake" : `${list.length} mistakes`}:`),
    html("ul", { class: "notes" }, list.map((each) => html("li", {}, each.key ? html("code", {}, each.key) : null, each.key ? ": " : "", each.text, " ", html("span", { class: "soft" }, each.code)))),
  );
}

function valid() {
  byId("file").removeAttribute("aria-invalid");
  byId("mistakes").replaceChildren();
}

const rounded = (/** @type {number} */ value) => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString());

/** @param {Answers.CompetitionCost} found */
function cost(found) {
  valid();
  const notes = html("ul", { class: "notes" }, (found.notes ?? []).map((each) => html("li", {}, each)));
  if (found.endless) {
    byId("cost").replaceChildren(html("div", { class: "panel" },
      html("p", {}, `${found.name} is valid. A ladder has no end, and so no cost: at most ${found.at_a_time} matches run at a time.`), notes));
    return;
  }
  const row = (/** @type {Answers.GameCost} */ each) => html("tr", {},
    html("td", {}, each.game), html("td", { class: "n" }, each.matches.toLocaleString()),
    html("td", { class: "n" }, typeof each.typical_seconds === "number" ? `${each.typical_seconds.toFixed(2)} s` : "unknown"), html("td", { class: "n" }, `${rounded(each.seconds)} s`),
    html("td", { class: "n" }, rounded(each.core_hours)),
    html("td", { class: "minor" }, each.source === "server" ? `${each.measured} matches on this server` : "a sample played at random"));
  const heads = [["game"], ["matches", "n"], ["pace of a final", "n"], ["thinking at most", "n"], ["core-hours", "n"], ["plies from", "minor"]];
  const time = (/** @type {number | null | undefined} */ ms) => new Date(ms ?? 0).toLocaleString();
  const until = typeof found.typical_end_ms === "number" ? `, until ${time(found.typical_end_ms)}` : "";
  const typical = typeof found.typical_hours === "number" ? `the final typically takes ${rounded(found.typical_hours)} hours${until}; ` : "";
  byId("cost").replaceChildren(html("div", { class: "panel" },
    html("p", {}, html("strong", {}, `${found.name} is valid.`), ` With ${found.entries} bots: ${found.matches.toLocaleString()} matches, with at most ${rounded(found.core_hours)} core-hours of thinking if every bot uses all its time. With ${found.at_a_time} matches at a time, ${typical}this thinking takes ${rounded(found.hours ?? 0)} hours${found.end_ms === null ? "" : `, until ${time(found.end_ms)}`}.`),
    html("div", { class: "scroll" }, html("table", {},
      html("thead", {}, html("tr", {}, heads.map(([head, kind]) => html("th", { scope: "col", class: kind }, head)))),
      html("tbody", {}, found.games.map(row)))), notes));
}

/** As `perform`, with mistakes shown beside the file. @param {() => Promise<string>} act */
const withFile = (act) => perform(async () => {
  try {
    return await act();
  } catch (problem) {
    const error = /** @type {Error & {mistakes?: Mistake[]}} */ (problem);
    mistakes(error);
    throw error.mistakes?.length ? new Error("The file has mistakes.") : error;
  }
});

at("check")?.addEventListener("click", () => withFile(async () => {
  const { file, entries } = fields(byId("file-form", HTMLFormElement));
  cost(await call("POST", "competition-files/preview", { file, entries: Number(entries) }));
  return "The file is valid.";
}));
offerForm(() => byId("check").click());
at("file-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  withFile(async () => {
    const { file, why } = fields(byId("file-form", HTMLFormElement));
    const made = await call("POST", "competitions", { file, why: why.trim() });
    location.assign(`/competitions/${encodeURIComponent(made.competition)}`);
    return come(made);
  });
});
