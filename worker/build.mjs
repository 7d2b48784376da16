/**
 * Builds the sandbox assets: `node build.mjs OUT` writes `OUT/assets/sandbox/`.
 *
 * `sandbox.json` there names the frame and, per language, the files its workers need, each with the
 * asset piece it is in. The frame's own script is inside its page, allowed by its hash: the frame
 * fetches nothing at all. `OUT/assets/author/` has the TypeScript stripper for `personae pack`.
 */
import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(here, "node_modules");

/** The page's own Pyodide has this file: browsers fetch it once for both. */
const SHARED = "pyodide";

/**
 * Name -> files that only a worker gets whose agent's source names what is in them (the page's
 * `sandbox/extras.py` says which): a script to bundle, or null for what the Python build adds.
 */
const EXTRAS = {
  url: { "extra-url.js": "src/javascript/extras/url.js" },
  encoding: { "extra-encoding.js": "src/javascript/extras/encoding.js" },
  base64: { "extra-base64.js": "src/javascript/extras/base64.js" },
  clone: { "extra-clone.js": "src/javascript/extras/clone.js" },
  crypto: { "extra-crypto.js": "src/javascript/extras/crypto.ts" },
  timezones: { "tzdata.zip": null },
};

/** Language -> worker entry, and runtime files by the name the worker knows them under. */
const quickjs = {
  "quickjs.wasm": path.join(
    modules,
    "@jitl/quickjs-ng-wasmfile-release-sync/dist/emscripten-module.wasm",
  ),
};
const LANGUAGES = {
  javascript: { entry: "src/javascript/main.ts", files: quickjs },
  typescript: { entry: "src/typescript/main.ts", files: quickjs },
  python: {
    entry: "src/python/main.ts",
    files: { "pyodide.asm.wasm": SHARED, "python_stdlib.zip": SHARED },
  },
  lua: {
    entry: "src/lua/main.ts",
    files: { "lua.wasm": path.join(modules, "wasmoon/dist/glue.wasm") },
  },
};

const text = {
  name: "text",
  setup(current) {
    current.onResolve({ filter: /\?text$/ }, ({ path: name, resolveDir }) => {
      return { path: path.join(resolveDir, name.slice(0, -"?text".length)), namespace: "text" };
    });
    current.onResolve({ filter: /\?folder$/ }, ({ path: name, resolveDir }) => {
      return { path: path.join(resolveDir, name.slice(0, -"?folder".length)), namespace: "folder" };
    });
    current.onLoad({ filter: /.*/, namespace: "folder" }, async ({ path: folder }) => {
      const files = {};
      for (const name of (await readdir(folder)).filter((name) => name.endsWith(".py")).sort()) {
        files[name] = await readFile(path.join(folder, name), "utf8");
      }
      return { contents: JSON.stringify(files), loader: "json" };
    });
    current.onLoad({ filter: /.*/, namespace: "text" }, async ({ path: file }) => {
      const contents = file.endsWith(".ts")
        ? await bundle(file, "es2023")
        : await readFile(file, "utf8");
      return { contents, loader: "text", watchFiles: [file] };
    });
  },
};

/** One script, self-contained, as text. `platform`: neutral where not even a browser's globals are. */
async function bundle(entry, target = "es2022", platform = "browser") {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    platform,
    target,
    charset: "utf8",
    legalComments: "none",
    external: ["url", "module", "ws", "node:*"], // in branches for Node that no browser takes
    logLevel: "warning",
    logOverride: { "empty-import-meta": "silent" },
    absWorkingDir: here,
    plugins: [text],
  });
  return result.outputFiles[0].text;
}

async function frame() {
  const script = await bundle("src/frame.ts");
  const hash = createHash("sha256").update(script).digest("base64");
  const policy = `default-src 'none'; script-src 'sha256-${hash}' 'wasm-unsafe-eval'; worker-src blob:`;
  const template = await readFile(path.join(here, "src/frame.html"), "utf8");
  return template.replace("{{policy}}", () => policy).replace("{{script}}", () => script);
}

async function main(out) {
  const folder = path.join(out, "assets", "sandbox");
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "frame.html"), await frame());
  const languages = {};
  for (const [language, { entry, files }] of Object.entries(LANGUAGES)) {
    await writeFile(path.join(folder, `${language}.js`), await bundle(entry));
    languages[language] = { "worker.js": ["sandbox", `${language}.js`] };
    for (const [name, source] of Object.entries(files)) {
      languages[language][name] = [source === SHARED ? SHARED : "sandbox", name];
      if (source !== SHARED) await copyFile(source, path.join(folder, name));
    }
  }
  const extras = await writeExtras(folder);
  await writeFile(
    path.join(folder, "sandbox.json"),
    JSON.stringify({ frame: "frame.html", languages, extras }, null, 2),
  );
}

async function writeExtras(folder) {
  const extras = {};
  for (const [extra, files] of Object.entries(EXTRAS)) {
    extras[extra] = Object.keys(files);
    for (const [name, source] of Object.entries(files)) {
      if (source === null) continue;
      await writeFile(path.join(folder, name), await bundle(source, "es2023", "neutral"));
    }
  }
  return extras;
}

/** What `personae pack` runs under Node; no browser loads it. */
async function authors(out) {
  const folder = path.join(out, "assets", "author");
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "strip.cjs"), await bundle("src/typescript/command.ts"));
}

if (!process.argv[2]) throw new Error("usage: node build.mjs OUT");
await main(path.resolve(process.argv[2]));
await authors(path.resolve(process.argv[2]));
