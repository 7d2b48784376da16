// Storage can stop answering: another tab holds a transaction, a disk hangs. Whoever asks is told so
// after a while; nobody is made to wait a second time before it answers again.

/** Milliseconds without a sign of life after which an operation is given up on. */
const PATIENCE = 5_000;
/** The page itself may have stood still: what was answered meanwhile is heard first. */
const GRACE = 1_000;

/**
 * An Error as Python can take it, with a DOMException's name.
 * @param {string} name
 * @param {string} message
 */
export function named(name, message) {
  return Object.assign(new Error(message), { name });
}

const silence = () => named("TimeoutError", "the browser's storage does not answer");

/**
 * What is asked of storage; it calls `alive` whenever storage has answered.
 * @template T
 * @typedef {(alive: () => void) => Promise<T>} Work
 */

/**
 * work(alive)'s result; rejects when `alive` has not been called for too long. The work itself goes
 * on then: nobody can say whether it will still have an effect.
 * @template T
 * @param {Work<T>} work
 * @returns {Promise<T>}
 */
function answered(work) {
  return new Promise((resolve, reject) => {
    let timer = 0;
    const giveUp = () => reject(silence());
    const lastCall = () => (timer = setTimeout(giveUp, GRACE));
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(lastCall, PATIENCE);
    };
    alive();
    work(alive)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

export class Patience {
  #waiting = 0;
  /** @type {Set<() => void>} */
  #alive = new Set();

  /** There is a sign of life from what everybody who asks waits for. */
  heard() {
    for (const alive of this.#alive) alive();
  }

  /**
   * work(alive)'s result, or a TimeoutError: at once while an earlier one is still unanswered.
   * @template T
   * @param {Work<T>} work
   * @param {() => Promise<void>} queue settles, either way, once all that was asked for is through
   */
  async during(work, queue) {
    if (this.#waiting) throw silence();
    try {
      return await answered((alive) => {
        this.#alive.add(alive);
        return work(alive).finally(() => this.#alive.delete(alive));
      });
    } catch (error) {
      if (/** @type {Error} */ (error).name === "TimeoutError") this.#wait(queue());
      throw error;
    }
  }

  /** @param {Promise<void>} queued */
  #wait(queued) {
    this.#waiting += 1;
    const done = () => (this.#waiting -= 1);
    queued.then(done, done);
  }
}
