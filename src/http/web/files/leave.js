/** Where a link of a mail leads, before it is followed. */

import { button, h } from './dom.js';
import { t } from './language.js';
import { copy } from './notice.js';

const SCHEMES = ['http:', 'https:', 'mailto:', 'tel:'];

/** How long the link cannot be followed, in milliseconds: a second click on the link of the mail is no click on this one. */
const INERT = 500;

/** @param {string[]} words The target, in which slashes may not have been encoded. */
export function leave(words) {
  const target = parse(words.join('/'));
  const element = h('section', { class: 'narrow state' });
  if (!target) {
    element.append(h('p', {}, t('linkInvalid')));
  } else {
    const buttons = h(
      'p',
      { class: 'row', inert: true },
      h('a', { class: 'button primary', href: target.href, rel: 'noopener noreferrer nofollow' }, t('openLink')),
      button('copy', t('copy'), () => copy(target.href)),
    );
    setTimeout(() => (buttons.inert = false), INERT);
    element.append(
      h('h1', {}, t('leaving')),
      h('p', { class: 'host' }, h('bdi', { dir: 'ltr' }, target.host || target.pathname)),
      h('p', {}, h('bdi', { class: 'long', dir: 'ltr' }, target.href)),
      h('p', {}, t('leavingMore')),
      buttons,
    );
  }
  return { title: `${t('leaving')} · tempmail`, element };
}

/** @param {string} text */
function parse(text) {
  if (!URL.canParse(text)) return null;
  const target = new URL(text);
  return SCHEMES.includes(target.protocol) ? target : null;
}
