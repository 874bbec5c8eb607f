/** What this browser remembers. Without storage, as in some private windows, it lasts as long as the page. */

const PREFIX = 'tempmail.';
/** The most addresses that are remembered, and the most mails that count as read. */
const ADDRESSES_MAX = 20;
const READ_MAX = 2000;

/** @type {Map<string, unknown>} */
const unstored = new Map();

/**
 * @template T
 * @param {string} key
 * @param {T} otherwise
 * @returns {T}
 */
function recall(key, otherwise) {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return /** @type {T} */ (unstored.get(key) ?? otherwise);
  }
}

/**
 * @param {string} key
 * @param {unknown} value
 */
function remember(key, value) {
  unstored.set(key, value);
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // The map has it.
  }
}

/**
 * Listens for changes that other tabs make.
 *
 * @param {string} key
 * @param {() => void} changed
 */
function whenOthersChange(key, changed) {
  addEventListener('storage', (event) => {
    if (event.key === PREFIX + key || event.key === null) changed();
  });
}

/** The addresses that were used here, the latest first. */
export function addresses() {
  const found = recall('addresses', /** @type {unknown} */ ([]));
  return Array.isArray(found) ? found.filter((address) => typeof address === 'string') : [];
}

/** @param {string} address */
export function rememberAddress(address) {
  const others = addresses().filter((other) => !isSame(other, address));
  remember('addresses', [address, ...others].slice(0, ADDRESSES_MAX));
}

/** The service compares addresses without regard to case. @param {string} one @param {string} other */
export function isSame(one, other) {
  return one.toLowerCase() === other.toLowerCase();
}

/** @param {string} address */
export function forgetAddress(address) {
  remember('addresses', addresses().filter((other) => !isSame(other, address)));
}

/** The ids of mails that were read here, the latest last; null until they are needed. @type {Set<string> | null} */
let read = null;
whenOthersChange('read', () => (read = null));

/** Each row of a list asks, so what is stored is parsed once. */
function readIds() {
  if (read) return read;
  const found = recall('read', /** @type {unknown} */ ([]));
  read = new Set(Array.isArray(found) ? found : []);
  return read;
}

/** @param {string} id */
export function isRead(id) {
  return readIds().has(id);
}

/** @param {string} id */
export function markRead(id) {
  if (isRead(id)) return;
  read = new Set([...readIds(), id].slice(-READ_MAX));
  remember('read', [...read]);
}

/** The language that was chosen here, or ''. */
export function language() {
  return String(recall('language', ''));
}

/** @param {string} code */
export function rememberLanguage(code) {
  remember('language', code);
}

/** The key of this browser's private inboxes, or ''. Every tab has the same one. */
export function keptKey() {
  return String(recall('key', ''));
}

/** @param {string} key '' forgets it. */
export function keepKey(key) {
  remember('key', key);
}

/** @param {() => void} changed Called when another tab keeps another key, or forgets it. */
export function whenKeptKeyChanges(changed) {
  whenOthersChange('key', changed);
}

/** Where a token may be kept: in this tab, and then in this browser. A browser may permit neither. */
const TOKEN_PLACES = [() => sessionStorage, () => localStorage];

/** The token that is kept for this tab or in this browser; '' without one. */
export function keptToken() {
  for (const place of TOKEN_PLACES) {
    try {
      const token = place().getItem(`${PREFIX}token`);
      if (token) return token;
    } catch {
      // Nothing is kept there.
    }
  }
  return '';
}

/**
 * Keeps a token for this tab, or in this browser, and nowhere else; '' forgets it everywhere.
 *
 * @param {string} token
 * @param {boolean} isForBrowser
 */
export function keepToken(token, isForBrowser) {
  for (const [index, place] of TOKEN_PLACES.entries()) {
    try {
      place().removeItem(`${PREFIX}token`);
      if (token && index === Number(isForBrowser)) place().setItem(`${PREFIX}token`, token);
    } catch {
      // The page has it as long as it is open.
    }
  }
}

/** @param {() => void} changed Called when another tab keeps a token in this browser, or forgets it. */
export function whenKeptTokenChanges(changed) {
  whenOthersChange('token', changed);
}
