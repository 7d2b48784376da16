/** Private to one Pyodide build: what `interpreter.mjs` uses of it. */
export interface Settings {
  preRun: ((module: Module) => void)[];
}

export interface Module {
  HEAPU8: Uint8Array<ArrayBuffer>;
  API: { restoreSnapshot(header: Uint8Array): unknown };
  addRunDependency(name: string): void;
  removeRunDependency(name: string): void;
}

export default function createPyodideModule(settings: Settings): Promise<Module>;
