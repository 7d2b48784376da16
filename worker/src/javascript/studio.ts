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
type Group = Record<string, unknown>;
interface Waiting {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  /** Made where the agent asked: what it is rejected with names that place. */
  error: StudioError;
}

const { parse } = JSON;

class StudioError extends Error {
  constructor(
    message: string,
    public code: string,
  ) {
    super(message);
    this.name = "StudioError";
  }
}

const { freeze } = Object;

export class Studio {
  private readonly waiting = new Map<number, Waiting>();
  private readonly methods: Group;
  private readonly groups: [string, Group][];
  private calling = false;
  private last = 0;

  constructor(
    methods: string[],
    private readonly limit: number,
    private readonly emit: Emit,
    notice: Notice,
  ) {
    const say = (kind: string) => freeze((message: unknown) => notice(kind, String(message)));
    this.methods = { toast: say("toast"), log: say("log") };
    const groups = new Map<string, Group>();
    for (const method of methods) {
      const [first, second] = method.split(".") as [string, string?];
      const group = second === undefined ? this.methods : (groups.get(first) ?? {});
      group[second ?? first] = freeze((...values: unknown[]) => this.request(method, values));
      if (second !== undefined) groups.set(first, group);
    }
    this.groups = [...groups];
  }

  begin(): void {
    this.calling = true;
    if (this.waiting.size > 0) this.waiting.clear();
  }

  end(): void {
    this.calling = false;
  }

  /** A fresh `{toast, log, callModel, history: {search, range}, …}` of frozen functions. */
  object(): object {
    const studio: Record<string, unknown> = { ...this.methods };
    for (let i = 0; i < this.groups.length; i++)
      studio[this.groups[i]![0]] = { ...this.groups[i]![1] };
    return studio;
  }

  settle(text: string): void {
    const { id, ok, value, code, message } = parse(text);
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (ok) waiting?.resolve(value);
    else waiting?.reject(Object.assign(waiting.error, { message, code }));
  }

  private request(method: string, values: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.refuseIfBusy(method);
      const list = parse(toJson(values, `arguments of studio.${method}`)!);
      const id = ++this.last;
      this.waiting.set(id, { resolve, reject, error: new StudioError("", "") });
      this.emit({ op: "request", id, method, arguments: list });
    });
  }

  private refuseIfBusy(method: string): void {
    if (!this.calling)
      throw new StudioError(`studio.${method} is only there while a call runs`, "no_call");
    if (this.waiting.size >= this.limit) {
      throw new StudioError(
        `more than ${this.limit} studio calls at once; await some first`,
        "too_many_requests",
      );
    }
  }
}
