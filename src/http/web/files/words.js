/** The words of the page in each language. A phrase with a number has a form for each plural of its language. */

import { en } from './words.en.js';

/** @typedef {string | {other: string, zero?: string, one?: string, two?: string, few?: string, many?: string}} Text */
/** @typedef {keyof typeof en} Phrase */
/** @typedef {Record<Phrase, Text>} Words Each language has the phrases of English, no more and no fewer. */

/** How the words of a language are loaded. English is always here. */
export const WORDS = {
  en: async () => /** @type {Words} */ (en),
  de: async () => /** @type {Words} */ ((await import('./words.de.js')).de),
  es: async () => /** @type {Words} */ ((await import('./words.es.js')).es),
  fr: async () => /** @type {Words} */ ((await import('./words.fr.js')).fr),
  zh: async () => /** @type {Words} */ ((await import('./words.zh.js')).zh),
  ar: async () => /** @type {Words} */ ((await import('./words.ar.js')).ar),
};
