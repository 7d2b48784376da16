/** What makes every worker's dice its own: numbers of the browser's random source. */

/** A buffer that is the caller's alone. */
export function randomBytes(count: number): ArrayBuffer {
  return crypto.getRandomValues(new Uint8Array(count)).buffer;
}

/** A whole number below 2^46, which any clock can show as milliseconds. */
export function seedNumber(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high! >>> 18) * 2 ** 32 + low!;
}

/** Two 64-bit integers as decimal text, signed. */
export function seedIntegers(): string[] {
  return [...crypto.getRandomValues(new BigInt64Array(2))].map(String);
}
