/**
 * Lua 5.4 (Wasmoon's build) with one agent in it.
 *
 * Only the C interface is used, none of Wasmoon's conversion of JavaScript values: the one thing
 * of ours that Lua can reach is a C function that takes text, and only the prelude holds it.
 */
import { LuaWasm } from "wasmoon";

import { AGENT_MEMORY, limitMemory } from "../memory";
import { snakeCase } from "../names";
import { AgentFailure, LIMITS, STUDIO, type Call, type Exports, type FailureKind, type Load } from "../protocol";
import type { Emit, Machine, RuntimeFiles } from "../session";
import json from "./json.lua?text";
import prelude from "./prelude.lua?text";
import store from "./store.lua?text";

const REGISTRY = -1_001_000;
const OUT_OF_MEMORY = 4;

/** The C interface as exported: numbers and pointers. */
type Exported = Record<`_${string}`, (...values: (number | bigint)[]) => number> & {
  HEAPU8: Uint8Array;
  addFunction(run: (state: number) => number, signature: string): number;
  lengthBytesUTF8(text: string): number;
  stringToUTF8(text: string, pointer: number, size: number): void;
  getValue(pointer: number, type: string): number;
};

export async function bootLua(files: RuntimeFiles, emit: Emit): Promise<LuaMachine> {
  limitMemory(AGENT_MEMORY);
  const { module } = await instantiate(files["lua.wasm"] as WebAssembly.Module);
  return new LuaMachine(module as unknown as Exported, emit);
}

/**
 * Wasmoon wants to fetch and compile; it gets what the frame has compiled already. It keeps the
 * console it finds and would tell it of every refused growth, so it finds a silent one.
 */
async function instantiate(compiled: WebAssembly.Module): Promise<LuaWasm> {
  const { fetch, console } = self;
  const { instantiateStreaming } = WebAssembly;
  self.fetch = async () => new Response();
  self.console = { ...console, error: () => {} };
  WebAssembly.instantiateStreaming = async (_source, imports) => {
    return { module: compiled, instance: await WebAssembly.instantiate(compiled, imports) };
  };
  try {
    return await LuaWasm.initialize("lua.wasm");
  } finally {
    self.fetch = fetch;
    self.console = console;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}

export class LuaMachine implements Machine {
  private readonly state: number;
  private readonly entries: number;
  private readonly decoder = new TextDecoder();
  /** Where the C interface writes lengths. */
  private readonly length: number;

  constructor(
    private readonly lua: Exported,
    emit: Emit,
  ) {
    this.state = this.c("luaL_newstate");
    this.length = this.c("malloc", 4);
    this.c("luaL_openlibs", this.state);
    const emitText = lua.addFunction((state) => {
      emit(this.text(1, state)!, this.text(2, state));
      return 0;
    }, "ii");
    // Each chunk's value becomes an argument of a later one: json; store(json); prelude(…).
    this.chunk(json, "=json", 0);
    this.chunk(store, "=store", 1, () => this.c("lua_pushvalue", this.state, 1));
    this.chunk(prelude, "=prelude", 4, () => {
      this.c("lua_pushvalue", this.state, 1);
      this.c("lua_pushvalue", this.state, 2);
      this.c("lua_pushcclosure", this.state, emitText, 0);
      this.push(JSON.stringify({ studio: Object.keys(STUDIO), openRequests: LIMITS.openRequests }));
    });
    this.entries = this.c("luaL_ref", this.state, REGISTRY);
    this.c("lua_settop", this.state, 0);
  }

  async load(program: Load): Promise<Exports> {
    const wanted = [...program.functions.map(snakeCase), ...program.handlers];
    const found: string[] = JSON.parse(this.enter("load", [program.filename, program.source, JSON.stringify(wanted)], "load"));
    return {
      functions: program.functions.filter((name) => found.includes(snakeCase(name))),
      handlers: program.handlers.filter((name) => found.includes(name)),
    };
  }

  call(call: Call, store: string | null): void {
    const name = call.verbatim ? call.function : snakeCase(call.function);
    const text = JSON.stringify({ ...call, function: name, count: call.arguments.length });
    this.enter("begin", [text, store ?? ""]);
  }

  settle(text: string): void {
    this.enter("settle", [text]);
  }

  wake(): void {
    // Lua agents have no timers.
  }

  /** Calls one of the prelude's entries with texts; its answer as text. */
  private enter(name: string, texts: string[], kind: FailureKind = "crash"): string {
    this.c("lua_rawgeti", this.state, REGISTRY, BigInt(this.entries));
    this.push(name);
    this.c("lua_rawget", this.state, -2);
    for (const text of texts) this.push(text);
    this.run(texts.length, kind);
    const answer = this.text(-1) ?? "";
    this.c("lua_settop", this.state, 0);
    return answer;
  }

  private chunk(source: string, name: string, count: number, pushArguments?: () => void): void {
    this.withText(source, (pointer, size) => {
      this.withText(name, (label) => this.check(this.c("luaL_loadbufferx", this.state, pointer, size, label, 0), "crash"));
    });
    pushArguments?.();
    this.run(count, "crash");
  }

  private run(count: number, kind: FailureKind): void {
    this.check(this.c("lua_pcallk", this.state, count, 1, 0, 0, 0), kind);
  }

  private check(status: number, kind: FailureKind): void {
    if (status === 0) return;
    const message = this.text(-1) ?? "an error that is no text";
    this.c("lua_settop", this.state, 0);
    const isMemory = status === OUT_OF_MEMORY || message.includes("not enough memory");
    throw new AgentFailure(isMemory ? "memory" : kind, message);
  }

  private push(text: string): void {
    this.withText(text, (pointer, size) => void this.c("lua_pushlstring", this.state, pointer, size));
  }

  private text(index: number, state = this.state): string | null {
    const pointer = this.c("lua_tolstring", state, index, this.length);
    if (pointer === 0) return null;
    const size = this.lua.getValue(this.length, "i32");
    return this.decoder.decode(this.lua.HEAPU8.subarray(pointer, pointer + size));
  }

  private withText(text: string, use: (pointer: number, size: number) => void): void {
    const size = this.lua.lengthBytesUTF8(text);
    const pointer = this.c("malloc", size + 1);
    if (pointer === 0) throw new AgentFailure("memory", "not enough memory");
    this.lua.stringToUTF8(text, pointer, size + 1);
    try {
      use(pointer, size);
    } finally {
      this.c("free", pointer);
    }
  }

  private c(name: string, ...values: (number | bigint)[]): number {
    return this.lua[`_${name}`]!(...values);
  }
}
