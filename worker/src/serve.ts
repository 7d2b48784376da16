/**
 * Starts a session when the frame hands over the runtime files and the page's port.
 *
 * The port is the worker's only way out: the global `onmessage` is deaf after the first message.
 */
import type { WorkerMessages } from "./frame-messages";
import { Session, type Emit, type Machine, type RuntimeFiles } from "./session";

export function serve(boot: (files: RuntimeFiles, emit: Emit) => Promise<Machine>): void {
  self.onmessage = ({ data, ports }: MessageEvent<WorkerMessages["boot"]>) => {
    self.onmessage = null;
    void new Session(ports[0]!).start((emit) => boot(data.files, emit));
  };
}
