// The differences between two scenes in words, for screen readers.

const MOST = 4; // spots that are named; above that, only their number

/** The cards of a hand in words; hidden ones of a trick are one stack. @param {Scenes.Hand} hand */
export function cardsInWords({ cards = [], look }) {
  const said = cards.map((card) => card.label || card.text || "face down");
  return (look === "trick" ? [...new Set(said)] : said).join(", ");
}

/**
 * Describe the changes since the scene before: spots by their labels, open cards, dice, the status.
 * @param {Scenes.Scene | null} before
 * @param {Partial<Scenes.Scene>} after
 * @param {string} [status] how it stands, if that is not said as the game has it
 */
export function changesInWords(before, after, status = after.status) {
  /** @type {string[]} */
  const told = [];
  (after.elements ?? []).forEach((element, index) => {
    const old = before?.elements?.[index];
    if (element.kind === "grid" && old?.kind === "grid") {
      /** @type {string[]} */
      const spots = [];
      element.rows.forEach((row, y) => row.forEach((cell, x) => {
        const was = old.rows?.[y]?.[x];
        if (was && cell.label && cell.label !== was.label) spots.push(cell.label);
      }));
      if (spots.length > MOST) told.push(...spots.slice(0, MOST - 1), `and ${spots.length - MOST + 1} more spots change`);
      else told.push(...spots);
    } else if (element.kind === "dice" && old?.kind === "dice" && String(element.values) !== String(old.values) && element.values.length) {
      told.push(`${element.label}: ${element.values.join(" and ")}`);
    } else if (element.kind === "hand") {
      const was = before?.elements?.find((each) => each.kind === "hand" && each.label === element.label && each.look === element.look);
      const [now, then] = [cardsInWords(element), was?.kind === "hand" ? cardsInWords(was) : ""];
      if (before && now && now !== then) told.push(`${element.label}: ${now}`);
    } else if (element.kind === "counter" && old?.kind === "counter" && element.value !== old.value) {
      told.push(`${element.label}: ${element.value}`);
    }
  });
  if (status) told.push(status);
  return told.join("; ");
}

/**
 * The status of a scene for the one who is to move: "Your turn: White to move".
 * @param {string} status
 * @param {number} seat of who reads it
 * @param {string[]} holders names of players by seat
 * @param {string[]} names what the game calls the seats
 */
export function yourTurn(status, seat, holders, names) {
  const said = withHolders(status, holders, names);
  if (!said) return "Your turn";
  const [, round = "", first = ""] = /^(?:(Round \d+ of \d+): )?(?:The )?(.*)$/s.exec(said) ?? [];
  // The name of who reads it says nothing: the colour of the seat stands beside it.
  const own = [holders[seat], names[seat]].find((name) => name && first.toLowerCase().startsWith(`${name.toLowerCase()} `));
  if (!own) return `Your turn: ${said}`;
  const rest = first.slice(own.length + 1).replace(/^to |^(\w+)s\b/, "$1");
  const when = round && !round.endsWith(" of 1") ? ` (${round.toLowerCase()})` : "";
  return /^move\b/.test(rest) ? `Your turn${rest.slice(4)}${when}` : `Your turn: ${rest}${when}`;
}

/**
 * Players' names where a scene speaks of seats that have none: "seat 1 to move".
 * Seats that are called after what they play (White, South, Pacman) keep it.
 * @param {string} text
 * @param {string[]} holders names of players by seat
 * @param {string[]} names what the game calls the seats
 */
export function withHolders(text, holders, names) {
  if (!text || !holders?.length) return text;
  let said = text.replace(/\bseat (\d+)\b/gi, (whole, seat) => holders[Number(seat) - 1] ?? whole);
  names.forEach((name, seat) => {
    if (!holders[seat] || !/^(first|second|third)$/.test(name)) return;
    said = said.replace(new RegExp(`(^|\\b(?:of|by) |, )${name}(?=$|[,:.]| (?:to|wins|rolls|places|gets|plays|took|chose))`, "g"), (_, lead) => lead + holders[seat]);
  });
  return said;
}
