// Records in IndexedDB for ports.Storage. Keys are arrays and travel as JSON text; values are
// strings or Uint8Arrays. Errors keep their DOMException name, which Python turns into a
// StorageError; one that gets no answer in time is a TimeoutError.
import { openDB } from "idb";
import { Patience, named } from "./patience.js";
import { SCHEMA, upgrade } from "./schema.js";

/** @import { IDBPDatabase, IDBPObjectStore, IDBPTransaction } from "idb" */
/** @import { HostStorage, StorageEvent, Write } from "../types/python" */

const NAME = "personae";

const blocked = () =>
  named("BlockedError", "another tab holds an older version of the database open");

/**
 * @param {IDBValidKey[]} prefix
 * @param {IDBValidKey} [before]
 */
function rangeOf(prefix, before) {
  // Arrays sort after every string and number, so [...prefix, []] is past all keys of the prefix.
  const upper = before ?? [...prefix, []];
  return IDBKeyRange.bound(prefix, upper, false, true);
}

/**
 * The range of the last `limit` keys; what lies before them is not touched.
 * @param {IDBPObjectStore<unknown, string[]>} store
 * @param {IDBKeyRange} range
 * @param {number} limit
 */
async function lastOf(store, range, limit) {
  let cursor = await store.openKeyCursor(range, "prev");
  if (cursor && limit > 1) cursor = await cursor.advance(limit - 1);
  return cursor ? IDBKeyRange.bound(cursor.key, range.upper, false, true) : range;
}

/** @implements {HostStorage} */
class Storage {
  /**
   * Hears "closed-for-upgrade" when a newer version in another tab took over.
   * @type {(event: StorageEvent) => void}
   */
  told = () => {};
  /** @type {Promise<IDBPDatabase> | null} */
  #opening = null;
  #blocked = false;
  #patience = new Patience();

  open() {
    // While an upgrade waits for another tab, the browser lets every further open wait behind it.
    if (this.#blocked) return Promise.reject(blocked());
    this.#opening ??= this.#connect().catch((error) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  /** @returns {Promise<IDBPDatabase>} */
  #connect() {
    const forget = () => (this.#opening = null);
    return new Promise((resolve, reject) => {
      openDB(NAME, SCHEMA, {
        upgrade: (database, from, _to, transaction) =>
          upgrade(database, from, transaction, () => this.#patience.heard()),
        blocked: () => {
          this.#blocked = true;
          reject(blocked());
        },
        blocking: (_current, _next, event) => {
          /** @type {IDBDatabase} */ (event.target).close();
          forget();
          this.told("closed-for-upgrade");
        },
        terminated: forget,
      })
        .then((database) => {
          if (this.#blocked) this.#opening = Promise.resolve(database);
          resolve(database);
        }, reject)
        .finally(() => (this.#blocked = false));
    });
  }

  /**
   * work(transaction)'s result; a connection that was lost is opened again, once.
   * @template T
   * @template {"readonly" | "readwrite"} Mode
   * @param {string[]} tables
   * @param {Mode} mode
   * @param {(transaction: IDBPTransaction<unknown, string[], Mode>) => Promise<T>} work
   */
  async #transact(tables, mode, work) {
    const once = async () => work((await this.open()).transaction(tables, mode));
    try {
      return await once();
    } catch (error) {
      if (/** @type {Error} */ (error).name !== "InvalidStateError") throw error;
      this.#opening = null;
      return once();
    }
  }

  /**
   * As `#transact`, for work(transaction, alive), within the patience there is.
   * @template T
   * @template {"readonly" | "readwrite"} Mode
   * @param {string[]} tables
   * @param {Mode} mode
   * @param {(transaction: IDBPTransaction<unknown, string[], Mode>, alive: () => void) => Promise<T>} work
   */
  async #asked(tables, mode, work) {
    // An empty transaction has its turn after those before it on the same tables: what was given
    // up on is through then, and what is asked next cannot overtake it.
    const queue = () => this.#transact(tables, mode, (transaction) => transaction.done);
    const patient = (/** @type {() => void} */ alive) =>
      this.#transact(tables, mode, (transaction) => work(transaction, alive));
    try {
      return await this.#patience.during(patient, queue);
    } catch (error) {
      // Python never hears of a rejection whose reason it does not take for an error.
      const { name, message } = /** @type {Error} */ (error);
      throw named(name, message);
    }
  }

  /**
   * -> {keys: JSON text of an array of keys, values: array}, ascending.
   * @param {string} table
   * @param {string} prefixText
   * @param {number} [limit]
   * @param {string} [beforeText]
   */
  read(table, prefixText, limit, beforeText) {
    const range = rangeOf(JSON.parse(prefixText), beforeText ? JSON.parse(beforeText) : undefined);
    return this.#asked([table], "readonly", async (transaction, alive) => {
      const store = transaction.objectStore(table);
      const wanted = limit ? await lastOf(store, range, limit) : range;
      alive();
      const [keys, values] = await Promise.all([store.getAllKeys(wanted), store.getAll(wanted)]);
      return { keys: JSON.stringify(keys), values };
    });
  }

  /**
   * -> JSON text of an array of all keys, ascending.
   * @param {string} table
   */
  keys(table) {
    return this.#asked([table], "readonly", async (transaction) =>
      JSON.stringify(await transaction.objectStore(table).getAllKeys()),
    );
  }

  /** @param {Write[]} writes */
  commit(writes) {
    const tables = [...new Set(writes.map(([, table]) => table))];
    return this.#asked(tables, "readwrite", async (transaction, alive) => {
      for (const [op, table, keyText, value] of writes) {
        const store = transaction.objectStore(table);
        const key = JSON.parse(keyText);
        const request =
          op === "put" ? store.put(value, key) : store.delete(op === "delete" ? key : rangeOf(key));
        // The transaction's own error says why (quota); the requests only say that it was aborted.
        request.then(alive, () => {});
      }
      transaction.commit(); // now, not when the requests have been heard of: a killed tab keeps it
      await transaction.done;
    });
  }

  async close() {
    const opening = this.#opening;
    this.#opening = null;
    if (opening) (await opening).close();
  }
}

/** @type {Storage | null} */
let early = null;

/** Opens the database before Python is there to ask for it: the first time it takes its time. */
export function openEarly() {
  early = new Storage();
  early.open().catch(() => {}); // tried again, and told, when it is asked for
}

/** @param {(event: StorageEvent) => void} told */
export function openStorage(told) {
  const storage = early ?? new Storage();
  early = null;
  return Object.assign(storage, { told });
}
