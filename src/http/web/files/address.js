/** The first view: an address in one click, or one of your own. */

import { activeDomains, json } from './api.js';
import { button, fill, h } from './dom.js';
import { t } from './language.js';
import { addresses, forgetAddress } from './memory.js';
import { problem, showLoaded } from './problem.js';

/** A view that goes on to a new address. @param {string[]} words @param {AbortSignal} signal */
export function newAddress(words, signal) {
  const view = address(words, signal);
  openRandom(view.element, signal);
  return view;
}

/** @param {string[]} _ @param {AbortSignal} signal @returns {import('./types.js').View} */
export function address(_, signal) {
  const choice = h('div', { class: 'card' });
  const remembered = h('div', {});
  const random = button('random', t('randomAddress'), () => openRandom(choice, signal), { kind: 'primary large' });
  const element = h(
    'section',
    { class: 'narrow welcome' },
    h('h1', {}, t('welcome')),
    h('p', {}, t('welcomeMore')),
    h('p', {}, random),
    choice,
    remembered,
  );
  showLoaded(choice, async () => typed(await activeDomains()), signal);
  showRemembered(remembered);
  return { title: 'tempmail', element, keys: { n: () => random.click() } };
}

/** @param {Element} place @param {AbortSignal} signal */
async function openRandom(place, signal) {
  try {
    const { address } = await json('api/addresses/random', { signal });
    const place = `#/inbox/${encodeURIComponent(address)}`;
    // Going back must not make another address.
    if (location.hash === '#/new') location.replace(place);
    else location.hash = place;
  } catch (error) {
    if (!signal.aborted) fill(place, problem(error, () => openRandom(place, signal)));
  }
}

/** The form for an address of one's own. @param {string[]} domains */
function typed(domains) {
  if (domains.length === 0) return [h('p', {}, t('noDomain'), ' ', h('a', { href: '#/domains' }, t('domains')))];
  const local = h('input', {
    type: 'text',
    required: true,
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    dir: 'ltr',
    'aria-label': t('localPart'),
    placeholder: t('localPart'),
  });
  const domain = h('select', { 'aria-label': t('domain'), dir: 'ltr' }, ...domains.map((name) => h('option', {}, name)));
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const text = local.value.trim();
    location.hash = `#/inbox/${encodeURIComponent(text.includes('@') ? text : `${text}@${domain.value}`)}`;
  };
  const form = h('form', { class: 'row', submit }, local, h('span', { 'aria-hidden': 'true' }, '@'), domain);
  form.append(h('button', { type: 'submit' }, t('openInbox')));
  return [h('h2', {}, t('ownAddress')), form];
}

/** The addresses that this browser knows. @param {Element} place */
function showRemembered(place) {
  const known = addresses();
  if (known.length === 0) return fill(place);
  const rows = known.map((known) =>
    h(
      'li',
      {},
      h('a', { href: `#/inbox/${encodeURIComponent(known)}` }, h('bdi', {}, known)),
      button('delete', t('forget', { address: known }), () => {
        forgetAddress(known);
        showRemembered(place);
      }, { isShort: true }),
    ),
  );
  fill(place, h('h2', {}, t('yourAddresses')), h('ul', { class: 'lines' }, ...rows));
}
