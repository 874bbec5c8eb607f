/** Keeps an inbox up to date: by events while its tab is in front, by asking now and then otherwise. */

import { Failure, query } from './api.js';
import { events } from './events.js';

/** How often a tab in the background asks, in milliseconds. Browsers allow few streams to one service at once. */
const BACKGROUND_EVERY = 15_000;
/** How often to ask while there is no stream, in milliseconds. */
const POLL_EVERY = 5_000;
/** After how many streams in a row without an octet only asking is tried. Then a proxy holds them back. */
const SILENT_MAX = 2;
/** How long events are collected before the list is read again, in milliseconds. */
const COLLECT = 80;

/**
 * @typedef {object} Follower
 * @property {() => Promise<void>} refresh Reads the list again.
 * @property {(id: string) => void} gone A mail was deleted or has expired.
 * @property {(failure: Failure | null) => void} report Whether the service answers.
 */

/**
 * Follows an inbox until `signal`.
 *
 * @param {string} address
 * @param {Follower} follower
 * @param {AbortSignal} signal
 */
export async function follow(address, follower, signal) {
  const refresh = collected(follower.refresh, COLLECT);
  let silentStreams = 0;
  let failures = 0;
  while (!signal.aborted) {
    const shift = new AbortController();
    const over = AbortSignal.any([signal, shift.signal]);
    document.addEventListener('visibilitychange', () => shift.abort(), { signal: over });
    // A stream notices late that there is no network any more.
    for (const name of ['online', 'offline']) addEventListener(name, () => shift.abort(), { signal: over });
    let wait = POLL_EVERY;
    try {
      await follower.refresh();
      follower.report(null);
      failures = 0;
      if (document.hidden) {
        wait = BACKGROUND_EVERY;
      } else if (silentStreams < SILENT_MAX) {
        silentStreams += 1;
        for await (const event of events(`api/mail/stream?${query({ to: address })}`, over, () => {
          silentStreams = 0;
          // What arrived between the list and the stream.
          refresh();
        })) {
          if (event.event === 'email.deleted' || event.event === 'email.expired') {
            follower.gone(JSON.parse(event.data).id);
          }
          refresh();
        }
        // A stream ends after a while, and when the service stops.
        wait = 200;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!over.aborted) {
        const failure = error instanceof Failure ? error : new Failure(0, 'offline', String(error));
        follower.report(failure);
        if (isFinal(failure)) return;
        failures += 1;
        wait = Math.max(failure.retryAfter * 1000, Math.min(500 * 2 ** failures, 15_000));
      }
    }
    await pause(wait, over);
    shift.abort();
  }
}

/** Whether the same request would fail again. @param {Failure} failure */
function isFinal(failure) {
  return failure.status >= 400 && failure.status < 500 && failure.code !== 'rate_limited' && failure.status !== 408;
}

/**
 * Calls `action` once for all calls within a time, and again if there were calls while it ran.
 *
 * @param {() => Promise<void>} action
 * @param {number} within
 */
function collected(action, within) {
  let isWanted = false;
  let isRunning = false;
  return async function call() {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      await new Promise((resolve) => setTimeout(resolve, within));
      isWanted = false;
      // The next round of following reports it.
      await action().catch(() => {});
    }
    isRunning = false;
  };
}

/** @param {number} millis @param {AbortSignal} signal @returns {Promise<void>} */
function pause(millis, signal) {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, millis);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
