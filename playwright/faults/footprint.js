// What the page takes beside its document: the interpreters' memory, and what they hold of it.
(() => {
  const memories = new Set();
  const counters = new Set();
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const plain = WebAssembly[name];
    WebAssembly[name] = async (...args) => {
      for (const group of Object.values(args[1] ?? {}))
        for (const value of Object.values(group))
          if (value instanceof WebAssembly.Memory) memories.add(value);
      const made = await plain.apply(WebAssembly, args);
      const exports = (made.instance ?? made).exports ?? {};
      for (const value of Object.values(exports))
        if (value instanceof WebAssembly.Memory) memories.add(value);
      if (exports.hiwire_num_refs) counters.add(exports.hiwire_num_refs);
      return made;
    };
  }
  Object.defineProperty(globalThis, "footprint", {
    value: {
      /** How many JavaScript values Python holds. */
      references: () => [...counters].reduce((sum, count) => sum + count(), 0),
      /** Bytes of linear memory. */
      memory: () => [...memories].reduce((sum, memory) => sum + memory.buffer.byteLength, 0),
    },
  });
})();
