/** A list of mails, in step with the service. */

import { Failure, json, request } from './api.js';
import { button, fill, h } from './dom.js';
import { now, seconds } from './format.js';
import { t } from './language.js';
import { announce } from './notice.js';
import { isHidden, removeLater } from './pending.js';
import { refreshTimes, row, sender, shortSubject } from './row.js';

/** @typedef {import('./types.js').ListedEmail} ListedEmail */
/** @typedef {import('./types.js').EmailPage} EmailPage */
/** @typedef {import('./types.js').Source} Source */

const FIELDS = 'id,from,fromName,subject,preview,receivedAt,expiresAt,attachmentCount,codes';
const PAGE_SIZE = 50;
/** How many pages of older mail a filter looks through by itself. */
const PAGES_SEARCHED = 20;
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
  /** Mails in the whole list, as the service last said. */
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
  /** Which mails are shown; null for all. @type {((mail: ListedEmail) => boolean) | null} */
  #filter = null;
  /** How many pages of older mail the filter may still look through. */
  #pagesLeft = 0;
  #endWatch;

  /**
   * @param {Source} source
   * @param {AbortSignal} signal
   * @param {() => void} changed Called after each change of the list.
   */
  constructor(source, signal, changed) {
    this.source = source;
    this.signal = signal;
    this.changed = changed;
    this.element = h('ol', { class: 'mails', 'aria-label': source.name });
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
    return this.mails.filter((mail) => !isHidden(mail.id) && (this.#filter?.(mail) ?? true));
  }

  /** How many mails there are without those that are hidden. With a filter they are those that were found. */
  get count() {
    return this.#isEmptying || this.#filter ? this.shown.length : this.#total - (this.mails.length - this.shown.length);
  }

  /** Shows some of the mails alone. @param {((mail: ListedEmail) => boolean) | null} filter Null for all. */
  filter(filter) {
    this.#filter = filter;
    this.#search();
  }

  /** Looks through older mail, as far as one may without asking. */
  #search() {
    this.#pagesLeft = PAGES_SEARCHED;
    if (!this.isLoaded) return;
    this.#draw();
    this.#watchEnd();
  }

  /** How many mails that are shown were not read yet. */
  get unread() {
    return this.element.getElementsByClassName('unread').length;
  }

  /** Reads the first page again. One reading follows the other. */
  refresh() {
    this.#reading = this.#reading.catch(() => {}).then(async () => {
      this.#merge(await this.#newest());
      this.isLoaded = true;
      this.#draw();
    });
    return this.#reading;
  }

  /** @param {string} cursor @param {string} [fields] @param {number} [limit] @returns {Promise<EmailPage>} */
  #page(cursor, fields = FIELDS, limit = PAGE_SIZE) {
    return json(this.source.page({ cursor, limit, fields }), { signal: this.signal });
  }

  /** The first page. Once it is known only the ids are asked for, and the fields of mails that are new. */
  async #newest() {
    if (!this.isLoaded || !this.source.hasFields) return this.#page('');
    const page = await this.#page('', 'id');
    const known = new Map(this.mails.map((mail) => [mail.id, mail]));
    const fresh = page.emails.findLastIndex(({ id }) => !known.has(id)) + 1;
    if (fresh > 0) {
      const { emails } = await this.#page('', FIELDS, fresh);
      for (const mail of emails) known.set(mail.id, mail);
    }
    const emails = page.emails.flatMap(({ id }) => known.get(id) ?? []);
    // More may have changed between the two answers.
    return emails.length === page.emails.length ? { ...page, emails } : this.#page('');
  }

  /** Puts the newest page in front of the older mails that are known. @param {EmailPage} page */
  #merge({ emails, total: all, nextCursor, next = nextCursor ?? null }) {
    const known = new Map(this.mails.map((mail) => [mail.id, mail]));
    const newest = emails.filter(({ id }) => !known.has(id));
    if (this.isLoaded && newest.length > 0) {
      announceNew(newest);
      this.source.arrived?.(newest);
    }
    const last = emails.at(-1)?.id;
    const end = this.mails.findIndex(({ id }) => id === last);
    // What is older than the page is known only if the page reaches into it.
    const older = next && end >= 0 ? this.mails.slice(end + 1) : [];
    const gone = this.mails.length - older.length - (emails.length - newest.length);
    // With null those that are loaded count.
    const total = all ?? emails.length + older.length;
    // How many others are gone as well. Those may be mails that are not loaded; if not, nothing says which they are.
    const others = this.#total + newest.length - gone - total;
    const isComplete = others >= 0 && others <= this.#total - this.mails.length;
    this.mails = [...emails.map((mail) => known.get(mail.id) ?? mail), ...(isComplete ? older : [])];
    this.#total = total;
    if (older.length === 0 || !isComplete) {
      this.#cursor = next;
      this.#walk += 1;
    }
  }

  /** Reads the next page of older mail. */
  async #loadMore() {
    if (this.#cursor === null || this.#isLoadingMore || this.#isEmptying) return;
    if (this.#filter && this.#pagesLeft === 0) return;
    this.#pagesLeft -= this.#filter ? 1 : 0;
    this.#isLoadingMore = true;
    const walk = this.#walk;
    let pause = 0;
    try {
      const page = await this.#page(this.#cursor);
      if (walk === this.#walk && !this.#isEmptying) {
        const known = new Set(this.mails.map(({ id }) => id));
        this.mails.push(...page.emails.filter(({ id }) => !known.has(id)));
        this.#total = Math.max(this.#total, this.mails.length);
        this.#cursor = page.nextCursor ?? page.next ?? null;
        this.#draw();
      }
    } catch (error) {
      pause = Math.max(RETRY_AFTER, error instanceof Failure ? error.retryAfter * 1000 : 0);
    } finally {
      this.#isLoadingMore = false;
    }
    setTimeout(() => this.#watchEnd(), pause);
  }

  /** The watch tells nothing new of an end that is still in view, so it begins anew. */
  #watchEnd() {
    if (this.signal.aborted) return;
    this.#endWatch.unobserve(this.end);
    this.#endWatch.observe(this.end);
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
        if (cursor === null || !this.source.older) return;
        await request(this.source.older(cursor), { method: 'DELETE', outlives });
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
    fill(this.end, ...this.#ending(shown.length));
    this.changed();
  }

  /** What stands below the mails: how many more there are, or how far a filter has looked. @param {number} shown */
  #ending(shown) {
    if (!this.#filter) {
      const more = this.count - shown;
      return more > 0 ? [t('more', { n: more })] : [];
    }
    const searched = t('searched', { n: this.mails.length });
    const goesOn = this.#cursor === null || this.#pagesLeft > 0;
    return goesOn ? [searched] : [searched, ' ', button(null, t('searchOlder'), () => this.#search())];
  }

  /** @param {ListedEmail} mail */
  #newRow(mail) {
    const element = row(mail, `${this.source.place}/${mail.id}`, () => this.remove(mail.id));
    this.#rows.set(mail.id, element);
    return element;
  }
}

/** @param {ListedEmail[]} mails The newest first. */
function announceNew(mails) {
  if (mails.length > 1) announce(t('newMails', { n: mails.length }));
  else announce(t('newMail', { sender: sender(mails[0]), subject: shortSubject(mails[0].subject) }));
}
