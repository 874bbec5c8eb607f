/** A list of mails, live, and beside it the mail that is open. The inbox and the list of all mail are such views. */

import { fill, h } from './dom.js';
import { setTitle } from './arrival.js';
import { t } from './language.js';
import { MailList } from './list.js';
import { Live } from './live.js';
import { loading, meaning, problem } from './problem.js';

/** The module that shows a mail: the list is there before it. */
const mail = import('./mail.js');
// Whoever opens a mail is told.
mail.catch(() => {});

/** After what time a line says that the list is on its way, in milliseconds. */
const LATE = 300;

/** @typedef {import('./api.js').Failure} Failure */
/** @typedef {import('./types.js').ReadingOptions} Options */

/** A {@link View}. */
export class Reading {
  /** @type {Live | null} */
  #live = null;
  /** What was last said about a failure. */
  #failure = '';
  #isReported = false;
  #id = '';
  /** Ends with the mail that is open. */
  #closing = new AbortController();

  /** @param {Options} options @param {AbortSignal} signal */
  constructor(options, signal) {
    this.options = options;
    this.signal = signal;
    this.list = new MailList(options.source, signal, () => this.#changed());
    this.state = h('div', {}, '');
    this.count = h('span', { class: 'count' });
    this.pane = h('article', { class: 'pane', 'aria-label': t('mail'), tabindex: '-1' });
    this.element = h(
      'section',
      { class: 'inbox' },
      h('div', { class: 'column' }, ...options.head(this), this.state, this.list.element, this.list.end),
      this.pane,
    );
    this.keys = {
      j: () => this.list.focusBy(1),
      k: () => this.list.focusBy(-1),
      o: () => this.list.focusBy(0)?.click(),
      u: () => this.#back(),
      '#': () => this.#remove(),
      ...options.keys,
    };
    this.#begin();
  }

  get title() {
    const { unread } = this.list;
    return `${unread > 0 ? `(${unread}) ` : ''}${this.options.name} · tempmail`;
  }

  /** Reads the list and follows it, or asks again if it is followed. */
  #begin() {
    if (this.#live) return this.#live.again();
    const timer = setTimeout(() => !this.list.isLoaded && fill(this.state, loading()), LATE);
    const follower = {
      refresh: () => this.list.refresh(),
      gone: (/** @type {string} */ id) => this.#gone(id),
      report: (/** @type {Failure | null} */ failure, /** @type {boolean} */ isOver) => {
        clearTimeout(timer);
        if (isOver) this.#live = null;
        this.#report(failure, isOver);
      },
    };
    this.#live = new Live(this.options.stream, follower, this.signal, this.options.rest);
    this.#live.run();
  }

  /** A mail is gone. Its reader keeps what is shown, and is told. @param {string} id */
  #gone(id) {
    this.list.gone(id);
    if (id === this.#id && !this.pane.querySelector('.banner, .problem')) {
      this.pane.prepend(h('p', { class: 'banner', role: 'status' }, t('mailGone')));
    }
  }

  /** @param {Failure | null} failure @param {boolean} isOver */
  #report(failure, isOver) {
    const said = failure ? `${isOver} ${meaning(failure)}` : '';
    // What is said already is not said again, and keeps the focus.
    if (said === this.#failure && (failure || this.list.isLoaded) && this.#isReported) return;
    this.#isReported = true;
    this.#failure = said;
    if (!failure) {
      fill(this.state);
      this.options.accepted?.();
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
    this.element.classList.add('accepted');
    fill(this.count, t('mails', { n: Math.max(this.list.count, length) }));
    if (length === 0) this.#showEmpty();
    else if (this.state.querySelector('.nothing')) fill(this.state);
    if (this.element.isConnected) setTitle(this.title);
  }

  #showEmpty() {
    if (this.state.querySelector('.banner, .problem')) return;
    const nothing = h('section', { class: 'state nothing' }, this.options.nothing());
    // What is said already keeps the focus.
    if (this.state.textContent !== nothing.textContent) fill(this.state, nothing);
  }

  /** Shows another mail of the same list. @param {string[]} words */
  follow(words) {
    const own = this.options.words;
    if (own.some((word, index) => word !== words[index])) return false;
    const [previous, id] = [this.#id, words[own.length] ?? ''];
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
    const signal = AbortSignal.any([this.#closing.signal, this.signal]);
    fill(this.pane);
    mail.then(
      ({ openMail }) => signal.aborted || openMail(this.pane, id, signal, tools),
      // The version of this page may be gone.
      (error) => signal.aborted || fill(this.pane, problem(error, () => location.reload())),
    );
    this.pane.focus({ preventScroll: true });
  }

  #back() {
    location.hash = this.#id ? this.options.source.place : '#/';
  }

  /** Deletes the mail at hand. */
  #remove() {
    const id = this.list.atHand;
    if (!id) return;
    this.list.remove(id);
    if (id === this.#id) this.#back();
  }
}
