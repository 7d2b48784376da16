// node compile.mjs PREFIX IN.zip OUT.zip [PREFIX IN.zip OUT.zip ...]: see compile.py.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { loadPyodide } = createRequire(join(here, "../worker/package.json"))("pyodide");

const pyodide = await loadPyodide();
pyodide.FS.writeFile("/home/pyodide/personae_compile.py", readFileSync(join(here, "compile.py")));
const compile = pyodide.pyimport("personae_compile").compile_archive;
const jobs = process.argv.slice(2);
for (let at = 0; at < jobs.length; at += 3) {
  const [prefix, source, target] = jobs.slice(at, at + 3);
  pyodide.FS.writeFile("/tmp/source.zip", readFileSync(source));
  compile("/tmp/source.zip", "/tmp/target.zip", prefix);
  writeFileSync(target, pyodide.FS.readFile("/tmp/target.zip"));
}
