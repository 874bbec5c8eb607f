/** One mail: what it says, who sent it, its code and links, and what is attached. */

import { Failure, deleteMails, hasToken, json, request, save, url } from './api.js';
import { button, fill, h, icon } from './dom.js';
import { exactTime, oneLine, relativeTime, seconds, size, timeLeft, now } from './format.js';
import { t } from './language.js';
import { markRead } from './memory.js';
import { copy, undoable } from './notice.js';
import { problem, showLoaded } from './problem.js';

/** @typedef {import('./types.js').Email} Email */
/** @typedef {{back?: () => void, remove?: () => void}} Tools */

/** The longest text of the source and of a body that is shown, in characters. */
const TEXT_MAX = 500_000;
/** The longest line of a field of the header that is shown, in characters. */
const LINE_MAX = 2_000;

/** A mail by itself, as a link to it opens it. @param {string[]} words @param {AbortSignal} signal */
export function mail([id = ''], signal) {
  const element = h('article', { class: 'pane alone', 'aria-label': t('mail') });
  openMail(element, id, signal, {});
  return { title: `${t('mail')} · tempmail`, element };
}

/**
 * Shows a mail in `place`.
 *
 * @param {HTMLElement} place
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {Tools} tools
 */
export function openMail(place, id, signal, tools) {
  const load = async () => {
    /** @type {Email} */
    const email = await json(`api/mail/messages/${encodeURIComponent(id)}`, { signal });
    markRead(email.id);
    return draw(email, signal, place, tools);
  };
  showLoaded(place, load, signal);
}

/** @param {Email} email @param {AbortSignal} signal @param {Element} place @param {Tools} tools */
function draw(email, signal, place, { back, remove }) {
  const subject = oneLine(email.subject).slice(0, 1000) || t('noSubject');
  const { left, stop } = countdown(email, place);
  signal.addEventListener('abort', stop);
  const deleteThis = remove ?? (() => removeAlone(email, place));
  return [
    h(
      'header',
      { class: 'mail-head' },
      h(
        'div',
        { class: 'tools' },
        back && button('back', t('back'), back, { kind: 'back' }),
        button('download', t('download'), () => save(`api/mail/messages/${email.id}/raw`, `${email.id}.eml`), { isShort: true }),
        button('delete', t('delete'), deleteThis, { isShort: true }),
      ),
      h('h1', {}, h('bdi', {}, subject)),
      h('dl', { class: 'who' }, ...people(email)),
      h(
        'p',
        { class: 'times' },
        h('time', { datetime: `${email.receivedAt.replace(' ', 'T')}Z`, title: relativeTime(email.receivedAt) }, exactTime(email.receivedAt)),
        left,
      ),
    ),
    ...codes(email),
    ...links(email),
    ...attachments(email),
    body(email, signal),
    h('details', {}, h('summary', {}, t('headerFields')), headerFields(email)),
    source(email, signal),
  ];
}

/** @param {Email} email */
function people({ from, header, envelope, recipient }) {
  const all = (/** @type {import('./types.js').NamedAddress[]} */ people) =>
    people.slice(0, 50).map(({ name, address }) => oneLine(name ? `${name} <${address}>` : address).slice(0, LINE_MAX)).join(', ');
  /** @type {[string, string][]} */
  const rows = [
    [t('from'), all(header.from) || oneLine(from) || t('noSender')],
    [t('replyTo'), all(header.replyTo)],
    [t('to'), all(header.to) || recipient],
    [t('cc'), all(header.cc)],
  ];
  if (envelope.reversePath && envelope.reversePath !== from) rows.push([t('sentBy'), oneLine(envelope.reversePath)]);
  return rows.filter(([, value]) => value).flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, h('bdi', {}, value))]);
}

/** How long the mail stays, kept up to date; at its end the mail is replaced. @param {Email} email @param {Element} place */
function countdown({ expiresAt }, place) {
  const left = h('span', { class: 'left', title: exactTime(expiresAt) }, timeLeft(expiresAt));
  const timer = setInterval(() => {
    if (seconds(expiresAt) > now()) return fill(left, timeLeft(expiresAt));
    clearInterval(timer);
    fill(place, problem(new Failure(404, 'not_found', ''), () => {}));
  }, 1000);
  return { left, stop: () => clearInterval(timer) };
}

/** @param {Email} email @param {Element} place */
function removeAlone(email, place) {
  const before = [...place.childNodes];
  fill(place, h('p', { class: 'state' }, t('mailGone')));
  const subject = oneLine(email.subject).slice(0, 60) || t('noSubject');
  undoable(t('deletedOne', { subject }), () => place.replaceChildren(...before), (outlives) => {
    deleteMails([email.id], { outlives }).catch(() => place.replaceChildren(...before));
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
  const pressed = links.filter(({ kind }) => kind !== 'unsubscribe').slice(0, 3);
  return pressed.map((link) => {
    const host = new URL(link.url).host;
    const words = oneLine(link.text).slice(0, 100) || t('openLink');
    return h(
      'p',
      { class: 'link' },
      h('a', { class: 'button', href: link.url, target: '_blank', rel: 'noopener noreferrer nofollow' }, h('bdi', {}, words)),
      ' ',
      h('span', {}, t('leadsTo'), ' ', h('bdi', { class: 'host', dir: 'ltr', title: link.url.slice(0, LINE_MAX) }, host)),
    );
  });
}

/** @param {Email} email */
function attachments({ id, attachments }) {
  if (attachments.length === 0) return [];
  const rows = attachments.map(({ index, filename, contentType, size: octets }) => {
    const name = oneLine(filename) || `${index}`;
    const press = () => save(`api/mail/messages/${id}/attachments/${index}`, name.slice(0, 200));
    const row = h('button', { type: 'button', click: press }, icon('attachment'), h('bdi', { class: 'file' }, name.slice(0, 300)));
    row.append(h('small', { dir: 'ltr' }, `${oneLine(contentType).slice(0, 100)} · ${size(octets)}`));
    return h('li', {}, row);
  });
  return [h('h2', { class: 'unseen' }, t('attachments', { n: attachments.length })), h('ul', { class: 'attachments' }, ...rows)];
}

/** The body, as HTML in a frame or as text, whichever is chosen. @param {Email} email @param {AbortSignal} signal */
function body(email, signal) {
  const place = h('div', { class: 'body' });
  let isRemoteShown = false;
  const asHtml = () => {
    press(true);
    fill(place, frame(email, isRemoteShown, signal));
  };
  const asText = () => {
    press(false);
    fill(place, h('div', { class: 'text', dir: 'auto' }, ...linked(email.bodyText.slice(0, TEXT_MAX))));
  };
  const html = button(null, t('formatted'), asHtml);
  const text = button(null, t('text'), asText);
  const press = (/** @type {boolean} */ isHtml) => {
    html.setAttribute('aria-pressed', String(isHtml));
    text.setAttribute('aria-pressed', String(!isHtml));
  };
  const images = button('image', t('showImages'), () => {
    isRemoteShown = true;
    images.remove();
    asHtml();
  });
  if (hasHtml(email)) asHtml();
  else asText();
  const choice = hasHtml(email) && h('div', { class: 'choice', role: 'group', 'aria-label': t('show') }, html, text, hasRemoteImages(email) && images);
  return h('div', {}, choice, place);
}

/** Whether the body has HTML. Otherwise `message` is the text with escapes and line ends. @param {Email} email */
function hasHtml({ message }) {
  return message.replaceAll('<br>', '').includes('<');
}

/** Whether there are images to ask for. A frame from memory may load none. @param {Email} email */
function hasRemoteImages({ message }) {
  return !hasToken() && /<img[^>]+src\s*=\s*["']?\s*https?:/i.test(message);
}

/**
 * The HTML of the mail in a frame that runs no script. Its links open a page that shows where they lead.
 *
 * @param {Email} email
 * @param {boolean} isRemoteShown
 * @param {AbortSignal} signal
 */
function frame({ id }, isRemoteShown, signal) {
  const path = `api/mail/messages/${id}/html?links=shown${isRemoteShown ? '&remote=1' : ''}`;
  const frame = h('iframe', {
    title: t('mailBody'),
    sandbox: 'allow-popups allow-popups-to-escape-sandbox',
    referrerpolicy: 'no-referrer',
  });
  if (hasToken()) showThroughMemory(frame, path, signal);
  else frame.src = url(path);
  return frame;
}

/** A frame cannot send a token, so the page comes through memory. @param {HTMLIFrameElement} frame @param {string} path @param {AbortSignal} signal */
async function showThroughMemory(frame, path, signal) {
  try {
    const html = await (await request(path, { accept: 'text/html', signal })).text();
    // Its links are relative to a path of the service, and memory has no path.
    const absolute = html.replaceAll('href="../../../../#/', `href="${url('.')}#/`);
    frame.src = URL.createObjectURL(new Blob([absolute], { type: 'text/html;charset=utf-8' }));
    signal.addEventListener('abort', () => URL.revokeObjectURL(frame.src));
  } catch (error) {
    if (!signal.aborted) frame.replaceWith(problem(error, () => {}));
  }
}

/** Text with its web addresses as links. @param {string} text @returns {(Node | string)[]} */
function linked(text) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(/https?:\/\/[^\s<>"'）」]{1,2000}[^\s<>"'）」.,;:!?)\]]/g)) {
    parts.push(text.slice(end, match.index));
    parts.push(h('a', { href: match[0], target: '_blank', rel: 'noopener noreferrer nofollow', dir: 'ltr' }, match[0]));
    end = match.index + match[0].length;
    if (parts.length > 1000) break;
  }
  return [...parts, text.slice(end)];
}

/** @param {Email} email */
function headerFields({ headers }) {
  const rows = headers.slice(0, 200).map(({ name, value }) =>
    h('tr', {}, h('th', { scope: 'row' }, oneLine(name).slice(0, 200)), h('td', {}, h('bdi', {}, oneLine(value).slice(0, LINE_MAX)))),
  );
  return h('div', { class: 'scroll' }, h('table', { class: 'fields' }, h('tbody', {}, ...rows)));
}

/** The message as it came, once somebody asks for it. @param {Email} email @param {AbortSignal} signal */
function source({ id }, signal) {
  const place = h('div', {});
  const open = (/** @type {Event & {target: HTMLDetailsElement}} */ { target }) => {
    if (!target.open || place.hasChildNodes()) return;
    showLoaded(place, async () => {
      const text = await (await request(`api/mail/messages/${id}/raw`, { accept: '*/*', signal })).text();
      return [h('pre', { dir: 'ltr', tabindex: '0' }, text.slice(0, TEXT_MAX))];
    }, signal);
  };
  return h('details', { toggle: open }, h('summary', {}, t('source')), place);
}
