/**
 * The first code inside QuickJS: everything an agent sees is built here, out of QuickJS's own
 * objects. Text is all that crosses to the worker outside.
 *
 * Invariants: runs before libraries and agent and keeps its own references to what it needs, so
 * that an agent that changes built-ins changes only itself. The two globals it shares with the
 * host (`host` in, `machine` out) are gone before foreign code runs.
 */
import { consoleFor } from "./console";
import { installGlobals } from "./globals";
import { Store, type Copies } from "./store";
import { Studio } from "./studio";
import { toJson } from "./values";

interface CallText {
  function: string;
  arguments: unknown[];
  context: unknown;
}

type Handler = (...values: unknown[]) => unknown;
type HostEmit = (text: string, store?: string) => void;

interface Host {
  emit: HostEmit;
  copies: Copies;
  limits: string;
}

declare const globalThis: { host?: Host; machine?: object; console?: object };

const { parse, stringify } = JSON;
const { apply } = Reflect;
const promiseThen = Promise.prototype.then;
const promiseResolve = Promise.resolve.bind(Promise);

const { emit: emitText, copies, limits } = globalThis.host!;
const { studio: methods, openRequests } = parse(limits);
delete globalThis.host;

const emit = (emission: object, store?: string) => emitText(stringify(emission), store);
const notice = (kind: string, text: string) => emit({ op: "notice", kind, text });
const studio = new Studio(methods, openRequests, emit, notice);
const wake = installGlobals((after) => emit({ op: "wake", after }));
globalThis.console = consoleFor(notice);

let agent: Record<string, unknown> = {};
const store = new Store(copies);

function begin(text: string, storeText: string | undefined): void {
  const call = parse(text) as CallText;
  if (storeText !== undefined) store.load(storeText);
  studio.begin();
  try {
    const handler = agent[call.function];
    if (typeof handler !== "function") return missing(call.function);
    const values = [...call.arguments, store.object, studio.object(), call.context];
    const returned = apply(handler as Handler, undefined, values);
    if (isThenable(returned)) apply(promiseThen, promiseResolve(returned), [finish, fail]);
    else finish(returned);
  } catch (error) {
    fail(error);
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

function missing(name: string): void {
  studio.end();
  emit({ op: "error", kind: "missing", message: `the agent exports no function ${name}` });
}

function finish(returned: unknown): void {
  let value: string | null, changed: string | undefined;
  try {
    value = resultText(returned);
    changed = store.save();
  } catch (error) {
    return fail(error);
  }
  studio.end();
  emit({ op: "result", value }, changed);
}

function resultText(returned: unknown): string | null {
  if (returned === undefined || returned === null) return null;
  if (typeof returned === "string") return returned.toWellFormed();
  return toJson(returned, "result") ?? null;
}

function fail(error: unknown): void {
  studio.end();
  emit({ op: "error", ...describe(error) });
}

/** Reads a thrown value without trusting it. */
function describe(error: unknown): { kind: string; message: string; stack: string | null } {
  try {
    const { name, message, stack } = (error ?? {}) as Error;
    const kind = name === "InternalError" && message === "out of memory" ? "memory" : name === "ValueError" ? "value" : "threw";
    const text = error instanceof Error ? String(message || name) : String(error);
    return { kind, message: text.toWellFormed(), stack: typeof stack === "string" ? stack : null };
  } catch {
    return { kind: "threw", message: "a value that cannot be shown", stack: null };
  }
}

globalThis.machine = {
  begin,
  wake,
  settle: (text: string) => studio.settle(text),
  describe: (error: unknown) => stringify(describe(error)),
  /** Takes the agent's module; answers which of the wanted names are functions. */
  adopt(module: Record<string, unknown>, wanted: string): string {
    agent = module;
    return stringify((parse(wanted) as string[]).filter((name) => typeof agent[name] === "function"));
  },
};
