// Values of positions as people read them, like games/values.py: chances of winning where matches
// are won, drawn or lost; elsewhere returns with their unit. Pure.

import { signed } from "./dom.js";

/** A text whose percentages do not break over lines. @param {string} text */
export const unbroken = (text) => text.replaceAll(" %", "\u00a0%");

/** A percentage with one digit after the point where it is not whole. @param {number} value */
const percent = (value) => unbroken(`${String(Number(value.toFixed(1))).replace("-", "\u2212")} %`);

/** The chance of winning that a value from -1 to 1 means; a draw adds a half. @param {number} value */
export const chance = (value) => percent(50 * (Math.min(1, Math.max(-1, value)) + 1));

/**
 * A value with its unit: `62.5 %`, `+1.50 points`.
 * @param {number} value
 * @param {string} unit
 */
export const valueText = (value, unit) => (unit === "%" ? chance(value) : `${signed(value, 2)} ${unit}`);

/**
 * A loss of value, which has no sign: `20 %`, `0.400 points`.
 * @param {number} drop
 * @param {string} unit
 */
export const dropText = (drop, unit) => (unit === "%" ? percent(50 * drop) : `${(Number(drop.toFixed(3)) + 0).toFixed(3).replace("-", "\u2212")} ${unit}`);
