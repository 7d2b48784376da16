// The memory of a started interpreter, in the compact form that bundle/snapshot.mjs writes.
//
// Blocks of BLOCK bytes are of three kinds: zero, as a freshly instantiated module has them, or
// stored. File: words (magic, bytes of the whole when unpacked, bytes of Pyodide's header, number
// of runs, sum of the fresh blocks), the runs (kind << 28 | number of blocks), Pyodide's header, the
// stored blocks.

export const BLOCK = 256;
export const MAGIC = 0x534e5031;
export const WORDS = 5;
export const ZERO = 0;
export const FRESH = 1;
export const STORED = 2;

/** Sum of 32-bit words, to tell whether a fresh module is the one the snapshot was made from. */
export function sum(bytes, total) {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  for (let at = 0; at < words.length; at++) total = (total + words[at]) >>> 0;
  return total;
}

/**
 * Writes the snapshot `file` into `memory`, whose length the build knows.
 * @param {Uint8Array} fresh the memory of the instantiated module
 */
export function unpack(file, memory, fresh) {
  const [magic, length, head, count, expected] = new Uint32Array(file.buffer, 0, WORDS);
  if (magic !== MAGIC || length !== memory.length) throw new Error("not a snapshot");
  let from = (WORDS + count) * 4;
  memory.set(file.subarray(from, (from += head)));
  let to = head;
  let total = 0;
  for (const run of new Uint32Array(file.buffer, WORDS * 4, count)) {
    const size = (run & 0xfffffff) * BLOCK;
    if (run >>> 28 === STORED) memory.set(file.subarray(from, (from += size)), to);
    if (run >>> 28 === FRESH) {
      const blocks = fresh.subarray(to - head, to - head + size);
      memory.set(blocks, to);
      total = sum(blocks, total);
    }
    to += size;
  }
  if (total !== expected || to !== memory.length)
    throw new Error("the snapshot belongs to another interpreter");
}
