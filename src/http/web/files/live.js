/** Keeps a list of mails up to date: by events while its tab is in front, by asking now and then otherwise. */

import { Failure } from './api.js';
import { events } from './events.js';

/** How often a tab in the background asks, in milliseconds. Browsers allow few streams to one service at once. */
const BACKGROUND_EVERY = 15_000;
/** How often to ask while there is no stream, in milliseconds. */
const POLL_EVERY = 5_000;
/** After how many streams in a row without an octet only asking is tried. Then a proxy holds them back. */
const SILENT_MAX = 2;
/** A stream that lasted less than this, in milliseconds, counts as one that failed. */
const SHORT = 10_000;
/** How long to wait after the first failure and at most, in milliseconds. */
const WAIT_MIN = 1_000;
const WAIT_MAX = 15_000;
/** How long events are collected before the list is read again, in milliseconds. */
const COLLECT = 80;

/**
 * @typedef {object} Follower
 * @property {() => Promise<void>} refresh Reads the list again.
 * @property {(id: string) => void} gone A mail was deleted or has expired.
 * @property {(failure: Failure | null, isOver: boolean) => void} report Whether the service answers, and whether
 *   following is over.
 */

/** Follows one list until a signal. */
export class Live {
  /** Ends the present round: a stream, or a pause. */
  #round = new AbortController();
  #silentStreams = 0;
  #failures = 0;

  /**
   * @param {string} path The path of the stream.
   * @param {Follower} follower
   * @param {AbortSignal} signal
   * @param {number} [rest] How long the list rests after it was read because of an event, in milliseconds.
   */
  constructor(path, follower, signal, rest = 0) {
    this.path = path;
    this.follower = follower;
    this.signal = signal;
    this.refresh = collected(() => follower.refresh(), COLLECT, rest);
  }

  /** Asks again at once. */
  again() {
    this.#round.abort();
  }

  /** Follows until the signal, or until the service refuses the list. */
  async run() {
    while (!this.signal.aborted) {
      this.#round = new AbortController();
      const ended = AbortSignal.any([this.signal, this.#round.signal]);
      document.addEventListener('visibilitychange', () => this.again(), { signal: ended });
      // A stream notices late that there is no network any more.
      for (const name of ['online', 'offline']) addEventListener(name, () => this.again(), { signal: ended });
      const wait = await this.#read(ended);
      if (wait === null) break;
      await pause(wait, ended);
      this.#round.abort();
    }
  }

  /** Reads the list and then the stream; how long to wait before the next round, null if there is none. @param {AbortSignal} ended */
  async #read(ended) {
    try {
      await this.follower.refresh();
    } catch (error) {
      if (this.signal.aborted) return null;
      const failure = error instanceof Failure ? error : new Failure(0, 'offline', String(error));
      const isOver = isRefusal(failure);
      this.follower.report(failure, isOver);
      return isOver ? null : this.#waitAfterFailure(failure);
    }
    this.follower.report(null, false);
    if (document.hidden) return BACKGROUND_EVERY;
    if (this.#silentStreams >= SILENT_MAX) return POLL_EVERY;
    return this.#stream(ended);
  }

  /** Reads events until the stream ends. The list is what counts, so a stream that fails is no failure of the service. @param {AbortSignal} ended */
  async #stream(ended) {
    const begun = performance.now();
    try {
      for await (const { event, data } of events(this.path, ended, () => this.#opened())) {
        if (event === 'email.deleted' || event === 'email.expired') this.follower.gone(JSON.parse(data).id);
        this.refresh();
      }
    } catch (error) {
      if (ended.aborted) return 0;
      if (error instanceof Failure) return Math.max(POLL_EVERY, this.#waitAfterFailure(error));
      this.#silentStreams += 1;
      return 0;
    }
    // The service ends each stream after a while. A proxy may end them at once.
    if (performance.now() - begun < SHORT) return this.#waitAfterFailure(null);
    this.#failures = 0;
    return 0;
  }

  #opened() {
    this.#silentStreams = 0;
    // What arrived between the list and the stream.
    this.refresh();
  }

  /** @param {Failure | null} failure */
  #waitAfterFailure(failure) {
    this.#failures += 1;
    const growing = Math.min(WAIT_MIN * 2 ** (this.#failures - 1), WAIT_MAX);
    return Math.max((failure?.retryAfter ?? 0) * 1000, growing);
  }
}

/** Whether the same request would fail again: the service refuses it, and not for a limit. @param {Failure} failure */
function isRefusal({ status }) {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/**
 * Calls `action` once for all calls within a time, and again if there were calls while it ran.
 *
 * @param {() => Promise<void>} action
 * @param {number} within In milliseconds.
 * @param {number} rest How long it rests after each call, in milliseconds.
 */
function collected(action, within, rest) {
  let isWanted = false;
  let isRunning = false;
  return async function call() {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      await sleep(within);
      isWanted = false;
      // The next round reports it.
      await action().catch(() => {});
      await sleep(rest);
    }
    isRunning = false;
  };
}

/** @param {number} millis @returns {Promise<void>} */
export function sleep(millis) {
  return new Promise((resolve) => setTimeout(resolve, millis));
}

/** Sleeps, at most until a signal. @param {number} millis @param {AbortSignal} signal @returns {Promise<void>} */
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
