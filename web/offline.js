// One cache holds one version of the app, complete: a page never gets files of two versions.
// A new version is fetched beside the running one; content-named files of the version before are
// taken over instead of being fetched again.
const { version, files } = PERSONAE_OFFLINE;
const CURRENT = `personae-${version}`;
// What the host says about itself: fresh where there is a network, the last answer where not.
const HOST = "personae-host";
const PARALLEL = 4;

/** The service worker this is part of. */
export const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/** The paths that make up the app. */
export const kept = new Set(files);

/** @param {string} path */
const address = (path) => new URL(path, worker.registration.scope).href;

/**
 * @param {string} path
 * @param {Request} request
 */
export async function fromCache(path, request) {
  const cache = await caches.open(CURRENT);
  return (await cache.match(address(path))) ?? fetch(request);
}

/**
 * @param {string} path
 * @param {Request} request
 */
export async function networkFirst(path, request) {
  const cache = await caches.open(HOST);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(address(path), response.clone());
    return response;
  } catch (error) {
    const last = await cache.match(address(path));
    if (last) return last;
    throw error;
  }
}

export async function keepAll() {
  const cache = await caches.open(CURRENT);
  const waiting = [...files];
  const keepNext = async () => {
    for (let path; (path = waiting.shift()) !== undefined;) await keep(cache, path);
  };
  await Promise.all(Array.from({ length: PARALLEL }, keepNext));
}

/**
 * @param {Cache} cache
 * @param {string} path
 */
async function keep(cache, path) {
  const url = address(path);
  const contentNamed = path.startsWith("assets/");
  const known = contentNamed ? await caches.match(url) : undefined;
  const response = known ?? (await fetch(url, { cache: contentNamed ? "default" : "no-cache" }));
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  await cache.put(url, response);
}

export async function forgetOthers() {
  for (const name of await caches.keys())
    if (name.startsWith("personae-") && name !== CURRENT && name !== HOST)
      await caches.delete(name);
}
