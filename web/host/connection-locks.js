// Locks for pages without Web Locks. Each is an IndexedDB database, empty but for its version: who
// raises the version has the only connection to it, and whoever asks to raise it next waits until
// that connection is closed. The browser closes it with the tab, however the tab ends: there is no
// heartbeat that a tab in the background could miss.

/** Milliseconds after which no word from the browser means that the lock is not to be had now. */
const ANSWER = 3_000;
const PREFIX = "personae-lock/";

/**
 * What this tab has asked for in vain: a request cannot be taken back, it is granted some day.
 * @type {Set<string>}
 */
const waiting = new Set();

/**
 * Takes the lock if it is free.
 * @param {string} name
 * @returns {Promise<null | (() => void)>} a function that gives it back, or null. Where the browser
 * refuses databases there is nothing that two tabs could both write: always granted.
 */
export async function tryConnection(name) {
  if (waiting.has(name)) return null;
  waiting.add(name);
  return new Promise((resolve) => {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      resolve(null);
    };
    const timer = setTimeout(giveUp, ANSWER);
    raise(PREFIX + name, giveUp)
      .catch(() => () => {})
      .then((release) => {
        clearTimeout(timer);
        waiting.delete(name);
        if (isLate) release?.();
        else resolve(release);
      });
  });
}

/**
 * @param {string} database
 * @param {() => void} blocked
 */
async function raise(database, blocked) {
  try {
    return await connect(database, Date.now(), blocked);
  } catch (error) {
    if (/** @type {Error} */ (error).name !== "VersionError") throw error; // the clock has gone back
    return connect(database, (await versionOf(database)) + 1, blocked);
  }
}

/**
 * -> a function that closes the only connection, or null when someone else was as quick.
 * @param {string} database
 * @param {number} version
 * @param {() => void} blocked
 */
async function connect(database, version, blocked) {
  let isRaised = false;
  const connection = await opened(indexedDB.open(database, version), (request) => {
    request.onupgradeneeded = () => (isRaised = true);
    request.onblocked = blocked;
  });
  if (isRaised) return held(connection);
  connection.close();
  return null;
}

/** @param {string} database */
async function versionOf(database) {
  const connection = await opened(indexedDB.open(database));
  connection.close();
  return connection.version;
}

/**
 * @param {IDBOpenDBRequest} request
 * @param {(request: IDBOpenDBRequest) => void} [prepare]
 * @returns {Promise<IDBDatabase>}
 */
function opened(request, prepare = () => {}) {
  return new Promise((resolve, reject) => {
    prepare(request);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBDatabase} connection */
function held(connection) {
  let isWanted = false;
  connection.onversionchange = () => (isWanted = true); // it stays open: that is the lock
  const release = () => {
    removeEventListener("pagehide", leave);
    connection.close();
    if (!isWanted) indexedDB.deleteDatabase(connection.name);
  };
  const leave = (/** @type {PageTransitionEvent} */ { persisted }) => {
    if (!persisted) release();
  };
  addEventListener("pagehide", leave);
  return release;
}
