/** What a failure means to the user, and what to do about it. */

import { Failure, hasToken, setToken } from './api.js';
import { fill, h } from './dom.js';
import { duration, exactTime } from './format.js';
import { t } from './language.js';

/** After what time a view that could not be read is read again at the earliest, in milliseconds. */
const RETRY_AFTER = 10_000;

/** What another try does not change. */
const FINAL = ['address_in_use', 'address_not_random', 'private_only', 'role_address', 'not_found', 'scope_insufficient', 'address_invalid', 'email_damaged'];

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
    const form = h('div', {});
    import('./token.js').then(({ tokenForm }) => form.replaceWith(tokenForm()));
    block.append(form);
    if (hasToken()) block.append(h('button', { type: 'button', click: () => setToken('') }, t('forgetToken')));
  } else if (!FINAL.includes(failure.code)) {
    block.append(h('button', { type: 'button', click: retry }, t('tryAgain')));
  }
  return block;
}

/** @param {Failure} failure */
function asksForToken({ code }) {
  return code === 'token_required' || code === 'token_invalid';
}

/**
 * What the codes of the interface mean in everyday words, and what to do. The service's own sentence about another code is
 * more exact than none.
 *
 * @type {[import('./language.js').Phrase, string][]}
 */
const MEANINGS = [
  ['addressInvalid', 'address_invalid'],
  ['addressNotRandom', 'address_not_random'],
  ['busy', 'busy'],
  ['defect', 'internal email_damaged'],
  ['dnsUnavailable', 'dns_unavailable'],
  ['domainInvalid', 'domain_invalid'],
  ['domainUnknown', 'domain_unknown'],
  ['limitReached', 'limit_reached'],
  ['mailGone', 'not_found'],
  ['mxHostUnset', 'mx_host_unset'],
  ['mxMismatch', 'mx_mismatch'],
  ['offline', 'offline'],
  ['roleAddress', 'role_address'],
  ['scopeInsufficient', 'scope_insufficient'],
  ['storageFull', 'storage_full'],
  ['tokenInvalid', 'token_invalid'],
  ['tokenRequired', 'token_required'],
  ['unavailable', 'not_ready stopping store_unavailable'],
  ['urlInvalid', 'url_invalid'],
  ['urlNotAllowed', 'url_not_allowed'],
  ['wrongName', 'host_not_allowed origin_not_allowed'],
];

/** One sentence about a failure. @param {unknown} error */
export function meaning(error) {
  const failure = error instanceof Failure ? error : new Failure(0, 'offline', String(error));
  const { code, status, message } = failure;
  if (code === 'rate_limited') return t('rateLimited', { time: duration(failure.retryAfter || 1) });
  if (code === 'address_in_use' && failure.until) return t('addressInUse', { time: exactTime(failure.until) });
  const known = MEANINGS.find(([, codes]) => codes.split(' ').includes(code));
  if (known) return t(known[0]);
  return status >= 500 ? `${t('unavailable')} ${message}` : message;
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
