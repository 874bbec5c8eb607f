/** An inbox: its mails, live, and beside them the one that is open. */

import { button, fill, h, icon } from './dom.js';
import { oneLine } from './format.js';
import { t } from './language.js';
import { MailList } from './list.js';
import { Live } from './live.js';
import { openMail } from './mail.js';
import { rememberAddress } from './memory.js';
import { copy } from './notice.js';
import { loading, meaning, problem } from './problem.js';

/** An address that a shell reads as one word. Others are in no command that is to be copied. */
const IS_WORD = /^[\w.+@-]+$/;

/** The longest address that is shown, in characters: 64, an @ and 253, and a few for quotes. */
const ADDRESS_MAX = 330;
/** After what time a line says that the inbox is on its way, in milliseconds. */
const LATE = 300;

/** @param {string[]} words The address, and the id of a mail if one is open. @param {AbortSignal} signal */
export function inbox([address = '', id = ''], signal) {
  const view = new Inbox(address, signal);
  view.open(id);
  return view;
}

/** A {@link View}. */
class Inbox {
  /** @type {Live | null} */
  #live = null;
  /** What was last said about a failure. */
  #failure = '';
  #isReported = false;
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
    this.tools = this.#toolbar();
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
    const { unread } = this.list;
    return `${unread > 0 ? `(${unread}) ` : ''}${oneLine(this.address)} · tempmail`;
  }

  #head() {
    const name = oneLine(this.address).slice(0, ADDRESS_MAX);
    return h('header', { class: 'bar' }, h('h1', {}, h('bdi', {}, name)), this.count, this.tools);
  }

  /** What can be done with the inbox. It is shown once the service has accepted the address. */
  #toolbar() {
    const encoded = encodeURIComponent(this.address);
    const webhooks = h('a', { class: 'tool', href: `#/webhooks/${encoded}`, title: t('webhooks'), 'aria-label': t('webhooks') }, icon('webhook'));
    return h(
      'div',
      { class: 'tools', hidden: true },
      button('copy', t('copyAddress'), () => copy(this.address)),
      webhooks,
      button('delete', t('deleteAll'), () => this.list.removeAll(), { isShort: true }),
    );
  }

  /** Reads the inbox and follows it, or asks again if it is followed. */
  #begin() {
    if (this.#live) return this.#live.again();
    const timer = setTimeout(() => !this.list.isLoaded && fill(this.state, loading()), LATE);
    const follower = {
      refresh: () => this.list.refresh(),
      gone: (/** @type {string} */ id) => this.#gone(id),
      report: (/** @type {import('./api.js').Failure | null} */ failure, /** @type {boolean} */ isOver) => {
        clearTimeout(timer);
        if (isOver) this.#live = null;
        this.#report(failure, isOver);
      },
    };
    this.#live = new Live(this.address, follower, this.signal);
    this.#live.run();
  }

  /** A mail is gone. Its reader keeps what is shown, and is told. @param {string} id */
  #gone(id) {
    this.list.gone(id);
    if (id === this.#id && !this.pane.querySelector('.banner, .problem')) {
      this.pane.prepend(h('p', { class: 'banner', role: 'status' }, t('mailGone')));
    }
  }

  /** @param {import('./api.js').Failure | null} failure @param {boolean} isOver */
  #report(failure, isOver) {
    const said = failure ? `${isOver} ${meaning(failure)}` : '';
    // What is said already is not said again, and keeps the focus.
    if (said === this.#failure && (failure || this.list.isLoaded) && this.#isReported) return;
    this.#isReported = true;
    this.#failure = said;
    if (!failure) {
      fill(this.state);
      rememberAddress(this.address);
      this.#changed();
    } else if (this.list.isLoaded && !isOver) {
      fill(this.state, h('p', { class: 'banner', role: 'status' }, meaning(failure)));
    } else {
      fill(this.state, problem(failure, () => this.#begin()));
    }
  }

  /** The list has changed. */
  #changed() {
    if (!this.list.isLoaded) return;
    const { length } = this.list.shown;
    this.element.classList.toggle('empty', length === 0);
    fill(this.count, t('mails', { n: Math.max(this.list.count, length) }));
    this.tools.hidden = false;
    if (length === 0) this.#showEmpty();
    else if (this.state.querySelector('.nothing')) fill(this.state);
    if (this.element.isConnected) document.title = this.title;
  }

  #showEmpty() {
    if (this.state.querySelector('.nothing, .banner, .problem')) return;
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
    // The row of a mail that was deleted is gone. The focus is where the list put it.
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
    if (!id) return;
    this.list.remove(id);
    if (id === this.#id) this.#back();
  }
}
