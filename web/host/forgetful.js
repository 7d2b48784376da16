// PyScript keeps notes of its own in IndexedDB and does not start where storage is refused, full or
// broken. We need none of its notes: it gets databases that forget, and the player starts anyway.
const NOTES = "IDBMap/";

/** @param {unknown} result */
function answered(result) {
  /** @type {any} */
  const request = { result };
  queueMicrotask(() => request.onsuccess?.({ target: request }));
  return request;
}

function forgetfulDatabase() {
  const store = {
    get: () => answered(undefined),
    getKey: () => answered(undefined),
    getAllKeys: () => answered([]),
    count: () => answered(0),
    put: (/** @type {unknown} */ _value, /** @type {unknown} */ key) => answered(key),
    delete: () => answered(undefined),
    clear: () => answered(undefined),
  };
  return { transaction: () => ({ objectStore: () => store }), close() {} };
}

/** Until the returned function is called, PyScript's databases are forgetful ones. */
export function forgetNotes() {
  /** @type {{ open?: IDBFactory["open"] } | undefined} */
  const real = globalThis.indexedDB;
  if (!real) return () => {};
  real.open = (name, version) =>
    name.startsWith(NOTES)
      ? answered(forgetfulDatabase())
      : IDBFactory.prototype.open.call(globalThis.indexedDB, name, version);
  return () => delete real.open;
}
