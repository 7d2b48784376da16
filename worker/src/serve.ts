/**
 * Starts a session when the frame hands over the runtime files and the page's port.
 *
 * The port is the worker's only way out: the global `onmessage` is deaf after the first message.
 */
import { Session, type Boot, type RuntimeFiles } from "./session";

export function serve(boot: Boot): void {
  self.onmessage = (event: MessageEvent<RuntimeFiles>) => {
    self.onmessage = null;
    void new Session(event.ports[0]!).start(boot, event.data);
  };
}
