/** The words of the page in each language. A phrase with a number has a form for each plural of its language. */

import { en } from './words.en.js';

/** @typedef {string | {other: string, zero?: string, one?: string, two?: string, few?: string, many?: string}} Text */
/** @typedef {keyof typeof en} Phrase */
/** @typedef {Partial<Record<Phrase, Text>>} Words A language has no phrase that English lacks. One that it lacks is shown in English. */

/** How the words of a language are loaded. English is always here. */
export const WORDS = {
  en: async () => /** @type {Words} */ (en),
  de: async () => /** @type {Words} */ ((await import('./words.de.js')).de),
  es: async () => /** @type {Words} */ ((await import('./words.es.js')).es),
  fr: async () => /** @type {Words} */ ((await import('./words.fr.js')).fr),
  zh: async () => /** @type {Words} */ ((await import('./words.zh.js')).zh),
  ar: async () => /** @type {Words} */ ((await import('./words.ar.js')).ar),
};
