/** The first view: an address in one click, or one of your own. */

import { activeDomains, json } from './api.js';
import { ask, mayAsk } from './arrival.js';
import { button, fill, h } from './dom.js';
import { relativeTime } from './format.js';
import { t } from './language.js';
import { addresses, forgetAddress } from './memory.js';
import { say } from './notice.js';
import { problem, showLoaded } from './problem.js';
import { chip, sender, shortSubject } from './row.js';
import { known, unread, whenWatched } from './watch.js';

/** A view that goes on to a new address. @param {string[]} words @param {AbortSignal} signal */
export function newAddress(words, signal) {
  const view = address(words, signal);
  openRandom(view.element, signal);
  return view;
}

/** @param {string[]} _ @param {AbortSignal} signal @returns {import('./types.js').View} */
export function address(_, signal) {
  const choice = h('div', { class: 'card' });
  const places = h('div', {});
  const random = button('random', t('randomAddress'), () => openRandom(choice, signal), { kind: 'primary large' });
  const element = h(
    'section',
    { class: 'narrow welcome' },
    h('h1', {}, t('welcome')),
    h('p', {}, t('welcomeMore')),
    h('p', {}, random),
    choice,
    places,
  );
  showLoaded(choice, async () => typed(await activeDomains()), signal);
  showRemembered(places, signal);
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

/** The addresses that this browser knows, each with its newest mail. @param {Element} place @param {AbortSignal} signal */
function showRemembered(place, signal) {
  const all = addresses();
  if (all.length === 0) return fill(place);
  const rows = all.map((address) => remembered(address, place, signal));
  const permit = async () => {
    if (await ask()) say(t('notifying'));
    notify.remove();
  };
  const notify = button(null, t('notifyMe'), permit);
  const head = h('div', { class: 'bar' }, h('h2', {}, t('yourAddresses')), mayAsk() && h('div', { class: 'tools' }, notify));
  fill(place, head, h('ul', { class: 'lines' }, ...rows));
}

/** @param {string} address @param {Element} place @param {AbortSignal} signal */
function remembered(address, place, signal) {
  const latest = h('span', { class: 'latest' });
  const marks = h('span', { class: 'marks' });
  const forget = () => {
    forgetAddress(address);
    showRemembered(place, signal);
  };
  let shown = '';
  const draw = () => {
    const state = known(address);
    const newest = state?.mails[0];
    const count = unread(address);
    const said = state ? `${newest?.id} ${count}` : '';
    // What has not changed keeps the focus.
    if (said === shown) return;
    shown = said;
    fill(latest, ...(newest ? [h('bdi', {}, sender(newest)), ' · ', h('bdi', {}, shortSubject(newest.subject)), ' · ', relativeTime(newest.receivedAt)] : [t('empty')]));
    fill(marks, count > 0 && h('span', { class: 'count' }, t('unread', { n: count })), newest?.codes?.[0] && chip(newest.codes[0]));
  };
  whenWatched(draw, signal);
  draw();
  const link = h('a', { href: `#/inbox/${encodeURIComponent(address)}` }, h('bdi', {}, address));
  const deletion = button('delete', t('forget', { address }), forget, { isShort: true, kind: 'quiet' });
  return h('li', {}, h('div', {}, link, latest), marks, deletion);
}
