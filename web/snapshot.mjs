// The memory of a started interpreter, in the compact form that bundle/snapshot.mjs writes.
//
// Blocks of BLOCK bytes are of four kinds: without data before and after, emptied since the module
// was instantiated, as the module brings them, or stored. File: words (magic, bytes of the whole when
// unpacked, bytes of Pyodide's header, number of runs, sum of the fresh blocks), the runs (kind << 28
// | number of blocks), Pyodide's header, the stored blocks.
//
// The memory is put back in place and only where it differs: a page that is never written costs
// nothing.

export const BLOCK = 256;
export const MAGIC = 0x534e5032;
export const WORDS = 5;
export const UNUSED = 0;
export const FRESH = 1;
export const STORED = 2;
export const EMPTIED = 3;

/** @param {Uint8Array} bytes */
const words = (bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);

/**
 * Sum of 32-bit words, to tell whether a fresh module is the one the snapshot was made from.
 * @param {Uint8Array} bytes
 * @param {number} total
 */
export function sum(bytes, total) {
  const all = words(bytes);
  for (let at = 0; at < all.length; at++) total = (total + all[at]) >>> 0;
  return total;
}

/**
 * The runs of a file, one after another: [kind, where in the interpreter's memory, bytes].
 * @param {Uint8Array} file
 */
function* runs(file) {
  const [, , , count] = new Uint32Array(file.buffer, 0, WORDS);
  let to = 0;
  for (const run of new Uint32Array(file.buffer, WORDS * 4, count)) {
    const size = (run & 0xfffffff) * BLOCK;
    yield [run >>> 28, to, size];
    to += size;
  }
}

/**
 * A copy of what the instantiated module brings and the snapshot does not store; throws if wrong.
 * @param {Uint8Array} file
 * @param {number} length
 * @param {Uint8Array} heap
 */
export function keepFresh(file, length, heap) {
  const [magic, whole, head, , expected] = new Uint32Array(file.buffer, 0, WORDS);
  if (magic !== MAGIC || whole !== length) throw new Error("not a snapshot");
  /** @type {Uint8Array[]} */
  const kept = [];
  let total = 0;
  let end = 0;
  for (const [kind, to, size] of runs(file)) {
    if (kind === FRESH) {
      const block = heap.slice(to, to + size);
      kept.push(block);
      total = sum(block, total);
    }
    end = to + size;
  }
  if (total !== expected || head + end !== length)
    throw new Error("the snapshot belongs to another interpreter");
  return kept;
}

/**
 * Pyodide's header: its own check and what it needs beside the memory.
 * @param {Uint8Array} file
 */
export function headerOf(file) {
  const [, , head, count] = new Uint32Array(file.buffer, 0, WORDS);
  const from = (WORDS + count) * 4;
  return file.slice(from, from + head);
}

/**
 * Makes `heap` what it was when the snapshot was made; `fresh` is from keepFresh.
 * @param {Uint8Array} file
 * @param {Uint8Array[]} fresh
 * @param {Uint8Array} heap
 */
export function putBack(file, fresh, heap) {
  const [, , head, count] = new Uint32Array(file.buffer, 0, WORDS);
  let from = (WORDS + count) * 4 + head;
  let next = 0;
  for (const [kind, to, size] of runs(file)) {
    if (kind === STORED) heap.set(file.subarray(from, (from += size)), to);
    else if (kind === FRESH) correct(words(heap.subarray(to, to + size)), words(fresh[next++]));
    else empty(words(heap.subarray(to, to + size)));
  }
}

/**
 * @param {Uint32Array} now
 * @param {Uint32Array} right
 */
function correct(now, right) {
  for (let at = 0; at < now.length; at++) if (now[at] !== right[at]) now[at] = right[at];
}

/** @param {Uint32Array} now */
function empty(now) {
  for (let at = 0; at < now.length; at++) if (now[at] !== 0) now[at] = 0;
}
