// The page of a game's rules: an example match that plays by itself.

import { byId } from "./dom.js";
import { playHero } from "./hero.js";

playHero(byId("hero"));
