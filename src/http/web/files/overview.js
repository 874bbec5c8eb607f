/** For holders of a token: all inboxes, and what the service does right now. */

import { json, query, request } from './api.js';
import { fill, h } from './dom.js';
import { exactTime, number, oneLine, relativeTime, size } from './format.js';
import { t } from './language.js';
import { Plot } from './plot.js';
import { loading, problem, waitAfter } from './problem.js';

/** How often the numbers are read, in milliseconds. */
const EVERY = 5_000;

/** @typedef {{received: number, refused: number, stored: number, delivered: number | null, at: number}} Sample */

/** @param {string[]} _ @param {AbortSignal} signal @returns {import('./types.js').View} */
export function overview(_, signal) {
  const plots = { received: new Plot(t('received')), refused: new Plot(t('refused')), stored: new Plot(t('stored')), delivered: new Plot(t('delivered')) };
  const state = h('div', {}, loading());
  const mailboxes = h('div', {});
  const element = h(
    'section',
    { class: 'wide' },
    h('h1', {}, t('overview')),
    h('p', {}, t('overviewMore')),
    state,
    h('div', { class: 'plots' }, ...Object.values(plots).map((plot) => plot.element)),
    h('h2', {}, t('allInboxes')),
    mailboxes,
  );
  /** @type {Sample | null} */
  let before = null;
  let isFailing = false;
  const read = async () => {
    try {
      const [sample, list] = await Promise.all([measure(signal), json(`api/admin/mailboxes?${query({ limit: 50 })}`, { signal })]);
      const minutes = before ? (sample.at - before.at) / 60_000 : 0;
      if (before && minutes > 0) {
        plots.received.add(Math.max(0, sample.received - before.received) / minutes);
        plots.refused.add(Math.max(0, sample.refused - before.refused) / minutes);
        if (sample.delivered !== null) plots.delivered.add(Math.max(0, sample.delivered - (before.delivered ?? 0)) / minutes);
      }
      plots.stored.add(sample.stored);
      before = sample;
      isFailing = false;
      fill(state);
      fill(mailboxes, table(list.mailboxes));
    } catch (error) {
      isFailing = waitAfter(error) === null;
      if (!signal.aborted) fill(state, problem(error, read));
    }
  };
  read();
  const timer = setInterval(() => document.hidden || isFailing || read(), EVERY);
  signal.addEventListener('abort', () => clearInterval(timer));
  return { title: `${t('overview')} · tempmail`, element };
}

/** @param {AbortSignal} signal @returns {Promise<Sample>} */
async function measure(signal) {
  const [status, delivered] = await Promise.all([json('api/admin/status', { signal }), deliveries(signal)]);
  const { messages = 0, replies = {} } = status.smtp ?? {};
  const refused = (replies['4yz'] ?? 0) + (replies['5yz'] ?? 0);
  return { received: messages, refused, stored: status.store?.emails ?? 0, delivered, at: performance.now() };
}

/** The events that webhooks took; null where metrics have a listener of their own. @param {AbortSignal} signal */
async function deliveries(signal) {
  try {
    const text = await (await request('metrics', { accept: 'text/plain', signal })).text();
    const lines = text.matchAll(/^tempmail_webhook_attempts_total\{result="delivered"\} (\d+)/gm);
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
  } catch {
    return null;
  }
}

/** @param {import('./types.js').Mailbox[]} mailboxes */
function table(mailboxes) {
  if (mailboxes.length === 0) return h('p', { class: 'state' }, t('empty'));
  const rows = mailboxes.map(({ address, messages, newest, octets }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('a', { href: `#/inbox/${encodeURIComponent(address)}` }, h('bdi', {}, oneLine(address)))),
      h('td', {}, number(messages)),
      h('td', {}, h('time', { title: exactTime(newest) }, relativeTime(newest))),
      h('td', {}, size(octets)),
    ),
  );
  const heads = [t('address'), t('mailsHead'), t('newest'), t('size')].map((head) => h('th', { scope: 'col' }, head));
  return h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, h('tr', {}, ...heads)), h('tbody', {}, ...rows)));
}
