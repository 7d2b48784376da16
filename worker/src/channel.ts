/**
 * The worker's end of the channel: a state machine that knows which message is legal when.
 *
 * Invariant: an illegal message, in either direction, is a defect of the player or the work of
 * code that escaped its interpreter. Sending one throws; receiving one closes the channel. The
 * page's end (`sandbox/channel.py`) does the checking that counts.
 *
 * Text from the page comes as strings: the message, or the message and a store. A message is a line
 * of JSON and, after it, its body, which is handed on as it is. Text to the page goes as UTF-8 bytes:
 * the page can see how large they are before it reads them, and Python decodes them fifty times
 * faster than a string.
 */
import { CHANNEL, type Fields, type State } from "./protocol";

const encoder = new TextEncoder();

/** UTF-8, in a buffer of its own that can be handed over without a copy. */
function bytes(text: string): ArrayBuffer {
  const { buffer, byteLength } = encoder.encode(text);
  return buffer.byteLength === byteLength
    ? (buffer as ArrayBuffer)
    : (buffer.slice(0, byteLength) as ArrayBuffer);
}

/** The body of a message that declares none is empty. */
export type Receive = (type: string, fields: Fields, body: string, store: string | null) => void;

export class Channel {
  state: State = "booting";

  constructor(
    private readonly port: MessagePort,
    private readonly receive: Receive,
  ) {
    port.onmessage = ({ data }: MessageEvent<string | [string, string]>) => {
      if (typeof data === "string") this.accept(data, null);
      else this.accept(...data);
    };
  }

  send(type: string, fields: Fields, store: string | null = null): void {
    this.step("worker", type);
    const message = [
      bytes(JSON.stringify({ type, ...fields })),
      store === null ? null : bytes(store),
    ];
    this.port.postMessage(
      message,
      message.filter((part) => part !== null),
    );
  }

  private accept(text: string, store: string | null): void {
    const end = text.indexOf("\n");
    const line = end < 0 ? text : text.slice(0, end);
    const { type, ...fields } = JSON.parse(line) as { type: string };
    this.step("page", type);
    this.receive(type, fields, end < 0 ? "" : text.slice(end + 1), store);
  }

  private step(from: "page" | "worker", type: string): void {
    const declared = CHANNEL[type];
    if (declared?.from !== from || !declared.in.includes(this.state)) {
      const before = this.state;
      this.state = "closed";
      this.port.close();
      throw new Error(`message ${type} from the ${from} is not legal in state ${before}`);
    }
    this.state = declared.then ?? this.state;
  }
}
