/** TextEncoder and TextDecoder for agents that name one; without the encodings of several bytes but UTF's. */
import { TextDecoder, TextEncoder } from "@exodus/bytes/encoding-lite.js";

for (const [name, value] of Object.entries({ TextDecoder, TextEncoder }))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
