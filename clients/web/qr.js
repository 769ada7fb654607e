// QR codes (ISO/IEC 18004) of addresses: bytes, error correction M, versions 1 to 10.
// The mask is always the first one: readers take any, and it may only be harder on old cameras.

import { svg } from "./dom.js";

/** Of each version: check bytes of a block, blocks, data bytes of the shorter blocks, and how many are longer by one. @type {[number, number, number, number][]} */
const BLOCKS = [
  [10, 1, 16, 0], [16, 1, 28, 0], [26, 1, 44, 0], [18, 2, 32, 0], [24, 2, 43, 0],
  [16, 4, 27, 0], [18, 4, 31, 0], [22, 4, 38, 2], [22, 5, 36, 2], [26, 5, 43, 1],
];
/** Of each version: rows of alignment patterns. */
const ALIGNED = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];
const QUIET = 4; // white modules around a code

/** @type {number[]} */
const EXP = [];
/** @type {number[]} */
const LOG = [];
for (let power = 0, value = 1; power < 255; power += 1) {
  EXP[power] = value;
  LOG[value] = power;
  value = value & 128 ? (value << 1) ^ 0x11d : value << 1;
}
/** The product in GF(256). @param {number} one @param {number} other */
const times = (one, other) => (one && other ? EXP[(LOG[one] + LOG[other]) % 255] : 0);

/** The check bytes of a block. @param {number[]} data @param {number} count */
function checks(data, count) {
  let generator = [1];
  for (let root = 0; root < count; root += 1) {
    generator = [...generator, 0].map((value, at) => value ^ times(generator[at - 1] ?? 0, EXP[root]));
  }
  const left = [...data, ...Array(count).fill(0)];
  data.forEach((_, at) => {
    const factor = left[at];
    generator.forEach((value, shift) => { left[at + shift] ^= times(value, factor); });
  });
  return left.slice(data.length);
}

/** A number followed by its remainder under a generator of `bits` bits. @param {number} value @param {number} generator @param {number} bits */
function protect(value, generator, bits) {
  let left = value << bits;
  for (let at = 31; at >= bits; at -= 1) if ((left >>> at) & 1) left ^= generator << (at - bits);
  return (value << bits) | left;
}

/** The bytes of a text with all that goes with them, in the order of the code; and the version. @param {string} text */
function codewords(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = BLOCKS.findIndex(([, blocks, data, longer], at) => bytes.length + (at < 9 ? 2 : 3) <= blocks * data + longer) + 1;
  if (!version) throw new Error("This text is too long for a QR code.");
  const [count, blocks, size, longer] = BLOCKS[version - 1];
  const bits = [...(4).toString(2).padStart(4, "0"), ...bytes.length.toString(2).padStart(version < 10 ? 8 : 16, "0"),
    ...bytes.flatMap((byte) => [...byte.toString(2).padStart(8, "0")])].join("").concat("0000");
  const data = bits.match(/.{1,8}/g)?.map((byte) => parseInt(byte.padEnd(8, "0"), 2)) ?? [];
  const room = blocks * size + longer;
  data.length = Math.min(data.length, room);
  for (let pad = 0; data.length < room; pad += 1) data.push(pad % 2 ? 0x11 : 0xec);
  const parts = Array.from({ length: blocks }, (_, block) => data.splice(0, size + (block >= blocks - longer ? 1 : 0)));
  const after = parts.map((part) => checks(part, count));
  /** One byte of each in turn. @param {number[][]} from @param {number} most */
  const mixed = (from, most) => Array.from({ length: most }, (_, at) => from.flatMap((each) => (at < each.length ? [each[at]] : []))).flat();
  return { version, words: [...mixed(parts, size + 1), ...mixed(after, count)] };
}

/**
 * The modules of a code, row by row: true is dark.
 * @param {string} text
 */
export function modules(text) {
  const { version, words } = codewords(text);
  const size = 17 + 4 * version;
  /** @type {(boolean | undefined)[][]} */
  const rows = Array.from({ length: size }, () => Array(size).fill(undefined));
  /** @param {number} y @param {number} x @param {number} radius @param {(ring: number) => boolean} dark */
  const square = (y, x, radius, dark) => {
    for (let dy = -radius; dy <= radius; dy += 1) {
      for (let dx = -radius; dx <= radius; dx += 1) {
        if (rows[y + dy]?.[x + dx] === undefined && y + dy >= 0 && x + dx >= 0 && y + dy < size && x + dx < size) rows[y + dy][x + dx] = dark(Math.max(Math.abs(dy), Math.abs(dx)));
      }
    }
  };
  for (const [y, x] of [[3, 3], [3, size - 4], [size - 4, 3]]) square(y, x, 4, (ring) => ring !== 2 && ring !== 4);
  const aligned = ALIGNED[version - 1];
  const edge = aligned.at(-1);
  for (const y of aligned) {
    for (const x of aligned) if (!((y === 6 && (x === 6 || x === edge)) || (x === 6 && y === edge))) square(y, x, 2, (ring) => ring !== 1);
  }
  for (let at = 8; at < size - 8; at += 1) {
    rows[6][at] ??= at % 2 === 0;
    rows[at][6] ??= at % 2 === 0;
  }
  rows[size - 8][8] = true;
  const format = protect(0, 0x537, 10) ^ 0x5412; // error correction M and mask 0
  for (let at = 0; at < 15; at += 1) {
    const dark = ((format >> at) & 1) === 1;
    rows[at < 6 ? at : at < 8 ? at + 1 : size - 15 + at][8] = dark;
    rows[8][at < 8 ? size - 1 - at : at === 8 ? 7 : 14 - at] = dark;
  }
  if (version >= 7) {
    const told = protect(version, 0x1f25, 12);
    for (let at = 0; at < 18; at += 1) {
      const [far, near] = [size - 11 + (at % 3), Math.floor(at / 3)];
      rows[far][near] = rows[near][far] = ((told >> at) & 1) === 1;
    }
  }
  let bit = 0;
  for (let right = size - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) {
      const y = up ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (rows[y][x] !== undefined) continue;
        const dark = (((words[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;
        rows[y][x] = dark !== ((y + x) % 2 === 0);
        bit += 1;
      }
    }
  }
  return /** @type {boolean[][]} */ (rows);
}

/**
 * A drawing of a code; dark on white in every theme, as cameras want it.
 * @param {string} text
 * @param {string} label what the code leads to
 */
export function qrCode(text, label) {
  const rows = modules(text);
  const size = rows.length + 2 * QUIET;
  const d = rows.map((row, y) => row.map((dark, x) => (dark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")).join("")).join("");
  return svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "qr", role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    svg("rect", { width: size, height: size, fill: "#fff" }), svg("path", { d, fill: "#000" }));
}
