/** Short notices at the foot of the page, deletions that can be undone, and what screen readers announce. */

import { find, h } from './dom.js';
import { oneLine } from './format.js';
import { t } from './language.js';

/** How long a notice stays, and how long a deletion can be undone, in milliseconds. */
const STAYS = 4_000;
const UNDO_WITHIN = 6_000;
/** How long one stays that nobody may overlook. */
export const LONG = 30_000;
/** How much of a copied text is said, in characters. */
const COPIED_MAX = 100;

/** Has a screen reader say it. @param {string} text */
export function announce(text) {
  const region = find('#announcer', HTMLElement);
  // A text that is the same as the last one would not be said.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}

/** @param {HTMLElement} notice @param {number} stays */
function show(notice, stays) {
  find('#notices', HTMLElement).append(notice);
  setTimeout(() => notice.remove(), stays);
}

/** @param {string} text @param {number} [stays] In milliseconds. */
export function say(text, stays = STAYS) {
  show(h('p', { class: 'notice' }, text), stays);
  announce(text);
}

/**
 * Says something, with a button that does something about it.
 *
 * @param {string} text
 * @param {string} label
 * @param {() => void} action
 */
export function offer(text, label, action) {
  const notice = h('p', { class: 'notice' }, h('span', {}, text), ' ');
  const press = () => {
    notice.remove();
    action();
  };
  notice.append(h('button', { type: 'button', click: press }, label));
  show(notice, LONG);
  announce(text);
}

/** Copies a text. @param {string} text @param {string} [name] What is said to be copied, if not the text. */
export async function copy(text, name = text) {
  const shown = oneLine(text).slice(0, COPIED_MAX);
  try {
    await navigator.clipboard.writeText(text);
    say(t('copied', { text: name === text ? shown : name }));
  } catch {
    say(t('copyFailed', { text: shown }));
  }
}

/** Deletions that can still be undone. @type {Map<object, (outlives: boolean) => void>} */
const pending = new Map();

// Closing the page must not undo what its user asked for.
addEventListener('pagehide', () => {
  for (const commit of [...pending.values()]) commit(true);
});

/**
 * Says what was done, and does it after a while unless it is undone.
 *
 * @param {string} text
 * @param {() => void} undo
 * @param {(outlives: boolean) => void} commit
 */
export function undoable(text, undo, commit) {
  const key = {};
  const end = (/** @type {() => void} */ action) => {
    clearTimeout(timer);
    if (pending.delete(key)) action();
    notice.remove();
  };
  const notice = h('p', { class: 'notice' }, h('span', {}, text), ' ');
  notice.append(h('button', { type: 'button', class: 'undo', click: () => end(undo) }, t('undo')));
  const timer = setTimeout(() => end(() => commit(false)), UNDO_WITHIN);
  pending.set(key, (outlives) => end(() => commit(outlives)));
  find('#notices', HTMLElement).append(notice);
  announce(`${text} ${t('undoHint')}`);
}

/** Undoes the latest deletion that can still be undone; whether there was one. */
export function undoLatest() {
  const buttons = document.querySelectorAll('#notices .undo');
  const latest = buttons[buttons.length - 1];
  if (latest instanceof HTMLElement) latest.click();
  return latest !== undefined;
}
