// What the page names as PyScript's interpreter: the one that boot.js has started meanwhile.
// Lives beside pyodide.mjs in the bundle.
export { version } from "./pyodide.mjs";

const host = window["personae.host"];

export async function loadPyodide() {
  const python = /** @type {Promise<import("./pyodide.mjs").PyodideAPI>} */ (host.python);
  const [pyodide, { stdlib }] = await Promise.all([python, import(host.assets.pyscript)]);
  const run = pyodide.runPythonAsync;
  // PyScript writes its own Python package to disk and imports all of it before any script. The
  // interpreter has that package in its memory (bundle/snapshot.py) and imports what is asked for.
  pyodide.runPythonAsync = async (code, ...options) => {
    if (host.restored && code.trim() === stdlib.trim()) return undefined;
    return run.call(pyodide, code, ...options);
  };
  return pyodide;
}
