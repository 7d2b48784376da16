// The body of a response in pieces worth waking the interpreter for. Networks deliver a model's
// words one by one; what arrives within a moment of the last piece is handed over together.
const MOMENT = 20;

/**
 * -> next(): a promise of the next Uint8Array, undefined at the end; it rejects as the body's reader
 * does, after everything that came before. The first piece is never held back.
 * @param {ReadableStream<Uint8Array>} body
 */
export function pieces(body) {
  const reader = body.getReader();
  let handedOver = -Infinity;
  /** @type {Promise<ReadableStreamReadResult<Uint8Array>> | null} */
  let reading = null; // begun and not yet handed over
  return async () => {
    const step = await (reading ?? reader.read());
    reading = null;
    if (step.done) return undefined;
    const taken = [step.value];
    // A hidden page's timers may rest for a minute.
    const until = document.hidden ? 0 : handedOver + MOMENT;
    for (let left; (left = until - performance.now()) > 0; reading = null) {
      reading = reader.read();
      const more = await Promise.race([reading, after(left)]).catch(() => null);
      if (!more || more.done) break;
      taken.push(more.value);
    }
    handedOver = performance.now();
    return joined(taken);
  };
}

/** @param {Uint8Array[]} parts */
function joined(parts) {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * @param {number} milliseconds
 * @returns {Promise<void>}
 */
const after = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
