// Values as text: times, numbers, names.

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const NUMBER = new Intl.NumberFormat();

const UNITS = /** @type {const} */ ([["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]]);

/** A time of RFC 3339, as a date. @param {string} time */
export const date = (time) => DATE.format(new Date(time));

/** The time of day. @param {string} time */
export const clock = (time) => TIME.format(new Date(time));

/** How long ago, or until, roughly. @param {string} time */
export function ago(time) {
  const seconds = (new Date(time).getTime() - Date.now()) / 1_000;
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return Math.abs(seconds) > 30 * 86_400 ? date(time) : RELATIVE.format(Math.round(seconds / length), unit);
}

/** @param {number} value */
export const count = (value) => NUMBER.format(value);

/** @param {number} value @param {string} one @param {string} [many] */
export const counted = (value, one, many = `${one}s`) => `${NUMBER.format(value)} ${value === 1 ? one : many}`;

/** @param {number} ms */
export const milliseconds = (ms) => `${Number.isInteger(ms) ? ms : ms.toFixed(ms >= 100 ? 0 : ms >= 1 ? 1 : 2)}\u00a0ms`;

/** A share of 1. @param {number} share */
export const percent = (share) => `${Math.round(share * 100)}\u00a0%`;

/** A relevance. @param {number | null | undefined} score */
export const score = (score) => (score === null || score === undefined ? "–" : score.toFixed(2));

/** A name of the API as words: `near_duplicate` becomes "near duplicate". @param {string} name */
export const words = (name) => name.replaceAll("_", " ");
