/** The form that asks for a token. */

import { setToken } from './api.js';
import { h } from './dom.js';
import { t } from './language.js';

/** A form for a token, which is kept for this tab, or in this browser by choice. */
export function tokenForm() {
  const input = h('input', { type: 'password', autocomplete: 'off', required: true, 'aria-label': t('token') });
  const keep = h('input', { type: 'checkbox' });
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    input.setCustomValidity(setToken(input.value, keep.checked) ? '' : t('tokenInvalid'));
    input.reportValidity();
  };
  input.addEventListener('input', () => input.setCustomValidity(''));
  const choice = h('label', { class: 'check' }, keep, t('keepToken'));
  return h('form', { class: 'row', submit }, input, h('button', { type: 'submit' }, t('useToken')), choice);
}
