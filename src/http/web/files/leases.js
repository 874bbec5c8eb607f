/** The private inboxes of this browser: those that its key opens. */

import { json, query, request, whenKeyIsLost } from './api.js';
import { now, seconds } from './format.js';
import { t } from './language.js';
import { addresses as used, forgetAddress, isSame, keepKey, keptKey, whenKeptKeyChanges } from './memory.js';
import { LONG, say, undoable } from './notice.js';
import { meaning } from './problem.js';

/** @typedef {import('./types.js').Lease} Lease */

/** What the service last said, the latest address first. @type {Lease[]} */
let leases = [];
/** Their key; null if the service was not asked yet. @type {string | null} */
let learnt = null;
/** @type {Promise<void> | null} */
let asking = null;
/** Addresses whose end can still be undone. @type {Set<string>} */
const ending = new Set();
/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {() => void} listener Called when the addresses change, and each second. @param {AbortSignal} signal */
export function whenLeasesChange(listener, signal) {
  listeners.add(listener);
  const timer = setInterval(listener, 1000);
  signal.addEventListener('abort', () => {
    listeners.delete(listener);
    clearInterval(timer);
  });
}

/** @param {Lease[]} changed @param {string | null} [key] */
function set(changed, key = learnt) {
  leases = changed;
  learnt = key;
  for (const listener of listeners) listener();
}

/** The private inboxes of this browser that have not ended, the latest first. */
export function held() {
  return leases.filter(({ address, heldUntil }) => !ending.has(address) && seconds(heldUntil) > now());
}

/** The lease of an address, which may have a tag after a plus sign. @param {string} address */
export function leaseOf(address) {
  const plain = address.replace(/\+[^@]*@/, '@');
  return leases.find((lease) => isSame(lease.address, plain) && seconds(lease.heldUntil) > now());
}

/** Whether this browser's key may open an address: the service may not have said so yet. @param {string} address */
export function mayHold(address) {
  const key = keptKey();
  return key !== '' && (learnt !== key || leaseOf(address) !== undefined);
}

/** The addresses that are watched and shown in lists: the private ones first. */
export function watched() {
  const own = held().map(({ address }) => address);
  return [...own, ...used().filter((address) => !own.some((other) => isSame(other, address)))];
}

/** Asks the service which addresses the key opens. A failure leaves what is known. */
export function learn() {
  asking ??= ask().finally(() => (asking = null));
  return asking;
}

/** @returns {Promise<void>} */
async function ask() {
  const [key, before] = [keptKey(), leases];
  if (!key) return set([], '');
  try {
    const { addresses } = await json('api/addresses', { asHolder: true });
    // This page or another may have changed them meanwhile.
    if (keptKey() !== key || leases !== before) return ask();
    set(addresses.reverse(), key);
  } catch {
    // It is asked again by and by.
  }
}

whenKeptKeyChanges(learn);
whenKeyIsLost((key) => {
  const isExpected = learnt === key && leases.length === 0;
  set([], '');
  if (!isExpected) say(t('ownKeyLost'), LONG);
});

/**
 * Takes a private inbox; it is random as far as `wanted` says nothing else.
 *
 * @param {{address?: string, localPart?: string, domain?: string}} wanted
 * @returns {Promise<string>}
 */
export async function take(wanted) {
  const action = async () => {
    // A token is borne in place of the key.
    const body = { ...wanted, key: keptKey() || null };
    /** @type {Lease & {key?: string}} */
    const { key = keptKey(), ...lease } = await json('api/addresses', { method: 'POST', body });
    keepKey(key);
    forgetAddress(lease.address);
    set([lease, ...leases], key);
    return lease.address;
  };
  // Two tabs at once would get a key each. Only a safe connection has locks.
  return navigator.locks ? await navigator.locks.request('tempmail.key', action) : action();
}

/** Takes over what the service says of a lease that has changed. @param {Lease} lease */
export function changed(lease) {
  set(leases.map((other) => (other.address === lease.address ? lease : other)));
}

/** Ends a lease unless that is undone. @param {Lease} lease */
export function end({ address }) {
  const restore = () => {
    ending.delete(address);
    set(leases);
  };
  const commit = async (/** @type {boolean} */ outlives) => {
    try {
      await request(`api/addresses?${query({ address })}`, { method: 'DELETE', asHolder: true, outlives });
      leases = leases.filter((other) => other.address !== address);
    } catch (error) {
      say(`${t('deleteFailed')} ${meaning(error)}`);
    }
    restore();
    // With its last address the key is forgotten.
    learn();
  };
  ending.add(address);
  set(leases);
  undoable(t('addressEnded', { address }), restore, commit);
}
