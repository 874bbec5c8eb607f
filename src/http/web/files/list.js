/** The mails of an inbox as rows, in step with the service. */

import { deleteMails, json, query, tagged } from './api.js';
import { button, fill, h, icon } from './dom.js';
import { exactTime, number, now, oneLine, relativeTime, seconds, timeLeft } from './format.js';
import { t } from './language.js';
import { isRead } from './memory.js';
import { announce, copy, undoable } from './notice.js';

/** @typedef {import('./types.js').ListedEmail} ListedEmail */
/** @typedef {import('./types.js').EmailPage} EmailPage */

const FIELDS = 'id,from,fromName,subject,preview,receivedAt,expiresAt,attachmentCount,codes';
const PAGE_SIZE = 50;
/** The longest text of a sender or a subject in a row, in characters. */
const TEXT_MAX = 300;
/** After what time a page that did not come is asked for again, in milliseconds. */
const RETRY_AFTER = 5_000;
/** How often times are written anew, in milliseconds. */
const TICK = 15_000;

export class MailList {
  /** The mails that are loaded, the newest first. @type {ListedEmail[]} */
  mails = [];
  /** Mails in the inbox, as the service last said. */
  total = 0;
  /** What is deleted unless it is undone. @type {Set<string>} */
  #hidden = new Set();
  /** @type {Map<string, HTMLLIElement>} */
  #rows = new Map();
  /** Where the next page begins; null after the last one. @type {string | null} */
  #cursor = null;
  #etag = '';
  #selected = '';
  #isLoaded = false;
  #isLoadingMore = false;
  /** @type {IntersectionObserver} */
  #endWatch;

  /**
   * @param {string} address
   * @param {AbortSignal} signal
   * @param {() => void} changed Called after each change of the list.
   */
  constructor(address, signal, changed) {
    this.address = address;
    this.signal = signal;
    this.changed = changed;
    this.element = h('ol', { class: 'mails', 'aria-label': t('inboxOf', { address: oneLine(address) }) });
    this.end = h('p', { class: 'end' });
    // A busy browser tells several things at once, and any of them may be that the end was in view.
    const look = (/** @type {IntersectionObserverEntry[]} */ entries) => entries.some((entry) => entry.isIntersecting) && this.#loadMore();
    this.#endWatch = new IntersectionObserver(look, { rootMargin: '600px' });
    this.#endWatch.observe(this.end);
    const timer = setInterval(() => this.#tick(), TICK);
    signal.addEventListener('abort', () => clearInterval(timer));
  }

  /** Whether the service has said what there is. */
  get isLoaded() {
    return this.#isLoaded;
  }

  /** The mails that are shown. */
  get shown() {
    return this.mails.filter(({ id }) => !this.#hidden.has(id));
  }

  /** Reads the first page again, unless it is the same. */
  async refresh() {
    const answer = await tagged(this.#page(''), { etag: this.#etag, signal: this.signal });
    if (!answer) return;
    this.#etag = answer.etag;
    this.#merge(answer.value);
    this.#isLoaded = true;
    this.#draw();
  }

  /** @param {string} cursor */
  #page(cursor) {
    return `api/mail/messages?${query({ to: this.address, limit: PAGE_SIZE, cursor, fields: FIELDS })}`;
  }

  /** Puts the newest page in front of what is known. @param {EmailPage} page */
  #merge({ emails, total = 0, nextCursor }) {
    const known = new Map(this.mails.map((mail) => [mail.id, mail]));
    const newest = emails.filter(({ id }) => !known.has(id));
    if (this.#isLoaded && newest.length > 0) announceNew(newest);
    const last = emails.at(-1);
    const end = last ? this.mails.findIndex(({ id }) => id === last.id) : -1;
    // What follows the page is known only if the page reaches into it.
    const older = nextCursor && end >= 0 ? this.mails.slice(end + 1) : [];
    if (end < 0 || older.length === 0) this.#cursor = nextCursor ?? null;
    this.mails = [...emails.map((mail) => known.get(mail.id) ?? mail), ...older];
    this.total = total;
  }

  /** Reads the next page of older mail. */
  async #loadMore() {
    if (this.#cursor === null || this.#isLoadingMore) return;
    this.#isLoadingMore = true;
    let pause = 0;
    try {
      /** @type {EmailPage} */
      const page = await json(this.#page(this.#cursor), { signal: this.signal });
      const known = new Set(this.mails.map(({ id }) => id));
      this.mails.push(...page.emails.filter(({ id }) => !known.has(id)));
      this.#cursor = page.nextCursor ?? null;
      this.#draw();
    } catch {
      pause = RETRY_AFTER;
    } finally {
      this.#isLoadingMore = false;
    }
    // The watch tells nothing new of an end that is still in view, or in view again. So it begins anew.
    setTimeout(() => {
      this.#endWatch.unobserve(this.end);
      if (!this.signal.aborted) this.#endWatch.observe(this.end);
    }, pause);
  }

  /** A mail is gone. @param {string} id */
  gone(id) {
    if (!this.mails.some((mail) => mail.id === id)) return;
    this.mails = this.mails.filter((mail) => mail.id !== id);
    this.total = Math.max(0, this.total - 1);
    this.#draw();
  }

  #tick() {
    const time = now();
    const due = this.mails.filter(({ expiresAt }) => seconds(expiresAt) <= time);
    for (const { id } of due) this.gone(id);
    for (const mail of this.mails) {
      const row = this.#rows.get(mail.id);
      if (row) fill(/** @type {Element} */ (row.querySelector('.times')), ...times(mail));
    }
  }

  /** Marks a mail as the one that is open. @param {string} id */
  select(id) {
    for (const changed of [this.#selected, id]) {
      const link = this.#rows.get(changed)?.querySelector('a');
      if (changed === id) link?.setAttribute('aria-current', 'true');
      else link?.removeAttribute('aria-current');
    }
    this.#rows.get(id)?.classList.remove('unread');
    this.#selected = id;
  }

  /** The mail that is `step` rows from the focus, or from the one that is open. @param {number} step */
  focusBy(step) {
    const links = [...this.element.querySelectorAll('a')];
    const current = links.findIndex((link) => link === document.activeElement || link.hasAttribute('aria-current'));
    const focused = links.findIndex((link) => link === document.activeElement);
    const start = focused >= 0 ? focused : current;
    const next = start < 0 ? 0 : Math.min(Math.max(start + step, 0), links.length - 1);
    links[next]?.focus();
    links[next]?.scrollIntoView({ block: 'nearest' });
    return links[next];
  }

  /** Puts the focus on the mail that is or was open. @param {string} id */
  focus(id) {
    this.#rows.get(id)?.querySelector('a')?.focus();
  }

  /** The id of the row with the focus, or of the mail that is open. */
  get atHand() {
    const row = document.activeElement?.closest('li');
    const found = [...this.#rows].find(([, element]) => element === row);
    return found ? found[0] : this.#selected;
  }

  /** Deletes a mail, unless that is undone. @param {string} id */
  remove(id) {
    const mail = this.mails.find((mail) => mail.id === id);
    if (!mail) return;
    const link = this.#rows.get(id)?.querySelector('a');
    if (link && (link === document.activeElement || link.parentElement?.contains(document.activeElement))) this.focusBy(1);
    this.#hide([id], t('deletedOne', { subject: oneLine(mail.subject).slice(0, 60) || t('noSubject') }), (outlives) =>
      deleteMails([id], { outlives }),
    );
  }

  /** Deletes all mails that are there now, unless that is undone. */
  removeAll() {
    const ids = this.shown.map(({ id }) => id);
    if (ids.length === 0) return;
    let cursor = this.#cursor;
    // Older pages must not come into view meanwhile.
    this.#isLoadingMore = true;
    const undo = () => (this.#isLoadingMore = false);
    this.#hide(ids, t('deletedAll', { n: Math.max(this.total - this.#hidden.size, ids.length) }), async (outlives) => {
      await deleteMails(ids, { outlives });
      // Mail that arrived meanwhile is not among the older pages, so it stays.
      while (cursor !== null) {
        /** @type {EmailPage} */
        const page = await json(`api/mail/messages?${query({ to: this.address, limit: 100, cursor, fields: 'id' })}`);
        await deleteMails(page.emails.map(({ id }) => id), { outlives });
        cursor = page.nextCursor ?? null;
      }
      this.#cursor = null;
      this.#isLoadingMore = false;
    }, undo);
  }

  /**
   * @param {string[]} ids
   * @param {string} text
   * @param {(outlives: boolean) => Promise<void>} commit
   * @param {() => void} [undone]
   */
  #hide(ids, text, commit, undone = () => {}) {
    for (const id of ids) this.#hidden.add(id);
    this.#draw();
    const restore = () => {
      undone();
      for (const id of ids) this.#hidden.delete(id);
      this.#draw();
    };
    undoable(text, restore, async (outlives) => {
      try {
        await commit(outlives);
        for (const id of ids) this.gone(id);
      } catch {
        announce(t('deleteFailed'));
        restore();
      }
    });
  }

  /** Makes the rows agree with the mails. Rows that stay are the same elements, so the focus stays too. */
  #draw() {
    const shown = this.shown;
    const ids = new Set(shown.map(({ id }) => id));
    for (const [id, row] of this.#rows) {
      if (!ids.has(id)) {
        row.remove();
        this.#rows.delete(id);
      }
    }
    /** @type {ChildNode | null} */
    let next = this.element.firstChild;
    for (const mail of shown) {
      const row = this.#rows.get(mail.id) ?? this.#row(mail);
      if (row === next) next = row.nextSibling;
      else this.element.insertBefore(row, next);
    }
    fill(this.end, this.#cursor === null ? '' : t('more', { n: number(Math.max(0, this.total - this.mails.length)) }));
    this.changed();
  }

  /** @param {ListedEmail} mail */
  #row(mail) {
    const sender = oneLine(mail.fromName || mail.from).slice(0, TEXT_MAX) || t('noSender');
    const subject = oneLine(mail.subject).slice(0, TEXT_MAX) || t('noSubject');
    const [code] = mail.codes;
    const href = `#/inbox/${encodeURIComponent(this.address)}/${mail.id}`;
    const link = h(
      'a',
      { href, 'aria-current': mail.id === this.#selected && 'true' },
      h('bdi', { class: 'sender', title: oneLine(mail.from).slice(0, TEXT_MAX) }, sender),
      h('bdi', { class: 'subject' }, subject),
      h('bdi', { class: 'preview' }, oneLine(mail.preview)),
      h('span', { class: 'times' }, ...times(mail)),
    );
    const marks = h(
      'span',
      { class: 'marks' },
      mail.attachmentCount > 0 && h('span', { class: 'count', title: t('attachments', { n: mail.attachmentCount }) }, icon('attachment'), number(mail.attachmentCount), h('span', { class: 'unseen' }, t('attachments', { n: mail.attachmentCount }))),
      code && button('copy', code.code, () => copy(code.code), { kind: 'chip' }),
      button('delete', t('deleteThis', { subject: subject.slice(0, 60) }), () => this.remove(mail.id), { isShort: true, kind: 'quiet' }),
    );
    const row = h('li', { class: isRead(mail.id) ? '' : 'unread' }, link, marks);
    this.#rows.set(mail.id, row);
    return row;
  }
}

/** When a mail came and how long it stays. @param {ListedEmail} mail */
function times({ receivedAt, expiresAt }) {
  return [
    h('time', { datetime: `${receivedAt.replace(' ', 'T')}Z`, title: exactTime(receivedAt) }, relativeTime(receivedAt)),
    h('span', { class: 'left', title: exactTime(expiresAt) }, timeLeft(expiresAt)),
  ];
}

/** @param {ListedEmail[]} mails The newest first. */
function announceNew(mails) {
  const [{ fromName, from, subject }] = mails;
  const sender = oneLine(fromName || from).slice(0, 100);
  if (mails.length > 1) announce(t('newMails', { n: mails.length }));
  else announce(t('newMail', { sender, subject: oneLine(subject).slice(0, 100) }));
}
