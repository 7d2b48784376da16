/**
 * One agent in one worker: takes the page's messages, drives the language's virtual machine.
 *
 * A machine and this session exchange text only. Every entry into a machine runs it until it
 * waits; on the way it emits what happened as JSON text (see Emission). The budgets here keep an
 * honest agent's messages within what the page accepts; the page enforces the same numbers.
 */
import { Channel } from "./channel";
import {
  AgentFailure,
  LIMITS,
  type Call,
  type Exports,
  type Fields,
  type FailureKind,
  type Load,
  type Thrown,
} from "./protocol";

export type Emission =
  | { op: "request"; id: number; method: string; arguments: unknown[] }
  | { op: "notice"; kind: string; text: string }
  | { op: "wake"; after: number }
  | { op: "result"; value: string | null }
  | ({ op: "error"; kind: string } & Thrown);

export type Emit = (text: string, store?: string | null) => void;

/**
 * A language runtime that has one agent inside. Errors it throws are AgentFailures.
 *
 * It emits a request only while a call runs, and never more than `openRequests` at once: what
 * goes beyond is refused inside, where refusing costs no message.
 */
export interface Machine {
  load(program: Load): Promise<Exports>;
  /**
   * Starts a call. The value of one that ends at once and leaves the store as it was is answered,
   * which takes the least work; undefined: the end is emitted, now or during a later entry.
   * `values` is a JSON list: the arguments and the context.
   */
  call(call: Call, values: string, store: string | null): string | null | undefined;
  /** Answers a request: JSON of `{id, value}` or `{id, code, message}`. */
  settle(text: string): void;
  /** A wake-up the machine asked for is due; it asks again for what is due later. */
  wake(): void;
}

type Start = (emit: Emit) => Promise<Machine>;

/** File name -> compiled WebAssembly, or for an archive a handle that workers share. */
export type RuntimeFiles = Record<string, WebAssembly.Module | Blob>;

/** File name -> a file of those that only agents get whose source names what is in it. */
export type ExtraFiles = Record<string, Blob>;

export class Session {
  private readonly channel: Channel;
  private machine: Machine | null = null;
  private call: number | null = null;
  private readonly open = new Set<number>();
  private wake: { timer: number; due: number } | null = null;
  private notices = 0;
  private dropped = 0;

  constructor(port: MessagePort) {
    this.channel = new Channel(port, (...message) => this.handle(...message));
  }

  async start(boot: Start): Promise<void> {
    try {
      this.machine = await boot((text, store) => this.emitted(JSON.parse(text), store ?? null));
      this.channel.send("ready", {});
    } catch (error) {
      this.fail(error);
    }
  }

  private handle(type: string, fields: Fields, body: string, store: string | null): void {
    if (type === "load") void this.load(fields as unknown as Load);
    else if (type === "call") this.begin(fields as unknown as Call, body, store);
    else this.reply(fields, body);
  }

  private async load(program: Load): Promise<void> {
    this.renewBudget();
    try {
      const exports = await this.machine!.load(program);
      this.channel.send("loaded", { ...exports });
    } catch (error) {
      this.fail(error);
    }
  }

  private begin(call: Call, values: string, store: string | null): void {
    this.renewBudget();
    this.call = call.call;
    this.enter((machine) => {
      const value = machine.call(call, values, store);
      if (value !== undefined) this.result(value, null);
    });
  }

  /** `value` is a JSON text, empty in a refusal. */
  private reply({ request, ...refusal }: Fields, value: string): void {
    if (!this.open.delete(request as number)) return; // answered after the call it belonged to
    const text = value
      ? `{"id":${request},"ok":true,"value":${value}}`
      : JSON.stringify({ id: request, ok: false, ...refusal });
    this.enter((machine) => machine.settle(text));
  }

  /** Runs the machine until it waits; a call that then waits for nothing can never end. */
  private enter(run: (machine: Machine) => void): void {
    try {
      run(this.machine!);
    } catch (error) {
      this.endCall("error", describe(error));
    }
    if (this.call !== null && this.open.size === 0 && this.wake === null) {
      this.endCall("error", {
        kind: "threw",
        message: "the call waits for something that cannot happen",
      });
    }
  }

  private emitted(emission: Emission, store: string | null): void {
    if (emission.op === "request") this.request(emission);
    else if (emission.op === "notice") this.notice(emission.kind, emission.text);
    else if (emission.op === "wake") this.wakeAfter(emission.after);
    else if (emission.op === "result") this.result(emission.value, store);
    else this.endCall("error", describe(new AgentFailure(emission.kind as FailureKind, emission)));
  }

  private request({ id, method, arguments: list }: Emission & { op: "request" }): void {
    this.open.add(id);
    this.channel.send("request", { call: this.call, request: id, method, arguments: list });
  }

  private notice(kind: string, text: string): void {
    if (this.notices >= LIMITS.noticesPerCall) {
      this.dropped += 1;
      return;
    }
    this.notices += 1;
    this.channel.send("notice", { kind, text: cut(text, LIMITS.noticeCharacters) });
  }

  /** One timer, for the earliest wake-up that was asked for. */
  private wakeAfter(milliseconds: number): void {
    const due = performance.now() + milliseconds;
    if (this.wake !== null && this.wake.due <= due) return;
    if (this.wake !== null) clearTimeout(this.wake.timer);
    const ring = () => {
      this.wake = null;
      this.enter((machine) => machine.wake());
    };
    this.wake = { timer: setTimeout(ring, milliseconds), due };
  }

  private result(value: string | null, store: string | null): void {
    if (Math.max(value?.length ?? 0, store?.length ?? 0) > LIMITS.valueCharacters) {
      const [what, size] =
        (value?.length ?? 0) > LIMITS.valueCharacters
          ? ["result", value!.length]
          : ["store", store!.length];
      this.endCall("error", {
        kind: "too_large",
        message: `its ${what} has ${size} characters; the limit is ${LIMITS.valueCharacters}`,
      });
    } else {
      this.endCall("result", { value }, store);
    }
  }

  private endCall(type: "result" | "error", fields: Fields, store: string | null = null): void {
    if (this.call === null) return; // the call ended before; what its leftovers do is nobody's
    const call = this.call;
    this.flushDropped();
    this.call = null;
    this.open.clear();
    this.channel.send(type, { call, ...fields }, store);
  }

  private fail(error: unknown): void {
    this.flushDropped();
    this.channel.send("failed", describe(error));
  }

  private renewBudget(): void {
    this.flushDropped();
    this.notices = 0;
  }

  private flushDropped(): void {
    if (this.dropped === 0) return;
    this.channel.send("notice", { kind: "dropped", text: "", dropped: this.dropped });
    this.dropped = 0;
  }
}

function describe(error: unknown): Fields {
  const failure =
    error instanceof AgentFailure ? error : new AgentFailure("crash", { message: String(error) });
  const { message, name, file, line, stack } = failure.thrown;
  return {
    kind: failure.kind,
    message: cut(message, LIMITS.errorCharacters),
    name: cutOrNull(name, LIMITS.nameCharacters),
    file: cutOrNull(file, LIMITS.nameCharacters),
    line: Number.isSafeInteger(line) ? line : null,
    stack: cutOrNull(stack, LIMITS.errorCharacters),
  };
}

function cutOrNull(text: string | null | undefined, limit: number): string | null {
  return typeof text === "string" ? cut(text, limit) : null;
}

/** Well-formed text of at most `limit` UTF-16 units; never ends in half of a surrogate pair. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text.toWellFormed();
  const last = text.charCodeAt(limit - 2);
  const end = last >= 0xd800 && last <= 0xdbff ? limit - 2 : limit - 1;
  return text.slice(0, end).toWellFormed() + "…";
}
