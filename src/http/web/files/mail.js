/** One mail: what it says, who sent it, its code and links, and what is attached. */

import { Failure, json } from './api.js';
import { body, source } from './body.js';
import { button, fill, h, icon } from './dom.js';
import { exactTime, now, oneLine, relativeTime, seconds, size, timeLeft } from './format.js';
import { t } from './language.js';
import { learn, mayHold } from './leases.js';
import { markRead } from './memory.js';
import { copy, say } from './notice.js';
import { removeLater } from './pending.js';
import { meaning, problem, showLoaded } from './problem.js';
import { shortSubject } from './row.js';
import { save } from './save.js';

/** @typedef {import('./types.js').Email} Email */
/** @typedef {{back?: () => void, remove?: () => void}} Tools */

/** The longest subject and other line that is shown, in characters. */
const SUBJECT_MAX = 1_000;
const LINE_MAX = 2_000;
/** The most people in a field, fields of the header, and links that are shown. */
const PEOPLE_MAX = 50;
const FIELDS_MAX = 200;
const LINKS_MAX = 3;
/** The longest name of a file, and how much of its end is always shown, in characters. */
const FILE_NAME_MAX = 200;
const FILE_NAME_END = 16;

/** A mail by itself, as a link to it opens it. @param {string[]} words @param {AbortSignal} signal */
export function mail([id = ''], signal) {
  const element = h('article', { class: 'pane alone', 'aria-label': t('mail') });
  openMail(element, id, signal, {});
  return { title: `${t('mail')} · tempmail`, element };
}

/**
 * Shows a mail in `place`. The way back stays there, whatever becomes of the mail.
 *
 * @param {HTMLElement} place
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {Tools} tools
 */
export function openMail(place, id, signal, tools) {
  const content = h('div', { class: 'mail' });
  fill(place, tools.back && h('div', { class: 'tools back' }, button('back', t('back'), tools.back)), content);
  const load = async () => {
    /** @type {Email} */
    const email = await json(`api/mail/messages/${encodeURIComponent(id)}`, { signal });
    if (mayHold(email.recipient)) await learn();
    markRead(email.id);
    return draw(email, signal, content, tools);
  };
  showLoaded(content, load, signal);
}

/** @param {Email} email @param {AbortSignal} signal @param {Element} place @param {Tools} tools */
function draw(email, signal, place, { remove }) {
  const deleteThis = remove ?? (() => removeAlone(email, place));
  const tools = h(
    'div',
    { class: 'tools' },
    button('download', t('download'), () => keep(`api/mail/messages/${email.id}/raw`, `${email.id}.eml`), { isShort: true }),
    button('delete', t('delete'), deleteThis, { isShort: true }),
  );
  const received = { datetime: `${email.receivedAt.replace(' ', 'T')}Z`, title: relativeTime(email.receivedAt) };
  return [
    h(
      'header',
      { class: 'mail-head' },
      tools,
      h('h1', {}, h('bdi', {}, shortSubject(email.subject, SUBJECT_MAX))),
      h('dl', { class: 'who' }, ...people(email)),
      h('p', { class: 'times' }, h('time', received, exactTime(email.receivedAt)), countdown(email, place, signal)),
    ),
    ...codes(email),
    ...links(email),
    ...attachments(email),
    body(email, signal),
    h('details', {}, h('summary', {}, t('headerFields')), headerFields(email)),
    source(email, signal),
  ];
}

/** Saves what is at a path. @param {string} path @param {string} name */
async function keep(path, name) {
  try {
    await save(path, name);
  } catch (error) {
    say(meaning(error));
  }
}

/** @param {Email} email */
function people({ from, header, envelope, recipient, authentication }) {
  const all = (/** @type {import('./types.js').NamedAddress[]} */ people) => {
    const shown = people.slice(0, PEOPLE_MAX).map(({ name, address }) => oneLine(name ? `${name} <${address}>` : address));
    return shown.map((one) => one.slice(0, LINE_MAX)).join(', ');
  };
  /** @type {[string, string][]} */
  const rows = [
    [t('from'), all(header.from) || oneLine(from) || t('noSender')],
    [t('replyTo'), all(header.replyTo)],
    [t('to'), all(header.to) || recipient],
    [t('cc'), all(header.cc)],
  ];
  if (envelope.reversePath && envelope.reversePath !== from) rows.push([t('sentBy'), oneLine(envelope.reversePath)]);
  if (authentication) rows.push([t('realSender'), proof(authentication)]);
  return rows.filter(([, value]) => value).flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, h('bdi', {}, value))]);
}

/** @param {import('./types.js').Authentication} authentication */
function proof({ verified, dmarc, spf, arc, dkim }) {
  if (verified) return t('senderProven', { domain: verified });
  return t([dmarc, spf, arc, ...dkim].some(({ result }) => result === 'temperror') ? 'senderUnknown' : 'senderUnproven');
}

/** How long the mail stays, kept up to date; at its end the mail is replaced. @param {Email} email @param {Element} place @param {AbortSignal} signal */
function countdown({ expiresAt }, place, signal) {
  const left = h('span', { class: 'left', title: exactTime(expiresAt) }, timeLeft(expiresAt));
  const timer = setInterval(() => {
    if (seconds(expiresAt) > now()) return fill(left, timeLeft(expiresAt));
    clearInterval(timer);
    fill(place, problem(new Failure(404, 'not_found', ''), () => {}));
  }, 1000);
  signal.addEventListener('abort', () => clearInterval(timer));
  return left;
}

/** Deletes a mail that is shown by itself. @param {Email} email @param {Element} place */
function removeAlone(email, place) {
  const shown = [...place.childNodes];
  removeLater([email.id], {
    text: t('deletedOne', { subject: shortSubject(email.subject) }),
    changed: () => fill(place, h('p', { class: 'state' }, t('mailGone'))),
    undone: () => place.replaceChildren(...shown),
  });
}

/** The code that the mail was sent for, large. @param {Email} email */
function codes({ codes }) {
  return codes.slice(0, 1).map(({ code }) =>
    h('p', { class: 'code' }, h('span', {}, t('code')), h('output', { dir: 'ltr' }, code), button('copy', t('copy'), () => copy(code), { kind: 'primary' })),
  );
}

/** The links that the mail was sent for, with where they lead. @param {Email} email */
function links({ links }) {
  const pressed = links.filter(({ kind, url }) => kind !== 'unsubscribe' && URL.canParse(url)).slice(0, LINKS_MAX);
  return pressed.map(({ url, text }) => {
    const words = shortSubject(text) === t('noSubject') ? t('openLink') : shortSubject(text);
    // In the form of an address, the host has no letters that only look like others.
    const target = new URL(url);
    return h(
      'p',
      { class: 'link' },
      h('a', { class: 'button', href: target.href, target: '_blank', rel: 'noopener noreferrer nofollow' }, h('bdi', {}, words)),
      ' ',
      h('span', {}, t('leadsTo'), ' ', h('bdi', { class: 'host', dir: 'ltr', title: target.href.slice(0, LINE_MAX) }, target.host)),
    );
  });
}

/** @param {Email} email */
function attachments({ id, attachments }) {
  if (attachments.length === 0) return [];
  const rows = attachments.map(({ index, filename, contentType, size: octets }) => {
    const name = (oneLine(filename) || `${index}`).slice(-FILE_NAME_MAX);
    const press = () => keep(`api/mail/messages/${id}/attachments/${index}`, name);
    // The end of a name says what kind of file it is, so it is never cut off.
    const start = h('bdi', { class: 'start' }, name.slice(0, -FILE_NAME_END));
    const file = h('span', { class: 'file', dir: 'ltr' }, start, h('bdi', {}, name.slice(-FILE_NAME_END)));
    const kind = h('small', { dir: 'ltr' }, `${oneLine(contentType).slice(0, FILE_NAME_MAX)} · ${size(octets)}`);
    return h('li', {}, h('button', { type: 'button', click: press, title: name }, icon('attachment'), h('span', {}, file, kind)));
  });
  return [h('h2', { class: 'unseen' }, t('attachments', { n: attachments.length })), h('ul', { class: 'attachments' }, ...rows)];
}

/** @param {Email} email */
function headerFields({ headers }) {
  const rows = headers.slice(0, FIELDS_MAX).map(({ name, value }) =>
    h('tr', {}, h('th', { scope: 'row' }, oneLine(name).slice(0, FILE_NAME_MAX)), h('td', {}, h('bdi', {}, oneLine(value).slice(0, LINE_MAX)))),
  );
  return h('div', { class: 'scroll' }, h('table', { class: 'fields' }, h('tbody', {}, ...rows)));
}
