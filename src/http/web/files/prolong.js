/** Prolonging a private inbox. */

import { index, json, query } from './api.js';
import { exactTime, now, seconds } from './format.js';
import { t } from './language.js';
import { changed } from './leases.js';
import { say } from './notice.js';
import { meaning } from './problem.js';

/** @typedef {import('./types.js').Lease} Lease */

/** Prolongs a lease by some seconds, as far as the service permits. It never becomes shorter. @param {Lease} before @param {number} by */
export async function prolong({ address, heldUntil }, by) {
  try {
    const { limits } = await index();
    const left = Math.ceil(seconds(heldUntil) - now());
    const forSeconds = Math.min(left + by, limits.privateInboxSeconds);
    // What asks for nothing is answered with the lease as it is.
    const body = forSeconds > left ? { forSeconds } : {};
    /** @type {Lease} */
    const lease = await json(`api/addresses?${query({ address })}`, { method: 'PATCH', body, asHolder: true });
    changed(lease);
    say(t('prolonged', { address, time: exactTime(lease.heldUntil) }));
  } catch (error) {
    say(meaning(error));
  }
}
