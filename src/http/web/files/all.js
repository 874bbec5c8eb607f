/** All mail of the service in one list, live, for those who may read it. A filter looks for senders, recipients and subjects. */

import { query } from './api.js';
import { h } from './dom.js';
import { t } from './language.js';
import { Reading } from './reading.js';

/** @typedef {import('./types.js').ListedEmail} ListedEmail */

/** How long the list rests between two changes at least, in milliseconds: a busy service has one at each moment. */
const REST = 1_000;

/** @type {import('./types.js').Source} */
const SOURCE = {
  name: t('allMail'),
  place: '#/all',
  page: ({ cursor, limit }) => `api/admin/messages?${query(cursor ? { limit, after: cursor } : { limit })}`,
  hasFields: false,
};

/** @param {string[]} words The id of a mail if one is open. @param {AbortSignal} signal */
export function all([id = ''], signal) {
  let isFiltered = false;
  const view = new Reading(
    {
      words: ['all'],
      name: t('allMail'),
      source: SOURCE,
      stream: 'api/mail/stream',
      rest: REST,
      head: (reading) => {
        const filter = filterForm((wanted) => {
          isFiltered = wanted !== null;
          reading.list.filter(wanted);
        });
        return [h('header', { class: 'bar' }, h('h1', {}, t('allMail')), reading.count), filter];
      },
      nothing: () => [h('h2', {}, isFiltered ? t('noMatch') : t('empty'))],
    },
    signal,
  );
  view.open(id);
  return view;
}

/** Three fields. A mail passes if it has the text of each. @param {(filter: ((mail: ListedEmail) => boolean) | null) => void} changed */
function filterForm(changed) {
  const input = (/** @type {string} */ label) =>
    h('input', { type: 'search', 'aria-label': label, placeholder: label, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', dir: 'auto' });
  const [from, to, subject] = [input(t('filterFrom')), input(t('filterTo')), input(t('filterSubject'))];
  const change = () => {
    const [inFrom, inTo, inSubject] = [from, to, subject].map(({ value }) => value.trim().toLowerCase());
    const has = (/** @type {string} */ text, /** @type {string} */ part) => text.toLowerCase().includes(part);
    const filter = (/** @type {ListedEmail} */ mail) =>
      has(`${mail.fromName ?? ''} ${mail.from}`, inFrom) && has(mail.recipient ?? '', inTo) && has(mail.subject, inSubject);
    changed(inFrom || inTo || inSubject ? filter : null);
  };
  const submit = (/** @type {SubmitEvent} */ event) => event.preventDefault();
  return h('form', { class: 'filter', role: 'search', 'aria-label': t('filter'), submit, input: change }, from, to, subject);
}
