// The page of a bot, for its author: opens the submitted bot to people, or closes it.

import { byId, say, words } from "./dom.js";
import { call } from "./session.js";

const box = byId("open", HTMLInputElement);

box.addEventListener("change", async () => {
  box.disabled = true;
  try {
    box.checked = (await call("PUT", `bots/${box.dataset.bot}/open`, { open: box.checked })).open;
    say(box.checked ? "People may play against it now." : "Nobody can play against it now.");
  } catch (error) {
    box.checked = !box.checked;
    say(words(error));
  }
  box.disabled = false;
});
