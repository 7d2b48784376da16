/**
 * The opaque frame: compiles runtimes, starts workers, ends them. It never sees their messages.
 *
 * The page opens it with one port. Runtime files arrive as bytes, once per language; `.wasm` files
 * are compiled here, because a compiled module does not cross into an opaque origin, and every
 * worker of the language gets the same module. Extras are files that only some agents need; a worker
 * gets those that its start names.
 */
import type { FrameMessages, FromPage, ToPage, WorkerMessages } from "./frame-messages";
import type { Snapshot } from "./python/snapshot";
import type { ExtraFiles, RuntimeFiles } from "./session";

interface Runtime {
  script: string;
  files: RuntimeFiles;
  /** Of a language that starts from one: the memory of the first worker before any agent came. */
  snapshot?: Promise<Snapshot | null> | undefined;
}

const runtimes = new Map<string, Runtime>();
const extras = new Map<string, ExtraFiles>();
const workers = new Map<number, Worker>();
/** Workers that are making a snapshot -> what to do when they end before it is there. */
const makers = new Map<number, () => void>();

addEventListener("message", function open(event: MessageEvent<FromPage>) {
  if (event.source !== parent || event.data?.type !== "open") return;
  removeEventListener("message", open);
  const page = event.ports[0]!;
  page.onmessage = ({ data, ports }: MessageEvent<FromPage>) => {
    if (data.type === "runtime") void prepare(page, data.language, data.files);
    else if (data.type === "extra") keepExtra(data.extra, data.files);
    else if (data.type === "start") start(page, data, ports[0]!);
    else if (data.type === "terminate") terminate(data.worker);
  };
  page.postMessage({ type: "opened" } satisfies ToPage);
});

async function prepare(
  page: MessagePort,
  language: string,
  bytes: Record<string, ArrayBuffer>,
): Promise<void> {
  const files: RuntimeFiles = {};
  for (const [name, data] of Object.entries(bytes)) {
    if (name === "worker.js") continue;
    files[name] = name.endsWith(".wasm") ? await WebAssembly.compile(data) : new Blob([data]);
  }
  const script = URL.createObjectURL(new Blob([bytes["worker.js"]!], { type: "text/javascript" }));
  runtimes.set(language, { script, files });
  page.postMessage({ type: "prepared", language } satisfies ToPage);
}

function keepExtra(name: string, bytes: Record<string, ArrayBuffer>): void {
  const files = Object.entries(bytes).map(([file, data]) => [file, new Blob([data])]);
  extras.set(name, Object.fromEntries(files));
}

function start(
  page: MessagePort,
  { worker: id, language, extras: names }: FrameMessages["start"],
  port: MessagePort,
): void {
  const runtime = runtimes.get(language)!;
  const wanted: ExtraFiles = Object.assign({}, ...names.map((name) => extras.get(name)!));
  const worker = new Worker(runtime.script);
  workers.set(id, worker);
  worker.onerror = (event) => {
    event.preventDefault();
    terminate(id);
    page.postMessage({
      type: "broken",
      worker: id,
      message: event.message?.slice(0, 1000) || "the worker did not start",
    } satisfies ToPage);
  };
  if (language === "python") void startFromSnapshot(runtime, worker, id, wanted, port);
  else boot(worker, runtime.files, wanted, null, port);
}

function boot(
  worker: Worker,
  files: RuntimeFiles,
  extras: ExtraFiles,
  snapshot: Snapshot | null,
  port: MessagePort,
): void {
  const message = { type: "boot", files, extras, snapshot } satisfies WorkerMessages["boot"];
  worker.postMessage(message, [port]);
}

/** The first worker is asked for a snapshot before it gets its port; later ones wait for that. */
async function startFromSnapshot(
  runtime: Runtime,
  worker: Worker,
  id: number,
  extras: ExtraFiles,
  port: MessagePort,
): Promise<void> {
  if (runtime.snapshot === undefined) {
    runtime.snapshot = new Promise((resolve) => {
      makers.set(id, () => {
        runtime.snapshot = undefined;
        resolve(null);
      });
      worker.onmessage = ({ data }: MessageEvent<WorkerMessages["kept"]>) => {
        worker.onmessage = null;
        makers.delete(id);
        resolve(data.snapshot);
      };
    });
    worker.postMessage({ type: "keep", files: runtime.files } satisfies WorkerMessages["keep"]);
    await runtime.snapshot;
    worker.postMessage({ type: "connect", extras } satisfies WorkerMessages["connect"], [port]);
  } else {
    boot(worker, runtime.files, extras, await runtime.snapshot, port);
  }
}

function terminate(id: number): void {
  makers.get(id)?.();
  makers.delete(id);
  workers.get(id)?.terminate();
  workers.delete(id);
}
