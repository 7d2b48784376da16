/**
 * The Python worker. Asked for a snapshot, it boots, hands the memory over, and only then gets the
 * port through which an agent can come: what is in a snapshot is ours.
 */
import type { RuntimeFiles } from "../session";
import { Session } from "../session";
import { bootPyodide, PythonMachine } from "./machine";

self.onmessage = ({ data: files, ports }: MessageEvent<RuntimeFiles>) => {
  self.onmessage = null;
  if (ports.length > 0) void serve(ports[0]!, bootPyodide(files, false));
  else makeSnapshot(files);
};

function makeSnapshot(files: RuntimeFiles): void {
  const booting = bootPyodide(files, true);
  self.onmessage = ({ ports }: MessageEvent) => {
    self.onmessage = null;
    void serve(ports[0]!, booting);
  };
  const take = (pyodide: Awaited<typeof booting>) => pyodide.makeMemorySnapshot();
  booting.then(take).then(
    (snapshot) => self.postMessage(snapshot, { transfer: [snapshot.buffer] }),
    () => self.postMessage(null), // the others start without one
  );
}

function serve(port: MessagePort, booting: ReturnType<typeof bootPyodide>): Promise<void> {
  return new Session(port).start(async (emit) => new PythonMachine(await booting, emit));
}
