/** The first view: an address in one click, or one of your own. */

import { activeDomains, hasPublicInboxes, json } from './api.js';
import { ask, mayAsk } from './arrival.js';
import { button, fill, h, icon } from './dom.js';
import { relativeTime } from './format.js';
import { leaseTools } from './holding.js';
import { t } from './language.js';
import { held, take, watched, whenLeasesChange } from './leases.js';
import { forgetAddress } from './memory.js';
import { say } from './notice.js';
import { problem, showLoaded } from './problem.js';
import { chip, sender, shortSubject } from './row.js';
import { known, unread, whenWatched } from './watch.js';

/** A view that goes on to a new address. @param {string[]} words @param {AbortSignal} signal */
export function newAddress(words, signal) {
  const view = address(words, signal);
  openPrivate(view.element, signal);
  return view;
}

/** @param {string[]} _ @param {AbortSignal} signal @returns {import('./types.js').View} */
export function address(_, signal) {
  const choice = h('div', { class: 'card' });
  const failed = h('div', {});
  const places = h('div', {});
  const own = button('lock', t('privateAddress'), () => openPrivate(failed, signal), { kind: 'primary large' });
  const random = button('random', t('randomAddress'), () => openRandom(failed, signal), { kind: 'large' });
  const element = h(
    'section',
    { class: 'narrow welcome' },
    h('h1', {}, t('welcome')),
    h('p', {}, t('welcomeMore')),
    h('p', { class: 'row' }, own, random),
    h('p', { class: 'hint' }, t('privateMore')),
    failed,
    choice,
    places,
  );
  hasPublicInboxes().then((has) => has || random.remove());
  showLoaded(choice, async () => typed(await activeDomains(), await hasPublicInboxes(), signal), signal);
  showAddresses(places, signal);
  return { title: 'tempmail', element, keys: { n: () => own.click() } };
}

/** @param {string} address */
function open(address) {
  const place = `#/inbox/${encodeURIComponent(address)}`;
  // Going back must not make another address.
  if (location.hash === '#/new') location.replace(place);
  else location.hash = place;
}

/** @param {Element} place Where a failure is shown. @param {AbortSignal} signal */
async function openRandom(place, signal) {
  try {
    open((await json('api/addresses/random', { signal })).address);
  } catch (error) {
    if (!signal.aborted) fill(place, problem(error, () => openRandom(place, signal)));
  }
}

/** Whether a private inbox is on its way: a second click asks for none. */
let isTaking = false;

/** @param {Element} place Where a failure is shown. @param {AbortSignal} signal @param {Parameters<typeof take>[0]} [wanted] */
async function openPrivate(place, signal, wanted = {}) {
  if (isTaking) return;
  isTaking = true;
  try {
    const address = await take(wanted);
    if (!signal.aborted) open(address);
  } catch (error) {
    if (!signal.aborted) fill(place, problem(error, () => openPrivate(place, signal, wanted)));
  } finally {
    isTaking = false;
  }
}

/** The form for an address of one's own. @param {string[]} domains @param {boolean} hasPublic @param {AbortSignal} signal */
function typed(domains, hasPublic, signal) {
  if (domains.length === 0) return [h('p', {}, t('noDomain'), ' ', h('a', { href: '#/domains' }, t('domains')))];
  const failed = h('div', {});
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
    const isWhole = text.includes('@');
    if (event.submitter?.dataset.does !== 'take') return open(isWhole ? text : `${text}@${domain.value}`);
    const part = text ? { localPart: text } : {};
    openPrivate(failed, signal, isWhole ? { address: text } : { ...part, domain: domain.value });
  };
  const form = h('form', { class: 'row', submit }, local, h('span', { 'aria-hidden': 'true' }, '@'), domain);
  form.append(
    hasPublic ? h('button', { type: 'submit' }, t('openInbox')) : '',
    // Without a name it is a random one.
    h('button', { type: 'submit', formnovalidate: true, 'data-does': 'take' }, icon('lock'), t('makePrivate')),
  );
  return [h('h2', {}, t('ownAddress')), form, failed];
}

/** The addresses of this browser, each with its newest mail: first those that are private. @param {Element} place @param {AbortSignal} signal */
function showAddresses(place, signal) {
  let shown = '[0,[]]';
  let rows = new AbortController();
  const draw = () => {
    const [own, all] = [held().length, watched()];
    const said = JSON.stringify([own, all]);
    // What has not changed keeps the focus.
    if (said === shown) return;
    shown = said;
    rows.abort();
    rows = new AbortController();
    const until = AbortSignal.any([signal, rows.signal]);
    const lines = all.map((address, index) => line(address, index < own, until, draw));
    fill(place, ...(all.length > 0 ? [head(own > 0), h('ul', { class: 'lines' }, ...lines)] : []));
  };
  whenLeasesChange(draw, signal);
  draw();
}

/** @param {boolean} hasPrivate Whether there are private inboxes. */
function head(hasPrivate) {
  const permit = async () => {
    if (await ask()) say(t('notifying'));
    notify.remove();
  };
  const notify = button(null, t('notifyMe'), permit);
  const tools = [mayAsk() && notify, hasPrivate && h('a', { class: 'tool', href: '#/key' }, t('ownKey'))];
  return h('div', { class: 'bar' }, h('h2', {}, t('yourAddresses')), h('div', { class: 'tools' }, tools));
}

/** @param {string} address @param {boolean} isPrivate @param {AbortSignal} signal @param {() => void} changed */
function line(address, isPrivate, signal, changed) {
  const latest = h('span', { class: 'latest' });
  const marks = h('span', { class: 'marks' });
  const forget = () => {
    forgetAddress(address);
    changed();
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
  const link = h('a', { href: `#/inbox/${encodeURIComponent(address)}` }, isPrivate && [icon('lock'), ' '], h('bdi', {}, address));
  const tools = isPrivate
    ? leaseTools(address, signal, { isShort: true })
    : [button('delete', t('forget', { address }), forget, { isShort: true, kind: 'quiet' })];
  return h('li', {}, h('div', {}, link, latest), marks, tools);
}
