/** What keys do: those of the whole page, and those of the view that is shown. */

import { find, h } from './dom.js';
import { t } from './language.js';

/** The keys in the order of the help, with the phrase that says what they do. @type {[string, import('./language.js').Phrase][]} */
const HELP = [
  ['j', 'keyNext'],
  ['k', 'keyPrevious'],
  ['o', 'keyOpen'],
  ['u', 'keyBack'],
  ['#', 'keyDelete'],
  ['z', 'keyUndo'],
  ['c', 'keyCopy'],
  ['n', 'keyNew'],
  ['/', 'keyAddress'],
  ['?', 'keyHelp'],
];

/** Keys that act again while they are held. */
const MAY_REPEAT = ['j', 'k'];

/** @type {Record<string, () => void>} */
let ofPage = {};
/** @type {Record<string, () => void>} */
let ofView = {};

/** @param {Record<string, () => void>} keys */
export function setKeysOfView(keys) {
  ofView = keys;
}

/** Listens for keys. @param {Record<string, () => void>} keys Those of the whole page. */
export function listen(keys) {
  ofPage = { '?': showHelp, ...keys };
  addEventListener('keydown', (event) => {
    // Some keyboards have # and / behind AltGr, which counts as Ctrl with Alt.
    const isCommand = (event.ctrlKey || event.altKey) && !event.getModifierState('AltGraph');
    if (isCommand || event.metaKey || isTyping(event.target)) return;
    const key = event.key === 'Delete' ? '#' : event.key;
    const action = ofView[key] ?? ofPage[key];
    const isStuck = event.repeat && !MAY_REPEAT.includes(key);
    if (!action || isStuck || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    action();
  });
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

/** Shows the keys in a dialog. */
export function showHelp() {
  const rows = HELP.map(([key, phrase]) => h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, key)), h('td', {}, t(phrase))));
  openDialog(t('keys'), h('table', { class: 'keys' }, h('tbody', {}, ...rows)));
}

/**
 * Opens a dialog with a heading and a button that closes it.
 *
 * @param {string} title
 * @param {...Node} content
 */
function openDialog(title, ...content) {
  const close = h('button', { type: 'button', click: () => dialog.close() }, t('close'));
  const heading = h('h2', { id: 'dialog-title' }, title);
  const dialog = h('dialog', { 'aria-labelledby': 'dialog-title', close: () => dialog.remove() }, heading, ...content, close);
  find('body', HTMLElement).append(dialog);
  dialog.showModal();
  return dialog;
}
