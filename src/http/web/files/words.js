/** The words of the page in each language. A phrase with a number has a form for each plural of its language. */

import { ar } from './words.ar.js';
import { de } from './words.de.js';
import { en } from './words.en.js';
import { es } from './words.es.js';
import { fr } from './words.fr.js';
import { zh } from './words.zh.js';

/** @typedef {string | {other: string, zero?: string, one?: string, two?: string, few?: string, many?: string}} Text */
/** @typedef {Record<keyof typeof en, Text>} Words Each language has the phrases of English, no more and no fewer. */

/** @satisfies {Record<string, Words>} */
export const WORDS = { en, de, es, fr, zh, ar };
