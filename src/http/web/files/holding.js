/** Private inboxes in lists and inboxes: the time left, how to change it, and the way between them. */

import { button, fill, h, icon } from './dom.js';
import { duration, exactTime, timeLeft } from './format.js';
import { t } from './language.js';
import { end, held, leaseOf, whenLeasesChange } from './leases.js';
import { isSame } from './memory.js';
import { unread, whenWatched } from './watch.js';

/** By how much an address is prolonged, in seconds. */
const PROLONGED_BY = 86_400;

/**
 * The time that is left of a private inbox, and buttons that prolong and end it.
 *
 * @param {string} address
 * @param {AbortSignal} signal
 * @param {{isShort?: boolean, ended?: () => void}} [options]
 */
export function leaseTools(address, signal, { isShort = false, ended = () => {} } = {}) {
  const left = h('span', { class: 'left' });
  const draw = () => {
    const lease = leaseOf(address);
    if (!lease) return;
    // Who sees this reads it, so that its time alone ends it now.
    const idle = lease.idleSeconds && t('idleEnd', { time: duration(lease.idleSeconds) });
    fill(left, timeLeft(lease.heldUntil), !isShort && idle && ` (${idle})`);
    left.title = exactTime(lease.heldUntil);
  };
  whenLeasesChange(draw, signal);
  draw();
  const on = (/** @type {(lease: import('./types.js').Lease) => void} */ act) => () => {
    const lease = leaseOf(address);
    if (lease) act(lease);
  };
  const ending = on((lease) => {
    end(lease);
    ended();
  });
  const prolonging = on(async (lease) => (await import('./prolong.js')).prolong(lease, PROLONGED_BY));
  const name = (/** @type {string} */ words) => (isShort ? `${words}: ${address}` : words);
  return [
    left,
    button('clock', name(t('prolong', { time: duration(PROLONGED_BY) })), prolonging, { isShort }),
    button('delete', name(t('endAddress')), ending, { isShort }),
  ];
}

/** Says in an inbox that it is private, how long, and that it no longer is. @param {string} address @param {AbortSignal} signal */
export function leaseBar(address, signal) {
  const place = h('div', { class: 'bar lease', role: 'group', 'aria-label': t('yourPrivate') });
  let isHeld = false;
  const draw = () => {
    const was = isHeld;
    isHeld = leaseOf(address) !== undefined;
    if (isHeld === was) return;
    const tools = () => leaseTools(address, signal, { ended: () => (location.hash = '#/') });
    if (isHeld) fill(place, h('span', {}, icon('lock'), ' ', t('isPrivate')), ...tools());
    else fill(place, h('p', { class: 'banner', role: 'status' }, t('leaseOver')));
  };
  whenLeasesChange(draw, signal);
  draw();
  return place;
}

/** The private inboxes side by side, each with its count of new mail. @param {string} present @param {AbortSignal} signal */
export function strip(present, signal) {
  const element = h('nav', { class: 'strip', 'aria-label': t('yourPrivate') });
  /** @type {Map<string, HTMLElement>} */
  let counts = new Map();
  const draw = () => {
    const own = held().map(({ address }) => address);
    const isOfUse = own.some((address) => !isSame(address, present));
    // What has not changed keeps the focus.
    if (isOfUse && own.join() !== [...counts.keys()].join()) {
      counts = new Map(own.map((address) => [address, h('span', { class: 'count' })]));
      fill(element, ...[...counts].map(([address, count]) => link(address, count)));
    } else if (!isOfUse) {
      counts.clear();
      fill(element);
    }
    for (const [address, count] of counts) {
      const n = isSame(address, present) ? 0 : unread(address);
      fill(count, n > 0 && t('unread', { n }));
    }
  };
  const link = (/** @type {string} */ address, /** @type {HTMLElement} */ count) =>
    h('a', { class: 'tool', href: `#/inbox/${encodeURIComponent(address)}`, 'aria-current': isSame(address, present) && 'page' }, h('bdi', {}, address), ' ', count);
  whenLeasesChange(draw, signal);
  whenWatched(draw, signal);
  draw();
  return element;
}
