/**
 * QuickJS with one agent in it.
 *
 * Libraries run first as global scripts, then the agent as an ES module. Every handle made here
 * is released in the scope that made it; the few kept ones live as long as the worker.
 */
import variant from "@jitl/quickjs-ng-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
} from "quickjs-emscripten-core";

import { AGENT_MEMORY, limitMemory } from "../memory";
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
import { randomBytes, seedNumber } from "../chance";
import type { Emit, ExtraFiles, Machine, RuntimeFiles } from "../session";
import prelude from "./prelude.ts?text";

/** The prelude's functions for the host. */
const ENTRIES = ["adopt", "begin", "settle", "wake", "describe", "know"];
const STACK_LIMIT = 256 * 1024;

export async function bootQuickJs(
  files: RuntimeFiles,
  extras: ExtraFiles,
  emit: Emit,
): Promise<QuickJsMachine> {
  // QuickJS has a limit of its own, but cannot ask this allocator how large a block is.
  limitMemory(AGENT_MEMORY);
  const wasmModule = files["quickjs.wasm"] as WebAssembly.Module;
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule }));
  const runtime = quickjs.newRuntime({ maxStackSizeBytes: STACK_LIMIT });
  runtime.setModuleLoader((name) => {
    return {
      error: new Error(`an agent cannot import ${name}; declare a library with @lib instead`),
    };
  });
  const machine = new QuickJsMachine(
    withRandomClock(() => runtime.newContext()),
    emit,
  );
  for (const script of Object.values(extras)) machine.install(await script.text());
  return machine;
}

/** QuickJS seeds Math.random of a new context with the time, which agents that start together share. */
function withRandomClock<T>(make: () => T): T {
  const { now } = Date;
  Date.now = () => seedNumber();
  try {
    return make();
  } finally {
    Date.now = now;
  }
}

export class QuickJsMachine implements Machine {
  private readonly entries: Record<string, QuickJSHandle> = {};
  /** The store's text as the page has it. */
  private known = "";

  constructor(
    private readonly vm: QuickJSContext,
    emit: Emit,
  ) {
    const host = vm.newObject();
    this.give(
      host,
      "emit",
      vm.newFunction("emit", (text, store) => emit(vm.getString(text), this.changed(store))),
    );
    this.give(
      host,
      "limits",
      vm.newString(
        JSON.stringify({ studio: Object.keys(STUDIO), openRequests: LIMITS.openRequests }),
      ),
    );
    this.give(vm.global, "host", host);
    vm.unwrapResult(vm.evalCode(prelude, "prelude")).dispose();
    const machine = vm.getProp(vm.global, "machine");
    for (const name of ENTRIES) this.entries[name] = vm.getProp(machine, name);
    machine.dispose();
    vm.unwrapResult(vm.evalCode("delete globalThis.machine", "prelude")).dispose();
  }

  /** Runs a script of ours that gives agents more of what browsers have; before the agent comes. */
  install(script: string): void {
    const { vm } = this;
    const host = vm.newObject();
    this.give(
      host,
      "random",
      vm.newFunction("random", (count) => vm.newArrayBuffer(randomBytes(vm.getNumber(count)))),
    );
    this.give(vm.global, "host", host);
    vm.unwrapResult(vm.evalCode(script, "extra")).dispose();
    vm.unwrapResult(vm.evalCode("delete globalThis.host", "extra")).dispose();
  }

  async load(program: Load): Promise<Exports> {
    const files = [program.filename, ...program.libraries.map(({ path }) => path)];
    this.entry("know", this.vm.newString(JSON.stringify(files)));
    for (const { path, source } of program.libraries)
      this.evaluate(source, path, "global").dispose();
    const module = this.evaluate(program.source, program.filename, "module");
    this.runJobs();
    const namespace = this.settled(module, program.filename);
    const wanted = [...program.functions, ...program.handlers];
    const found: string[] = JSON.parse(
      this.entry("adopt", namespace, this.vm.newString(JSON.stringify(wanted))),
    );
    const isFound = (name: string) => found.includes(name);
    return {
      functions: program.functions.filter(isFound),
      handlers: program.handlers.filter(isFound),
    };
  }

  call(call: Call, given: string, store: string | null): string | null | undefined {
    const { vm } = this;
    this.known = store ?? this.known;
    const values = [vm.newString(call.function), vm.newString(given)];
    if (store !== null) values.push(vm.newString(store));
    const ended = this.run("begin", values).consume((value) => this.value(value));
    try {
      this.runJobs();
    } catch (error) {
      if (ended === undefined) throw error; // else of what the call left running
    }
    return ended;
  }

  /** What `begin` answers: a text, null, or undefined. */
  private value(handle: QuickJSHandle): string | null | undefined {
    const type = this.vm.typeof(handle);
    return type === "string" ? this.vm.getString(handle) : type === "undefined" ? undefined : null;
  }

  settle(text: string): void {
    this.enter("settle", text);
  }

  wake(): void {
    this.enter("wake");
  }

  private give(object: QuickJSHandle, name: string, value: QuickJSHandle): void {
    value.consume((handle) => this.vm.setProp(object, name, handle));
  }

  /** The store's new text; null when it says what the page knows already. */
  private changed(store: QuickJSHandle | undefined): string | null {
    if (store === undefined || this.vm.typeof(store) !== "string") return null;
    const text = this.vm.getString(store);
    if (text === this.known) return null;
    return (this.known = text);
  }

  private enter(name: string, ...texts: string[]): void {
    this.entry(name, ...texts.map((text) => this.vm.newString(text)));
    this.runJobs();
  }

  /** Calls one of the prelude's functions, releasing the arguments; its answer as text. */
  private entry(name: string, ...values: QuickJSHandle[]): string {
    return this.run(name, values).consume((value) => this.value(value) ?? "");
  }

  private run(name: string, values: QuickJSHandle[]): QuickJSHandle {
    const result = this.vm.callFunction(this.entries[name]!, this.vm.undefined, ...values);
    for (const handle of values) handle.dispose();
    if (result.error) throw this.failure(result.error, "threw");
    return result.value;
  }

  private evaluate(source: string, filename: string, type: "global" | "module"): QuickJSHandle {
    const result = this.vm.evalCode(source, filename, { type, strict: type === "module" });
    if (result.error) throw this.failure(result.error, "load");
    return result.value;
  }

  /** A module with a top-level await comes as a promise of its namespace. */
  private settled(module: QuickJSHandle, filename: string): QuickJSHandle {
    const state = this.vm.getPromiseState(module);
    if (state.type === "fulfilled") {
      if (!state.notAPromise) module.dispose();
      return state.value;
    }
    if (state.type === "rejected") throw this.failure(state.error, "load");
    throw new AgentFailure("load", {
      message: "its top-level await waits for something that cannot happen",
      file: filename,
    });
  }

  private runJobs(): void {
    if (!this.vm.runtime.hasPendingJob()) return;
    const result = this.vm.runtime.executePendingJobs();
    if (result.error) throw this.failure(result.error, "threw");
  }

  private failure(error: QuickJSHandle, kind: FailureKind): AgentFailure {
    const { kind: found, ...thrown } = this.describe(error);
    return new AgentFailure(found === "memory" ? "memory" : kind, thrown);
  }

  private describe(error: QuickJSHandle): Thrown & { kind: string } {
    const result = this.vm.callFunction(this.entries["describe"]!, this.vm.undefined, error);
    error.dispose();
    if (!result.error) return JSON.parse(result.value.consume((value) => this.vm.getString(value)));
    result.error.dispose();
    return { kind: "memory", message: "out of memory" };
  }
}
