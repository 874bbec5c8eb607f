/** The page itself: its head and foot, and which view stands between them. The part of the address after `#` decides. */

import { about } from './about.js';
import { address, newAddress } from './address.js';
import { hasToken, setToken, whenTokenChanges } from './api.js';
import { fill, find, h } from './dom.js';
import { domains } from './domains.js';
import { inbox } from './inbox.js';
import { listen, setKeysOfView, showHelp } from './keys.js';
import { LANGUAGE, LANGUAGES, markDocument, t } from './language.js';
import { leave } from './leave.js';
import { mail } from './mail.js';
import { rememberLanguage } from './memory.js';
import { undoLatest } from './notice.js';
import { overview } from './overview.js';
import { webhooks } from './webhooks.js';

/** @typedef {import('./types.js').View} View */

/** The views by the first word of their place. @type {Record<string, (words: string[], signal: AbortSignal) => View>} */
const VIEWS = { '': address, new: newAddress, about, domains, inbox, leave, mail, overview, webhooks };

/** @type {View | null} */
let current = null;
let leaving = new AbortController();

/** The words of the place, decoded. */
function place() {
  const [name = '', ...words] = location.hash.replace(/^#\/?/, '').split('/');
  return { name: Object.hasOwn(VIEWS, name) ? name : '', words: words.map(decoded) };
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
function show() {
  const { name, words } = place();
  if (!current?.follow?.([name, ...words])) {
    leaving.abort();
    leaving = new AbortController();
    current = VIEWS[name](words, leaving.signal);
    const main = find('#main', HTMLElement);
    fill(main, current.element);
    scrollTo(0, 0);
    if (isStarted) main.focus({ preventScroll: true });
  }
  setKeysOfView(current.keys ?? {});
  document.title = current.title;
  markCurrent(name);
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
    h('a', { href: '#/domains' }, t('domains')),
    h('a', { href: '#/about' }, t('about')),
    hasToken() && h('a', { href: '#/overview' }, t('overview')),
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
  draw();
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
