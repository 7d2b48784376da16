// Starts Python and shows how far it is. Everything before the first line of Python is here.
import { assets, bootBytes, root } from "./host/assets.js";
import { forgetNotes } from "./host/forgetful.js";
import "./host/index.js";

// Plugins of PyScript that this page has no use for.
const UNUSED_PLUGINS = [
  "codemirror",
  "deprecations-manager",
  "donkey",
  "error",
  "py-editor",
  "py-game",
  "py-terminal",
];

const element = (id) => document.getElementById(id);

// What PyScript's progress events say -> what the user reads.
const PHASES = {
  "Loading Pyodide": "Loading the interpreter",
  "Loaded interpreter": "Loading the player",
  "Loaded Pyodide": "Starting the player",
};

function show(label) {
  const target = element("boot-label");
  if (target) target.textContent = label;
}

/** Passes a body on, counting it; tells when it breaks off. */
function counted(body, url, count) {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        count(value.byteLength);
        controller.enqueue(value);
      } catch (error) {
        fail(`${url} broke off: ${error.message}.`);
        controller.error(error);
      }
    },
  });
}

/** Watches every asset that arrives until Python takes over; returns what ends the watch. */
function watchAssets() {
  const plain = globalThis.fetch;
  let received = 0;
  const count = (bytes) => {
    received += bytes;
    const bar = element("boot-bar");
    if (bar) bar.value = Math.min(1, received / bootBytes);
  };
  globalThis.fetch = async (resource, options) => {
    const { href } = new URL(resource.url ?? resource, document.baseURI);
    if (!href.startsWith(root)) return plain(resource, options);
    const response = await plain(resource, options).catch((error) => {
      fail(`${href} could not be loaded: ${error.message}.`);
      throw error;
    });
    if (!response.ok) fail(`${href} could not be loaded: HTTP ${response.status}.`);
    if (!response.ok || !response.body) return response;
    const watched = new Response(counted(response.body, href, count), response);
    // A Response made here has no URL of its own, and Pyodide resolves against it.
    Object.defineProperty(watched, "url", { value: response.url });
    return watched;
  };
  return () => (globalThis.fetch = plain);
}

function fail(reason) {
  show("Personae could not start");
  const target = element("boot-error");
  if (!target) return;
  target.hidden = false;
  target.textContent = `${reason} Reload the page; if it happens again, check that the network reaches ${location.host} and that the browser is up to date (WebAssembly is needed).`;
}

/** What PyScript is told, inside the page: a file of its own would be fetched before all else. */
function configure() {
  const plugins = UNUSED_PLUGINS.map((name) => `!${name}`);
  // For its other kind of script PyScript would load every plugin.
  const other = document.createElement("mpy-config");
  other.hidden = true;
  other.setAttribute("type", "json");
  other.textContent = JSON.stringify({ plugins });
  document.body.append(other);
  return JSON.stringify({ interpreter: `${assets.pyodide}interpreter.mjs`, plugins });
}

/** Everything the start needs, all at once; one after another they would find each other late. */
function fetchAhead() {
  const { pyodide } = assets;
  const modules = ["interpreter", "pyodide", "snapshot", "pyodide.asm"].map((name) => `${pyodide}${name}.mjs`);
  const ahead = (attributes) => document.head.append(Object.assign(document.createElement("link"), attributes));
  for (const href of [`${pyodide}pyodide.asm.wasm`, assets.snapshot, `${root}config.json`])
    ahead({ rel: "preload", as: "fetch", crossOrigin: "", href });
  for (const href of [assets.pyscript, assets.render, ...modules]) ahead({ rel: "modulepreload", href });
}

/** Does what the first paint shall not compete with. A page that nobody sees is not painted. */
function afterPaint(work) {
  if (document.hidden) work();
  else requestAnimationFrame(() => setTimeout(work));
}

function start() {
  fetchAhead();
  const stopWatching = watchAssets();
  const remember = forgetNotes();
  addEventListener("py:progress", ({ detail }) => detail in PHASES && show(PHASES[detail]));
  addEventListener("personae:started", stopWatching, { once: true });
  addEventListener("personae:started", remember, { once: true });
  addEventListener("unhandledrejection", ({ reason }) => {
    if (document.documentElement.dataset.started === undefined)
      fail(`The start failed: ${reason?.message ?? reason}.`);
  });
  const script = document.createElement("script");
  script.type = "py";
  script.src = "main.py";
  script.setAttribute("config", configure());
  document.body.append(script);
  show("Loading the page runtime");
  import(assets.pyscript).catch((error) => fail(`The start failed: ${error.message}.`));
}

afterPaint(start);
