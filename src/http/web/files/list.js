/** The mails of an inbox, in step with the service. */

import { Failure, json, query, request } from './api.js';
import { fill, h } from './dom.js';
import { now, oneLine, seconds } from './format.js';
import { t } from './language.js';
import { announce } from './notice.js';
import { isHidden, removeLater } from './pending.js';
import { refreshTimes, row, sender, shortSubject } from './row.js';

/** @typedef {import('./types.js').ListedEmail} ListedEmail */
/** @typedef {import('./types.js').EmailPage} EmailPage */

const FIELDS = 'id,from,fromName,subject,preview,receivedAt,expiresAt,attachmentCount,codes';
const PAGE_SIZE = 50;
/** How far below the window the end of the list may be when the next page is read. */
const READ_AHEAD = '600px';
/** After what time a page that failed is read again at the earliest, in milliseconds. */
const RETRY_AFTER = 5_000;
/** How often times are written anew, in milliseconds. */
const TICK = 15_000;

export class MailList {
  /** The mails that are loaded, the newest first. @type {ListedEmail[]} */
  mails = [];
  /** Whether the service has said what there is. */
  isLoaded = false;
  /** Mails in the inbox, as the service last said. */
  #total = 0;
  /** @type {Map<string, HTMLLIElement>} */
  #rows = new Map();
  /** Where the next page begins; null after the last one. @type {string | null} */
  #cursor = null;
  /** Changes when the cursor begins anew: a page that was asked for before is of no use then. */
  #walk = 0;
  #selected = '';
  #isLoadingMore = false;
  /** Whether older mails are about to be deleted, so that they must not be read. */
  #isEmptying = false;
  #reading = Promise.resolve();
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
    const onChange = (/** @type {IntersectionObserverEntry[]} */ changes) => {
      // There may be several since the last call; the last one holds.
      if (changes.at(-1)?.isIntersecting) this.#loadMore();
    };
    this.#endWatch = new IntersectionObserver(onChange, { rootMargin: READ_AHEAD });
    this.#endWatch.observe(this.end);
    const timer = setInterval(() => this.#tick(), TICK);
    signal.addEventListener('abort', () => {
      clearInterval(timer);
      this.#endWatch.disconnect();
    });
  }

  /** The mails that are shown. */
  get shown() {
    return this.mails.filter(({ id }) => !isHidden(id));
  }

  /** How many mails there are without those that are hidden. */
  get count() {
    return this.#isEmptying ? this.shown.length : this.#total - (this.mails.length - this.shown.length);
  }

  /** How many mails that are shown were not read yet. */
  get unread() {
    return this.element.getElementsByClassName('unread').length;
  }

  /** Reads the first page again. One reading follows the other. */
  refresh() {
    this.#reading = this.#reading.catch(() => {}).then(async () => {
      this.#merge(await json(this.#page('', FIELDS), { signal: this.signal }));
      this.isLoaded = true;
      this.#draw();
    });
    return this.#reading;
  }

  /** @param {string} cursor @param {string} fields */
  #page(cursor, fields) {
    return `api/mail/messages?${query({ to: this.address, limit: PAGE_SIZE, cursor, fields })}`;
  }

  /** Puts the newest page in front of the older mails that are known. @param {EmailPage} page */
  #merge({ emails, total = 0, nextCursor }) {
    const known = new Map(this.mails.map((mail) => [mail.id, mail]));
    const newest = emails.filter(({ id }) => !known.has(id));
    if (this.isLoaded && newest.length > 0) announceNew(newest);
    const last = emails.at(-1)?.id;
    const end = this.mails.findIndex(({ id }) => id === last);
    // What is older than the page is known only if the page reaches into it.
    const older = nextCursor && end >= 0 ? this.mails.slice(end + 1) : [];
    const gone = this.mails.length - older.length - (emails.length - newest.length);
    // How many others are gone as well. Those may be mails that are not loaded; if not, nothing says which they are.
    const others = this.#total + newest.length - gone - total;
    const isComplete = others >= 0 && others <= this.#total - this.mails.length;
    this.mails = [...emails.map((mail) => known.get(mail.id) ?? mail), ...(isComplete ? older : [])];
    this.#total = total;
    if (older.length === 0 || !isComplete) {
      this.#cursor = nextCursor ?? null;
      this.#walk += 1;
    }
  }

  /** Reads the next page of older mail. */
  async #loadMore() {
    if (this.#cursor === null || this.#isLoadingMore || this.#isEmptying) return;
    this.#isLoadingMore = true;
    const walk = this.#walk;
    let pause = 0;
    try {
      /** @type {EmailPage} */
      const page = await json(this.#page(this.#cursor, FIELDS), { signal: this.signal });
      if (walk === this.#walk && !this.#isEmptying) {
        const known = new Set(this.mails.map(({ id }) => id));
        this.mails.push(...page.emails.filter(({ id }) => !known.has(id)));
        this.#cursor = page.nextCursor ?? null;
        this.#draw();
      }
    } catch (error) {
      pause = Math.max(RETRY_AFTER, error instanceof Failure ? error.retryAfter * 1000 : 0);
    } finally {
      this.#isLoadingMore = false;
    }
    // The watch tells nothing new of an end that is still in view, so it begins anew.
    setTimeout(() => {
      if (this.signal.aborted) return;
      this.#endWatch.unobserve(this.end);
      this.#endWatch.observe(this.end);
    }, pause);
  }

  /** A mail is gone. @param {string} id */
  gone(id) {
    const length = this.mails.length;
    this.mails = this.mails.filter((mail) => mail.id !== id);
    if (this.mails.length === length) return;
    this.#total = Math.max(0, this.#total - 1);
    this.#draw();
  }

  #tick() {
    const time = now();
    for (const { id } of this.mails.filter(({ expiresAt }) => seconds(expiresAt) <= time)) this.gone(id);
    for (const mail of this.mails) {
      const element = this.#rows.get(mail.id);
      if (element) refreshTimes(element, mail);
    }
  }

  /** Marks a mail as the one that is open. @param {string} id */
  select(id) {
    this.#rows.get(this.#selected)?.querySelector('a')?.removeAttribute('aria-current');
    this.#selected = id;
    this.#markSelected();
    this.#rows.get(id)?.classList.remove('unread');
  }

  #markSelected() {
    this.#rows.get(this.#selected)?.querySelector('a')?.setAttribute('aria-current', 'true');
  }

  /** The id of the mail with the focus, or of the one that is open; '' if there is neither. */
  get atHand() {
    const focused = document.activeElement?.closest('.mails li');
    return [...this.#rows].find(([, element]) => element === focused)?.[0] ?? this.#selected;
  }

  /** Focuses the mail that is `step` rows after the one at hand, within the list. @param {number} step */
  focusBy(step) {
    const ids = this.shown.map(({ id }) => id);
    const start = ids.indexOf(this.atHand);
    const next = start < 0 ? 0 : Math.min(Math.max(start + step, 0), ids.length - 1);
    return this.focus(ids[next]);
  }

  /** Focuses a mail. @param {string | undefined} id */
  focus(id) {
    const link = this.#rows.get(id ?? '')?.querySelector('a');
    link?.focus();
    link?.scrollIntoView({ block: 'nearest' });
    return link;
  }

  /** Deletes a mail unless that is undone; the focus goes to the next one. @param {string} id */
  remove(id) {
    const mail = this.mails.find((mail) => mail.id === id);
    if (!mail || isHidden(id)) return;
    const ids = this.shown.map(({ id }) => id);
    const next = ids[ids.indexOf(id) + 1] ?? ids[ids.indexOf(id) - 1];
    removeLater([id], {
      text: t('deletedOne', { subject: shortSubject(mail.subject) }),
      changed: () => this.#draw(),
      undone: () => this.focus(id),
      deleted: () => this.gone(id),
    });
    this.focus(next);
  }

  /** Deletes all mails that are there now, unless that is undone. What arrives meanwhile stays. */
  removeAll() {
    const ids = this.shown.map(({ id }) => id);
    if (ids.length === 0) return;
    const [cursor, count] = [this.#cursor, this.count];
    const end = () => {
      this.#isEmptying = false;
      this.#walk += 1;
    };
    this.#isEmptying = true;
    removeLater(ids, {
      text: t('deletedAll', { n: count }),
      changed: () => this.#draw(),
      undone: end,
      deleted: () => {
        end();
        this.#cursor = null;
        for (const id of ids) this.gone(id);
        // The service knows what arrived meanwhile.
        this.refresh().catch(() => {});
      },
      also: async (outlives) => {
        if (cursor === null) return;
        const older = query({ to: this.address, cursor });
        await request(`api/mail/delete?${older}`, { method: 'DELETE', outlives });
      },
    });
  }

  /** Makes the rows agree with the mails. Rows that stay are the same elements, so the focus stays too. */
  #draw() {
    const shown = this.shown;
    const ids = new Set(shown.map(({ id }) => id));
    for (const [id, element] of this.#rows) {
      if (!ids.has(id)) {
        element.remove();
        this.#rows.delete(id);
      }
    }
    /** @type {ChildNode | null} */
    let next = this.element.firstChild;
    for (const mail of shown) {
      const element = this.#rows.get(mail.id) ?? this.#newRow(mail);
      if (element === next) next = element.nextSibling;
      else this.element.insertBefore(element, next);
    }
    this.#markSelected();
    const more = this.count - shown.length;
    fill(this.end, more > 0 ? t('more', { n: more }) : '');
    this.changed();
  }

  /** @param {ListedEmail} mail */
  #newRow(mail) {
    const href = `#/inbox/${encodeURIComponent(this.address)}/${mail.id}`;
    const element = row(mail, href, () => this.remove(mail.id));
    this.#rows.set(mail.id, element);
    return element;
  }
}

/** @param {ListedEmail[]} mails The newest first. */
function announceNew(mails) {
  if (mails.length > 1) announce(t('newMails', { n: mails.length }));
  else announce(t('newMail', { sender: sender(mails[0]), subject: shortSubject(mails[0].subject) }));
}
