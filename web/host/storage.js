// Records in IndexedDB for ports.Storage. Keys are arrays and travel as JSON text; values are
// strings or Uint8Arrays. Errors keep their DOMException name, which Python turns into a
// StorageError.
import { openDB } from "idb";

export const SCHEMA = 1;
const TABLES = ["packages", "files", "conversations", "entries", "stores", "settings"];

function named(name, message) {
  return Object.assign(new Error(message), { name });
}

const blocked = () =>
  named("BlockedError", "another tab holds an older version of the database open");

function rangeOf(prefix, before) {
  // Arrays sort after every string and number, so [...prefix, []] is past all keys of the prefix.
  const upper = before ?? [...prefix, []];
  return IDBKeyRange.bound(prefix, upper, false, true);
}

/** The range of the last `limit` keys; what lies before them is not touched. */
async function lastOf(store, range, limit) {
  let cursor = await store.openKeyCursor(range, "prev");
  if (cursor && limit > 1) cursor = await cursor.advance(limit - 1);
  return cursor ? IDBKeyRange.bound(cursor.key, range.upper, false, true) : range;
}

class Storage {
  #name;
  #opening = null;
  #blocked = false;
  #told;

  /** told(event) hears "closed-for-upgrade" when a newer version in another tab took over. */
  constructor(name, told) {
    this.#name = name;
    this.#told = told;
  }

  #open() {
    // While an upgrade waits for another tab, the browser lets every further open wait behind it.
    if (this.#blocked) return Promise.reject(blocked());
    this.#opening ??= this.#connect().catch((error) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  #connect() {
    const forget = () => (this.#opening = null);
    return new Promise((resolve, reject) => {
      openDB(this.#name, SCHEMA, {
        upgrade(database) {
          for (const table of TABLES)
            if (!database.objectStoreNames.contains(table)) database.createObjectStore(table);
        },
        blocked: () => {
          this.#blocked = true;
          reject(blocked());
        },
        blocking: (_current, _next, event) => {
          event.target.close();
          forget();
          this.#told("closed-for-upgrade");
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

  /** Runs work(database); a connection that was lost is opened again, once. */
  async #withDatabase(work) {
    try {
      return await work(await this.#open());
    } catch (error) {
      if (error.name !== "InvalidStateError") throw error;
      this.#opening = null;
      return work(await this.#open());
    }
  }

  /** -> {keys: JSON text of an array of keys, values: array}, ascending. */
  read(table, prefixText, limit, beforeText) {
    const range = rangeOf(JSON.parse(prefixText), beforeText ? JSON.parse(beforeText) : undefined);
    return this.#withDatabase(async (database) => {
      const store = database.transaction(table).store;
      const wanted = limit ? await lastOf(store, range, limit) : range;
      const [keys, values] = await Promise.all([store.getAllKeys(wanted), store.getAll(wanted)]);
      return { keys: JSON.stringify(keys), values };
    });
  }

  /** writes: [op, table, key text, value] each; op is "put", "delete" or "deletePrefix". */
  commit(writes) {
    const tables = [...new Set(writes.map(([, table]) => table))];
    return this.#withDatabase(async (database) => {
      const transaction = database.transaction(tables, "readwrite");
      const requests = writes.map(([op, table, keyText, value]) => {
        const store = transaction.objectStore(table);
        const key = JSON.parse(keyText);
        if (op === "put") return store.put(value, key);
        return store.delete(op === "delete" ? key : rangeOf(key));
      });
      // The transaction's own error says why (quota); the requests only say that it was aborted.
      for (const request of requests) request.catch(() => {});
      await transaction.done;
    });
  }

  async close() {
    const opening = this.#opening;
    this.#opening = null;
    if (opening) (await opening).close();
  }
}

export function openStorage(name, told) {
  return new Storage(name, told);
}
