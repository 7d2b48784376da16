// node snapshot.mjs PYODIDE_FOLDER CORE.whl OUT: keeps the memory of an interpreter that has
// imported all of the player, in the form web/snapshot.mjs unpacks.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { BLOCK, EMPTIED, FRESH, MAGIC, STORED, UNUSED, WORDS, sum } from "../web/snapshot.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [folder, core, target] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")));
const { default: pyscript } =
  await import("../worker/node_modules/@pyscript/core/src/stdlib/pyscript.js");
const { default: createModule } = await import(pathToFileURL(join(folder, "pyodide.asm.mjs")));

// What our modules hold when they are imported; the page has the real ones at the same paths.
globalThis["personae.host"] = {};
globalThis.document = {};

let fresh;
const pyodide = await loadPyodide({
  indexURL: `${folder}/`,
  env: { HOME: "/home/pyodide", PYTHONHASHSEED: "0" },
  _makeSnapshot: true,
  createPyodideModule(settings) {
    settings.preRun.unshift((module) => (fresh = module.HEAPU8.slice()));
    return createModule(settings);
  },
});
// Through the recording globals: the snapshot notes the path, and the page finds its own there.
pyodide.registerJsModule("personae_host", pyodide._api.config.jsglobals["personae.host"]);
pyodide.FS.writeFile("/lib/personae.zip", readFileSync(core));
pyodide.FS.writeFile("/home/pyodide/personae_snapshot.py", readFileSync(join(here, "snapshot.py")));
pyodide.pyimport("personae_snapshot").prepare("/lib/personae.zip", pyodide.toPy(pyscript.pyscript));
const memory = pyodide.makeMemorySnapshot();
writeFileSync(target, pack(memory));

function pack(snapshot) {
  const head = new Uint32Array(snapshot.buffer, 0, 2)[1];
  const runs = [];
  const stored = [];
  let total = 0;
  for (let at = head; at < snapshot.length; at += BLOCK) {
    const block = snapshot.subarray(at, at + BLOCK);
    const before = fresh.subarray(at - head, at - head + BLOCK);
    const kind = kindOf(block, before);
    if (kind === STORED) stored.push(block);
    if (kind === FRESH) total = sum(before, total);
    if (runs.length && runs.at(-1) >>> 28 === kind) runs[runs.length - 1]++;
    else runs.push((kind << 28) | 1);
  }
  const words = new Uint32Array([MAGIC, snapshot.length, head, runs.length, total, ...runs]);
  return Buffer.concat([new Uint8Array(words.buffer), snapshot.subarray(0, head), ...stored]);
}

function kindOf(block, before) {
  const isEmpty = (bytes) => bytes.every((byte) => byte === 0);
  if (isEmpty(block)) return isEmpty(before) ? UNUSED : EMPTIED;
  return equal(block, before) ? FRESH : STORED;
}

function equal(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
