/** What keys do, as a dialog shows it. */

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
