/** Deletions that can still be undone. Until then the mails are only hidden, in every view of this page. */

import { deleteMails } from './api.js';
import { t } from './language.js';
import { say, undoable } from './notice.js';
import { meaning } from './problem.js';

/** The ids of mails that are hidden. @type {Set<string>} */
const hidden = new Set();

/** @param {string} id */
export function isHidden(id) {
  return hidden.has(id);
}

/**
 * Hides mails, and deletes them unless that is undone.
 *
 * @param {string[]} ids
 * @param {object} options
 * @param {string} options.text What is said about it.
 * @param {() => void} options.changed Called when mails are hidden, or shown again.
 * @param {() => void} [options.undone]
 * @param {() => void} [options.deleted]
 * @param {(outlives: boolean) => Promise<unknown>} [options.also] Deletes more than the ids.
 */
export function removeLater(ids, { text, changed, undone = () => {}, deleted = () => {}, also }) {
  const show = () => {
    for (const id of ids) hidden.delete(id);
  };
  const restore = () => {
    show();
    changed();
    undone();
  };
  const commit = async (/** @type {boolean} */ outlives) => {
    try {
      // A page that ends does not come back to a second request. So all of them begin now.
      await Promise.all([deleteMails(ids, outlives), also?.(outlives)]);
      deleted();
      show();
    } catch (error) {
      restore();
      say(`${t('deleteFailed')} ${meaning(error)}`);
    }
  };
  for (const id of ids) hidden.add(id);
  changed();
  undoable(text, restore, commit);
}
