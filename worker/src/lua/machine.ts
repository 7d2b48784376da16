/**
 * Lua 5.4 (Wasmoon's build) with one agent in it.
 *
 * Only the C interface is used, none of Wasmoon's conversion of JavaScript values: the one thing
 * of ours that Lua can reach is a C function that takes text, and only the prelude holds it.
 */
import { LuaWasm } from "wasmoon";

import { seedIntegers } from "../chance";
import { AGENT_MEMORY, limitMemory } from "../memory";
import { snakeCase } from "../names";
import {
  AgentFailure,
  LIMITS,
  STUDIO,
  type Call,
  type Exports,
  type FailureKind,
  type Load,
  type Thrown,
} from "../protocol";
import type { Emit, ExtraFiles, Machine, RuntimeFiles } from "../session";
import json from "./json.lua?text";
import prelude from "./prelude.lua?text";
import store from "./store.lua?text";

/** What `begin` answers for a call that returned nothing; a text comes behind another character. */
const NOTHING = "-";
const REGISTRY = -1_001_000;
const OUT_OF_MEMORY = 4;
/** The prelude's functions for the host. */
const ENTRIES = ["load", "begin", "settle"] as const;
type Entry = (typeof ENTRIES)[number];
/** Bytes kept for short texts on their way in. */
const SCRATCH = 4096;

/** What `load` answers: the wanted names that are functions, or what was thrown. */
interface Loaded {
  found: string[];
  failed?: Thrown;
  kind?: string;
}

/** The C interface as exported: numbers and pointers. */
type Exported = Record<`_${string}`, (...values: (number | bigint)[]) => number> & {
  HEAPU8: Uint8Array;
  addFunction(run: (state: number) => number, signature: string): number;
  getValue(pointer: number, type: string): number;
};

export async function bootLua(
  files: RuntimeFiles,
  _extras: ExtraFiles,
  emit: Emit,
): Promise<LuaMachine> {
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
  /** References to the entries' functions. */
  private readonly entries = {} as Record<Entry, bigint>;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();
  private readonly scratch: number;
  /** Where the C interface writes lengths. */
  private readonly length: number;

  constructor(
    private readonly lua: Exported,
    emit: Emit,
  ) {
    this.state = this.c("_luaL_newstate");
    this.length = this.c("_malloc", 4);
    this.scratch = this.c("_malloc", SCRATCH);
    this.c("_luaL_openlibs", this.state);
    const emitText = lua.addFunction((state) => {
      emit(this.text(1, state)!, this.text(2, state));
      return 0;
    }, "ii");
    // Each chunk's value becomes an argument of a later one: json; store(json); prelude(…).
    this.chunk(json, "=json", 0);
    this.chunk(store, "=store", 1, () => this.c("_lua_pushvalue", this.state, 1));
    const random = lua.addFunction((state) => {
      const seeds = seedIntegers();
      for (const seed of seeds) this.push(seed, state);
      return seeds.length;
    }, "ii");
    this.chunk(prelude, "=prelude", 5, () => {
      this.c("_lua_pushvalue", this.state, 1);
      this.c("_lua_pushvalue", this.state, 2);
      this.c("_lua_pushcclosure", this.state, emitText, 0);
      this.push(JSON.stringify({ studio: Object.keys(STUDIO), openRequests: LIMITS.openRequests }));
      this.c("_lua_pushcclosure", this.state, random, 0);
    });
    for (const name of ENTRIES) {
      this.push(name);
      this.c("_lua_rawget", this.state, -2);
      this.entries[name] = BigInt(this.c("_luaL_ref", this.state, REGISTRY));
    }
    this.c("_lua_settop", this.state, 0);
  }

  async load(program: Load): Promise<Exports> {
    const wanted = [...program.functions.map(snakeCase), ...program.handlers];
    const { found, failed, kind }: Loaded = JSON.parse(
      this.enter("load", [program.filename, program.source, JSON.stringify(wanted)], "load")!,
    );
    if (failed) throw new AgentFailure(kind === "memory" ? "memory" : "load", failed);
    return {
      functions: program.functions.filter((name) => found.includes(snakeCase(name))),
      handlers: program.handlers.filter((name) => found.includes(name)),
    };
  }

  call(call: Call, values: string, store: string | null): string | null | undefined {
    const name = call.verbatim ? call.function : snakeCase(call.function);
    const ended = this.enter("begin", store === null ? [name, values] : [name, values, store]);
    return ended === null ? undefined : ended === NOTHING ? null : ended.slice(1);
  }

  settle(text: string): void {
    this.enter("settle", [text]);
  }

  wake(): void {
    // Lua agents have no timers.
  }

  /** Calls one of the prelude's entries with texts; its answer as text, null for none. */
  private enter(name: Entry, texts: string[], kind: FailureKind = "crash"): string | null {
    this.c("_lua_rawgeti", this.state, REGISTRY, this.entries[name]);
    for (const text of texts) this.push(text);
    this.run(texts.length, kind);
    const answer = this.text(-1);
    this.c("_lua_settop", this.state, 0);
    return answer;
  }

  private chunk(source: string, name: string, count: number, pushArguments?: () => void): void {
    this.withText(`${name}\0${source}`, (pointer, size) => {
      const start = name.length + 1;
      this.check(
        this.c("_luaL_loadbufferx", this.state, pointer + start, size - start, pointer, 0),
        "crash",
      );
    });
    pushArguments?.();
    this.run(count, "crash");
  }

  private run(count: number, kind: FailureKind): void {
    this.check(this.c("_lua_pcallk", this.state, count, 1, 0, 0, 0), kind);
  }

  private check(status: number, kind: FailureKind): void {
    if (status === 0) return;
    const message = this.text(-1) ?? "an error that is no text";
    this.c("_lua_settop", this.state, 0);
    const isMemory = status === OUT_OF_MEMORY || message.includes("not enough memory");
    throw new AgentFailure(isMemory ? "memory" : kind, { message });
  }

  private push(text: string, state = this.state): void {
    this.withText(text, (pointer, size) => void this.c("_lua_pushlstring", state, pointer, size));
  }

  private text(index: number, state = this.state): string | null {
    const pointer = this.c("_lua_tolstring", state, index, this.length);
    if (pointer === 0) return null;
    const size = this.lua.getValue(this.length, "i32");
    return this.decoder.decode(this.lua.HEAPU8.subarray(pointer, pointer + size));
  }

  private withText(text: string, use: (pointer: number, size: number) => void): void {
    if (text.length * 3 < SCRATCH)
      return use(this.scratch, this.write(text, this.scratch, SCRATCH));
    const bytes = this.encoder.encode(text);
    const pointer = this.c("_malloc", bytes.length + 1);
    if (pointer === 0) throw new AgentFailure("memory", { message: "not enough memory" });
    this.lua.HEAPU8.set(bytes, pointer);
    this.lua.HEAPU8[pointer + bytes.length] = 0;
    try {
      use(pointer, bytes.length);
    } finally {
      this.c("_free", pointer);
    }
  }

  /** Writes a text with a zero behind it; how many bytes it has. */
  private write(text: string, pointer: number, size: number): number {
    const { written } = this.encoder.encodeInto(
      text,
      this.lua.HEAPU8.subarray(pointer, pointer + size),
    );
    this.lua.HEAPU8[pointer + written] = 0;
    return written;
  }

  private c(name: `_${string}`, ...values: (number | bigint)[]): number {
    return this.lua[name]!(...values);
  }
}
