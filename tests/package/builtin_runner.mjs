// Plays one agent for the tests. Standard input: {file, libraries, store, history, files, stores,
// reply, calls: [{function, arguments, context}]}, `arguments` without store, studio and context.

import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

const play = JSON.parse(readFileSync(0, "utf-8"));
for (const library of play.libraries ?? []) (0, eval)(readFileSync(library, "utf-8"));
const text = readFileSync(play.file, "utf-8");
const source = play.file.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
const agent = await import(`data:text/javascript,${encodeURIComponent(source)}`);
const store = play.store ?? {};
const log = [];
const toasts = [];
const modelCalls = [];

const studio = {
  log: (message) => log.push(message),
  toast: (message) => toasts.push(message),
  history: {
    search: async (query) =>
      play.history.filter((turn) => turn.content.toLowerCase().includes(query.toLowerCase())),
    range: async (start, end) =>
      play.history.filter((turn) => turn.index >= start && turn.index < end),
  },
  context: { readFile: async (name) => play.files[name] ?? null },
  grants: {
    readStore: async (ref) => {
      if (!(ref in play.stores)) throw new Error(`nothing is granted as ${ref}`);
      return play.stores[ref];
    },
  },
  callModel: async (systemPrompt, messages, maxTokens, options) => {
    modelCalls.push({ systemPrompt, messages, maxTokens, options });
    if (play.reply === null) throw new Error("budget exhausted for this response");
    return play.reply;
  },
};

const conversationLength = play.history.at(-1).index + 1;
const results = [];
for (const call of play.calls) {
  const context = { conversationLength, characterName: "Ada", config: {}, ...call.context };
  results.push((await agent[call.function](...call.arguments, store, studio, context)) ?? null);
}
process.stdout.write(JSON.stringify({ results, store, log, toasts, modelCalls }));
