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
function isSame(one, other) {
  return one.toLowerCase() === other.toLowerCase();
}

/** @param {string} address */
export function forgetAddress(address) {
  remember('addresses', addresses().filter((other) => !isSame(other, address)));
}

/** @returns {string[]} The ids of mails that were read here, the latest last. */
function readIds() {
  const found = recall('read', /** @type {unknown} */ ([]));
  return Array.isArray(found) ? found : [];
}

/** @param {string} id */
export function isRead(id) {
  return readIds().includes(id);
}

/** @param {string} id */
export function markRead(id) {
  if (!isRead(id)) remember('read', [...readIds(), id].slice(-READ_MAX));
}

/** The language that was chosen here, or ''. */
export function language() {
  return String(recall('language', ''));
}

/** @param {string} code */
export function rememberLanguage(code) {
  remember('language', code);
}
