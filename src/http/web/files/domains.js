/** The domains of the service, and how to point another one here. */

import { Failure, json, query } from './api.js';
import { button, field, fill, h } from './dom.js';
import { exactTime, relativeTime } from './format.js';
import { t } from './language.js';
import { copy, say } from './notice.js';
import { meaning, problem, showLoaded } from './problem.js';

/** @typedef {import('./types.js').Domain} Domain */

/** @param {string[]} _ @param {AbortSignal} signal @returns {import('./types.js').View} */
export function domains(_, signal) {
  const list = h('div', {});
  const answer = h('div', { 'aria-live': 'polite' });
  const read = () => showLoaded(list, async () => [table(await json('api/domains', { signal }))], signal);
  read();
  const element = h(
    'section',
    { class: 'narrow' },
    h('h1', {}, t('domains')),
    list,
    h('h2', {}, t('pointDomain')),
    h('p', {}, t('pointDomainMore')),
    form(answer, signal, read),
    answer,
  );
  return { title: `${t('domains')} · tempmail`, element };
}

/** @param {Domain[]} domains */
function table(domains) {
  if (domains.length === 0) return h('p', { class: 'state' }, t('noDomain'));
  const rows = domains.map(({ domain, status, lastCheckedAt, lastCheckResult }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('bdi', {}, domain)),
      h('td', { class: status }, t(status)),
      h('td', {}, lastCheckedAt ? h('time', { title: exactTime(lastCheckedAt) }, relativeTime(lastCheckedAt)) : t('never')),
      h('td', {}, h('bdi', {}, lastCheckResult ?? '')),
    ),
  );
  const heads = [t('domain'), t('state'), t('lastCheck'), t('result')].map((head) => h('th', { scope: 'col' }, head));
  return h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, h('tr', {}, ...heads)), h('tbody', {}, ...rows)));
}

/**
 * The form that checks a domain, and registers it.
 *
 * @param {Element} answer
 * @param {AbortSignal} signal
 * @param {() => void} registered
 */
function form(answer, signal, registered) {
  const name = h('input', { type: 'text', required: true, autocapitalize: 'none', spellcheck: 'false', dir: 'ltr', placeholder: 'example.org' });
  /** Ends a check that another one replaces. */
  let present = new AbortController();
  const show = () => {
    present.abort();
    present = new AbortController();
    return showLoaded(answer, check, AbortSignal.any([signal, present.signal]));
  };
  const check = async () => {
    /** @type {import('./types.js').DnsCheck} */
    const found = await json(`api/domains/check-dns?${query({ domain: name.value.trim() })}`, { signal });
    return [
      h('p', { class: found.ok ? 'good' : 'bad' }, found.ok ? t('dnsGood') : t('dnsBad')),
      h('h3', {}, t('expectedRecords')),
      records(found.expected),
      h('h3', {}, t('foundRecords')),
      found.found.length > 0 ? records(found.found) : h('p', {}, t('none')),
    ];
  };
  const add = async () => {
    try {
      await json('api/domains', { method: 'POST', body: { domain: name.value.trim() }, signal });
      say(t('domainAdded', { domain: name.value.trim() }));
      fill(answer);
      registered();
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Failure && error.code === 'mx_mismatch') {
        await show();
        answer.prepend(h('p', { class: 'bad', role: 'alert' }, meaning(error)));
      } else {
        fill(answer, problem(error, add));
      }
    }
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (event.submitter?.dataset.does === 'add') add();
    else show();
  };
  return h(
    'form',
    { class: 'row', submit },
    field(t('domain'), name),
    h('button', { type: 'submit' }, t('checkDns')),
    h('button', { type: 'submit', class: 'primary', 'data-does': 'add' }, t('addDomain')),
  );
}

/** @param {string[]} lines */
function records(lines) {
  const text = lines.join('\n');
  return h('div', { class: 'records' }, h('pre', { dir: 'ltr', tabindex: '0' }, text), button('copy', t('copy'), () => copy(text), { isShort: true }));
}
