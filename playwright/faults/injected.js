// Runs before the page's own scripts: IndexedDB and the clock misbehave as `faults` says, and
// `faults.dump` shows what is stored, read past the player.
(() => {
  const NAME = "personae";
  const faults = {
    open: "", // name of the error that opening a database throws
    read: "", // name of the error that reading throws
    abort: "", // name of the error with which transactions that write are aborted
    upgrade: "", // "abort": an upgrade is aborted in its middle, "hold": it does not come to its end
    upgrading: 0, // how many records an upgrade has written
    shift: 0, // milliseconds that the wall clock is off
    connections: 0, // how often the database was opened
  };
  globalThis.faults = faults;
  const open = IDBFactory.prototype.open;
  const connections = new Set();
  const raise = (name) => {
    if (name) throw new DOMException("as injected", name);
  };

  IDBFactory.prototype.open = function (name, version) {
    raise(faults.open);
    const request = open.call(this, name, version);
    request.addEventListener("success", () => {
      faults.connections += 1;
      connections.add(request.result);
    });
    return request;
  };
  for (const method of ["getAll", "getAllKeys"]) {
    const plain = IDBObjectStore.prototype[method];
    IDBObjectStore.prototype[method] = function (...args) {
      raise(faults.read);
      return plain.apply(this, args);
    };
  }
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (...args) {
    if (this.transaction.mode === "versionchange") {
      faults.upgrading += 1;
      if (faults.upgrading > 1 && faults.upgrade === "abort") this.transaction.abort();
      if (faults.upgrading === 2 && faults.upgrade === "hold") keepAlive(this, () => true);
    }
    return put.apply(this, args);
  };
  const keepAlive = (store, held) => {
    if (held()) store.get("nothing").onsuccess = () => keepAlive(store, held);
  };
  const commit = IDBTransaction.prototype.commit;
  IDBTransaction.prototype.commit = function () {
    if (!faults.abort) return commit.call(this);
    // The browser's own aborts carry their reason, a script's do not.
    const error = new DOMException("as injected", faults.abort);
    Object.defineProperty(this, "error", { value: error, configurable: true });
    this.abort();
  };
  const now = Date.now;
  Date.now = () => now() + faults.shift;

  const settled = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const raw = async (mode, work) => {
    const database = await settled(open.call(indexedDB, NAME));
    try {
      const tables = [...database.objectStoreNames];
      return tables.length ? await work(database.transaction(tables, mode), tables) : {};
    } finally {
      database.close();
    }
  };

  /** Closes every connection under the page's feet. */
  faults.lose = () => {
    for (const connection of connections) connection.close();
    connections.clear();
  };
  /** {table: [[key, value], ...]} without the package files. */
  faults.dump = () =>
    raw("readonly", async (transaction, tables) => {
      const found = {};
      for (const table of tables.filter((name) => name !== "files")) {
        const rows = (found[table] = []);
        const request = transaction.objectStore(table).openCursor();
        await new Promise((resolve, reject) => {
          request.onerror = () => reject(request.error);
          request.onsuccess = () => {
            const cursor = request.result;
            if (!cursor) return resolve();
            rows.push([cursor.key, cursor.value]);
            cursor.continue();
          };
        });
      }
      return found;
    });
  /** Writes [table, key, value] triples straight into the database; {text} becomes bytes. */
  faults.write = (triples) =>
    raw("readwrite", async (transaction) => {
      for (const [table, key, value] of triples) {
        const bytes = value?.text === undefined ? value : new TextEncoder().encode(value.text);
        await settled(put.call(transaction.objectStore(table), bytes, key));
      }
    });
  /** The keys of a table. */
  faults.keys = (table) =>
    raw("readonly", (transaction) => settled(transaction.objectStore(table).getAllKeys()));
  /** Keeps a transaction on these tables alive until `faults.release()`: others wait behind it. */
  faults.occupy = async (...some) => {
    const database = await settled(open.call(indexedDB, NAME));
    const tables = some.length ? some : [...database.objectStoreNames];
    const store = database.transaction(tables, "readwrite").objectStore(tables[0]);
    let held = true;
    faults.release = () => {
      held = false;
      database.close();
    };
    await settled(store.get("nothing")); // it has begun
    keepAlive(store, () => held);
  };
  /** The version of the database. */
  faults.version = async () => (await indexedDB.databases()).find(({ name }) => name === NAME).version;
  /** Holds the database open, as a tab of another version does; makes it if there is none. */
  faults.hold = async (version, tables = [], yields = false) => {
    const request = open.call(indexedDB, NAME, version);
    request.onupgradeneeded = () => {
      for (const table of tables)
        if (!request.result.objectStoreNames.contains(table))
          request.result.createObjectStore(table);
    };
    faults.held = await settled(request);
    if (yields) faults.held.onversionchange = () => faults.held.close();
  };
})();
