// How a match ended, in a sentence. Pure: it knows no game and no page.

import { signed } from "./dom.js";

/** The words after "wins" if all others have lost. */
/** @type {Record<string, string>} */
const WON = {
  resignation: "by resignation", flag_fall: "on time", illegal_action: "by an illegal action",
  disconnect: "as the other was away", bot_crash: "as the other's bot failed",
  no_answer: "as the other's model named no legal action",
  no_show: "as the other did not come",
};

/** The words after "You lose" in a match of two. */
/** @type {Record<string, string>} */
const YOU_LOSE = {
  resignation: "by resignation", flag_fall: "on time", illegal_action: "by an illegal action",
  disconnect: "because you were away", bot_crash: "because your bot failed",
  no_answer: "because your model named no legal action",
  no_show: "because you did not come",
};

/** Ends whose reason says no more than this sentence, and whether the seat was to move. @type {Record<string, boolean>} */
const SAID = { resignation: false, flag_fall: true, illegal_action: true };

/** The words for a player who played alone. */
/** @type {Record<string, string>} */
const LOST = {
  resignation: "resigned", flag_fall: "lost on time", illegal_action: "lost by an illegal action",
  disconnect: "was away too long", bot_crash: "lost as the bot failed", no_show: "did not come",
  no_answer: "lost as the model named no legal action",
};

/**
 * A return as people read it: +1, −0.5, 0.
 * @param {number} value
 */
export const score = (value) => {
  const text = signed(value, 2);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
};

/** A time in minutes or seconds. @param {string} seconds */
const time = (seconds) => (Number(seconds) >= 60 && Number(seconds) % 60 === 0 ? `${Number(seconds) / 60} min` : `${Number(seconds)} s`);

/**
 * A time control in words, as the server writes it elsewhere; unknown ones stay as they are.
 * @param {string} control
 */
export function timeInWords(control) {
  const [kind, rest = ""] = control.split(":");
  const [main, more = "0"] = rest.split("+");
  const [periods, each = "0"] = more.split("x");
  switch (kind) {
    case "total": return Number(more) ? `${time(main)} + ${time(more)} per move` : `${time(main)} in all`;
    case "move": return `${time(main)} per move`;
    case "bank": return `${time(main)} per move + ${time(more)} in all`;
    case "byoyomi": return `${time(main)} + ${periods} periods of ${time(each)}`;
    default: return control;
  }
}

/**
 * The result in a sentence.
 * @param {{termination: string, returns?: number[], reason?: string}} outcome
 * @param {string[]} names of those who held the seats
 * @param {number | null} you the seat of the person who reads it, if any
 * @param {(seat: number) => number} [moveOf] the number of the move that a seat did not make
 * @param {string} [unit] of returns
 */
export function sentence({ termination, returns = [], reason: words = "" }, names, you = null, moveOf = undefined, unit = "") {
  const reason = words.charAt(0).toUpperCase() + words.slice(1);
  if (termination === "aborted" || termination === "server_fault") {
    return `No result: ${reason || termination.replaceAll("_", " ")}`;
  }
  if (termination === "draw_agreed") return "Draw by agreement.";
  const told = reason ? ` ${reason}` : "";
  const why = reason && termination === "no_answer" ? "" : termination; // that reason says it all
  const got = (/** @type {number} */ seat) => names[seat] ?? `seat ${seat + 1}`;
  const much = (/** @type {number[]} */ ...values) => [values.map(score).join(" : "), unit].filter(Boolean).join(" ");
  if (returns.length === 1) { // nobody to beat: what matters is how much it was
    return `${got(0)} ${LOST[why] ?? "is done"}: ${much(returns[0])}.${told}`;
  }
  const best = Math.max(...returns);
  const winners = returns.flatMap((value, seat) => (value === best ? [got(seat)] : []));
  if (winners.length === returns.length) {
    return (best === 0 ? "Draw." : `Nobody is ahead: ${much(best)} for each.`) + told;
  }
  const mine = you !== null && returns.length === 2;
  const alone = you !== null && returns[you] === best && winners.length === 1;
  const verb = winners.length > 1 ? "win" : "wins";
  const how = WON[why] ? ` ${WON[why]}` : "";
  const usual = returns.every((value) => Math.abs(value) === 1);
  const ordered = mine && you === 1 ? [...returns].reverse() : returns; // what concerns the reader comes first
  // Of more than two seats the names show the rest.
  const by = usual || how ? "" : `, ${returns.length > 2 ? much(best) : much(...ordered)}`;
  if (you !== null && returns.length === 2 && moveOf && termination in SAID && (alone || mine)) {
    const when = SAID[termination] ? ` at move ${moveOf(alone ? 1 - you : you)}` : "";
    return `${alone ? `You win${how}` : `You lose ${YOU_LOSE[termination]}`}${when}.`;
  }
  if (alone) return `You win${how}${by}.${told}`;
  if (mine) return `You lose${how ? ` ${YOU_LOSE[why]}` : ""}${by}.${told}`;
  return `${winners.join(" and ")} ${verb}${how}${by}.${told}`;
}
