/**
 * @agent studio.history-search
 * @version 1.0.0
 * @description Lets the model search the whole conversation, also what it no longer sees.
 *
 * @tool search_history
 * @tool-description Search earlier turns of this conversation for a phrase or for words.
 * @tool-params {
 *   "type": "object",
 *   "properties": {
 *     "query": {"type": "string", "description": "A phrase, or words to look for"},
 *     "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "Turns at most; 5 if absent"},
 *     "around": {"type": "integer", "minimum": 0, "maximum": 5, "description": "Neighbouring entries to show with each turn; 0 if absent"}
 *   },
 *   "required": ["query"]
 * }
 *
 * @api studio.history
 */

const EXCERPT = 400;
const WORDS = 8;

export async function onToolCall(toolName, args, store, studio, context) {
  const query = args.query.trim();
  if (!query) return "Give a phrase or words to search for.";
  const found = await search(studio, query);
  if (!found.length) return `No earlier turn mentions ${JSON.stringify(query)}.`;
  const shown = found.slice(0, args.limit ?? 5);
  const turns = args.around ? await withNeighbours(studio, shown, args.around, context) : shown;
  const lines = turns.map(
    ({ role, content, index }) => `[${index}] ${role}: ${excerpt(content, query)}`,
  );
  return `${found.length} matching, ${shown.length} shown:\n${lines.join("\n")}`;
}

/** Turns with the whole phrase, newest first; without any, those with most of its words. */
async function search(studio, query) {
  const exact = await studio.history.search(query);
  if (exact.length) return exact.toReversed();
  const words = [...new Set(query.toLowerCase().split(/[^\p{L}\p{N}]+/u))]
    .filter((word) => word.length > 2)
    .slice(0, WORDS);
  const hits = new Map();
  for (const word of words)
    for (const turn of await studio.history.search(word)) {
      const hit = hits.get(turn.index) ?? { turn, count: 0 };
      hit.count += 1;
      hits.set(turn.index, hit);
    }
  return [...hits.values()]
    .toSorted((a, b) => b.count - a.count || b.turn.index - a.turn.index)
    .map((hit) => hit.turn);
}

async function withNeighbours(studio, turns, around, context) {
  const all = new Map();
  for (const { index } of turns) {
    const start = Math.max(0, index - around);
    const end = Math.min(context.conversationLength, index + around + 1);
    for (const turn of await studio.history.range(start, end)) all.set(turn.index, turn);
  }
  return [...all.values()].toSorted((a, b) => a.index - b.index);
}

/** The part of a long text around the phrase, or around its first word. */
function excerpt(text, query) {
  const characters = [...text];
  if (characters.length <= EXCERPT) return text;
  const lower = text.toLowerCase();
  const needles = [query, ...query.split(/\s+/)].map((needle) => needle.toLowerCase());
  const at = needles.map((needle) => lower.indexOf(needle)).find((place) => place >= 0) ?? 0;
  const middle = [...text.slice(0, at)].length;
  const start = Math.max(0, Math.min(middle - EXCERPT / 2, characters.length - EXCERPT));
  const end = start + EXCERPT;
  const cut = characters.slice(start, end).join("");
  return `${start > 0 ? "…" : ""}${cut}${end < characters.length ? "…" : ""}`;
}
