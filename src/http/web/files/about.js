/** About this service: its limits, what is open to all, and its interface for programs. */

import { hasToken, index } from './api.js';
import { h } from './dom.js';
import { duration, size } from './format.js';
import { t } from './language.js';
import { showLoaded } from './problem.js';
import { tokenForm } from './token.js';

/** @param {string[]} _ @param {AbortSignal} signal @returns {import('./types.js').View} */
export function about(_, signal) {
  const facts = h('div', {});
  showLoaded(facts, async () => [list(await index())], signal);
  const element = h(
    'section',
    { class: 'narrow' },
    h('h1', {}, t('about')),
    h('p', {}, t('aboutMore')),
    facts,
    h('h2', {}, t('forPrograms')),
    h('ul', {}, h('li', {}, h('a', { href: 'docs' }, t('interfaceDocs'))), h('li', {}, h('a', { href: 'openapi.json' }, 'OpenAPI'))),
    h('h2', {}, t('token')),
    h('p', {}, hasToken() ? t('tokenSet') : t('tokenMore')),
    !hasToken() && tokenForm(),
    h('h2', {}, t('ownKey')),
    h('p', {}, t('ownKeyMore'), ' ', h('a', { href: '#/key' }, t('ownKeyBring'))),
  );
  return { title: `${t('about')} · tempmail`, element };
}

/** @param {import('./types.js').Index} index */
function list({ version, limits, public: open }) {
  /** @type {[string, string][]} */
  const rows = [
    [t('retention'), duration(limits.retentionSeconds)],
    [t('largestMail'), size(limits.messageOctets)],
    [t('requests'), limits.requestsPerMinute === null ? t('unlimited') : t('perMinute', { n: limits.requestsPerMinute })],
    [t('reading'), t(open.read)],
    [t('deleting'), t(open.delete)],
    [t('addingDomains'), t(open.domains)],
  ];
  if (open.webhooks) rows.push([t('webhooks'), t(open.webhooks)]);
  rows.push([t('version'), version]);
  return h('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}
