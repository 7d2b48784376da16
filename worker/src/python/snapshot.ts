/**
 * The memory of a started interpreter, without its empty pages: what is left is a third, and every
 * worker gets a copy.
 *
 * Pyodide's own snapshot is a header and then all of the memory. Here Pyodide is given the header
 * alone, and the pages are written when it has checked that.
 */
import type { PyodideConfig } from "pyodide";

const PAGE = 4096;

export interface Snapshot {
  header: Uint8Array;
  /** Bytes of memory. */
  length: number;
  /** First page and number of pages, over and over, of what is not empty. */
  runs: number[];
  pages: Uint8Array;
}

type CreateModule = NonNullable<PyodideConfig["createPyodideModule"]>;
interface Settings {
  INITIAL_MEMORY?: number;
}
interface PyodideModule {
  HEAPU8: Uint8Array;
  API: { restoreSnapshot(snapshot: Uint8Array): unknown };
}

/** `whole`: what Pyodide's `makeMemorySnapshot` gives. */
export function pack(whole: Uint8Array): Snapshot {
  const start = new Uint32Array(whole.buffer, whole.byteOffset, 2)[1]!;
  const memory = whole.subarray(start);
  const runs: number[] = [];
  let count = 0;
  for (let page = 0; page * PAGE < memory.length; page++) {
    if (isEmpty(memory, page)) continue;
    count += 1;
    const last = runs.length - 2;
    if (last >= 0 && runs[last]! + runs[last + 1]! === page) runs[last + 1]! += 1;
    else runs.push(page, 1);
  }
  const pages = new Uint8Array(count * PAGE);
  let to = 0;
  for (const part of parts(runs, memory)) {
    pages.set(part, to);
    to += part.length;
  }
  return {
    header: whole.slice(0, start),
    length: memory.length,
    runs,
    pages: pages.subarray(0, to),
  };
}

/** Makes modules whose memory becomes the snapshot's when Pyodide restores its header. */
export function restoring(create: CreateModule, snapshot: Snapshot): CreateModule {
  return async (settings) => {
    (settings as Settings).INITIAL_MEMORY = snapshot.length;
    const module = await create(settings);
    const { HEAPU8, API } = module as unknown as PyodideModule;
    const { restoreSnapshot } = API;
    API.restoreSnapshot = (header) => {
      const restored = restoreSnapshot(header);
      unpack(snapshot, HEAPU8);
      return restored;
    };
    return module;
  };
}

function unpack({ runs, pages }: Snapshot, memory: Uint8Array): void {
  let from = 0;
  let page = 0;
  for (const part of parts(runs, memory)) {
    clear(memory, page, part.byteOffset / PAGE);
    part.set(pages.subarray(from, from + part.length));
    from += part.length;
    page = Math.ceil((part.byteOffset + part.length) / PAGE);
  }
  clear(memory, page, Math.ceil(memory.length / PAGE));
}

function* parts(runs: number[], memory: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < runs.length; at += 2) {
    yield memory.subarray(runs[at]! * PAGE, (runs[at]! + runs[at + 1]!) * PAGE);
  }
}

/** Pages that the fresh module has written to and the snapshot has empty. Looking costs less than writing. */
function clear(memory: Uint8Array, first: number, end: number): void {
  for (let page = first; page < end; page++) {
    if (!isEmpty(memory, page)) memory.fill(0, page * PAGE, (page + 1) * PAGE);
  }
}

function isEmpty(memory: Uint8Array, page: number): boolean {
  const start = memory.byteOffset + page * PAGE;
  const words = new Uint32Array(
    memory.buffer,
    start,
    Math.min(PAGE, memory.length - page * PAGE) / 4,
  );
  for (let at = 0; at < words.length; at++) if (words[at] !== 0) return false;
  return true;
}
