// Keeps the app and its runtimes, so that it starts without a network. A new version waits until
// the page asks for it ("activate").
import { forgetOthers, fromCache, keepAll, kept, networkFirst, worker } from "./offline.js";

const HOST_PATHS = new Set(["config.json", "characters/"]);
const { scope } = worker.registration;

worker.addEventListener("install", (event) => {
  // Requests to models are none of its business; where the browser knows routes, it does not even
  // ask.
  /** @type {any} */ (event).addRoutes?.({
    condition: { requestMethod: "POST" },
    source: "network",
  });
  event.waitUntil(keepAll());
});
worker.addEventListener("activate", (event) => event.waitUntil(forgetOthers()));
worker.addEventListener("message", ({ data }) => data === "activate" && worker.skipWaiting());

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || !url.href.startsWith(scope)) return;
  const path = pathOf(url);
  if (kept.has(path)) event.respondWith(fromCache(path, request));
  else if (HOST_PATHS.has(path)) event.respondWith(networkFirst(path, request));
});

/**
 * The path inside the app; the app's own address is its page, whatever the query says.
 * @param {URL} url
 */
function pathOf({ pathname }) {
  const path = decodeURIComponent(pathname.slice(new URL(scope).pathname.length));
  return path === "" ? "index.html" : path;
}
