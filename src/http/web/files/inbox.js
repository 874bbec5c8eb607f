/** An inbox: the mails of one address, live. */

import { query } from './api.js';
import { codesArrived, seen } from './arrival.js';
import { button, h, icon } from './dom.js';
import { oneLine } from './format.js';
import { leaseBar, strip } from './holding.js';
import { t } from './language.js';
import { learn, leaseOf } from './leases.js';
import { rememberAddress } from './memory.js';
import { copy } from './notice.js';
import { Reading } from './reading.js';
import { watchElsewhere } from './watch.js';

/** An address that a shell reads as one word. Others are in no command that is to be copied. */
const IS_WORD = /^[\w.+@-]+$/;

/** The longest address that is shown, in characters: 64, an @ and 253, and a few for quotes. */
const ADDRESS_MAX = 330;

/** @param {string[]} words The address, and the id of a mail if one is open. @param {AbortSignal} signal */
export function inbox([address = '', id = ''], signal) {
  let isPrivate = false;
  const remember = async () => {
    await learn();
    // The service knows the private ones. One that has ended would be open to all.
    isPrivate ||= leaseOf(address) !== undefined;
    if (!isPrivate) rememberAddress(address);
  };
  const view = new Reading(
    {
      words: ['inbox', address],
      name: oneLine(address),
      source: source(address),
      stream: `api/mail/stream?${query({ to: address })}`,
      head: (reading) => [strip(address, signal), head(address, reading), leaseBar(address, signal)],
      nothing: () => nothing(address),
      accepted: () => {
        remember();
        seen(view.list.mails);
        watchElsewhere(address, signal);
      },
      keys: { c: () => copy(address) },
    },
    signal,
  );
  view.open(id);
  return view;
}

/** @param {string} address @returns {import('./types.js').Source} */
function source(address) {
  return {
    name: t('inboxOf', { address: oneLine(address) }),
    place: `#/inbox/${encodeURIComponent(address)}`,
    page: (part) => `api/mail/messages?${query({ to: address, ...part })}`,
    hasFields: true,
    older: (cursor) => `api/mail/delete?${query({ to: address, cursor })}`,
    arrived: (mails) => codesArrived(address, mails, true),
  };
}

/** The address, and what can be done with the inbox once the service has accepted it. @param {string} address @param {Reading} reading */
function head(address, reading) {
  const webhooks = h(
    'a',
    { class: 'tool', href: `#/webhooks/${encodeURIComponent(address)}`, title: t('webhooks'), 'aria-label': t('webhooks') },
    icon('webhook'),
  );
  const tools = h(
    'div',
    { class: 'tools' },
    button('copy', t('copyAddress'), () => copy(address)),
    webhooks,
    button('delete', t('deleteAll'), () => reading.list.removeAll(), { isShort: true }),
  );
  const name = oneLine(address).slice(0, ADDRESS_MAX);
  return h('header', { class: 'bar' }, h('h1', {}, h('bdi', {}, name)), reading.count, tools);
}

/** @param {string} address */
function nothing(address) {
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname) && IS_WORD.test(address);
  const command = `tempmail send-test ${address}`;
  const hint = isLocal && h('p', {}, t('tryLocally'), ' ', h('code', { dir: 'ltr' }, command), ' ', button('copy', t('copy'), () => copy(command), { isShort: true }));
  return [h('h2', {}, t('empty')), h('p', {}, t('emptyMore')), ...(hint ? [hint] : [])];
}
