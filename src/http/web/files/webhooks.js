/** The webhooks of an address: URLs that are called when mail arrives. */

import { hasToken, index, json, query, request } from './api.js';
import { button, field, fill, h } from './dom.js';
import { exactTime, number, oneLine, relativeTime } from './format.js';
import { t } from './language.js';
import { say, undoable } from './notice.js';
import { meaning, problem, showLoaded } from './problem.js';

/** @typedef {import('./types.js').Webhook} Webhook */

/** @param {string[]} words @param {AbortSignal} signal @returns {import('./types.js').View} */
export function webhooks([address = ''], signal) {
  const list = h('div', {});
  const read = () =>
    showLoaded(list, async () => {
      const { revision } = await index();
      if (revision < 2) return [h('p', { class: 'state' }, t('publicOff'))];
      return [table(await json(`api/webhooks?${query({ recipient: address })}`, { signal }), read), form(address, signal, read)];
    }, signal);
  read();
  const back = h('a', { href: `#/inbox/${encodeURIComponent(address)}` }, h('bdi', {}, oneLine(address)));
  const element = h('section', { class: 'narrow' }, h('h1', {}, t('webhooks')), h('p', {}, back), h('p', {}, t('webhooksMore')), list);
  return { title: `${t('webhooks')} · ${oneLine(address)} · tempmail`, element, keys: { u: () => back.click() } };
}

/** @param {Webhook[]} webhooks @param {() => void} read */
function table(webhooks, read) {
  if (webhooks.length === 0) return h('p', { class: 'state' }, t('noWebhook'));
  const rows = webhooks.map((webhook) => {
    const { url, status, signed, lastDeliveryAt, failures, disabledReason } = webhook;
    const row = h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('bdi', { class: 'long', dir: 'ltr' }, url)),
      h('td', { class: status, title: disabledReason ?? '' }, t(status)),
      h('td', {}, signed ? t('yes') : t('no')),
      h('td', {}, lastDeliveryAt ? h('time', { title: exactTime(lastDeliveryAt) }, relativeTime(lastDeliveryAt)) : t('never')),
      h('td', {}, number(failures)),
      h('td', { class: 'tools' }, hasToken() && button(null, t('test'), () => test(webhook)), button('delete', t('delete'), () => remove(webhook, row, read), { isShort: true })),
    );
    return row;
  });
  const names = ['URL', t('state'), t('signed'), t('lastDelivery'), t('failures')];
  const heads = [...names.map((name) => h('th', { scope: 'col' }, name)), h('td', {})];
  return h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, h('tr', {}, ...heads)), h('tbody', {}, ...rows)));
}

/** @param {Webhook} webhook @param {HTMLElement} row @param {() => void} read */
function remove({ id }, row, read) {
  row.hidden = true;
  const commit = async (/** @type {boolean} */ outlives) => {
    try {
      await request(`api/webhooks?${query({ id })}`, { method: 'DELETE', outlives });
    } catch (error) {
      say(`${t('deleteFailed')} ${meaning(error)}`);
    }
    read();
  };
  undoable(t('webhookDeleted'), () => (row.hidden = false), commit);
}

/** Sends a sample event. @param {Webhook} webhook */
async function test({ id }) {
  try {
    const attempt = await json(`api/admin/webhooks/${id}/test`, { method: 'POST' });
    say(t('testResult', { result: attempt.status ?? attempt.error ?? attempt.result }));
  } catch (error) {
    say(meaning(error));
  }
}

/** @param {string} recipient @param {AbortSignal} signal @param {() => void} read */
function form(recipient, signal, read) {
  const target = h('input', { type: 'url', required: true, dir: 'ltr', placeholder: 'https://example.org/hook' });
  const secret = h('input', { type: 'password', autocomplete: 'off', dir: 'ltr' });
  const answer = h('div', {});
  const add = async () => {
    try {
      await json('api/webhooks', { method: 'POST', body: { recipient, url: target.value, secret: secret.value }, signal });
      say(t('webhookAdded'));
      read();
    } catch (error) {
      if (!signal.aborted) fill(answer, problem(error, add));
    }
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    add();
  };
  return h(
    'form',
    { class: 'card', submit },
    h('h2', {}, t('addWebhook')),
    field('URL', target),
    field(t('secret'), secret, t('secretMore')),
    h('button', { type: 'submit', class: 'primary' }, t('addWebhook')),
    answer,
  );
}
