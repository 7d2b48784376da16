// One writer per conversation across tabs: Web Locks, or where a page has none (plain http on a LAN)
// connections to databases.
import { tryConnection } from "./connection-locks.js";

/**
 * What is being given back: name -> settles once the browser has done so.
 * @type {Map<string, Promise<void>>}
 */
const leaving = new Map();

/**
 * Takes the lock if it is free.
 * @param {string} name
 * @returns {Promise<null | (() => void)>} a function that gives it back, or null when another
 * tab has it.
 */
export async function tryLock(name) {
  if (!navigator.locks) return tryConnection(name);
  await leaving.get(name);
  return new Promise((resolve, reject) => {
    const release = (/** @type {() => void} */ done) => () => {
      leaving.set(name, held);
      held.finally(() => leaving.delete(name));
      done();
    };
    const held = navigator.locks.request(name, { ifAvailable: true }, (lock) =>
      lock
        ? /** @type {Promise<void>} */ (new Promise((done) => resolve(release(done))))
        : resolve(null),
    );
    held.catch(reject);
  });
}
