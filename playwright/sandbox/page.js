/** A bare page: Pyodide, the player's Python package, and the tests' driver module. */
import { hear } from "./ports.js";
import { loadPyodide } from "./pyodide/pyodide.mjs";

async function boot() {
  const pyodide = await loadPyodide({ indexURL: new URL("pyodide/", location.href).href });
  pyodide.registerJsModule("personae_host", { hear });
  for (const name of ["personae.zip", "driver.zip"]) {
    const response = await fetch(name);
    pyodide.unpackArchive(await response.arrayBuffer(), "zip");
  }
  return pyodide.pyimport("driver");
}

const driver = boot();

/** What leaked across origins, and how long the longest task was; the tests read and reset them. */
globalThis.heard = [];
new BroadcastChannel("leak").onmessage = ({ data }) => heard.push(data);
globalThis.longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
}).observe({ type: "longtask" });

/** Calls one of the driver's functions: JSON text in, JSON text out. */
globalThis.drive = async (name, text) => (await driver)[name](text);
