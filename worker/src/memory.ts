/**
 * A ceiling for a runtime's memory.
 *
 * Emscripten's allocator grows the memory through `WebAssembly.Memory.prototype.grow`; refusing
 * there is what a full machine looks like to it, and the interpreter reports it as its own
 * out-of-memory error.
 */
const PAGE = 65_536;
const MIB = 1_048_576;

/** 64 MiB for the agent, the rest for the interpreter and for text on its way in and out. */
export const AGENT_MEMORY = (64 + 32) * MIB;
/** CPython with its library alone takes 50 MiB. */
export const PYTHON_MEMORY = 512 * MIB;

export function limitMemory(bytes: number): void {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages: number): number {
    if (this.buffer.byteLength + pages * PAGE > bytes)
      throw new RangeError("the agent's memory is used up");
    return grow.call(this, pages);
  };
}
