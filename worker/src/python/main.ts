/**
 * The Python worker. Asked for a snapshot, it boots, hands the memory over, and only then gets the
 * port through which an agent can come: what is in a snapshot is ours.
 */
import type { WorkerMessages } from "../frame-messages";
import { Session, type ExtraFiles, type RuntimeFiles } from "../session";
import { bootPyodide, PythonMachine } from "./machine";
import { pack, type Snapshot } from "./snapshot";

self.onmessage = ({ data, ports }: MessageEvent<WorkerMessages["keep" | "boot"]>) => {
  self.onmessage = null;
  if (data.type === "keep") return keep(data.files);
  const { files, extras, snapshot } = data;
  const booting = bootPyodide(files, snapshot ? { snapshot } : { makeSnapshot: false });
  void serve(ports[0]!, booting, extras);
};

/** Boots, hands the memory over, and serves when it is connected. */
function keep(files: RuntimeFiles): void {
  const booting = bootPyodide(files, { makeSnapshot: true });
  self.onmessage = ({ data, ports }: MessageEvent<WorkerMessages["connect"]>) => {
    self.onmessage = null;
    void serve(ports[0]!, booting, data.extras);
  };
  const take = (pyodide: Awaited<typeof booting>) => pack(pyodide.makeMemorySnapshot());
  booting.then(take).then(
    (snapshot) => kept(snapshot, [snapshot.pages.buffer]),
    () => kept(null, []), // the others start without one
  );
}

function kept(snapshot: Snapshot | null, transfer: Transferable[]): void {
  self.postMessage({ type: "kept", snapshot } satisfies WorkerMessages["kept"], { transfer });
}

function serve(
  port: MessagePort,
  booting: ReturnType<typeof bootPyodide>,
  extras: ExtraFiles,
): Promise<void> {
  return new Session(port).start(async (emit) => new PythonMachine(await booting, extras, emit));
}
