// The page's Python interpreter: Pyodide as bundled, with the player in it.
//
// Normally nothing is imported at start: the build has kept the memory of an interpreter that had
// imported all of the player (bundle/snapshot.mjs), and that is put back. The options for it are
// private to one Pyodide build; whatever does not fit leads to the plain start, which imports from
// the same archives. Lives beside pyodide.mjs in the bundle.
import createPyodideModule from "./pyodide.asm.mjs";
import { loadPyodide as load, version } from "./pyodide.mjs";
import { headerOf, keepFresh, putBack } from "./snapshot.mjs";

/** @import { Settings } from "./pyodide.asm.mjs" */
/** @import { PyodideAPI } from "./pyodide.mjs" */
/** @typedef {{ indexURL: string, stderr?: (text: string) => void }} Options */

export { version };

const CORE = "/lib/personae.zip";
const LIBRARY = "/lib/python314.zip";
const host = window["personae.host"];

/** @param {string} url */
async function bytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * @param {Options} options
 * @returns {Promise<PyodideAPI>}
 */
export async function loadPyodide(options) {
  try {
    return await restore(options);
  } catch (error) {
    console.info(`Starting Python without its snapshot: ${/** @type {Error} */ (error).message}`);
    return start(options);
  }
}

/**
 * The interpreter as the build left it; its library's archive stays away until asked for.
 * @param {Options} options
 */
async function restore(options) {
  /** @type {Promise<Uint8Array>} */
  // On its way since the page was painted; in an embedding page nobody has asked for it yet.
  let arriving = host.snapshot ?? bytes(host.assets.snapshot);
  arriving.catch(() => {}); // heard once the module is there
  /** @type {any} */
  const pyodide = await new Promise((resolve, reject) => {
    const createModule = async (/** @type {Settings} */ settings) => {
      /** @type {Uint8Array[]} */
      let fresh;
      settings.preRun.unshift((module) => {
        module.addRunDependency("snapshot");
        arriving
          .then((file) => (fresh = keepFresh(file, host.snapshotLength, module.HEAPU8)))
          .then(() => module.removeRunDependency("snapshot"), reject);
      });
      const module = await createPyodideModule(settings);
      const file = await arriving;
      const { restoreSnapshot } = module.API;
      module.API.restoreSnapshot = () => {
        const facts = restoreSnapshot(headerOf(file));
        putBack(file, fresh, module.HEAPU8);
        return facts;
      };
      return module;
    };
    /** @type {any} */
    const ours = {
      stdLibURL: "data:application/zip,",
      createPyodideModule: createModule,
      // Says how large the memory is to be, without taking any.
      _loadSnapshot: Object.defineProperty(new Uint8Array(), "length", {
        value: host.snapshotLength,
      }),
    };
    load({ ...options, ...ours }).then(resolve, reject);
  });
  // Pyodide keeps its options and our functions in them: what they held is not needed any more.
  arriving = /** @type {any} */ (host.snapshot = null);
  delete pyodide._api.config._loadSnapshot;
  delete pyodide._api.restoreSnapshot;
  offerLibrary(pyodide.FS, options.indexURL);
  host.restored = true;
  return awake(pyodide);
}

/**
 * The plain start: Python imports its library, and the player from its own archive.
 * @param {Options} options
 */
async function start(options) {
  const [pyodide, core] = await Promise.all([load(options), bytes(host.assets.core)]);
  host.library = async () => {};
  pyodide.FS.writeFile(CORE, core);
  pyodide.pyimport("sys").path.append(CORE);
  pyodide.registerJsModule("personae_host", host);
  return awake(pyodide);
}

/** @param {PyodideAPI} pyodide */
function awake(pyodide) {
  pyodide.pyimport("personae.browser.wake").wake();
  return pyodide;
}

/**
 * Lets Python fetch its library's archive: nothing the boot path needs is missing in memory.
 * @param {PyodideAPI["FS"]} FS
 * @param {string} folder
 */
function offerLibrary(FS, folder) {
  const url = `${folder.replace(/\/$/, "")}/python_stdlib.zip`;
  /** @type {Promise<void> | null} */
  let arriving = null;
  const put = (/** @type {Uint8Array} */ data) => FS.writeFile(LIBRARY, data, { canOwn: true });
  host.library = () => {
    arriving ??= bytes(url).then(put);
    arriving.catch(() => (arriving = null));
    return arriving;
  };
  /** For an import that cannot wait: holds the page up, so nothing should come to need it. */
  host.libraryNow = (name) => {
    console.warn(`Importing ${name} holds the page up until the library is there.`);
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    request.overrideMimeType("text/plain; charset=x-user-defined");
    request.send();
    put(Uint8Array.from(request.responseText, (character) => character.charCodeAt(0) & 255));
    arriving = Promise.resolve();
  };
}
