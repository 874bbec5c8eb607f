/** The language of the page: the one that was chosen here, else the first of the browser's that there are words in. */

import { language as remembered } from './memory.js';
import { WORDS } from './words.js';
import { en } from './words.en.js';

/** @typedef {keyof typeof WORDS} Language */
/** @typedef {import('./words.js').Phrase} Phrase */

/** The languages by their own names. @type {Record<Language, string>} */
export const LANGUAGES = { en: 'English', de: 'Deutsch', es: 'Español', fr: 'Français', zh: '中文', ar: 'العربية' };

/** @param {string} code @returns {code is Language} */
function isKnown(code) {
  return Object.hasOwn(WORDS, code);
}

/** @returns {Language} */
function choose() {
  const wanted = [remembered(), ...navigator.languages].map((tag) => tag.toLowerCase().split('-')[0]);
  return wanted.find(isKnown) ?? 'en';
}

/** The language of the words. */
export const LANGUAGE = choose();

/** The locale of times and numbers: the browser's own variant of the language, if it has one. */
export const LOCALE = navigator.languages.find((tag) => tag.toLowerCase().split('-')[0] === LANGUAGE && isLocale(tag)) ?? LANGUAGE;

/** Some systems report names that are no language tags. @param {string} tag */
function isLocale(tag) {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

// Words in English are better than none.
const words = await WORDS[LANGUAGE]().catch(() => WORDS.en());
const plurals = new Intl.PluralRules(LOCALE);
const numbers = new Intl.NumberFormat(LOCALE);

/**
 * A phrase in the language of the page, or in English if that language has none yet. `{name}` stands for a value; `n`
 * also chooses the plural.
 *
 * @param {Phrase} phrase
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(phrase, values = {}) {
  /** @type {import('./words.js').Text} */
  const found = words[phrase] ?? en[phrase];
  const text = typeof found === 'string' ? found : (found[plurals.select(Number(values.n))] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === 'number' ? numbers.format(value) : String(value);
  });
}

/** Marks the document with its language and direction. */
export function markDocument() {
  document.documentElement.lang = LANGUAGE;
  document.documentElement.dir = LANGUAGE === 'ar' ? 'rtl' : 'ltr';
}
