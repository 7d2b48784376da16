/**
 * The opaque frame: compiles runtimes, starts workers, ends them. It never sees their messages.
 *
 * The page opens it with one port. Runtime files arrive as bytes, once per language; `.wasm` files
 * are compiled here, because a compiled module does not cross into an opaque origin, and every
 * worker of the language gets the same module.
 */
import type { RuntimeFiles } from "./session";

interface Runtime {
  script: string;
  files: RuntimeFiles;
}

type PageMessage =
  | { type: "runtime"; language: string; files: Record<string, ArrayBuffer> }
  | { type: "start"; worker: number; language: string }
  | { type: "terminate"; worker: number };

const runtimes = new Map<string, Runtime>();
const workers = new Map<number, Worker>();

addEventListener("message", function open(event) {
  if (event.source !== parent || event.data !== "personae-sandbox") return;
  removeEventListener("message", open);
  const page = event.ports[0]!;
  page.onmessage = ({ data, ports }: MessageEvent<PageMessage>) => {
    if (data.type === "runtime") void prepare(page, data.language, data.files);
    else if (data.type === "start") start(page, data.worker, data.language, ports[0]!);
    else terminate(data.worker);
  };
  page.postMessage({ type: "opened" });
});

async function prepare(page: MessagePort, language: string, bytes: Record<string, ArrayBuffer>): Promise<void> {
  const files: RuntimeFiles = {};
  for (const [name, data] of Object.entries(bytes)) {
    if (name === "worker.js") continue;
    files[name] = name.endsWith(".wasm") ? await WebAssembly.compile(data) : data;
  }
  const script = URL.createObjectURL(new Blob([bytes["worker.js"]!], { type: "text/javascript" }));
  runtimes.set(language, { script, files });
  page.postMessage({ type: "prepared", language });
}

function start(page: MessagePort, id: number, language: string, port: MessagePort): void {
  const { script, files } = runtimes.get(language)!;
  const worker = new Worker(script);
  workers.set(id, worker);
  worker.onerror = (event) => {
    event.preventDefault();
    terminate(id);
    page.postMessage({ type: "broken", worker: id, message: event.message?.slice(0, 1000) || "the worker did not start" });
  };
  worker.postMessage(files, [port]);
}

function terminate(id: number): void {
  workers.get(id)?.terminate();
  workers.delete(id);
}
