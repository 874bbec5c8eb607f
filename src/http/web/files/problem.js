/** What a failure means to the user, and what to do about it. */

import { Failure, setToken } from './api.js';
import { fill, h } from './dom.js';
import { duration } from './format.js';
import { t } from './language.js';

/** After what time a view that could not be read is read again at the earliest, in milliseconds. */
const RETRY_AFTER = 10_000;

/**
 * A block that stands in place of what could not be shown.
 *
 * @param {unknown} error
 * @param {() => void} retry
 */
export function problem(error, retry) {
  const failure = error instanceof Failure ? error : new Failure(0, 'offline', String(error));
  const block = h('section', { class: 'state problem', role: 'alert' }, h('p', {}, meaning(failure)));
  if (asksForToken(failure)) {
    block.append(tokenForm());
  } else if (failure.code !== 'role_address' && failure.code !== 'not_found') {
    block.append(h('button', { type: 'button', click: retry }, t('tryAgain')));
  }
  return block;
}

/** @param {Failure} failure */
function asksForToken({ code }) {
  return code === 'token_required' || code === 'token_invalid' || code === 'unauthorized';
}

/** One sentence about a failure. @param {unknown} error */
export function meaning(error) {
  const failure = error instanceof Failure ? error : new Failure(0, 'offline', String(error));
  switch (failure.code) {
    case 'offline':
      return t('offline');
    case 'rate_limited':
      return t('rateLimited', { time: duration(failure.retryAfter || 1) });
    case 'role_address':
      return t('roleAddress');
    case 'token_required':
    case 'unauthorized':
      return t('tokenRequired');
    case 'token_invalid':
      return t('tokenInvalid');
    case 'not_found':
      return t('mailGone');
    case 'address_invalid':
      return t('addressInvalid');
    case 'stopping':
    case 'store_unavailable':
      return t('unavailable');
    default:
      // The service's own sentence is more exact than none.
      return failure.status >= 500 ? `${t('unavailable')} ${failure.message}` : failure.message;
  }
}

/** A form for a token, which stays in memory. */
export function tokenForm() {
  const input = h('input', { type: 'password', autocomplete: 'off', required: true, 'aria-label': t('token') });
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    input.setCustomValidity(setToken(input.value) ? '' : t('tokenInvalid'));
    input.reportValidity();
  };
  input.addEventListener('input', () => input.setCustomValidity(''));
  return h('form', { class: 'row', submit }, input, h('button', { type: 'submit' }, t('useToken')));
}

/**
 * Shows what `load` gives, a line while it takes long, or a problem with a way to try again.
 *
 * @param {Element} place
 * @param {() => Promise<(Node | string)[]>} load
 * @param {AbortSignal} signal
 */
export async function showLoaded(place, load, signal) {
  const timer = setTimeout(() => fill(place, loading()), 300);
  try {
    const content = await load();
    if (!signal.aborted) fill(place, ...content);
  } catch (error) {
    if (signal.aborted) return;
    // What is no failure of the service is one of this page, and somebody may look for it.
    if (!(error instanceof Failure)) console.error(error);
    const retry = () => {
      clearTimeout(later);
      showLoaded(place, load, signal);
    };
    const wait = waitAfter(error);
    const later = wait === null ? undefined : setTimeout(retry, wait);
    signal.addEventListener('abort', () => clearTimeout(later));
    fill(place, problem(error, retry));
  } finally {
    clearTimeout(timer);
  }
}

/** How long to wait before another try, in milliseconds; null after a failure that does not pass. @param {unknown} error */
export function waitAfter(error) {
  if (!(error instanceof Failure) || ![0, 429, 503].includes(error.status)) return null;
  return Math.max(error.retryAfter * 1000, RETRY_AFTER);
}

/** A line that says that something is on its way. */
export function loading() {
  return h('p', { class: 'state loading', role: 'status' }, t('loading'));
}
