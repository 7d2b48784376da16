// One writer per conversation across tabs: Web Locks, or where a page has none (plain http on a LAN)
// connections to databases.
import { tryConnection } from "./connection-locks.js";

/**
 * Takes the lock if it is free.
 * @returns {Promise<null | (() => void)>} a function that gives it back, or null when another
 * tab has it.
 */
export function tryLock(name) {
  if (!navigator.locks) return tryConnection(name);
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (lock) => {
        if (!lock) return resolve(null);
        return new Promise((release) => resolve(release));
      })
      .catch(reject);
  });
}
