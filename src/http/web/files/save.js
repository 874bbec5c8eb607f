/** Files for the user to keep. */

import { hasToken, request, url } from './api.js';
import { keptKey } from './memory.js';

/**
 * Saves what is at a path. A link cannot send a token or a key, so with one the octets come through memory.
 *
 * @param {string} path
 * @param {string} name
 */
export async function save(path, name) {
  if (hasToken() || keptKey()) return saveBlob(await (await request(path, { accept: '*/*' })).blob(), name);
  const link = document.createElement('a');
  link.download = name;
  link.href = url(path);
  link.click();
}

/** @param {Blob} blob @param {string} name */
export function saveBlob(blob, name) {
  const link = document.createElement('a');
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  // The browser may begin to read it a little later.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
