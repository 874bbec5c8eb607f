/** The body of a mail: as HTML in a frame that runs no script, or as text. */

import { hasToken, json, query, request, url } from './api.js';
import { button, fill, h } from './dom.js';
import { withFewMarks } from './format.js';
import { t } from './language.js';
import { mayHold } from './leases.js';
import { problem, showLoaded } from './problem.js';

/** @typedef {import('./types.js').Email} Email */

/** The longest text that is shown, in characters. */
const TEXT_MAX = 500_000;
/** The most links in a text. */
const LINKS_MAX = 500;

/** The body, as HTML or as text, whichever is chosen. @param {Email} email @param {AbortSignal} signal */
export function body(email, signal) {
  const place = h('div', { class: 'body' });
  let isRemoteShown = false;
  const asHtml = () => {
    press(true);
    fill(place, frame(email, isRemoteShown, signal));
  };
  const asText = () => {
    press(false);
    fill(place, h('div', { class: 'text', dir: 'auto' }, ...linked(withFewMarks(email.bodyText.slice(0, TEXT_MAX)))));
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
  const choice = h('div', { class: 'choice', role: 'group', 'aria-label': t('show') }, html, text, hasImages(email) && images);
  return h('div', {}, hasHtml(email) && choice, place);
}

/** Whether the service shows the mail only to a request with a token or a key, which a frame cannot send. @param {Email} email */
function asksForSecret({ recipient }) {
  return hasToken() || mayHold(recipient);
}

/** Whether the body has HTML. Otherwise `message` is the text with escapes and line ends. @param {Email} email */
function hasHtml({ message }) {
  return message.replaceAll('<br>', '').includes('<');
}

/** Whether there may be images from elsewhere. Two searches, since one for both can take minutes. @param {Email} email */
function hasImages({ message }) {
  return /<img\b/i.test(message) && /https?:/i.test(message);
}

/**
 * The HTML of the mail in a frame that runs no script. Its links open a page that shows where they lead.
 *
 * @param {Email} email
 * @param {boolean} isRemoteShown
 * @param {AbortSignal} signal
 */
function frame(email, isRemoteShown, signal) {
  const frame = h('iframe', {
    title: t('mailBody'),
    sandbox: 'allow-popups allow-popups-to-escape-sandbox',
    referrerpolicy: 'no-referrer',
  });
  load(frame, email, { links: 'shown', remote: isRemoteShown ? '1' : '0' }, signal);
  return frame;
}

/** @param {HTMLIFrameElement} frame @param {Email} email @param {Record<string, string>} how @param {AbortSignal} signal */
async function load(frame, email, how, signal) {
  const path = `api/mail/messages/${email.id}`;
  try {
    const ticket = asksForSecret(email) ? await json(`${path}/ticket`, { signal }) : {};
    frame.src = url(`${path}/html?${query({ ...how, ...ticket })}`);
  } catch (error) {
    if (!signal.aborted) frame.replaceWith(problem(error, () => {}));
  }
}

/** Text with its web addresses as links, which open a page that shows where they lead. @param {string} text @returns {(Node | string)[]} */
function linked(text) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(/https?:\/\/[^\s<>"'\p{C}）」]{1,2000}/gu)) {
    if (parts.length >= 2 * LINKS_MAX) break;
    const address = found.replace(/[.,;:!?)\]]+$/, '');
    const href = `#/leave/${encodeURIComponent(address)}`;
    parts.push(text.slice(end, index), h('a', { href, target: '_blank', rel: 'noopener', dir: 'ltr' }, address));
    end = index + address.length;
  }
  return [...parts, text.slice(end)];
}

/** The message as it came, once somebody asks for it. @param {Email} email @param {AbortSignal} signal */
export function source({ id }, signal) {
  const place = h('div', {});
  const load = async () => {
    const text = await (await request(`api/mail/messages/${id}/raw`, { accept: '*/*', signal })).text();
    return [h('pre', { dir: 'ltr', tabindex: '0' }, withFewMarks(text.slice(0, TEXT_MAX)))];
  };
  const open = (/** @type {Event & {target: HTMLDetailsElement}} */ { target }) => {
    if (target.open && !place.hasChildNodes()) showLoaded(place, load, signal);
  };
  return h('details', { toggle: open }, h('summary', {}, t('source')), place);
}
