/**
 * Watches the addresses that were used in this browser, whichever view is shown.
 *
 * One request follows the other, so it takes one connection, and only a part of what the service permits to a client.
 */

import { Failure, index, json, query, whenTokenChanges } from './api.js';
import { codesArrived } from './arrival.js';
import { learn, watched } from './leases.js';
import { sleep } from './live.js';
import { isRead, isSame } from './memory.js';

/** @typedef {import('./types.js').ListedEmail} ListedEmail */
/** @typedef {import('./types.js').EmailPage} EmailPage */

/** What is known of an address: its newest mails, and how many it has. @typedef {{mails: ListedEmail[], total: number, askedAt: number}} State */

const FIELDS = 'id,from,fromName,subject,receivedAt,expiresAt,codes';
const MAILS_MAX = 20;
/** How many addresses are asked for often; how often they are, and the others, in milliseconds. */
const OFTEN_MAX = 3;
const OFTEN = 5_000;
const SELDOM = 60_000;
/** How many times as long it is for a tab in the background. */
const HIDDEN = 3;
/** The shortest time between two requests, in milliseconds. */
const GAP = 300;
/** The largest part of the permitted requests that this takes. */
const PART = 1 / 4;
/** How long to wait after a failure at least, and for an answer at most, in milliseconds. */
const AFTER_FAILURE = 15_000;
const ANSWER_MAX = 30_000;

/** @type {Map<string, State>} */
const states = new Map();
/** Addresses that the service refuses. @type {Set<string>} */
const refused = new Set();
/** Addresses that another view follows. @type {Set<string>} */
const elsewhere = new Set();
/** @type {Set<() => void>} */
const listeners = new Set();

/** What is known of an address. @param {string} address */
export function known(address) {
  return states.get(address);
}

/** How many of the newest mails of an address were not read yet. @param {string} address */
export function unread(address) {
  return (states.get(address)?.mails ?? []).filter(({ id }) => !isRead(id)).length;
}

/** @param {() => void} listener Called after each look at an address. @param {AbortSignal} signal */
export function whenWatched(listener, signal) {
  listeners.add(listener);
  signal.addEventListener('abort', () => listeners.delete(listener));
}

/** An address is not watched here until a signal, because a view follows it. @param {string} address @param {AbortSignal} signal */
export function watchElsewhere(address, signal) {
  elsewhere.add(address);
  signal.addEventListener('abort', () => {
    elsewhere.delete(address);
    states.delete(address);
  });
}

/** The address whose turn is next, and in how many milliseconds. */
function next() {
  const slow = document.hidden ? HIDDEN : 1;
  const turns = watched()
    .map((address, rank) => {
      const { askedAt = -Infinity } = states.get(address) ?? {};
      return { address, wait: Math.max(0, askedAt + (rank < OFTEN_MAX ? OFTEN : SELDOM) * slow - performance.now()) };
    })
    .filter(({ address }) => !refused.has(address) && ![...elsewhere].some((other) => isSame(other, address)));
  return turns.reduce((first, turn) => (turn.wait < first.wait ? turn : first), { address: '', wait: OFTEN });
}

/** Looks at an address. Only if something has changed there, more than an id is asked for. @param {string} address */
async function look(address) {
  const before = states.get(address);
  const page = async (/** @type {number} */ limit, /** @type {string} */ fields) => {
    const path = `api/mail/messages?${query({ to: address, limit, fields })}`;
    /** @type {EmailPage} */
    const { emails, total = 0 } = await json(path, { signal: AbortSignal.timeout(ANSWER_MAX) });
    return { emails, total };
  };
  const first = before ? await page(1, 'id') : null;
  const isSameAsBefore = first?.total === before?.total && first?.emails[0]?.id === before?.mails[0]?.id;
  const askedAt = performance.now();
  if (before && isSameAsBefore) {
    before.askedAt = askedAt;
    return;
  }
  const { emails, total } = await page(MAILS_MAX, FIELDS);
  states.set(address, { mails: emails, total, askedAt });
  codesArrived(address, emails, false, !before);
}

/** The shortest time between two requests that the limits of the service permit, in milliseconds. */
async function gap() {
  const { limits } = await index();
  return Math.max(GAP, limits.requestsPerMinute ? 60_000 / (limits.requestsPerMinute * PART) : 0);
}

/** Watches as long as the page is there. */
export async function watch() {
  whenTokenChanges(() => {
    refused.clear();
    states.clear();
  });
  for (let learntAt = -Infinity; ; ) {
    // Another device may have changed what the key opens.
    if (learntAt + SELDOM < performance.now()) {
      learntAt = performance.now();
      await learn();
    }
    const { address, wait } = next();
    if (!address || wait > 0) {
      // There may be another address meanwhile, or another tab in front.
      await sleep(Math.min(Math.max(wait, GAP), 1_000));
      continue;
    }
    try {
      await look(address);
      for (const listener of listeners) listener();
      await sleep(await gap());
    } catch (error) {
      const { status = 0, retryAfter = 0 } = error instanceof Failure ? error : {};
      if (status >= 400 && status < 500 && status !== 429 && status !== 408) refused.add(address);
      else await sleep(Math.max(AFTER_FAILURE, retryAfter * 1000));
    }
  }
}
