// What sandbox workers post, judged before Python sees it.

/**
 * Hears a worker's messages. An honest one is `[text, store]`: two ArrayBuffers, the second may be
 * null. Whatever else arrives, or is larger than `most` bytes, becomes an empty text: reading a
 * stranger's string in Python would copy it whole before a line of ours could look at its length.
 * @param {MessagePort} port
 * @param {number} most
 * @param {import("../types/python").ReceiveBytes} receive
 */
export function hear(port, most, receive) {
  /** @returns {value is ArrayBuffer} */
  const isFit = (/** @type {unknown} */ value) =>
    value instanceof ArrayBuffer && value.byteLength <= most;
  port.onmessage = ({ data }) => {
    const [text, store] = Array.isArray(data) && data.length === 2 ? data : [];
    if (!isFit(text) || !(store === null || isFit(store))) receive(new Uint8Array());
    else receive(new Uint8Array(text), store === null ? undefined : new Uint8Array(store));
  };
}
