/**
 * Starts a session when the frame hands over the runtime files and the page's port.
 *
 * The port is the worker's only way out: the global `onmessage` is deaf after the first message.
 */
import type { WorkerMessages } from "./frame-messages";
import { Session, type Emit, type ExtraFiles, type Machine, type RuntimeFiles } from "./session";

/** Makes the language's machine; `extras` are the files that only this agent's source asks for. */
export type Boot = (files: RuntimeFiles, extras: ExtraFiles, emit: Emit) => Promise<Machine>;

export function serve(boot: Boot): void {
  self.onmessage = ({ data, ports }: MessageEvent<WorkerMessages["boot"]>) => {
    self.onmessage = null;
    void new Session(ports[0]!).start((emit) => boot(data.files, data.extras, emit));
  };
}
