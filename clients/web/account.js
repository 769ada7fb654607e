// Signing in and up, and out again; a password, and tokens for bots.

import { byId, fields, html, say, showAtField, words } from "./dom.js";
import { call, whoAmI } from "./session.js";


/** @param {Answers.Person} person */
function show(person) {
  const known = Boolean(person.player);
  byId("signed-out").hidden = known;
  byId("signed-in").hidden = !known;
  const own = known && !person.guest && person.scopes.some((scope) => scope === "play" || scope === "admin");
  byId("change").hidden = !known || person.guest;
  byId("make-token").hidden = !own;
  byId("who").textContent = !known ? "You are not signed in."
    : person.guest ? `You are a guest, ${person.player}. What you play is not rated; when you leave, you are forgotten.`
      : `You are signed in as ${person.player}.`;
}

/**
 * Do what a form is for when it is sent.
 * @param {string} id of the form
 * @param {(given: Record<string, string>) => Promise<string | void>} act gets its fields and returns what to say
 */
function onSubmit(id, act) {
  const form = document.getElementById(id);
  if (!(form instanceof HTMLFormElement)) return;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    if (!button || button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true"); // hashing a password takes a moment
    say("");
    try {
      say((await act(fields(form))) ?? "");
      form.reset();
    } catch (error) {
      if (showAtField(form, error)) return;
      say(words(error));
      /** @type {HTMLElement | null} */ (form.querySelector("input[required]"))?.focus();
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
  byId("made").replaceChildren("Copy it now, it is not shown again: ", html("code", {}, token));
});
byId("sign-out").addEventListener("click", async () => {
  try {
    show(await call("DELETE", "session"));
    say("You are signed out.");
    byId("made").replaceChildren();
  } catch (error) {
    say(words(error));
  }
});
whoAmI().then(show, (error) => say(words(error)));
