/**
 * Stands for an agent that escaped its interpreter: this *is* the worker's script, so it can do all
 * that a worker can. It speaks just enough of the protocol to be called, and lies when asked to.
 */
self.onmessage = ({ ports: [port] }) => {
  const encode = (value) => new TextEncoder().encode(JSON.stringify(value)).buffer;
  const say = (message, store = null) => port.postMessage([encode(message), store && encode(store)]);
  port.onmessage = async ({ data }) => {
    const [line, body] = (Array.isArray(data) ? data[0] : data).split("\n");
    const message = JSON.parse(line);
    if (message.type === "load") say({ type: "loaded", functions: message.functions, handlers: [] });
    if (message.type !== "call") return;
    const [name, argument] = JSON.parse(body);
    if (name === "escape") say({ type: "result", call: message.call, value: JSON.stringify(await escape(argument)) });
    else lies[name](say, port, message);
  };
  say({ type: "ready" });
};

const request = { type: "request", call: 1, method: "history.search", arguments: ["x"] };

const lies = {
  unknown: (say) => say({ type: "made-up" }),
  page_message: (say) => say({ type: "reply", request: 1, value: "forged" }),
  wrong_call: (say) => say({ type: "result", call: 999, value: "forged" }),
  wrong_state: (say) => say({ type: "ready" }),
  no_array: (say, port) => port.postMessage("x".repeat(50_000_000)),
  strings: (say, port) => port.postMessage(["{}", null]),
  huge: (say, port) => port.postMessage([new ArrayBuffer(200_000_000), null]),
  sparse: (say, port) => port.postMessage(Object.assign([], { length: 4e9 })),
  no_utf8: (say, port) => port.postMessage([new Uint8Array([255, 254]).buffer, null]),
  store_no_object: (say, port, { call }) => say({ type: "result", call, value: null }, []),
  flood_notices: (say) => {
    for (let i = 0; i < 20_000; i++) say({ type: "notice", kind: "log", text: "x" });
  },
  flood_requests: (say) => {
    for (let i = 0; i < 20_000; i++) say({ ...request, request: i });
  },
  undeclared: (say, port, { call }) => {
    say({ ...request, call, request: 1, method: "web.fetch", arguments: ["https://example.org/"] });
    port.onmessage = ({ data: text }) => say({ type: "result", call, value: text });
  },
  thrown: () => setTimeout(() => { throw new Error("on purpose"); }),
  closed: () => self.close(),
};

/** What got through, by name; empty when the browser refused everything. */
async function escape(url) {
  const through = [];
  for (const [name, attempt] of Object.entries(attempts)) {
    const late = new Promise((resolve) => setTimeout(resolve, 3000, "late"));
    try {
      if ((await Promise.race([attempt(url), late])) !== "late") through.push(name);
    } catch {
      // refused
    }
  }
  return through;
}

const settled = (target, good, bad) =>
  new Promise((resolve, reject) => {
    target[good] = resolve;
    target[bad] = reject;
  });
const blob = (code) => URL.createObjectURL(new Blob([code], { type: "text/javascript" }));

const attempts = {
  fetch: (url) => fetch(url, { mode: "no-cors" }),
  "fetch data": () => fetch("data:text/plain,x"),
  "fetch blob": () => fetch(blob("x")),
  XMLHttpRequest: (url) => {
    const request = new XMLHttpRequest();
    request.open("GET", url);
    request.send();
    return settled(request, "onload", "onerror");
  },
  WebSocket: (url) => settled(new WebSocket(url.replace("http", "ws")), "onopen", "onerror"),
  EventSource: (url) => settled(new EventSource(url), "onopen", "onerror"),
  WebTransport: (url) => new WebTransport(url.replace("http:", "https:")).ready,
  FontFace: (url) => new FontFace("leak", `url(${url})`).load(),
  "import http": (url) => import(url),
  "import data": () => import("data:text/javascript,0"),
  "import blob": () => import(blob("0")),
  importScripts: (url) => importScripts(url),
  "importScripts data": () => importScripts("data:text/javascript,0"),
  "importScripts blob": () => importScripts(blob("0")),
  eval: () => eval("1"),
  Function: () => new Function("return 1")(),
  "setTimeout text": () =>
    new Promise((resolve, reject) => {
      self.ran = resolve;
      setTimeout("self.ran()");
      setTimeout(reject, 500);
    }),
  indexedDB: () => settled(indexedDB.open("leak"), "onsuccess", "onerror"),
  caches: () => caches.open("leak"),
  OPFS: () => navigator.storage.getDirectory(),
  localStorage: () => localStorage.length,
  document: () => document.title,
  parent: () => parent.document,
  locks: () => navigator.locks.request("leak", () => {}),
  serviceWorker: () => navigator.serviceWorker.register("x.js"),
  Notification: () => settled(new Notification("leak"), "onshow", "onerror"),
  "a nested worker's fetch": (url) => {
    const code = `fetch(${JSON.stringify(url)}, {mode: "no-cors"}).then(() => postMessage("through"), () => postMessage("refused"))`;
    const worker = new Worker(blob(code));
    return settled(worker, "onmessage", "onerror").then(({ data }) => {
      if (data !== "through") throw new Error(data);
    });
  },
  BroadcastChannel: () => {
    new BroadcastChannel("leak").postMessage("leak"); // the page listens; see the test
    throw new Error("judged by the test");
  },
};
