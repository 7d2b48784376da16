/** What lies beside `interpreter.mjs` in the bundle. */
export * from "pyodide";
