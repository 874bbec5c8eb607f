/** An inbox: its mails, live, and beside them the one that is open. */

import { query, url } from './api.js';
import { button, fill, h, icon } from './dom.js';
import { oneLine } from './format.js';
import { t } from './language.js';
import { MailList } from './list.js';
import { follow } from './live.js';
import { openMail } from './mail.js';
import { openDialog } from './keys.js';
import { rememberAddress } from './memory.js';
import { copy } from './notice.js';
import { loading, meaning, problem } from './problem.js';

/** An address that a shell reads as one word. Others are in no command that is to be copied. */
const IS_WORD = /^[\w.+@-]+$/;

/** @param {string[]} words The address, and the id of a mail if one is open. @param {AbortSignal} signal */
export function inbox([address = '', id = ''], signal) {
  const view = new Inbox(address, signal);
  view.open(id);
  return view;
}

/** A {@link View}. */
class Inbox {
  #isFollowing = false;
  #id = '';
  /** Ends with the mail that is open. */
  #closing = new AbortController();

  /** @param {string} address @param {AbortSignal} signal */
  constructor(address, signal) {
    this.address = address;
    this.signal = signal;
    this.list = new MailList(address, signal, () => this.#changed());
    this.state = h('div', {}, '');
    this.count = h('span', { class: 'count' });
    this.pane = h('article', { class: 'pane', 'aria-label': t('mail'), tabindex: '-1' });
    this.element = h(
      'section',
      { class: 'inbox' },
      h('div', { class: 'column' }, this.#head(), this.state, this.list.element, this.list.end),
      this.pane,
    );
    this.keys = {
      j: () => this.list.focusBy(1),
      k: () => this.list.focusBy(-1),
      o: () => this.list.focusBy(0)?.click(),
      u: () => this.#back(),
      '#': () => this.#remove(),
      c: () => copy(address),
    };
    this.#begin();
  }

  get title() {
    const unread = this.list.element.querySelectorAll('.unread').length;
    return `${unread > 0 ? `(${unread}) ` : ''}${oneLine(this.address)} · tempmail`;
  }

  #head() {
    const inboxUrl = `${url('.')}#/inbox/${encodeURIComponent(this.address)}`;
    return h(
      'header',
      { class: 'bar' },
      h('h1', {}, h('bdi', {}, oneLine(this.address))),
      this.count,
      h(
        'div',
        { class: 'tools' },
        button('copy', t('copyAddress'), () => copy(this.address)),
        button('qr', t('qr'), () => showQr(inboxUrl), { isShort: true }),
        h('a', { class: 'tool', href: `#/webhooks/${encodeURIComponent(this.address)}`, title: t('webhooks'), 'aria-label': t('webhooks') }, icon('webhook')),
        button('delete', t('deleteAll'), () => this.list.removeAll(), { isShort: true }),
      ),
    );
  }

  /** Reads the inbox and follows it. */
  #begin() {
    fill(this.state);
    this.#isFollowing = true;
    const timer = setTimeout(() => !this.list.isLoaded && fill(this.state, loading()), 300);
    const follower = {
      refresh: () => this.list.refresh(),
      gone: (/** @type {string} */ id) => this.#gone(id),
      report: (/** @type {import('./api.js').Failure | null} */ failure) => {
        clearTimeout(timer);
        this.#report(failure);
      },
    };
    follow(this.address, follower, this.signal).finally(() => (this.#isFollowing = false));
  }

  /** A mail is gone. Whoever reads it keeps what is shown, and is told. @param {string} id */
  #gone(id) {
    this.list.gone(id);
    if (id === this.#id && !this.pane.querySelector('.banner, .problem')) {
      this.pane.prepend(h('p', { class: 'banner', role: 'status' }, t('mailGone')));
    }
  }

  /** @param {import('./api.js').Failure | null} failure */
  #report(failure) {
    if (!failure) {
      fill(this.state);
      rememberAddress(this.address);
      this.#changed();
    } else if (this.list.isLoaded) {
      fill(this.state, h('p', { class: 'banner', role: 'status' }, meaning(failure)));
    } else {
      fill(this.state, problem(failure, () => !this.#isFollowing && this.#begin()));
    }
  }

  /** The list has changed. */
  #changed() {
    if (!this.list.isLoaded) return;
    const { length } = this.list.shown;
    this.element.classList.toggle('empty', length === 0);
    fill(this.count, t('mails', { n: Math.max(this.list.total - (this.list.mails.length - length), length) }));
    if (length === 0) this.#showEmpty();
    else if (this.state.querySelector('.nothing')) fill(this.state);
    if (this.element.isConnected) document.title = this.title;
  }

  #showEmpty() {
    if (this.state.querySelector('.nothing, .banner')) return;
    const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname) && IS_WORD.test(this.address);
    const command = `tempmail send-test ${this.address}`;
    const hint = isLocal && h('p', {}, t('tryLocally'), ' ', h('code', { dir: 'ltr' }, command), ' ', button('copy', t('copy'), () => copy(command), { isShort: true }));
    fill(this.state, h('section', { class: 'state nothing' }, h('h2', {}, t('empty')), h('p', {}, t('emptyMore')), hint));
  }

  /** Shows another mail of the same inbox. @param {string[]} words */
  follow([name, address = '', id = '']) {
    if (name !== 'inbox' || address !== this.address) return false;
    const previous = this.#id;
    this.open(id);
    if (!id && previous) this.list.focus(previous);
    return true;
  }

  /** @param {string} id The id of a mail, or '' for none. */
  open(id) {
    this.#closing.abort();
    this.#closing = new AbortController();
    this.#id = id;
    this.element.classList.toggle('open', id !== '');
    this.list.select(id);
    if (!id) return fill(this.pane, h('p', { class: 'state' }, t('chooseMail')));
    const tools = {
      back: () => this.#back(),
      remove: () => this.#remove(),
    };
    openMail(this.pane, id, AbortSignal.any([this.#closing.signal, this.signal]), tools);
    this.pane.focus({ preventScroll: true });
  }

  #back() {
    location.hash = this.#id ? `#/inbox/${encodeURIComponent(this.address)}` : '#/';
  }

  /** Deletes the mail at hand. */
  #remove() {
    const id = this.list.atHand;
    this.list.remove(id);
    if (id === this.#id) this.#back();
  }
}

/** @param {string} link */
function showQr(link) {
  const picture = h('img', { class: 'qr', src: url(`web/qr.svg?${query({ text: link })}`), alt: t('qrAlt'), width: 240, height: 240 });
  openDialog(t('qr'), picture, h('p', {}, h('bdi', { class: 'long' }, link)));
}
