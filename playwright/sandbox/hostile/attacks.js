/** What a hostile or broken agent might do; each function is one way. */
export function loop() {
  for (;;);
}

export async function asyncLoop() {
  for (;;) {
    try {
      await null;
    } catch {
      // swallows whatever tries to end it
    }
  }
}

export function pattern() {
  return String(/^(a+)+$/.test(`${"a".repeat(40)}b`));
}

export function allocate() {
  return String(new Uint8Array(2 ** 30).length);
}

export function grow() {
  const all = [];
  for (;;) all.push("x".repeat(1000) + all.length);
}

export function hugeResult() {
  return "x".repeat(100 * 2 ** 20);
}

export function hugeStore(args, store) {
  store.text = "x".repeat(10 * 2 ** 20);
}

export function recurse() {
  const deeper = (n) => deeper(n + 1) + 1;
  return String(deeper(0));
}

export function floodLog(args, store, studio) {
  for (let i = 0; i < 50000; i++) studio.log(`line ${i}`);
  return "done";
}

export async function floodRequests(args, store, studio) {
  let refused = 0;
  const all = [];
  for (let i = 0; i < 20000; i++) all.push(studio.history.search("x").catch(() => refused++));
  await Promise.all(all);
  return `refused ${refused}`;
}

export function tamper() {
  JSON.stringify = () => "forged";
  JSON.parse = () => ({ forged: true });
  Object.prototype.forged = true;
  Promise.prototype.then = () => "forged";
  globalThis.leak = "from the other agent";
}

export function look() {
  return `${globalThis.leak} ${{}.forged} ${JSON.stringify([1])}`;
}

const NAMES = [
  "fetch", "XMLHttpRequest", "WebSocket", "EventSource", "importScripts", "Worker", "postMessage", "onmessage", "self",
  "window", "document", "navigator", "location", "indexedDB", "caches", "localStorage", "process", "require", "host",
  "machine", "emit",
];

export async function escape(args) {
  const found = NAMES.filter((name) => globalThis[name] !== undefined);
  const outer = (() => {}).constructor("return this")();
  if (outer !== globalThis) found.push("another global object");
  for (const specifier of [args, "fs", "./lib/other.js", "data:text/javascript,0"]) {
    await import(specifier).then(() => found.push(`import ${specifier}`), () => {});
  }
  return found.join(", ");
}

export const ping = () => "pong";
