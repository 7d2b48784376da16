/**
 * What a start is measured against: the same runtimes with nothing around them. A module worker;
 * `{runtime, base}` boots one and runs one line in it.
 */
import { newQuickJSWASMModuleFromVariant, newVariant } from "quickjs-emscripten-core";
import variant from "@jitl/quickjs-ng-wasmfile-release-sync";
import { LuaFactory } from "wasmoon";

const boots = {
  async javascript(base) {
    const wasmModule = await WebAssembly.compileStreaming(fetch(`${base}assets/sandbox/quickjs.wasm`));
    const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule }));
    const context = quickjs.newContext();
    return context.unwrapResult(context.evalCode("1 + 1")).consume((value) => context.getNumber(value));
  },
  async lua(base) {
    const engine = await new LuaFactory(`${base}assets/sandbox/lua.wasm`).createEngine();
    return engine.doString("return 1 + 1");
  },
  async python(base) {
    const { loadPyodide } = await import(`${base}plain/pyodide.mjs`);
    const pyodide = await loadPyodide({ indexURL: `${base}plain/` });
    return pyodide.runPython("1 + 1");
  },
};

self.onmessage = async ({ data: { runtime, base } }) => {
  await boots[runtime](base);
  self.postMessage("ready");
};
