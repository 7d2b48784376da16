// Where the built pieces are. The build puts its facts in the place of PERSONAE_ASSETS.
const base = new URL(".", import.meta.url);

/**
 * Absolute URL of each piece.
 * @type {import("../types/python").Host["assets"]}
 */
export const assets = /** @type {any} */ (
  Object.fromEntries(
    Object.entries(PERSONAE_ASSETS.urls).map(([name, path]) => [name, new URL(path, base).href]),
  )
);

/** The player's own folder, e.g. for config.json. Ends with a slash. */
export const root = base.href;

/** Bytes of everything that is fetched before Python runs, for the progress bar. */
export const bootBytes = PERSONAE_ASSETS.bootBytes;

/** Bytes of Python's memory when it is put back, see interpreter.mjs. */
export const snapshotLength = PERSONAE_ASSETS.snapshotLength;
