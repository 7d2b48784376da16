import { loadPyodide } from "./assets/pyodide/pyodide.mjs";

const [pyodide, hello] = await Promise.all([
  loadPyodide(),
  fetch("hello.py").then((file) => file.text()),
]);
pyodide.runPython(hello);
