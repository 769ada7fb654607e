// The home page: one's own unfinished matches, and a match that is shown.

import { playHero } from "./hero.js";
import { whoAmI } from "./session.js";
import { showUnfinished } from "./unfinished.js";

const hero = document.getElementById("hero");
if (hero) playHero(hero);
whoAmI().then(({ matches }) => showUnfinished(matches), () => {}); // the page is of use without it
