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

import { AgentFailure, LIMITS, STUDIO, type Call, type Exports, type FailureKind, type Load } from "../protocol";
import type { Emit, Machine, RuntimeFiles } from "../session";
import prelude from "./prelude.ts?text";

const MEMORY_LIMIT = 64 * 1024 * 1024;
const STACK_LIMIT = 256 * 1024;

export async function bootQuickJs(files: RuntimeFiles, emit: Emit): Promise<QuickJsMachine> {
  const wasmModule = files["quickjs.wasm"] as WebAssembly.Module;
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule }));
  const runtime = quickjs.newRuntime({ memoryLimitBytes: MEMORY_LIMIT, maxStackSizeBytes: STACK_LIMIT });
  runtime.setModuleLoader((name) => {
    return { error: new Error(`an agent cannot import ${name}; declare a library with @lib instead`) };
  });
  return new QuickJsMachine(runtime.newContext(), emit);
}

export class QuickJsMachine implements Machine {
  private readonly entries: QuickJSHandle;

  constructor(
    private readonly vm: QuickJSContext,
    emit: Emit,
  ) {
    const emitText = vm.newFunction("emit", (text, store) => {
      emit(vm.getString(text), store === undefined || vm.typeof(store) === "undefined" ? null : vm.getString(store));
    });
    emitText.consume((handle) => vm.setProp(vm.global, "emit", handle));
    const limits = JSON.stringify({ studio: Object.keys(STUDIO), openRequests: LIMITS.openRequests });
    vm.newString(limits).consume((handle) => vm.setProp(vm.global, "limits", handle));
    vm.unwrapResult(vm.evalCode(prelude, "prelude")).dispose();
    this.entries = vm.getProp(vm.global, "machine");
    vm.setProp(vm.global, "machine", vm.undefined);
  }

  async load(program: Load): Promise<Exports> {
    for (const { name, source } of program.libraries) this.evaluate(source, `@lib ${name}`, "global").dispose();
    const module = this.evaluate(program.source, program.filename, "module");
    this.runJobs();
    const namespace = this.settled(module, program.filename);
    const wanted = [...program.functions, ...program.handlers];
    const found: string[] = JSON.parse(this.entry("adopt", namespace, this.vm.newString(JSON.stringify(wanted))));
    const isFound = (name: string) => found.includes(name);
    return { functions: program.functions.filter(isFound), handlers: program.handlers.filter(isFound) };
  }

  call(call: Call, store: string | null): void {
    const text = JSON.stringify(call);
    this.enter("begin", ...(store === null ? [text] : [text, store]));
  }

  settle(text: string): void {
    this.enter("settle", text);
  }

  wake(): void {
    this.enter("wake");
  }

  private enter(name: string, ...texts: string[]): void {
    this.entry(name, ...texts.map((text) => this.vm.newString(text)));
    this.runJobs();
  }

  /** Calls one of the prelude's functions, releasing the arguments; its answer as text. */
  private entry(name: string, ...values: QuickJSHandle[]): string {
    const { vm } = this;
    const run = vm.getProp(this.entries, name);
    const result = vm.callFunction(run, vm.undefined, ...values);
    for (const handle of [run, ...values]) handle.dispose();
    if (result.error) throw this.failure(result.error, "threw");
    return result.value.consume((value) => (vm.typeof(value) === "string" ? vm.getString(value) : ""));
  }

  private evaluate(source: string, filename: string, type: "global" | "module"): QuickJSHandle {
    const result = this.vm.evalCode(source, filename, { type, strict: type === "module" });
    if (result.error) throw this.failure(result.error, "load", filename);
    return result.value;
  }

  /** A module with a top-level await comes as a promise of its namespace. */
  private settled(module: QuickJSHandle, filename: string): QuickJSHandle {
    const state = this.vm.getPromiseState(module);
    if (state.type === "fulfilled") {
      if (!state.notAPromise) module.dispose();
      return state.value;
    }
    if (state.type === "rejected") throw this.failure(state.error, "load", filename);
    throw new AgentFailure("load", `${filename}: its top-level await waits for something that cannot happen`);
  }

  private runJobs(): void {
    const result = this.vm.runtime.executePendingJobs();
    if (result.error) throw this.failure(result.error, "threw");
  }

  private failure(error: QuickJSHandle, kind: FailureKind, where = ""): AgentFailure {
    const described = this.describe(error);
    const found = described.kind === "memory" ? "memory" : kind;
    return new AgentFailure(found, (where && `${where}: `) + described.message, described.stack);
  }

  private describe(error: QuickJSHandle): { kind: string; message: string; stack: string | null } {
    const run = this.vm.getProp(this.entries, "describe");
    const result = this.vm.callFunction(run, this.vm.undefined, error);
    run.dispose();
    error.dispose();
    if (!result.error) return JSON.parse(result.value.consume((value) => this.vm.getString(value)));
    result.error.dispose();
    return { kind: "memory", message: "out of memory", stack: null };
  }
}
