/** `crypto` for agents that name it: random numbers of the browser's own source, nothing else. */
const MOST = 65_536;
const { random } = (globalThis as unknown as { host: { random(count: number): ArrayBuffer } }).host;
const WHOLE = /^Big(?:Int|Uint)64Array$|^(?:Int|Uint)(?:8|16|32)Array$|^Uint8ClampedArray$/;

function getRandomValues<T extends ArrayBufferView>(array: T): T {
  if (!WHOLE.test(Object.prototype.toString.call(array).slice(8, -1)))
    throw new DOMException("getRandomValues needs an array of whole numbers", "TypeMismatchError");
  const { buffer, byteOffset, byteLength } = array;
  if (byteLength > MOST) {
    const message = `getRandomValues gives at most ${MOST} bytes, not ${byteLength}`;
    throw new DOMException(message, "QuotaExceededError");
  }
  new Uint8Array(buffer, byteOffset, byteLength).set(new Uint8Array(random(byteLength)));
  return array;
}

/** RFC 9562, version 4. */
function randomUUID(): string {
  const bytes = new Uint8Array(random(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

Object.defineProperty(globalThis, "crypto", {
  value: Object.freeze({ getRandomValues, randomUUID }),
  configurable: true,
  writable: true,
});
