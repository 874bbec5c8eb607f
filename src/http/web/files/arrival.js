/** Codes that arrive: the title of the tab says one, a notice copies it, and so does a notification if one is permitted. */

import { now, oneLine, seconds } from './format.js';
import { t } from './language.js';
import { isRead } from './memory.js';
import { copy, offer } from './notice.js';
import { sender } from './row.js';

/** @typedef {import('./types.js').ListedEmail} ListedEmail */

/** The most notices of one look: a flood of codes is of no use to anybody. */
const CODES_MAX = 3;

let title = '';
let code = '';
/** The ids of mails whose code was told. @type {Set<string>} */
const told = new Set();

/** When the page was opened, by the service's clock. */
function begun() {
  return now() - performance.now() / 1000;
}

/** Sets the title of the tab. A code that nobody has seen stays in front of it. @param {string} text */
export function setTitle(text) {
  title = text;
  document.title = code ? `${code} · ${title}` : title;
}

// Whoever touches the page has seen it.
for (const name of ['pointerdown', 'keydown']) {
  addEventListener(name, () => {
    code = '';
    setTitle(title);
  });
}

/** Somebody sees these mails, so their codes are no news. @param {ListedEmail[]} mails */
export function seen(mails) {
  for (const { id } of mails) told.add(id);
}

/**
 * Tells of the codes of mails of an address that arrived since the page was opened.
 *
 * @param {string} address
 * @param {ListedEmail[]} mails
 * @param {boolean} isShown Whether the mails are in the list that is shown.
 * @param {boolean} isFirst Whether this is the first look at the address, so that only their times say what is new.
 */
export function codesArrived(address, mails, isShown, isFirst = false) {
  const isNew = (/** @type {ListedEmail} */ mail) => !isFirst || seconds(mail.receivedAt) >= begun();
  const arrived = mails.filter((mail) => mail.codes?.[0] && !told.has(mail.id) && !isRead(mail.id) && isNew(mail));
  seen(mails);
  // The newest comes last, and stays in the title.
  for (const mail of arrived.slice(0, CODES_MAX).reverse()) {
    const [found] = mail.codes ?? [];
    if (found) tell(oneLine(address), mail, oneLine(found.code), isShown);
  }
}

/** @param {string} address @param {ListedEmail} mail @param {string} found @param {boolean} isShown */
function tell(address, mail, found, isShown) {
  code = found;
  setTitle(title);
  if (!isShown || document.hidden) offer(t('codeFor', { address, code: found }), t('copy'), () => copy(found));
  if (!isPermitted() || (document.hasFocus() && !document.hidden)) return;
  try {
    // Several tabs with the same tag show one notification.
    const notification = new Notification(found, { body: `${address}\n${sender(mail)}`, tag: mail.id });
    notification.onclick = () => {
      window.focus();
      notification.close();
      copy(found);
    };
  } catch {
    // Some browsers for telephones have notifications of workers only.
  }
}

function isPermitted() {
  return 'Notification' in globalThis && Notification.permission === 'granted';
}

/** Whether users can be asked for notifications. */
export function mayAsk() {
  return 'Notification' in globalThis && Notification.permission === 'default';
}

/** Asks for notifications; whether they are permitted then. */
export async function ask() {
  return (await Notification.requestPermission()) === 'granted';
}
