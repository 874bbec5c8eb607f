/** A mail as a row of a list. */

import { button, fill, h, icon } from './dom.js';
import { exactTime, number, oneLine, relativeTime, timeLeft } from './format.js';
import { t } from './language.js';
import { isRead } from './memory.js';
import { copy } from './notice.js';

/** @typedef {import('./types.js').ListedEmail} ListedEmail */

/** The longest sender, subject and preview, in characters. */
const LINE_MAX = 300;
/** The longest subject in the name of a button, in characters. */
const NAME_MAX = 60;

/** Who a mail says it is from. A name that looks like an address gives way to the address. @param {ListedEmail} mail */
export function sender({ fromName = '', from }) {
  const name = oneLine(fromName);
  const isName = name !== '' && !/[@\uff20\ufe6b]/.test(name);
  return (isName ? name : oneLine(from)).slice(0, LINE_MAX) || t('noSender');
}

/** @param {string} subject @param {number} [max] */
export function shortSubject(subject, max = NAME_MAX) {
  return oneLine(subject).slice(0, max) || t('noSubject');
}

/**
 * @param {ListedEmail} mail
 * @param {string} href
 * @param {() => void} remove
 */
export function row(mail, href, remove) {
  const { recipient, preview = '', attachmentCount = 0 } = mail;
  const [code] = mail.codes ?? [];
  const link = h(
    'a',
    { href },
    h('bdi', { class: 'sender', title: oneLine(mail.from).slice(0, LINE_MAX) }, sender(mail)),
    h('bdi', { class: 'subject' }, shortSubject(mail.subject, LINE_MAX)),
    recipient
      ? h('span', { class: 'preview' }, t('to'), ' ', h('bdi', {}, oneLine(recipient).slice(0, LINE_MAX)))
      : h('bdi', { class: 'preview' }, oneLine(preview, '').slice(0, LINE_MAX)),
    h('span', { class: 'times' }, ...times(mail)),
  );
  const deletion = button('delete', t('deleteThis', { subject: shortSubject(mail.subject) }), remove, { isShort: true, kind: 'quiet' });
  const marks = h('span', { class: 'marks' }, attachmentCount > 0 && countOf(attachmentCount), code && chip(code), deletion);
  return h('li', { class: isRead(mail.id) ? '' : 'unread' }, link, marks);
}

/** A code, as a button that copies it. @param {import('./types.js').Code} code */
export function chip({ code }) {
  const chip = button('copy', code, () => copy(code), { kind: 'chip' });
  chip.setAttribute('aria-label', `${t('copy')}: ${code}`);
  return chip;
}

/** @param {number} attachments */
function countOf(attachments) {
  const words = t('attachments', { n: attachments });
  const shown = h('span', { 'aria-hidden': 'true' }, number(attachments));
  return h('span', { class: 'count', title: words }, icon('attachment'), shown, h('span', { class: 'unseen' }, words));
}

/** Writes the times of a row anew. @param {Element} row @param {ListedEmail} mail */
export function refreshTimes(row, mail) {
  const place = row.querySelector('.times');
  if (place) fill(place, ...times(mail));
}

/** When a mail came and how long it stays. @param {ListedEmail} mail */
function times({ receivedAt, expiresAt }) {
  return [
    h('time', { datetime: `${receivedAt.replace(' ', 'T')}Z`, title: exactTime(receivedAt) }, relativeTime(receivedAt)),
    h('span', { class: 'left', title: exactTime(expiresAt) }, timeLeft(expiresAt)),
  ];
}
