// Everything that the player's database holds: [[table, key, value], ...]; a file is {text}.
async () => {
  const settled = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await settled(indexedDB.open("personae"));
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const records = [];
  for (const table of database.objectStoreNames) {
    const store = database.transaction(table).objectStore(table);
    const [keys, values] = await Promise.all([
      settled(store.getAllKeys()),
      settled(store.getAll()),
    ]);
    keys.forEach((key, at) => {
      const value = values[at];
      records.push([table, key, value instanceof Uint8Array ? { text: decoder.decode(value) } : value]);
    });
  }
  const { version } = database;
  database.close();
  return { schema: version, records };
};
