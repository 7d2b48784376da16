/**
 * What the sandbox is measured against: the same runtimes and messages with nothing around them.
 *
 * A module worker; `{runtime}` boots one and runs one line in it, text is parsed and sent back as
 * bytes.
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
    const { loadPyodide } = await import(`${base}pyodide/pyodide.mjs`);
    const pyodide = await loadPyodide({ indexURL: `${base}pyodide/` });
    return pyodide.runPython("1 + 1");
  },
};

self.onmessage = ({ data, ports: [port] }) => {
  port.onmessage = ({ data: text }) => {
    const bytes = new TextEncoder().encode(JSON.stringify(JSON.parse(text))).buffer;
    port.postMessage([bytes, null], [bytes]);
  };
  if (data) boots[data.runtime](data.base).then(() => port.postMessage([new TextEncoder().encode("{}").buffer, null]));
};
