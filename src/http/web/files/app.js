/** The page itself: its head and foot, and which view stands between them. The part of the address after `#` decides. */

import { address, newAddress } from './address.js';
import { hasToken, index, setToken, whenTokenChanges } from './api.js';
import { setTitle } from './arrival.js';
import { fill, find, h } from './dom.js';
import { inbox } from './inbox.js';
import { listen, setKeysOfView, showHelp } from './keys.js';
import { LANGUAGE, LANGUAGES, markDocument, t } from './language.js';
import { rememberLanguage } from './memory.js';
import { undoLatest } from './notice.js';
import { problem } from './problem.js';
import { watch } from './watch.js';

/** @typedef {import('./types.js').View} View */

/** @typedef {(words: string[], signal: AbortSignal) => View} Make */

/** The views by the first word of their place. @type {Record<string, Make>} */
const VIEWS = { '': address, new: newAddress, inbox };

/** Views that are loaded once they are needed. @type {Record<string, () => Promise<Make>>} */
const LATE_VIEWS = {
  about: async () => (await import('./about.js')).about,
  all: async () => (await import('./all.js')).all,
  domains: async () => (await import('./domains.js')).domains,
  key: async () => (await import('./key.js')).key,
  leave: async () => (await import('./leave.js')).leave,
  mail: async () => (await import('./mail.js')).mail,
  overview: async () => (await import('./overview.js')).overview,
  webhooks: async () => (await import('./webhooks.js')).webhooks,
};

/** @type {View | null} */
let current = null;
let leaving = new AbortController();

/** The words of the place, decoded. */
function place() {
  const [name = '', ...words] = location.hash.replace(/^#\/?/, '').split('/');
  const isKnown = Object.hasOwn(VIEWS, name) || Object.hasOwn(LATE_VIEWS, name);
  return { name: isKnown ? name : '', words: words.map(decoded) };
}

/** @param {string} word */
function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

/** Shows the view of the place. */
async function show() {
  const { name, words } = place();
  markCurrent(name);
  if (!current?.follow?.([name, ...words])) {
    leaving.abort();
    leaving = new AbortController();
    const { signal } = leaving;
    const main = find('#main', HTMLElement);
    try {
      const make = VIEWS[name] ?? (await LATE_VIEWS[name]());
      if (signal.aborted) return;
      current = make(words, signal);
    } catch (error) {
      // The version of this page may be gone.
      if (!signal.aborted) fill(main, problem(error, () => location.reload()));
      return;
    }
    fill(main, current.element);
    scrollTo(0, 0);
    if (isStarted) main.focus({ preventScroll: true });
  }
  setKeysOfView(current.keys ?? {});
  setTitle(current.title);
}

/** @param {string} name */
function markCurrent(name) {
  for (const link of document.querySelectorAll('#head nav a')) {
    const isCurrent = link.getAttribute('href') === `#/${name}`;
    if (isCurrent) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function drawHead() {
  const go = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const wanted = input.value.trim();
    if (wanted) location.hash = `#/inbox/${encodeURIComponent(wanted)}`;
  };
  const input = h('input', {
    id: 'go',
    type: 'text',
    inputmode: 'email',
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    dir: 'ltr',
    placeholder: t('goTo'),
    'aria-label': t('goTo'),
  });
  const links = [
    readsAll && h('a', { href: '#/all' }, t('allMail')),
    readsAll && h('a', { href: '#/overview' }, t('overview')),
    h('a', { href: '#/domains' }, t('domains')),
    h('a', { href: '#/about' }, t('about')),
  ];
  const brand = h('a', { class: 'brand', href: '#/' }, 'tempmail');
  fill(find('#head', HTMLElement), brand, h('form', { role: 'search', submit: go }, input), h('nav', { 'aria-label': t('pages') }, links));
}

function drawFoot() {
  const choose = (/** @type {Event & {target: HTMLSelectElement}} */ event) => {
    rememberLanguage(event.target.value);
    location.reload();
  };
  const options = Object.entries(LANGUAGES).map(([code, name]) =>
    h('option', { value: code, selected: code === LANGUAGE, lang: code }, name),
  );
  const language = h('select', { 'aria-label': t('language'), change: choose }, ...options);
  const keys = h('button', { type: 'button', class: 'plain', click: showHelp }, t('keys'));
  const out = hasToken() && h('button', { type: 'button', class: 'plain', click: () => setToken('') }, t('forgetToken'));
  fill(find('#foot', HTMLElement), language, keys, out);
}

/** Whether this page may read all mail: a token opens it, until the service has said so or otherwise. */
let readsAll = hasToken();

/** Asks the service, and shows what it opens. */
async function learn() {
  const { allMail = false } = await index().catch(() => ({ allMail: readsAll }));
  if (allMail === readsAll) return;
  readsAll = allMail;
  drawHead();
  markCurrent(place().name);
}

function draw() {
  drawHead();
  drawFoot();
  markCurrent(place().name);
}

let isStarted = false;
markDocument();
const skip = find('#skip', HTMLElement);
skip.textContent = t('skip');
skip.addEventListener('click', (event) => {
  event.preventDefault();
  find('#main', HTMLElement).focus();
});
draw();
whenTokenChanges(() => {
  readsAll = hasToken();
  draw();
  learn();
  current = null;
  show();
});
addEventListener('hashchange', show);
listen({
  '/': () => find('#go', HTMLInputElement).focus(),
  n: () => {
    location.hash = '#/new';
  },
  z: undoLatest,
});
show();
isStarted = true;
learn();
watch();
