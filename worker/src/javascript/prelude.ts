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
import { Store } from "./store";
import { Studio } from "./studio";
import { ThrownReader } from "./thrown";
import { toJson } from "./values";

type Handler = (...values: unknown[]) => unknown;
type HostEmit = (text: string, store?: string) => void;

interface Host {
  emit: HostEmit;
  limits: string;
}

declare const globalThis: { host?: Host; machine?: object; console?: object };

const { parse, stringify } = JSON;
const { apply } = Reflect;
const promiseThen = Promise.prototype.then;
const promiseResolve = Promise.resolve.bind(Promise);

const { emit: emitText, limits } = globalThis.host!;
const { studio: methods, openRequests } = parse(limits);
delete globalThis.host;

const emit = (emission: object, store?: string) => emitText(stringify(emission), store);
const notice = (kind: string, text: string) => emit({ op: "notice", kind, text });
const studio = new Studio(methods, openRequests, emit, notice);
const wake = installGlobals((after) => emit({ op: "wake", after }));
globalThis.console = consoleFor(notice);

const thrown = new ThrownReader();
let agent: Record<string, unknown> = {};
const store = new Store();
Object.assign(JSON, {
  stringify(value: unknown, replacer?: unknown, space?: unknown) {
    return stringify(
      typeof replacer === "function" ? value : store.behind(value),
      replacer as [],
      space as string,
    );
  },
});

/** `text`: the arguments and the context. Answers the value of a call that ends at once, see Machine. */
function begin(
  name: string,
  text: string,
  storeText: string | undefined,
): string | null | undefined {
  if (storeText !== undefined) store.load(storeText);
  studio.begin();
  try {
    const handler = agent[name];
    if (typeof handler !== "function") return missing(name);
    const values = parse(text) as unknown[];
    const last = values.length - 1;
    values[last + 2] = values[last];
    values[last] = store.object;
    values[last + 1] = studio.object();
    const returned = apply(handler as Handler, undefined, values);
    if (!isThenable(returned)) return finish(returned);
    apply(promiseThen, promiseResolve(returned), [finishLater, fail]);
  } catch (error) {
    fail(error);
  }
  return undefined;
}

function isThenable(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

function missing(name: string): undefined {
  studio.end();
  emit({ op: "error", kind: "missing", message: `the agent exports no function ${name}` });
}

/** The call's value; undefined when the end is emitted: with a changed store, or as an error. */
function finish(returned: unknown): string | null | undefined {
  let value: string | null, changed: string | undefined;
  try {
    value = resultText(returned);
    changed = store.save();
  } catch (error) {
    return fail(error);
  }
  studio.end();
  // A plain string ends at NUL on its way out; JSON has an escape for it.
  if (changed === undefined && !value?.includes("\0")) return value;
  emit({ op: "result", value }, changed);
  return undefined;
}

function finishLater(returned: unknown): void {
  const value = finish(returned);
  if (value !== undefined) emit({ op: "result", value });
}

function resultText(returned: unknown): string | null {
  if (returned === undefined || returned === null) return null;
  if (typeof returned === "string") return returned.toWellFormed();
  return toJson(store.behind(returned), "result") ?? null;
}

function fail(error: unknown): undefined {
  studio.end();
  emit({ op: "error", ...thrown.describe(error) });
}

globalThis.machine = {
  begin,
  wake,
  settle: (text: string) => studio.settle(text),
  describe: (error: unknown) => stringify(thrown.describe(error)),
  /** Takes the paths of the agent's files. */
  know: (files: string) => thrown.know(parse(files)),
  /** Takes the agent's module; answers which of the wanted names are functions. */
  adopt(module: Record<string, unknown>, wanted: string): string {
    agent = module;
    return stringify(
      (parse(wanted) as string[]).filter((name) => typeof agent[name] === "function"),
    );
  },
};
