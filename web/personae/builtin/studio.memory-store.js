/**
 * @agent studio.memory-store
 * @version 1.0.0
 * @description Remembers facts across the conversation and reminds the model of them.
 *
 * @tool memory_remember
 * @tool-description Store a fact worth keeping, or replace what is stored under the same key.
 * @tool-params {
 *   "type": "object",
 *   "properties": {
 *     "key": {"type": "string", "description": "Short name of the fact, e.g. user_name"},
 *     "value": {"type": "string", "description": "The fact itself"}
 *   },
 *   "required": ["key", "value"]
 * }
 *
 * @tool memory_recall
 * @tool-description Look up stored facts. Without a query, all of them.
 * @tool-params {
 *   "type": "object",
 *   "properties": {
 *     "query": {"type": "string", "description": "Words that the key or the fact contains"}
 *   }
 * }
 *
 * @tool memory_forget
 * @tool-description Remove a stored fact that is wrong or no longer true.
 * @tool-params {
 *   "type": "object",
 *   "properties": {"key": {"type": "string"}},
 *   "required": ["key"]
 * }
 *
 * @command @memory memoryCommand
 * @preload true
 * @hook afterUserEdit
 */

// Store: {facts: [{key, versions: [{value, toolCallId?}]}]}. The last version counts; one without
// a value marks the fact as forgotten. Earlier versions come back when an edit of the conversation
// takes away the call that replaced them.

const MOST_FACTS = 200;
const MOST_FORGOTTEN = 50;
const MOST_VERSIONS = 10;
const LONGEST = 4000;

export function onLoad(store) {
  const lines = known(store).map(({ key, value }) => `- ${key}: ${value}`);
  return lines.length ? `## Remembered facts\n${lines.join("\n")}` : null;
}

export function onToolCall(toolName, args, store, studio, context) {
  // A composed instance prefixes the names of its tools.
  if (toolName.endsWith("memory_remember"))
    return remember(store, studio, args.key, args.value, context.toolCallId);
  if (toolName.endsWith("memory_recall")) return recall(store, args.query ?? "");
  if (toolName.endsWith("memory_forget"))
    return forget(store, studio, args.key, context.toolCallId);
  return `Unknown tool: ${toolName}`;
}

/** `key = value` remembers, `forget key` forgets. */
export function memoryCommand(args, store, studio) {
  const text = args.trim();
  const forgetting = /^forget\s+(.+)$/is.exec(text);
  const at = text.indexOf("=");
  if (at < 1 && !forgetting) return "Write: key = value, or: forget key";
  const before = JSON.stringify(store);
  const said =
    forgetting && at < 1
      ? forget(store, studio, forgetting[1])
      : remember(store, studio, text.slice(0, at), text.slice(at + 1));
  if (JSON.stringify(store) === before) return said;
  studio.toast?.(said);
}

export function onAfterUserEdit(event, store) {
  const gone = new Set(event.deletedToolCallIds);
  for (const fact of store.facts ?? [])
    fact.versions = fact.versions.filter((version) => !gone.has(version.toolCallId));
  store.facts = (store.facts ?? []).filter((fact) => fact.versions.length);
}

function remember(store, studio, givenKey, givenValue, toolCallId) {
  const key = givenKey.trim();
  const value = givenValue.trim();
  if (!key || !value) return "A fact needs a key and a value.";
  if (value.length > LONGEST) return `A fact may have ${LONGEST} characters; shorten it.`;
  if (!find(store, key) && known(store).length >= MOST_FACTS)
    return `The memory is full (${MOST_FACTS} facts). Forget one first.`;
  write(store, key, { value, toolCallId });
  studio.log(`Memory stored: ${key} = ${value}`);
  return `Remembered: ${key} = ${value}`;
}

function forget(store, studio, givenKey, toolCallId) {
  const key = givenKey.trim();
  if (current(find(store, key)) === undefined) return `There is no fact under ${key}.`;
  write(store, key, { toolCallId });
  studio.log(`Memory removed: ${key}`);
  return `Forgotten: ${key}`;
}

function recall(store, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const lines = known(store)
    .map(({ key, value }) => `${key}: ${value}`)
    .filter((line) => words.every((word) => line.toLowerCase().includes(word)));
  return lines.length ? lines.join("\n") : "Nothing is stored about that.";
}

function write(store, key, version) {
  store.facts ??= [];
  let fact = find(store, key);
  if (!fact) {
    fact = { key, versions: [] };
    store.facts.push(fact);
  }
  fact.versions.push(version);
  fact.versions.splice(0, fact.versions.length - MOST_VERSIONS);
  const forgotten = store.facts.filter((one) => current(one) === undefined);
  const dropped = new Set(forgotten.slice(0, Math.max(0, forgotten.length - MOST_FORGOTTEN)));
  store.facts = store.facts.filter((one) => !dropped.has(one));
}

function find(store, key) {
  return store.facts?.find((fact) => fact.key.toLowerCase() === key.toLowerCase());
}

function current(fact) {
  return fact?.versions.at(-1)?.value;
}

function known(store) {
  return (store.facts ?? [])
    .map((fact) => ({ key: fact.key, value: current(fact) }))
    .filter((fact) => fact.value !== undefined);
}
