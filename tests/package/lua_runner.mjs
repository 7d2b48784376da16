// Plays one Lua agent for the tests. Arguments: the package.json beside node_modules, the agent's
// file, and a JSON list of [function, ...arguments], in which "@store" stands for the store.
// Prints the results and the store.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , modules, file, calls] = process.argv;
const { LuaFactory } = createRequire(modules)("wasmoon");
const lua = await new LuaFactory().createEngine();
await lua.doString(readFileSync(file, "utf-8"));
const store = {};
const results = JSON.parse(calls).map(([name, ...given]) => {
  const passed = given.map((value) => (value === "@store" ? store : value));
  return lua.global.get(name)(...passed) ?? null;
});
console.log(JSON.stringify({ results, store }));
