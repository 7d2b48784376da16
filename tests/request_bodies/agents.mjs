// Runs JavaScript, TypeScript and Lua agents for the tests. Reads and writes lines of JSON:
//   in   {op: "load", agent, language, source, libraries: [source]}
//        {op: "call", id, agent, function, arguments, store, context}
//        {op: "answer", id, value} or {op: "answer", id, code, message}
//   out  {op: "loaded", names} or {op: "failed", message}
//        {op: "request", call, id, method, arguments}, {op: "notice", call, kind, text}
//        {op: "result", call, value, store} or {op: "error", call, message}
// Chance is the same in every run. The argument is the package.json beside node_modules.

import { createRequire, stripTypeScriptTypes } from "node:module";
import { createInterface } from "node:readline";

let seed = 7;
Math.random = () => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 2147483648;
};

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const agents = new Map();
const waiting = new Map();
let asked = 0;

function studioFor(call) {
  const ask =
    (method) =>
    (...values) =>
      new Promise((resolve, reject) => {
        waiting.set((asked += 1), { resolve, reject });
        say({ op: "request", call, id: asked, method, arguments: values });
      });
  const notice = (kind) => (text) => say({ op: "notice", call, kind, text: String(text) });
  return {
    toast: notice("toast"),
    log: notice("log"),
    history: { search: ask("history.search"), range: ask("history.range") },
    context: { readFile: ask("context.readFile") },
    callModel: ask("callModel"),
    grants: { readStore: ask("grants.readStore") },
    web: { fetch: ask("web.fetch") },
  };
}

async function loadScript({ agent, language, source, libraries }) {
  for (const library of libraries) (0, eval)(library);
  const script = language === "typescript" ? stripTypeScriptTypes(source) : source;
  // The comment makes two agents with one source two modules.
  const url = `data:text/javascript,${encodeURIComponent(`${script}\n// ${agent}`)}`;
  const exported = await import(url);
  const names = Object.keys(exported).filter((name) => typeof exported[name] === "function");
  return { names, run: (name, values) => exported[name](...values) };
}

async function loadLua({ source }) {
  const { LuaFactory } = createRequire(process.argv[2])("wasmoon");
  const lua = await new LuaFactory().createEngine();
  await lua.doString(source);
  const names = [...source.matchAll(/^function (\w+)/gm)].map((match) => match[1]);
  const run = (name, values) => {
    const given = values.map((value, index) => {
      lua.global.set(`given_${index}`, value);
      return `given_${index}`;
    });
    return lua.doString(`return ${name}(${given})`);
  };
  return { names, run };
}

const operations = {
  async load(program) {
    try {
      const loaded = await (program.language === "lua" ? loadLua : loadScript)(program);
      agents.set(program.agent, loaded);
      say({ op: "loaded", names: loaded.names });
    } catch (error) {
      say({ op: "failed", message: String(error) });
    }
  },
  async call({ id, agent, function: name, arguments: given, store, context }) {
    try {
      const value = await agents.get(agent).run(name, [...given, store, studioFor(id), context]);
      const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
      say({ op: "result", call: id, value: value === undefined || value === null ? null : text, store });
    } catch (error) {
      say({ op: "error", call: id, message: String(error?.message ?? error) });
    }
  },
  answer({ id, value, code, message }) {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (code === undefined) resolve(value);
    else reject(Object.assign(new Error(message), { code }));
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  operations[message.op](message);
}
