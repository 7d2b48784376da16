/** A file as text: a TypeScript source arrives bundled to one script, any other file as it is. */
declare module "*?text" {
  const text: string;
  export default text;
}

/** The Python files of a folder: name -> text. */
declare module "*?folder" {
  const files: Record<string, string>;
  export default files;
}

declare module "pyodide/pyodide.asm.mjs" {
  import type { PyodideConfig } from "pyodide";
  const create: NonNullable<PyodideConfig["createPyodideModule"]>;
  export default create;
}

/** Of workers only, whose library TypeScript cannot load beside the page's. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}
