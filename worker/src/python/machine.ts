/**
 * CPython (Pyodide) with one agent in it.
 *
 * Python gets no JavaScript object from us: it is called with strings, gets large text as files of
 * its in-memory file system, and answers by writing to a device. The modules that lead to
 * JavaScript are taken away before the agent comes; what still leads there finds a worker whose
 * origin is allowed nothing.
 */
import createPyodideModule from "pyodide/pyodide.asm.mjs";
import { info } from "pyodide/pyodide-lock.json";
import { loadPyodide, type LockfileInfo, type PyodideInterface } from "pyodide";

import { limitMemory, PYTHON_MEMORY } from "../memory";
import { snakeCase } from "../names";
import {
  AgentFailure,
  LIMITS,
  STUDIO,
  type Call,
  type Exports,
  type FailureKind,
  type Load,
} from "../protocol";
import type { Emit, ExtraFiles, Machine, RuntimeFiles } from "../session";
import sources from "./personae_agent?folder";
import { restoring, type Snapshot } from "./snapshot";

const BASE = "https://runtime.invalid/";
const PACKAGE = "/lib/personae_agent";
const LIBRARY = "/lib/python314.zip";
const STORE = "/home/pyodide/store.json";
const OUTLET = "/dev/outlet";

/** What `begin` answers for a call that returned nothing; a text comes behind another character. */
const NOTHING = "-";

type Enter = (name: string, text: string) => void;
type Begin = (name: string, text: string, store?: string) => string | undefined;

/** Boots Python with our package imported; the agent is not there yet. */
export async function bootPyodide(
  files: RuntimeFiles,
  start: { snapshot: Snapshot } | { makeSnapshot: boolean },
): Promise<PyodideInterface> {
  limitMemory(PYTHON_MEMORY);
  const library = files["python_stdlib.zip"] as Blob;
  const options = {
    indexURL: BASE,
    lockFileContents: { info: info as LockfileInfo, packages: {} },
    checkAPIVersion: false,
    env: { PYTHONHASHSEED: "0" },
  };
  if (!("snapshot" in start)) {
    const plain = { ...options, createPyodideModule, _makeSnapshot: start.makeSnapshot };
    const pyodide = await withFiles(files, library, () => loadPyodide(plain));
    importPackage(pyodide);
    return pyodide;
  }
  const { snapshot } = start;
  const restored = {
    ...options,
    createPyodideModule: restoring(createPyodideModule, snapshot),
    _loadSnapshot: snapshot.header,
  };
  const pyodide = await withFiles(files, null, () => loadPyodide(restored));
  offer(pyodide, LIBRARY, library);
  return pyodide;
}

/** An archive, read when Python first looks into it: what a start needs is in memory. */
function offer(pyodide: PyodideInterface, path: string, archive: Blob): void {
  const node = pyodide.FS.lookupPath(path, {}).node as { usedBytes?: number };
  node.usedBytes = archive.size;
  Object.defineProperty(node, "contents", {
    configurable: true,
    get() {
      const value = new Uint8Array(new FileReaderSync().readAsArrayBuffer(archive));
      Object.defineProperty(node, "contents", { value, writable: true });
      return value;
    },
  });
}

/**
 * Pyodide wants to fetch and compile; it gets the bytes, and what the frame has compiled. It also
 * compiles a module for each of some hundred functions, of which only those of a signature differ.
 */
async function withFiles<T>(
  files: RuntimeFiles,
  library: Blob | null,
  run: () => Promise<T>,
): Promise<T> {
  const { fetch } = self;
  const { instantiateStreaming, Module } = WebAssembly;
  const made = new Map<string, WebAssembly.Module>();
  self.fetch = async (url) => new Response(String(url).endsWith(".zip") ? library : null);
  WebAssembly.instantiateStreaming = async (_source, imports) => {
    const module = files["pyodide.asm.wasm"] as WebAssembly.Module;
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
  WebAssembly.Module = new Proxy(Module, {
    construct(target, [bytes]: [Uint8Array<ArrayBuffer>]) {
      const key = bytes.join();
      const known = made.get(key) ?? new target(bytes);
      made.set(key, known);
      return known;
    },
  });
  try {
    return await run();
  } finally {
    self.fetch = fetch;
    Object.assign(WebAssembly, { instantiateStreaming, Module });
  }
}

function importPackage(pyodide: PyodideInterface): void {
  pyodide.FS.mkdirTree(PACKAGE);
  for (const [name, source] of Object.entries(sources))
    pyodide.FS.writeFile(`${PACKAGE}/${name}`, source);
  pyodide.runPython("import sys; sys.path.append('/lib'); import personae_agent.machine");
}

export class PythonMachine implements Machine {
  private readonly enterPython: Enter;
  private readonly begin: Begin;
  private readonly decoder = new TextDecoder();
  /** What the last load said. */
  private loaded: { names: string[] } | AgentFailure | null = null;

  constructor(
    private readonly pyodide: PyodideInterface,
    extras: ExtraFiles,
    private readonly emit: Emit,
  ) {
    pyodide.setStdout({ batched: (line) => this.print(line) });
    pyodide.setStderr({ batched: (line) => this.print(line) });
    const { FS } = pyodide;
    const device = FS.makedev(FS.createDevice.major++, 0);
    FS.registerDevice(device, {
      write: (_stream: unknown, heap: Uint8Array, at: number, size: number) =>
        this.written(heap, at, size),
    });
    FS.mkdev(OUTLET, device);
    const machine = pyodide.pyimport("personae_agent.machine");
    machine.open_machine(
      JSON.stringify({ studio: STUDIO, openRequests: LIMITS.openRequests }),
      OUTLET,
      JSON.stringify(Object.entries(extras).map(([name, archive]) => this.add(name, archive))),
    );
    this.enterPython = machine.enter;
    this.begin = machine.begin;
  }

  async load(program: Load): Promise<Exports> {
    const wanted = [...program.functions.map(snakeCase), ...program.handlers];
    this.enterPython(
      "load",
      JSON.stringify({ filename: program.filename, source: program.source, wanted }),
    );
    if (this.loaded instanceof AgentFailure) throw this.loaded;
    const { names } = this.loaded!;
    return {
      functions: program.functions.filter((name) => names.includes(snakeCase(name))),
      handlers: program.handlers.filter((name) => names.includes(name)),
    };
  }

  call(call: Call, values: string, store: string | null): string | null | undefined {
    const name = call.verbatim ? call.function : snakeCase(call.function);
    if (store !== null) this.pyodide.FS.writeFile(STORE, store);
    const ended = this.begin(name, values, store === null ? undefined : STORE);
    return ended === undefined ? undefined : ended === NOTHING ? null : ended.slice(1);
  }

  settle(text: string): void {
    this.enterPython("settle", text);
  }

  wake(): void {
    this.enterPython("run", "");
  }

  /** Puts an archive of packages where Python finds it; answers its path. */
  private add(name: string, archive: Blob): string {
    const path = `/lib/${name}`;
    this.pyodide.FS.writeFile(path, "");
    offer(this.pyodide, path, archive);
    return path;
  }

  private print(line: string): void {
    this.emit(JSON.stringify({ op: "notice", kind: "console", text: line }));
  }

  /** One write of Python's is one emission: a line of JSON, then a store's text. */
  private written(heap: Uint8Array, at: number, size: number): number {
    const bytes = heap.subarray(at, at + size);
    const end = bytes.indexOf(10);
    const line = this.decoder.decode(bytes.subarray(0, end));
    if (this.loaded === null) this.hearLoad(line);
    else this.emit(line, end + 1 < size ? this.decoder.decode(bytes.subarray(end + 1)) : null);
    return size;
  }

  private hearLoad(line: string): void {
    const { op, names, kind, ...thrown } = JSON.parse(line);
    if (op === "loaded") this.loaded = { names };
    else if (op === "error") this.loaded = new AgentFailure(kind as FailureKind, thrown);
    else this.emit(line);
  }
}
