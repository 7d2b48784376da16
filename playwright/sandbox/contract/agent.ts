/**
 * @agent contract.suite
 * @description Does what cases.json asks; the same agent exists in four languages.
 */
interface Store {
  items?: unknown[];
  turns?: number;
  last?: string;
  [key: string]: unknown;
}
type Bridge = { log(text: string): void; toast(text: string): void; [name: string]: any };
type Tool = (args: any, store: any, studio: Bridge, context: any) => unknown;

enum Kind {
  Text = "text",
}

const tools: Record<string, Tool> = {
  nothing: () => null,
  text: (args) => args.value,
  value: (args) => args.value,
  kind: (args) => {
    const kinds: Record<string, string> = { boolean: "boolean", string: Kind.Text, undefined: "null" };
    if (args.value === null || args.value === undefined) return "null";
    if (typeof args.value === "number") return Number.isInteger(args.value) ? "whole" : "fraction";
    if (Array.isArray(args.value)) return `list ${args.value.length}`;
    return kinds[typeof args.value] ?? `object ${Object.keys(args.value).length}`;
  },
  remember: (args, store) => {
    store.items = store.items ?? [];
    store.items.push(args.item);
    return String(store.items.length);
  },
  count: (args, store) => String(store.items.length),
  empty: (args, store) => {
    while (store.items.length > 0) store.items.pop();
  },
  replace_with_empty: (args, store) => {
    store.items = [];
  },
  forget: (args, store) => {
    delete store[args.key];
  },
  deep_change: (args, store) => {
    store.a.b[1].c = args.value;
  },
  change_and_throw: (args, store) => {
    store.items = ["half done"];
    throw new Error(args.message);
  },
  fail: (args) => {
    throw new Error(args.message);
  },
  tell: (args, store, studio) => {
    studio.log(`log ${args.text}`);
    studio.toast(`toast ${args.text}`);
    console.log(`console ${args.text}`);
  },
  tell_often: (args, store, studio) => {
    for (let i = 0; i < args.times; i++) studio.log(`line ${i}`);
  },
  search: async (args, store, studio) => studio.history.search(args.query),
  range: async (args, store, studio) => studio.history.range(args.start, args.end),
  read: async (args, store, studio) => ((await studio.context.readFile(args.name)) === null ? "no such file" : "a file"),
  model: async (args, store, studio) => studio.callModel("be brief", [{ role: "user", content: "hi" }], 50, { model: "main" }),
  model_bare: async (args, store, studio) => studio.callModel("be brief", []),
  grant: async (args, store, studio) => studio.grants.readStore("other.agent"),
  fetch: async (args, store, studio) => studio.web.fetch("https://example.org/", { maxChars: 500 }),
  caught: async (args, store, studio) => {
    try {
      await studio.context.readFile("refuse");
      return "answered";
    } catch (error) {
      return `caught: ${(error as Error).message}`;
    }
  },
  two_at_once: async (args, store, studio) => {
    const first = studio.history.search("first");
    const second = studio.history.search("second");
    const later = await second;
    const earlier = await first;
    return `${earlier.arguments.query} ${later.arguments.query}`;
  },
  capability: (args, store, studio) => {
    const collapse = studio.conversation ? "present" : "absent";
    const compact = studio.history.compact ? "present" : "absent";
    const fetch = studio.web.fetch ? "present" : "absent";
    return `${collapse} ${compact} ${fetch}`;
  },
  context: (args, store, studio, context) =>
    `${context.invokedBy} ${context.agentId} ${context.characterName} ${context.conversationLength} ${context.toolCallId} ${context.config.contextFile}`,
  special: (args, store) => {
    store.special = special[args.kind]();
  },
  special_result: (args) => special[args.kind](),
  raise: (args, store, studio) => raised[args.how](studio),
  roll: () => Array.from({ length: 8 }, () => Math.floor(Math.random() * 1e9)).join(" "),
};

class GameError extends Error {}

function lose(): never {
  throw new GameError("lost"); // raises deep
}

const raised: Record<string, (studio: Bridge) => unknown> = {
  missing: () => {
    const nothing: any = undefined;
    nothing.moood.more(); // raises missing
  },
  value: () => {
    throw new RangeError("42"); // raises value
  },
  silent: () => {
    throw new RangeError(); // raises silent
  },
  object: () => {
    throw { code: 3 };
  },
  deep: () => lose(),
  later: async (studio) => {
    await studio.context.readFile("a.txt");
    throw new RangeError("too late"); // raises later
  },
  refused: async (studio) => {
    await studio.context.readFile("refuse"); // raises refused
  },
};

const special: Record<string, () => unknown> = {
  nan: () => NaN,
  infinity: () => [Infinity, -Infinity],
  function: () => ({ kept: 1, dropped: () => 1, list: [() => 1] }),
  cycle: () => {
    const cycle: { a: Record<string, unknown> } = { a: {} };
    cycle.a.b = cycle;
    return cycle;
  },
  deep: () => {
    let deep: unknown[] = [];
    for (let i = 0; i < 20000; i++) deep = [deep];
    return deep;
  },
  nearly_deep: () => {
    let deep: unknown[] = [0];
    for (let i = 0; i < 900; i++) deep = [deep];
    return deep;
  },
  surrogate: () => "a\ud800b",
  proto: () => JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}'),
  date: () => new Date(86400000),
  set: () => new Set([1]),
  big: () => 2n ** 70n,
  controls: () => 'nul \0 quote " back \\ tab \t',
};

export function onLoad(store: Store, studio: Bridge, context: object): string | null {
  return store.items?.length ? `${store.items.length} items` : null;
}

export function onToolCall(toolName: string, args: object, store: Store, studio: Bridge, context: object): unknown {
  return tools[toolName]!(args, store, studio, context);
}

export function onAfterResponse(event: { responseText: string }, store: Store): void {
  store.turns = (store.turns ?? 0) + 1;
  store.last = event.responseText;
}

export async function memoryAdd(args: string, store: Store, studio: Bridge): Promise<string | undefined> {
  if (args.trim() === "") return "Usage: memory <text>";
  store.items = [...(store.items ?? []), args.trim()];
  studio.toast(`Stored: ${args.trim()}`);
}

export function onlyArgs(args: string): string {
  return `got ${args}`;
}
