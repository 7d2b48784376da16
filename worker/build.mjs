/**
 * Builds the sandbox assets: `node build.mjs OUT` writes `OUT/assets/sandbox/`.
 *
 * `sandbox.json` there names the frame and, per language, the files its workers need, each with the
 * asset piece it is in. The frame's own script is inside its page, allowed by its hash: the frame
 * fetches nothing at all.
 */
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);

/** Language -> worker entry, and runtime files by the name the worker knows them under. */
const LANGUAGES = {
  javascript: {
    entry: "src/javascript/main.ts",
    files: { "quickjs.wasm": require.resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm") },
  },
};

const text = {
  name: "text",
  setup(current) {
    current.onResolve({ filter: /\?text$/ }, ({ path: name, resolveDir }) => {
      return { path: path.join(resolveDir, name.slice(0, -"?text".length)), namespace: "text" };
    });
    current.onLoad({ filter: /.*/, namespace: "text" }, async ({ path: file }) => {
      const contents = file.endsWith(".ts") ? await bundle(file, "es2023") : await readFile(file, "utf8");
      return { contents, loader: "text", watchFiles: [file] };
    });
  },
};

/** One script, self-contained, as text. */
async function bundle(entry, target = "es2022") {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    platform: "browser",
    target,
    charset: "utf8",
    legalComments: "none",
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
      await copyFile(source, path.join(folder, name));
      languages[language][name] = ["sandbox", name];
    }
  }
  await writeFile(path.join(folder, "sandbox.json"), JSON.stringify({ frame: "frame.html", languages }, null, 2));
}

if (!process.argv[2]) throw new Error("usage: node build.mjs OUT");
await main(path.resolve(process.argv[2]));
