/** The key of the private inboxes of this browser: to keep a copy of it, or to bring one in. */

import { Failure, json } from './api.js';
import { button, field, fill, h } from './dom.js';
import { t } from './language.js';
import { held, learn, whenLeasesChange } from './leases.js';
import { keepKey, keptKey } from './memory.js';
import { copy, offer, say } from './notice.js';
import { problem } from './problem.js';
import { saveBlob } from './save.js';

/** What a key looks like. */
const KEY = /^tmk_[\w-]+$/;

/** @param {string[]} _ @param {AbortSignal} signal @returns {import('./types.js').View} */
export function key(_, signal) {
  const copying = button('copy', t('copy'), () => copy(keptKey(), t('ownKey')));
  const saving = button('download', t('ownKeyDownload'), () => saveBlob(new Blob([`${keptKey()}\n`], { type: 'text/plain' }), 'tempmail-key.txt'));
  const present = h('div', { class: 'card' });
  const draw = () => {
    const hasKey = keptKey() !== '';
    if (hasKey === present.hasChildNodes()) return;
    fill(present, ...(hasKey ? [h('p', {}, t('ownKeyKeep')), h('div', { class: 'tools' }, copying, saving)] : []));
  };
  whenLeasesChange(draw, signal);
  draw();
  const element = h('section', { class: 'narrow' }, h('h1', {}, t('ownKey')), h('p', {}, t('ownKeyMore')), present, form(signal));
  return { title: `${t('ownKey')} · tempmail`, element };
}

/** @param {string} key */
function replace(key) {
  keepKey(key);
  return learn();
}

/** The form that brings a key in. @param {AbortSignal} signal */
function form(signal) {
  const input = h('input', { type: 'password', autocomplete: 'off', required: true, dir: 'ltr', input: () => input.setCustomValidity('') });
  const failed = h('div', {});
  const refuse = () => {
    input.setCustomValidity(t('ownKeyInvalid'));
    input.reportValidity();
  };
  const use = async () => {
    const [before, wanted] = [keptKey(), input.value.trim()];
    if (!KEY.test(wanted)) return refuse();
    try {
      await json('api/addresses', { key: wanted, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Failure && error.code === 'token_invalid') return refuse();
      return fill(failed, problem(error, use));
    }
    await replace(wanted);
    location.hash = '#/';
    if (!before || before === wanted) say(t('ownKeyUsed', { n: held().length }));
    else offer(t('ownKeyReplaced'), t('undo'), () => replace(before));
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    use();
  };
  return h('form', { class: 'card', submit }, h('h2', {}, t('ownKeyBring')), field(t('ownKey'), input, t('ownKeyReplaces')), h('button', { type: 'submit' }, t('useKey')), failed);
}
