// The tables of the database, and how those of an earlier version become the present ones. What the
// keys are is said in storage/records.py.

/** @import { IDBPDatabase, IDBPTransaction } from "idb" */
/** @typedef {IDBPTransaction<unknown, string[], "versionchange">} Upgrade */

export const SCHEMA = 2;

const TABLES = [
  "packages",
  "files",
  "conversations",
  "entries",
  "stores",
  "logs",
  "world",
  "commits",
  "artifacts",
  "settings",
];

/** Records moved between two signs of life. */
const AT_ONCE = 200;

/**
 * Brings a database of an earlier version up to date: wholly, or if it does not come to its end (a
 * closed tab, a full disk) not at all, for the browser takes an unfinished upgrade back.
 * @param {IDBPDatabase} database
 * @param {number} from the version it has; 0: it is new
 * @param {Upgrade} transaction the upgrade's own
 * @param {() => void} alive called while it goes on
 */
export function upgrade(database, from, transaction, alive) {
  transaction.done.catch(() => {}); // told by the opening, which fails with it
  for (const table of TABLES)
    if (!database.objectStoreNames.contains(table)) database.createObjectStore(table);
  if (from === 1) moveLogs(transaction, alive).catch(() => giveUp(transaction));
}

/**
 * Schema 1 kept the agents' logs among the stores, as [conversation, agent, "log", number].
 * @param {Upgrade} transaction
 * @param {() => void} alive
 */
async function moveLogs(transaction, alive) {
  const stores = transaction.objectStore("stores");
  const logs = transaction.objectStore("logs");
  const all = /** @type {IDBValidKey[][]} */ (await stores.getAllKeys());
  const keys = all.filter((key) => key.length === 4 && key[2] === "log");
  const move = async (/** @type {IDBValidKey[]} */ key) => {
    const [conversation, agent, , number] = key;
    await logs.put(await stores.get(key), [conversation, agent, number]);
    await stores.delete(key);
  };
  for (let start = 0; start < keys.length; start += AT_ONCE) {
    await Promise.all(keys.slice(start, start + AT_ONCE).map(move));
    alive();
  }
}

/** @param {Upgrade} transaction */
function giveUp(transaction) {
  try {
    transaction.abort();
  } catch {
    // the browser has done so
  }
}
