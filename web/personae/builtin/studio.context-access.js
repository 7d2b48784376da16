/**
 * @agent studio.context-access
 * @version 1.0.0
 * @description Looks up passages in a text file of the package (contextFile).
 *
 * @tool lookup_text
 * @tool-description Look up passages about something in this character's reference text.
 * @tool-params {
 *   "type": "object",
 *   "properties": {
 *     "query": {"type": "string", "description": "Words that the passage is about"},
 *     "limit": {"type": "integer", "minimum": 1, "maximum": 10, "description": "Passages at most; 3 if absent"}
 *   },
 *   "required": ["query"]
 * }
 *
 * @api studio.context
 */

const LONGEST = 6000;

export async function onToolCall(toolName, args, store, studio, context) {
  const file = context.config.contextFile;
  if (typeof file !== "string") return "This agent's entry in config.json names no contextFile.";
  const text = await studio.context.readFile(file);
  if (text === null || text === undefined)
    return `The file ${file} is not in the context directory.`;
  const words = wordsOf(args.query);
  if (!words.length) return "Give words to look for.";
  const best = rank(passages(text), words).slice(0, args.limit ?? 3);
  return best.length ? clip(best.join("\n\n---\n\n")) : `Nothing in ${file} is about that.`;
}

/** Paragraphs; each under the last heading (#) before it, so that it can be found by it. */
function passages(text) {
  let heading = "";
  const found = [];
  for (const block of text.replace(/\r\n?/g, "\n").split(/\n[ \t]*\n+/)) {
    const paragraph = block.trim();
    if (!paragraph) continue;
    const title = /^#{1,6}[ \t]+([^\n]*)/.exec(paragraph);
    if (title) heading = title[0];
    if (title && paragraph === title[0]) continue;
    found.push(title || !heading ? paragraph : `${heading}\n${paragraph}`);
  }
  return found;
}

/** The passages that hold any of the words, those with rarer words and more of them first. */
function rank(all, words) {
  const texts = all.map((passage) => passage.toLowerCase());
  const weights = words.map((word) => {
    const holding = texts.filter((text) => text.includes(word)).length;
    return holding ? Math.log(1 + texts.length / holding) : 0;
  });
  return all
    .map((passage, index) => ({
      passage,
      index,
      score: words.reduce(
        (sum, word, at) => sum + (texts[index].includes(word) ? weights[at] : 0),
        0,
      ),
    }))
    .filter((one) => one.score > 0)
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .map((one) => one.passage);
}

function wordsOf(query) {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const long = words.filter((word) => word.length > 2);
  return [...new Set(long.length ? long : words)];
}

function clip(text) {
  const characters = [...text];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST).join("")}…` : text;
}
