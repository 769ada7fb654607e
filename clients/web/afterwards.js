// The actions after a match: its record, failures, and the place where it was lost.

import { failureDetail } from "./rematch.js";
import { html } from "./dom.js";
import { written } from "./move_list.js";
import { spoken } from "./scene_items.js";
import { movesLink } from "./moves_file.js";
import { actionTo, api, match, mode, name } from "./state.js";
import { dropText, unbroken } from "./values.js";

const MOST = 5; // plies that are named
const FAILED = ["bot_crash", "illegal_action", "no_answer"];

/** Offers the record as a file. */
export function showRecord() {
  const link = document.getElementById("record");
  if (link && !link.hasChildNodes()) link.append(" \u00b7 ", html("a", { href: `${api()}/record`, download: `${match.id}.json` }, "Record"), " \u00b7 ", movesLink());
}

/**
 * The traces of a bot that failed, which the server sends to its author, who is signed in here.
 * @param {HTMLElement} detail where it is shown
 */
export async function showDetail(detail) {
  if (mode !== "page" || detail.dataset.asked || !FAILED.includes(match.outcome?.termination ?? "")) return;
  detail.textContent = await failureDetail(api(), match.seats);
  detail.hidden = !detail.textContent;
  detail.dataset.asked = "1";
}

/**
 * Asks where the match was lost, once somebody wants to know: that takes the server a while.
 * @param {HTMLElement} review where it is asked, and answered
 * @param {(at: number) => void} go
 */
export function offerReview(review, go) {
  if (!review.hidden || !match.events.some((event) => event.seat >= 0)) return;
  const { asked, seat } = question();
  const button = html("button", { type: "button" }, asked);
  button.addEventListener("click", async () => {
    review.replaceChildren("The match is being looked at, which takes some seconds.");
    try {
      const response = await fetch(`${api()}/review${seat === null ? "" : `?seat=${seat}`}`);
      const found = await response.json();
      if (response.ok) review.replaceChildren(...verdict(found, go));
      else if (response.status === 503 || response.status === 409) review.replaceChildren(button, ` ${found.detail}`);
      else review.replaceChildren(found.detail ?? "The match could not be reviewed.");
    } catch {
      review.replaceChildren(button, " The server did not answer.");
    }
  });
  review.replaceChildren(button);
  review.hidden = false;
}

/**
 * The question that fits who is here, and the seat it is about: one's own for who lost, and for all others the one that lost.
 * @returns {{asked: string, seat: number | null}}
 */
function question() {
  const returns = match.outcome?.returns ?? [];
  const seat = match.seat ?? match.bot;
  if (seat === null || !returns.length) return { asked: "Where was it lost?", seat: null };
  const [own, most] = [returns[seat] ?? 0, Math.max(...returns)];
  const drawn = returns.every((each) => each === own);
  if (drawn || own === most) return { asked: drawn ? "Review the match" : "Where did it turn?", seat: drawn ? seat : null };
  return { asked: match.seat === null ? "Where did my bot lose it?" : "Where did I lose it?", seat };
}

/** Whether a seat was played by a bot of the signed-in player, who alone can ask it again. @param {number} seat */
function isOwnBot(seat) {
  return match.bot !== null && match.seats[seat]?.player === match.seats[match.bot]?.player;
}

/**
 * The verdict of a review, with a way to each ply that it names.
 * @param {Answers.Review} found
 * @param {(at: number) => void} go
 */
function verdict(found, go) {
  const ways = found.losses.slice(0, MOST).map((ply) => {
    const played = actionTo(ply + 1);
    const drop = found.plies?.find((each) => each.ply === ply)?.drop;
    const cost = drop === undefined ? "" : ` cost ${dropText(drop, found.unit ?? "points")}`;
    const way = html("button", { type: "button", "data-ply": ply, title: "Show the position before it" }, `Ply ${ply + 1}${played ? `: ${spoken(written(played))}` : ""}${cost}`);
    way.addEventListener("click", () => {
      go(ply);
      document.getElementById("scene")?.scrollIntoView({ block: "nearest" }); // on a phone the board is above
    });
    return way;
  });
  const command = found.command && isOwnBot(found.seat) ? `${found.command} --server ${location.origin}` : "";
  return [`${name(found.seat)}: ${unbroken(found.verdict)} `, ...ways,
    command ? html("small", { class: "soft" }, ` Ask your bot again: ${command}`) : ""];
}
