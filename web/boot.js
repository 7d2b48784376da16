// Starts Python and shows how far it is. Everything before the first line of Python is here.
import { assets, bootBytes, root } from "./host/assets.js";
import { download } from "./host/download.js";
import { forgetNotes } from "./host/forgetful.js";
import { host } from "./host/index.js";
import { fetchEarly } from "./host/package.js";
import { openEarly } from "./host/storage.js";
import main from "./main.py";

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

// What arrives of these beside the snapshot; the rest of the start is small.
const COUNTED = /\/pyodide\.asm\.wasm$|\/pyodide-lock\.json$/;

// Milliseconds between two moves of the progress bar.
const BETWEEN_DRAWINGS = 100;

const element = (/** @type {string} */ id) => document.getElementById(id);

/**
 * What PyScript's progress events say -> what the user reads.
 * @type {Record<string, string>}
 */
const PHASES = {
  "Loading Pyodide": "Loading the interpreter",
  "Loaded interpreter": "Loading the player",
  "Loaded Pyodide": "Starting the player",
};

/** @param {string} label */
function show(label) {
  const target = element("boot-label");
  if (target) target.textContent = label;
}

/** Moves the bar with what arrives of the files that Python starts from; drawing takes time too. */
function watchProgress() {
  /** @type {Map<string, number>} */
  const arrived = new Map();
  let drawn = -Infinity;
  const note = (/** @type {string} */ url, /** @type {number} */ bytes) => {
    arrived.set(url, bytes);
    const bar = /** @type {HTMLProgressElement | null} */ (element("boot-bar"));
    if (!bar || performance.now() < drawn + BETWEEN_DRAWINGS) return;
    drawn = performance.now();
    bar.value = Math.min(1, [...arrived.values()].reduce((sum, each) => sum + each) / bootBytes);
  };
  const observer = new PerformanceObserver((list) => {
    const entries = /** @type {PerformanceResourceTiming[]} */ (list.getEntries());
    for (const { name, decodedBodySize } of entries)
      if (COUNTED.test(name)) note(name, decodedBodySize);
  });
  observer.observe({ type: "resource", buffered: true });
  addEventListener("personae:started", () => observer.disconnect(), { once: true });
  return note;
}

/** Says what could not be fetched, until Python takes over. */
function watchFailures() {
  const plain = globalThis.fetch;
  globalThis.fetch = async (resource, options) => {
    const { href } = new URL(
      resource instanceof Request ? resource.url : resource,
      document.baseURI,
    );
    if (!href.startsWith(root)) return plain(resource, options);
    const response = await plain(resource, options).catch((error) => {
      fail(`${href} could not be loaded: ${error.message}.`);
      throw error;
    });
    if (!response.ok) fail(`${href} could not be loaded: HTTP ${response.status}.`);
    return response;
  };
  addEventListener("personae:started", () => (globalThis.fetch = plain), { once: true });
}

/** @param {string} reason */
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
  return JSON.stringify({ interpreter: `${assets.pyodide}started.mjs`, plugins });
}

/** Everything the start needs, all at once; one after another they would find each other late. */
function fetchAhead() {
  const { pyodide } = assets;
  const names = ["interpreter", "pyodide", "snapshot", "pyodide.asm", "started"];
  const modules = names.map((name) => `${pyodide}${name}.mjs`);
  const ahead = (/** @type {Partial<HTMLLinkElement>} */ attributes) =>
    document.head.append(Object.assign(document.createElement("link"), attributes));
  for (const href of [`${pyodide}pyodide.asm.wasm`, `${root}config.json`])
    ahead({ rel: "preload", as: "fetch", crossOrigin: "", href });
  for (const href of [assets.pyscript, assets.render, ...modules])
    ahead({ rel: "modulepreload", href });
}

/** The interpreter, which need not wait for PyScript to ask for it. */
async function startPython() {
  const { loadPyodide } = await import(`${assets.pyodide}interpreter.mjs`);
  return loadPyodide({ indexURL: assets.pyodide, stderr: console.error });
}

/**
 * Does what the first paint shall not compete with. A page that nobody sees is not painted.
 * @param {() => void} work
 */
function afterPaint(work) {
  if (document.hidden) work();
  else requestAnimationFrame(() => setTimeout(work));
}

function start() {
  const note = watchProgress();
  host.snapshot = download(assets.snapshot, (bytes) => note(assets.snapshot, bytes));
  host.snapshot.catch(() => {}); // heard by who puts it back
  fetchAhead();
  fetchEarly(); // what a character's link lacks is no failure of the start
  openEarly();
  watchFailures();
  host.python = startPython();
  host.python.catch(() => {}); // heard by PyScript, and said as its failure
  const remember = forgetNotes();
  addEventListener("py:progress", ({ detail }) => detail in PHASES && show(PHASES[detail]));
  addEventListener("personae:started", remember, { once: true });
  addEventListener("unhandledrejection", ({ reason }) => {
    if (document.documentElement.dataset.started === undefined)
      fail(`The start failed: ${reason?.message ?? reason}.`);
  });
  const script = document.createElement("script");
  script.type = "py";
  script.textContent = main;
  script.setAttribute("config", configure());
  document.body.append(script);
  show("Loading the page runtime");
  import(assets.pyscript).catch((error) => fail(`The start failed: ${error.message}.`));
}

afterPaint(start);
