/**
 * The Python worker. Asked for a snapshot, it boots, hands the memory over, and only then gets the
 * port through which an agent can come: what is in a snapshot is ours.
 */
import type { RuntimeFiles } from "../session";
import { Session } from "../session";
import { bootPyodide, PythonMachine } from "./machine";
import { pack, type Snapshot } from "./snapshot";

/** `snapshot`: one to start from; null when there is none; absent when this worker makes it. */
export interface PythonStart {
  files: RuntimeFiles;
  snapshot?: Snapshot | null;
}

self.onmessage = ({ data: { files, snapshot }, ports }: MessageEvent<PythonStart>) => {
  self.onmessage = null;
  if (snapshot === undefined) makeSnapshot(files);
  else void serve(ports[0]!, bootPyodide(files, snapshot ? { snapshot } : { makeSnapshot: false }));
};

function makeSnapshot(files: RuntimeFiles): void {
  const booting = bootPyodide(files, { makeSnapshot: true });
  self.onmessage = ({ ports }: MessageEvent) => {
    self.onmessage = null;
    void serve(ports[0]!, booting);
  };
  const take = (pyodide: Awaited<typeof booting>) => pack(pyodide.makeMemorySnapshot());
  booting.then(take).then(
    (snapshot) => self.postMessage(snapshot, { transfer: [snapshot.pages.buffer] }),
    () => self.postMessage(null), // the others start without one
  );
}

function serve(port: MessagePort, booting: ReturnType<typeof bootPyodide>): Promise<void> {
  return new Session(port).start(async (emit) => new PythonMachine(await booting, emit));
}
