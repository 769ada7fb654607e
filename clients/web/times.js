// Shows the times of a page as the clock on the wall says; the server writes them in UTC.

import { localTimes } from "./dom.js";

localTimes(document);
