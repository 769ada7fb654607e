// Pages of competitions: what organisers and students press goes to the API, and what the server
// says is shown. The page is kept up to date with what whoever is signed in may see.

import { refresh } from "./live.js";
import { html } from "./dom.js";
import { call, whoAmI } from "./session.js";
import { pressedTwice } from "./sure.js";

const at = (id) => document.getElementById(id);
const state = at("state");
const place = document.querySelector("[data-competition]")?.dataset.competition;
const here = place ? `class/competitions/${encodeURIComponent(place)}` : "";
let busy = false;

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

/** A time of this browser's clock as the API takes it; empty if there is none. */
const instant = (text) => (text ? new Date(text).toISOString() : "");
const fields = (form) => Object.fromEntries(new FormData(form));

/** Do something once at a time; `act` returns what to say of it. */
async function perform(act) {
  if (busy) return;
  busy = true;
  say("");
  try {
    const text = await act();
    await refresh(true);
    say(text);
  } catch (error) {
    say(error.message);
  } finally {
    busy = false;
  }
}

const onSubmit = (id, act) => at(id)?.addEventListener("submit", (event) => {
  event.preventDefault();
  perform(() => act(event.target));
});

// ------------------------------------------------------------------- what organisers do

async function step(name, form) {
  const body = { why: form.elements.why.value.trim(), anyway: Boolean(form.elements.anyway?.checked) };
  const made = await call("POST", `${here}/${name}`, body);
  form.elements.why.value = "";
  return `${made.name} is ${made.status}.`;
}

function refuse(input, text) {
  input.focus();
  throw new Error(text);
}

async function aboutStudent(action, form) {
  const { student, why, until } = form.elements;
  const who = student.value.trim();
  const reason = why.value.trim();
  if (!who) refuse(student, "Say who: an account, or one of its entries.");
  const said = await {
    extend: async () => {
      if (!until.value) refuse(until, "Say until when.");
      await call("POST", `${here}/extend`, { student: who, until: instant(until.value), why: reason });
      return `${who} may submit until ${new Date(until.value).toLocaleString()}.`;
    },
    disqualify: async () => {
      if (!reason) refuse(why, "Say why: to disqualify needs a reason.");
      return leave(`${who} is disqualified`, await call("POST", `${here}/disqualify`, { who, why: reason }));
    },
    revoke: async () => leave(`${who} is taken out`, await call("POST", `${here}/revoke`, { student: who, why: reason })),
    restore: async () => {
      await call("POST", `${here}/restore`, { student: who, why: reason });
      return `${who} is in again.`;
    },
  }[action]();
  form.reset();
  return said;
}

const leave = (text, gone) => `${text}${gone.length ? `, with ${gone.map((each) => each.entry).join(", ")}` : ""}.`;

async function reinstate(button) {
  const { why } = button.form.elements;
  const reason = why.value.trim();
  if (!reason) refuse(why, "Say why: to let it in again needs a reason.");
  const version = button.dataset.digest || button.dataset.version;
  const found = await call("POST", `players/${button.dataset.reinstate}/reinstate`, { why: reason, version });
  return `${found.map((each) => `${each.player}/${each.bot}`).join(", ") || "Nothing"} is let in again.`;
}

function pressed(button) {
  const { step: name, student, reinstate: bot, choose, sure } = button.dataset;
  if (choose !== undefined) {
    at("student").value = choose;
    at("student-why").focus();
    return;
  }
  if (!name && !student && bot === undefined) return;
  if (sure && !pressedTwice(button, sure)) {
    say(`${sure} Press again.`);
    return;
  }
  perform(() => (name ? step(name, button.form) : student ? aboutStudent(student, button.form) : reinstate(button)));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (button) pressed(button);
});

// Enter in a field of a form with several buttons must not choose one of them.
for (const id of ["steps-form", "student-form"]) at(id)?.addEventListener("submit", (event) => event.preventDefault());
at("suspended")?.addEventListener("submit", (event) => event.preventDefault());

onSubmit("code-form", async (form) => {
  const { uses, expires, why } = fields(form);
  const made = await call("POST", `${here}/codes`, { uses: Number(uses), expires: instant(expires), why: why.trim() });
  const link = `${location.origin}/join?code=${encodeURIComponent(made.code)}`;
  at("code").replaceChildren(
    html("strong", { class: "code" }, made.code),
    ` lets ${made.uses} in. Copy it now, it is not shown here again. Students join at `,
    html("a", { href: link }, link),
  );
  form.reset();
  return "The code is made.";
});

// --------------------------------------------------------------------- what students do

onSubmit("enter-form", async (form) => {
  const { version, replace = "" } = fields(form);
  const { bot } = form.elements.version.selectedOptions[0].dataset;
  const entry = await call("POST", `${here}/enter`, { bot, version, replace: replace === bot ? "" : replace });
  return `${entry.entry} plays, version ${entry.version}.`;
});

onSubmit("submit-form", async (form) => {
  const { file, bot } = form.elements;
  const [chosen] = file.files;
  const most = Number(form.dataset.most);
  if (!chosen) refuse(file, "Choose a file: a Python file or a zip.");
  if (chosen.size > most) refuse(file, `${chosen.name} has ${chosen.size.toLocaleString()} bytes, and a package has at most ${most.toLocaleString()}.`);
  say(`Sending ${chosen.name} …`);
  const query = new URLSearchParams({ file: chosen.name, bot: bot.value.trim(), competition: form.dataset.competition });
  const made = await call("POST", `submissions?${query}`, chosen);
  form.reset();
  return made.status === "ready" ? `${made.bot} is ready.` : `${made.bot} has come, and waits for its check.`;
});

onSubmit("join-form", async (form) => {
  const { code, player } = fields(form);
  const named = !at("join-new").hidden;
  const joined = await call("POST", "class/join", { code: code.trim(), player: named ? player.trim() : "" });
  const told = [html("p", {}, `You are ${joined.account} in ${joined.name}. `, html("a", { href: `/competitions/${encodeURIComponent(joined.name)}` }, "Go there"))];
  if (joined.token) {
    told.push(html("p", {}, "Your token, with which your bots connect and you sign in. Copy it now, it is not shown again: ", html("code", { class: "code" }, joined.token)));
    await call("POST", "session", { token: joined.token });
  }
  at("joined").replaceChildren(html("div", { class: "panel" }, ...told));
  form.reset();
  form.hidden = true;
  return joined.outcome === "present" ? "You were in it already." : "You are in.";
});

if (at("join-form")) {
  whoAmI().then((person) => {
    if (!person.player || person.guest || !person.scopes.some((scope) => scope === "play" || scope === "admin")) return;
    at("join-new").hidden = true;
    at("join-as").hidden = false;
    at("join-as").textContent = `You join as ${person.player}.`;
  }, (error) => say(error.message));
}

// ------------------------------------------------------------------- a new competition

function mistakes(error) {
  const area = at("file");
  const list = error.mistakes ?? [];
  area.setAttribute("aria-invalid", "true");
  at("cost").replaceChildren();
  if (!list.length) {
    at("mistakes").replaceChildren(html("p", { class: "warning" }, error.message));
    return;
  }
  at("mistakes").replaceChildren(
    html("p", { class: "warning" }, `The file has ${list.length === 1 ? "a mistake" : `${list.length} mistakes`}:`),
    html("ul", { class: "notes" }, list.map((each) => html("li", {}, each.key ? html("code", {}, each.key) : null, each.key ? ": " : "", each.text, " ", html("span", { class: "soft" }, each.code)))),
  );
}

function valid() {
  at("file").removeAttribute("aria-invalid");
  at("mistakes").replaceChildren();
}

const rounded = (value) => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString());

function cost(found) {
  valid();
  if (found.endless) {
    at("cost").replaceChildren(html("p", { class: "panel" }, `${found.name} is valid. A ladder has no end, and so no cost: at most ${found.at_a_time} matches run at a time.`));
    return;
  }
  const row = (each) => html("tr", {},
    html("td", {}, each.game), html("td", { class: "n" }, each.matches.toLocaleString()),
    html("td", { class: "n" }, `${rounded(each.seconds)} s`), html("td", { class: "n" }, rounded(each.core_hours)),
    html("td", { class: "minor" }, each.source === "server" ? `${each.measured} matches on this server` : "played at random, thinking all the time"));
  const heads = [["game"], ["matches", "n"], ["a match", "n"], ["core-hours", "n"], ["measured by", "minor"]];
  at("cost").replaceChildren(html("div", { class: "panel" },
    html("p", {}, html("strong", {}, `${found.name} is valid.`), ` With ${found.entries} bots: ${found.matches.toLocaleString()} matches and ${rounded(found.core_hours)} core-hours; with ${found.at_a_time} matches at a time over by ${new Date(found.end_ms).toLocaleString()}.`),
    html("div", { class: "scroll" }, html("table", {},
      html("thead", {}, html("tr", {}, heads.map(([head, kind]) => html("th", { scope: "col", class: kind }, head)))),
      html("tbody", {}, found.games.map(row))))));
}

/** As `perform`, with mistakes shown beside the file. */
const withFile = (act) => perform(async () => {
  try {
    return await act();
  } catch (error) {
    mistakes(error);
    throw error.mistakes?.length ? new Error("The file has mistakes.") : error;
  }
});

at("check")?.addEventListener("click", () => withFile(async () => {
  const { file, entries } = fields(at("file-form"));
  cost(await call("POST", "class/preview", { file, entries: Number(entries) }));
  return "The file is valid.";
}));
at("file-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  withFile(async () => {
    const { file, why } = fields(event.target);
    const made = await call("POST", "class/competitions", { file, why: why.trim() });
    location.assign(`/competitions/${encodeURIComponent(made.competition)}`);
    return `${made.name} is ${made.status}.`;
  });
});
