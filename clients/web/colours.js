// The colours of seats. They are classes of the style sheet: seat-white, seat-black, seat-0 to seat-5.

const COLOURS = 6;
const NAMED = new Set(["white", "black"]); // seats that are called after a colour have it

/**
 * The class with the colour of a seat; "" for no seat's.
 * @param {number | null | undefined} seat
 * @param {string[]} names what the seats are called
 */
export function seatClass(seat, names = []) {
  if (seat === null || seat === undefined) return "";
  const name = (names[seat] ?? "").toLowerCase();
  return NAMED.has(name) ? `seat-${name}` : `seat-${seat % COLOURS}`;
}
