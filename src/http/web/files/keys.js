/** What keys do: those of the whole page, and those of the view that is shown. */

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

/** Shows what keys do. */
export async function showHelp() {
  (await import('./help.js')).showHelp();
}
