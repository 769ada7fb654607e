// What every page needs: times as the clock on the wall says, which the server writes in UTC, and long tables.

import { localTimes } from "./dom.js";
import { longLists } from "./long_lists.js";

localTimes(document);
longLists(document);
