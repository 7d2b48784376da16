// What the page names as its Python interpreter: Pyodide as bundled, with our host module known
// to Python from the first line on. Lives beside pyodide.mjs in the bundle.
import { loadPyodide as load, version } from "./pyodide.mjs";

export { version };

export async function loadPyodide(options) {
  const pyodide = await load(options);
  pyodide.registerJsModule("personae_host", globalThis[Symbol.for("personae.host")]);
  return pyodide;
}
