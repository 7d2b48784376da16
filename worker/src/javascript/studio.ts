/**
 * The `studio` object inside QuickJS: promises here, requests by number to the host.
 *
 * A fresh object is made for every call, so that what an agent does to it ends with the call.
 * Undeclared namespaces are there too: the page refuses them with an error that names the
 * missing @api line.
 */
import { toJson } from "./values";

type Emit = (emission: object) => void;
type Notice = (kind: string, text: string) => void;
interface Waiting {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

const { parse } = JSON;

class StudioError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
    this.name = "StudioError";
  }
}

export class Studio {
  private readonly waiting = new Map<number, Waiting>();
  private calling = false;
  private last = 0;

  constructor(
    private readonly methods: string[],
    private readonly limit: number,
    private readonly emit: Emit,
  ) {}

  begin(): void {
    this.calling = true;
    this.waiting.clear();
  }

  end(): void {
    this.calling = false;
  }

  /** `{toast, log, callModel, history: {search, range}, …}`. */
  object(notice: Notice): object {
    const studio: Record<string, unknown> = {
      toast: (message: unknown) => notice("toast", String(message)),
      log: (message: unknown) => notice("log", String(message)),
    };
    for (const method of this.methods) {
      const [first, second] = method.split(".") as [string, string?];
      const call = (...values: unknown[]) => this.request(method, values);
      if (second === undefined) studio[first] = call;
      else ((studio[first] ??= {}) as Record<string, unknown>)[second] = call;
    }
    return studio;
  }

  settle(text: string): void {
    const { id, ok, value, code, message } = parse(text);
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (ok) waiting?.resolve(value);
    else waiting?.reject(new StudioError(message, code));
  }

  private request(method: string, values: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.refuseIfBusy(method);
      const list = parse(toJson(values, `arguments of studio.${method}`)!);
      const id = ++this.last;
      this.waiting.set(id, { resolve, reject });
      this.emit({ op: "request", id, method, arguments: list });
    });
  }

  private refuseIfBusy(method: string): void {
    if (!this.calling) throw new StudioError(`studio.${method} is only there while a call runs`, "no_call");
    if (this.waiting.size >= this.limit) {
      throw new StudioError(`more than ${this.limit} studio calls at once; await some first`, "too_many_requests");
    }
  }
}
