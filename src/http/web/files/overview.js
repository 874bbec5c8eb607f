/** For those who may read all mail: all inboxes, and what the service did within the last hour. */

import { json, query } from './api.js';
import { fill, h } from './dom.js';
import { exactTime, number, oneLine, relativeTime, size } from './format.js';
import { t } from './language.js';
import { Plot } from './plot.js';
import { loading, problem, waitAfter } from './problem.js';

/** How often the numbers are read, in milliseconds: as often as the service adds to them. */
const EVERY = 10_000;
const HOUR = 3_600;

/** @typedef {'received' | 'refused' | 'delivered' | 'failed' | 'stored' | 'octets'} Series */

/** The plots by the names of their series. @type {[Series, import('./language.js').Phrase][]} */
const PLOTS = [
  ['received', 'received'],
  ['refused', 'refused'],
  ['stored', 'stored'],
  ['octets', 'octetsStored'],
  ['delivered', 'delivered'],
  ['failed', 'failed'],
];

/** @param {string[]} _ @param {AbortSignal} signal @returns {import('./types.js').View} */
export function overview(_, signal) {
  const plots = PLOTS.map(([series, phrase]) => ({ series, plot: new Plot(t(phrase)) }));
  const state = h('div', {}, loading());
  const mailboxes = h('div', {});
  const element = h(
    'section',
    { class: 'wide' },
    h('h1', {}, t('overview')),
    h('p', {}, t('overviewMore')),
    state,
    h('div', { class: 'plots' }, ...plots.map(({ plot }) => plot.element)),
    h('h2', {}, t('allInboxes')),
    mailboxes,
  );
  /** What says whether there is other mail than before. */
  let before = '';
  let isFailing = false;
  const read = async () => {
    try {
      const { history, store, smtp } = await json('api/admin/status?history=true', { signal });
      for (const { series, plot } of plots) show(plot, series, history);
      const now = JSON.stringify([store?.emails, smtp?.messages]);
      if (now !== before) {
        const list = await json(`api/admin/mailboxes?${query({ limit: 50 })}`, { signal });
        fill(mailboxes, table(list.mailboxes));
        before = now;
      }
      isFailing = false;
      fill(state);
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

/** @param {Plot} plot @param {Series} series @param {import('./types.js').History} history */
function show(plot, series, history) {
  const values = history[series];
  const room = HOUR / history.everySeconds;
  const latest = values.at(-1) ?? 0;
  if (series === 'stored') return plot.show(values, room, number(latest));
  if (series === 'octets') return plot.show(values, room, size(latest));
  const minute = values.slice(-60 / history.everySeconds);
  return plot.show(values, room, number(minute.reduce((sum, value) => sum + value, 0)));
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
