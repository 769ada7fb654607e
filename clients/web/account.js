// Signing in and up, and out again; a password, and tokens for bots.

import { html } from "./dom.js";
import { call, whoAmI } from "./session.js";

const at = (id) => document.getElementById(id);
const state = at("state");
const say = (text) => { if (state.textContent !== text) state.textContent = text; };

function show(person) {
  const known = Boolean(person.player);
  at("signed-out").hidden = known;
  at("signed-in").hidden = !known;
  const own = known && !person.guest && person.scopes.some((scope) => scope === "play" || scope === "admin");
  at("change").hidden = !known || person.guest;
  at("make-token").hidden = !own;
  at("who").textContent = !known ? "You are not signed in."
    : person.guest ? `You are a guest, ${person.player}. What you play is not rated; when you leave, you are forgotten.`
      : `You are signed in as ${person.player}.`;
}

/** Do what a form is for when it is sent; `act` gets its fields and returns what to say. */
function onSubmit(id, act) {
  const form = at(id);
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true"); // hashing a password takes a moment
    say("");
    try {
      say((await act(Object.fromEntries(new FormData(form)))) ?? "");
      form.reset();
    } catch (error) {
      say(error.message);
      form.querySelector("input[required]")?.focus();
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
}

onSubmit("sign-in", async ({ player, password }) => show(await call("POST", "session", { player: player.trim(), password })));
onSubmit("token-in", async ({ token }) => show(await call("POST", "session", { token: token.trim() })));
onSubmit("sign-up", async ({ player, password }) => show(await call("POST", "session/account", { player: player.trim(), password })));
onSubmit("change", async ({ old, new: fresh }) => {
  await call("POST", "session/password", { old, new: fresh });
  return "The password is set.";
});
onSubmit("make-token", async ({ label }) => {
  const { token } = await call("POST", "session/token", { label });
  at("made").replaceChildren("Copy it now, it is not shown again: ", html("code", {}, token));
});
at("sign-out").addEventListener("click", async () => {
  try {
    show(await call("DELETE", "session"));
    say("You are signed out.");
    at("made").replaceChildren();
  } catch (error) {
    say(error.message);
  }
});
whoAmI().then(show, (error) => say(error.message));
