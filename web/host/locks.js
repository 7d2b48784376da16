// One writer per conversation across tabs (Web Locks).

/**
 * Takes the lock if it is free.
 * @returns {Promise<null | (() => void)>} a function that gives it back, or null when another
 * tab has it. Without Web Locks (plain http on a LAN) there is nothing to ask: always granted.
 */
export function tryLock(name) {
  if (!navigator.locks) return Promise.resolve(() => {});
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (lock) => {
        if (!lock) return resolve(null);
        return new Promise((release) => resolve(release));
      })
      .catch(reject);
  });
}
