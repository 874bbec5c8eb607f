/** Requests to the interface of the service. */

import { learnTime } from './format.js';
import { keepKey, keepToken, keptKey, keptToken, whenKeptTokenChanges } from './memory.js';

/** The token that requests have, or ''. */
let token = valid(keptToken()) ?? '';

/** Called when the token changes. @type {(() => void)[]} */
const onToken = [];

export const hasToken = () => token !== '';

/** A text as a token; null if it cannot be one. @param {string} text */
function valid(text) {
  const trimmed = text.trim();
  // Another character cannot stand in a field of a request.
  return /^[!-~]*$/.test(trimmed) ? trimmed : null;
}

/** @param {string} taken */
function take(taken) {
  token = taken;
  known = null;
  for (const listener of onToken) listener();
}

/**
 * Takes a token and keeps it, for this tab or in this browser; false if it cannot be one. '' forgets it.
 *
 * @param {string} given
 * @param {boolean} [isForBrowser]
 */
export function setToken(given, isForBrowser = false) {
  const taken = valid(given);
  if (taken === null) return false;
  keepToken(taken, isForBrowser);
  take(taken);
  return true;
}

// A token that another tab forgets is forgotten here too.
whenKeptTokenChanges(() => {
  const kept = valid(keptToken()) ?? '';
  if (kept !== token) take(kept);
});

/** @param {() => void} listener */
export function whenTokenChanges(listener) {
  onToken.push(listener);
}

/** Called with a key that the service knows no more, once it is forgotten. @type {((key: string) => void)[]} */
const onLostKey = [];

/** @param {(key: string) => void} listener */
export function whenKeyIsLost(listener) {
  onLostKey.push(listener);
}

/** Why a request failed. */
export class Failure extends Error {
  /**
   * @param {number} status 0 if the service was not reached.
   * @param {string} code The stable word of the interface, or `offline`.
   * @param {string} detail What the service says about it, in English.
   * @param {number} retryAfter After how many seconds it is worth another try; 0 if nothing says so.
   * @param {string} until When it may go, as a time of the interface, or ''.
   */
  constructor(status, code, detail, retryAfter = 0, until = '') {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.until = until;
  }
}

/** The address of a path of the service, which may be below a path of a proxy. @param {string} path */
export function url(path) {
  return new URL(path, document.baseURI).href.replace(/#.*$/, '');
}

/** A query of parameters. The service reads a literal plus sign as one. @param {Record<string, string | number | string[]>} values */
export function query(values) {
  const pairs = Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}

/**
 * @typedef {object} Options
 * @property {string} [method]
 * @property {unknown} [body] Sent as JSON.
 * @property {string} [accept]
 * @property {AbortSignal} [signal]
 * @property {boolean} [outlives] The request goes on when the page is closed.
 * @property {boolean} [asHolder] It is about the addresses of this browser's key, so it bears that rather than the token.
 * @property {string} [key] It bears this key and nothing else.
 */

/**
 * Sends a request with the token, or else with the key of this browser. Fails with a {@link Failure}, or as `signal` says.
 *
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<Response>}
 */
export async function request(path, options = {}) {
  const { method = 'GET', body, accept = 'application/json', signal, outlives } = options;
  const headers = new Headers({ accept });
  const kept = keptKey();
  const secret = options.key || (options.asHolder && kept) || token || kept;
  if (secret) headers.set('authorization', `Bearer ${secret}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const json = body === undefined ? undefined : JSON.stringify(body);
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(url(path), { method, headers, body: json, signal, keepalive: outlives, credentials: 'omit' });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure(0, 'offline', String(error));
  }
  learnTime(answer.headers);
  if (answer.ok) return answer;
  const failed = await failure(answer);
  if (failed.code !== 'token_invalid' || !kept || options.key || secret !== kept) throw failed;
  // All addresses of the key have ended. Another tab may have another key by now.
  if (keptKey() === kept) {
    keepKey('');
    for (const listener of onLostKey) listener(kept);
  }
  return request(path, options);
}

/** @param {Response} answer */
async function failure(answer) {
  const problem = await answer.json().catch(() => ({}));
  const retryAfter = Number(answer.headers.get('retry-after')) || 0;
  const { code = `status_${answer.status}`, detail = answer.statusText, until = '' } = problem;
  return new Failure(answer.status, String(code), String(detail), retryAfter, String(until));
}

/**
 * The JSON of an answer.
 *
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function json(path, options) {
  return (await request(path, options)).json();
}

/** The most ids that one request deletes. */
const IDS_MAX = 100;

/**
 * Deletes mails. Those that are gone already are no failure. All requests begin at once.
 *
 * @param {string[]} ids
 * @param {boolean} outlives
 */
export async function deleteMails(ids, outlives) {
  const batches = Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_, n) => ids.slice(n * IDS_MAX, (n + 1) * IDS_MAX));
  await Promise.all(
    batches.map((batch) => request(`api/mail/delete?${query({ id: batch })}`, { method: 'DELETE', outlives })),
  );
}

/** The index, once it was asked for with the present token. @type {Promise<import('./types.js').Index> | null} */
let known = null;

/** The index of the service: its version, limits, and what is open to all and to this page. */
export function index() {
  if (known) return known;
  /** @type {Promise<import('./types.js').Index>} */
  const asked = json('.');
  known = asked;
  // A failure may pass.
  asked.catch(() => known === asked && (known = null));
  return asked;
}

/** Whether addresses take mail that are not private, as far as the service has said. */
export async function hasPublicInboxes() {
  return (await index().catch(() => null))?.publicInboxes !== false;
}

/** The names of the active domains. @returns {Promise<string[]>} */
export function activeDomains() {
  return json('api/domains/active');
}
