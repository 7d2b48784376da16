// The least a page with the player's interpreter can be: its memory put back, a line of Python.
const folder = new URL("assets/kept/", location.href).href;
const memory = async () => new Uint8Array(await (await fetch(`${folder}memory.bin`)).arrayBuffer());
globalThis["personae.host"] = {
  snapshot: memory(),
  snapshotLength: Number(new URL(import.meta.url).searchParams.get("length")),
};
const { loadPyodide } = await import(`${folder}interpreter.mjs`);
const pyodide = await loadPyodide({ indexURL: folder });
pyodide.runPython("import js\njs.document.documentElement.dataset.done = ''");
