// Starts Python and shows how far it is. Everything before the first line of Python is here.
import { assets, bootBytes, root } from "./host/assets.js";
import "./host/index.js";

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

/** Counts the bytes of every asset that arrives until Python takes over. */
function countBytes() {
  const plain = globalThis.fetch;
  let received = 0;
  globalThis.fetch = async (resource, options) => {
    const response = await plain(resource, options);
    const url = typeof resource === "string" ? resource : (resource.url ?? String(resource));
    if (!new URL(url, root).href.startsWith(root) || !response.ok || !response.body) return response;
    const counter = new TransformStream({
      transform(chunk, controller) {
        received += chunk.byteLength;
        const bar = element("boot-bar");
        if (bar) bar.value = Math.min(1, received / bootBytes);
        controller.enqueue(chunk);
      },
    });
    const counted = new Response(response.body.pipeThrough(counter), response);
    // Pyodide resolves nothing against it, but a Response made here would have no URL.
    Object.defineProperty(counted, "url", { value: response.url });
    return counted;
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

function start() {
  const stopCounting = countBytes();
  addEventListener("py:progress", ({ detail }) => detail in PHASES && show(PHASES[detail]));
  addEventListener("personae:started", stopCounting, { once: true });
  addEventListener("unhandledrejection", ({ reason }) => {
    if (document.documentElement.dataset.started === undefined)
      fail(`The start failed: ${reason?.message ?? reason}.`);
  });
  const script = document.createElement("script");
  script.type = "py";
  script.src = "main.py";
  script.setAttribute("config", "pyscript.json");
  document.body.append(script);
  show("Loading the page runtime");
  import(assets.pyscript).catch((error) => fail(`The start failed: ${error.message}.`));
}

start();
