/** Times, sizes and numbers for people, in their language, by the clock of the service. */

import { LOCALE, t } from './language.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** By how many milliseconds the service's clock is ahead of this one. */
let ahead = 0;

/**
 * Learns the service's time from an answer. Its field Date has whole seconds, so small differences mean nothing.
 *
 * @param {Headers} headers
 */
export function learnTime(headers) {
  const difference = Date.parse(headers.get('date') ?? '') - Date.now();
  if (Number.isFinite(difference)) ahead = Math.abs(difference) < 2000 ? 0 : difference;
}

/** The service's time, in seconds since 1970. */
export function now() {
  return (Date.now() + ahead) / 1000;
}

/** A time of the interface, `YYYY-MM-DD HH:MM:SS` in UTC, in seconds since 1970. @param {string} text */
export function seconds(text) {
  return Date.parse(`${text.replace(' ', 'T')}Z`) / 1000;
}

const exactFormat = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });
const relativeFormat = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto', style: 'short' });

/** @param {string} text */
export function exactTime(text) {
  return exactFormat.format(seconds(text) * 1000);
}

/** A time that has passed, as "2 min ago". @param {string} text */
export function relativeTime(text) {
  const passed = Math.max(0, now() - seconds(text));
  if (passed < MINUTE) return relativeFormat.format(0, 'second');
  if (passed < HOUR) return relativeFormat.format(-Math.floor(passed / MINUTE), 'minute');
  if (passed < DAY) return relativeFormat.format(-Math.floor(passed / HOUR), 'hour');
  return relativeFormat.format(-Math.floor(passed / DAY), 'day');
}

/** @param {number} value @param {string} unit @param {'short' | 'long'} [unitDisplay] */
function unit(value, unit, unitDisplay = 'short') {
  return new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 }).format(value);
}

/** A span of seconds in its largest one or two units, as "1 hr 52 min". @param {number} span */
export function duration(span) {
  const whole = Math.max(0, Math.floor(span));
  if (whole < MINUTE) return unit(whole, 'second');
  if (whole < HOUR) return unit(Math.floor(whole / MINUTE), 'minute');
  const [first, name, second, rest] =
    whole < DAY ? [HOUR, 'hour', MINUTE, 'minute'] : [DAY, 'day', HOUR, 'hour'];
  const left = Math.floor((whole % Number(first)) / Number(second));
  const start = unit(Math.floor(whole / Number(first)), String(name));
  return left === 0 ? start : `${start} ${unit(left, String(rest))}`;
}

/** How long a mail is still there. @param {string} expiresAt */
export function timeLeft(expiresAt) {
  return t('timeLeft', { time: duration(seconds(expiresAt) - now()) });
}

/** @param {number} octets */
export function size(octets) {
  if (octets < 1024) return unit(octets, 'byte', 'long');
  if (octets < 1024 * 1024) return unit(octets / 1024, 'kilobyte');
  return unit(octets / (1024 * 1024), 'megabyte');
}

const counts = new Intl.NumberFormat(LOCALE);

/** @param {number} value */
export function number(value) {
  return counts.format(value);
}

/** Characters without a shape of their own, but for those that join letters or choose a form of one; and the blank of Braille. */
const INVISIBLE = /(?![\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;

/**
 * Text of a stranger on one line. Controls, invisible characters and those that turn the direction of text are replaced.
 *
 * @param {string} text
 * @param {string} [mark] What replaces them.
 */
export function oneLine(text, mark = '\ufffd') {
  return withFewMarks(text.replace(/\s+/g, ' ').replace(INVISIBLE, mark)).trim();
}

/** Text in which no letter has more than eight marks. Thousands would cover other text, and take seconds to draw. @param {string} text */
export function withFewMarks(text) {
  return text.replace(/(\p{M}{8})\p{M}+/gu, '$1');
}
